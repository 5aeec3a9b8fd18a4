#include "tensor_io/zip_writer.h"

#include <zlib.h>

#include <stdexcept>

namespace nexuml::tensor_io {

namespace {

constexpr std::uint64_t kAlignment = 64;
constexpr std::uint16_t kVersion = 45;  // the first with sizes of 64 bits, which are always written
constexpr std::uint16_t kUtf8Names = 1u << 11;
constexpr std::uint32_t kFirstDay = 0x00210000;  // 1980-01-01 00:00 as MS-DOS counts

void put(std::string& bytes, std::uint64_t value, std::size_t width) {
  for (std::size_t i = 0; i < width; ++i) bytes += static_cast<char>(value >> 8 * i & 255);
}

// What local header and directory entry have in common: version to crc and 32-bit sizes that point to the
// extra field.
void put_common(std::string& bytes, std::uint32_t crc, std::size_t name_length, std::size_t extra_length) {
  put(bytes, kVersion, 2);
  put(bytes, kUtf8Names, 2);
  put(bytes, 0, 2);  // stored
  put(bytes, kFirstDay, 4);
  put(bytes, crc, 4);
  put(bytes, 0xffffffff, 4);
  put(bytes, 0xffffffff, 4);
  put(bytes, name_length, 2);
  put(bytes, extra_length, 2);
}

}  // namespace

void ZipWriter::add(const std::string& name, std::initializer_list<std::span<const std::byte>> parts) {
  if (name.size() > 0xffff) throw std::length_error("a record's name has more than 65535 bytes");
  Entry entry{name, 0, file_.size(), 0};
  for (const auto part : parts) {
    if (part.empty()) continue;  // zlib takes a null pointer for a request to start anew
    entry.size += part.size();
    entry.crc = static_cast<std::uint32_t>(
        crc32_z(entry.crc, reinterpret_cast<const Bytef*>(part.data()), part.size()));
  }
  constexpr std::size_t kSizesField = 20;
  constexpr std::size_t kFillerHead = 4;
  const std::uint64_t unfilled = entry.offset + 30 + name.size() + kSizesField + kFillerHead;
  const std::size_t filler = (kAlignment - unfilled % kAlignment) % kAlignment;
  std::string header;
  put(header, 0x04034b50, 4);
  put_common(header, entry.crc, name.size(), kSizesField + kFillerHead + filler);
  header += name;
  put(header, 1, 2);
  put(header, 16, 2);
  put(header, entry.size, 8);
  put(header, entry.size, 8);
  header += "FB";  // the tag that torch.save gives to its filler
  put(header, filler, 2);
  header.append(filler, 'Z');
  file_.write(header);
  for (const auto part : parts) file_.write(part);
  entries_.push_back(std::move(entry));
}

void ZipWriter::finish() {
  const std::uint64_t start = file_.size();
  std::string directory;
  for (const Entry& entry : entries_) {
    put(directory, 0x02014b50, 4);
    put(directory, kVersion, 2);
    put_common(directory, entry.crc, entry.name.size(), 28);
    put(directory, 0, 2);  // no comment
    put(directory, 0, 2);  // first volume
    put(directory, 0, 6);  // attributes
    put(directory, 0xffffffff, 4);
    directory += entry.name;
    put(directory, 1, 2);
    put(directory, 24, 2);
    put(directory, entry.size, 8);
    put(directory, entry.size, 8);
    put(directory, entry.offset, 8);
  }
  std::string end;
  put(end, 0x06064b50, 4);
  put(end, 44, 8);
  put(end, kVersion, 2);
  put(end, kVersion, 2);
  put(end, 0, 8);  // volumes
  put(end, entries_.size(), 8);
  put(end, entries_.size(), 8);
  put(end, directory.size(), 8);
  put(end, start, 8);
  put(end, 0x07064b50, 4);
  put(end, 0, 4);
  put(end, start + directory.size(), 8);
  put(end, 1, 4);
  put(end, 0x06054b50, 4);
  put(end, 0, 4);
  put(end, 0xffff, 2);
  put(end, 0xffff, 2);
  put(end, 0xffffffff, 4);
  put(end, 0xffffffff, 4);
  put(end, 0, 2);
  file_.write(directory);
  file_.write(end);
}

}  // namespace nexuml::tensor_io
