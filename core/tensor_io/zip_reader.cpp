#include "tensor_io/zip_reader.h"

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <cstring>
#include <limits>

namespace nexuml::tensor_io {

namespace {

constexpr std::uint32_t kLocalSignature = 0x04034b50;
constexpr std::uint32_t kDirectorySignature = 0x02014b50;
constexpr std::uint32_t kEndSignature = 0x06054b50;
constexpr std::uint32_t kEnd64Signature = 0x06064b50;
constexpr std::uint32_t kLocator64Signature = 0x07064b50;
constexpr std::uint64_t kMaxDirectory = 256u << 20;

[[noreturn]] void refuse_zip(const Input& input, std::string_view reason) {
  refuse("E756",
         fmt::format("{} ({}) is a damaged zip archive: {}", input.name(), byte_count(input.size()), reason),
         input.name(), "fetch or copy the file again");
}

template <class Unsigned>
Unsigned number_at(std::string_view bytes, std::size_t offset) {
  Unsigned number = 0;
  std::memcpy(&number, bytes.data() + offset, sizeof number);
  return number;
}

struct Directory {
  std::uint64_t offset = 0;
  std::uint64_t size = 0;
  std::uint64_t count = 0;
  std::uint64_t end = 0;  // where the records about the directory begin
};

// The last record of the file: 22 bytes and a comment of at most 65,535.
std::uint64_t find_end(const Input& input, std::string& end) {
  constexpr std::uint64_t kFixed = 22;
  const std::uint64_t window = std::min<std::uint64_t>(input.size(), kFixed + 65'535);
  const std::uint64_t start = input.size() - window;
  const std::string tail = input.read_text(start, window);
  for (std::size_t place = tail.size() < kFixed ? 0 : tail.size() - kFixed + 1; place-- > 0;) {
    if (number_at<std::uint32_t>(tail, place) != kEndSignature) continue;
    if (place + kFixed + number_at<std::uint16_t>(tail, place + 20) != tail.size()) continue;
    end = tail.substr(place, kFixed);
    return start + place;
  }
  if (input.size() < 2 || input.read_text(0, 2) != "PK")
    refuse("E756", fmt::format("{} ({}) is no zip archive", input.name(), byte_count(input.size())),
           input.name(), "fetch or copy the file again");
  refuse("E756",
         fmt::format(
             "{} is a zip archive that is cut off: it begins like one, but its {} end without the directory "
             "of the archive",
             input.name(), byte_count(input.size())),
         input.name(), "fetch or copy the file again");
}

Directory find_directory(const Input& input) {
  std::string end;
  Directory directory;
  directory.end = find_end(input, end);
  directory.count = number_at<std::uint16_t>(end, 10);
  directory.size = number_at<std::uint32_t>(end, 12);
  directory.offset = number_at<std::uint32_t>(end, 16);
  if (number_at<std::uint16_t>(end, 4) != 0 && number_at<std::uint16_t>(end, 4) != 0xffff) {
    refuse_zip(input, "it is one of several volumes");
  }
  if (directory.end >= 20) {
    const std::string locator = input.read_text(directory.end - 20, 20);
    if (number_at<std::uint32_t>(locator, 0) == kLocator64Signature) {
      const auto place = number_at<std::uint64_t>(locator, 8);
      if (place > directory.end - 20 || directory.end - 20 - place < 56)
        refuse_zip(input, "its end record is misplaced");
      const std::string end64 = input.read_text(place, 56);
      if (number_at<std::uint32_t>(end64, 0) != kEnd64Signature)
        refuse_zip(input, "its end record is misplaced");
      directory = {number_at<std::uint64_t>(end64, 48), number_at<std::uint64_t>(end64, 40),
                   number_at<std::uint64_t>(end64, 32), place};
    }
  }
  if (directory.offset > directory.end || directory.size != directory.end - directory.offset) {
    refuse_zip(input, fmt::format("its directory of {} at byte {} does not end at byte {}",
                                  byte_count(directory.size), directory.offset, directory.end));
  }
  if (directory.size > kMaxDirectory) refuse_zip(input, "its directory is too large");
  return directory;
}

// Sizes of 32 bits that are all ones stand in the extra field with 64 bits, in this order.
void widen(std::string_view extra, ZipRecord& record, const Input& input) {
  constexpr std::uint64_t kInExtra = 0xffffffff;
  while (extra.size() >= 4) {
    const std::size_t length = number_at<std::uint16_t>(extra, 2);
    if (length > extra.size() - 4)
      refuse_zip(input, fmt::format("the extra field of '{}' is cut off", record.name));
    std::string_view field = extra.substr(4, length);
    if (number_at<std::uint16_t>(extra, 0) == 1) {
      for (std::uint64_t* value : {&record.size, &record.stored_size, &record.offset}) {
        if (*value != kInExtra || field.size() < 8) continue;
        *value = number_at<std::uint64_t>(field, 0);
        field.remove_prefix(8);
      }
    }
    extra.remove_prefix(4 + length);
  }
}

// One entry of the directory; `record.offset` is still that of the local header.
ZipRecord take_entry(std::string_view& entries, const Input& input) {
  constexpr std::size_t kFixed = 46;
  if (entries.size() < kFixed || number_at<std::uint32_t>(entries, 0) != kDirectorySignature) {
    refuse_zip(input, "an entry of its directory is malformed");
  }
  const std::size_t name_length = number_at<std::uint16_t>(entries, 28);
  const std::size_t extra_length = number_at<std::uint16_t>(entries, 30);
  const std::size_t length = kFixed + name_length + extra_length + number_at<std::uint16_t>(entries, 32);
  if (length > entries.size()) refuse_zip(input, "an entry of its directory is cut off");
  ZipRecord record;
  record.name = entries.substr(kFixed, name_length);
  record.crc = number_at<std::uint32_t>(entries, 16);
  record.stored_size = number_at<std::uint32_t>(entries, 20);
  record.size = number_at<std::uint32_t>(entries, 24);
  record.offset = number_at<std::uint32_t>(entries, 42);
  widen(entries.substr(kFixed + name_length, extra_length), record, input);
  const auto method = number_at<std::uint16_t>(entries, 10);
  if (number_at<std::uint16_t>(entries, 8) & 1)
    refuse_zip(input, fmt::format("'{}' is encrypted", record.name));
  if (method != 0 && method != Z_DEFLATED) {
    refuse_zip(input, fmt::format("'{}' is compressed by method {}, 0 and 8 are read", record.name, method));
  }
  record.deflated = method == Z_DEFLATED;
  entries.remove_prefix(length);
  return record;
}

// Deflate reaches at most 1032 to 1, so a larger claim is a lie and nothing is allocated for it.
void check_sizes(const ZipRecord& record, const Input& input) {
  const bool possible =
      record.deflated ? record.size / 1032 <= record.stored_size : record.size == record.stored_size;
  if (!possible) {
    refuse_zip(input, fmt::format("'{}' cannot have {} in {} of the file", record.name,
                                  byte_count(record.size), byte_count(record.stored_size)));
  }
}

// Moves `record.offset` from the local header to the bytes behind it.
void locate_bytes(ZipRecord& record, const Directory& directory, const Input& input) {
  constexpr std::uint64_t kFixed = 30;
  const auto outside = [&] {
    refuse_zip(input, fmt::format("'{}' ({} at byte {}) reaches into the directory at byte {}", record.name,
                                  byte_count(record.stored_size), record.offset, directory.offset));
  };
  if (record.offset > directory.offset || directory.offset - record.offset < kFixed) outside();
  const std::string local = input.read_text(record.offset, kFixed);
  const std::uint64_t name_length = number_at<std::uint16_t>(local, 26);
  const std::uint64_t skipped = kFixed + name_length + number_at<std::uint16_t>(local, 28);
  if (number_at<std::uint32_t>(local, 0) != kLocalSignature || name_length != record.name.size()) {
    refuse_zip(input, fmt::format("'{}' is not where the directory says", record.name));
  }
  if (directory.offset - record.offset < skipped ||
      directory.offset - record.offset - skipped < record.stored_size) {
    outside();
  }
  if (input.read_text(record.offset + kFixed, name_length) != record.name) {
    refuse_zip(input,
               fmt::format("'{}' has another name in the directory than before its bytes", record.name));
  }
  record.offset += skipped;
}

void check_overlap(const std::vector<ZipRecord>& records, const Input& input) {
  std::vector<const ZipRecord*> order;
  for (const ZipRecord& record : records) order.push_back(&record);
  std::ranges::sort(order, {}, &ZipRecord::offset);
  for (std::size_t i = 1; i < order.size(); ++i) {
    if (order[i]->offset - order[i - 1]->offset >= order[i - 1]->stored_size) continue;
    refuse_zip(input, fmt::format("'{}' and '{}' overlap", order[i - 1]->name, order[i]->name));
  }
}

std::uint32_t checksum(std::span<const std::byte> bytes) {
  return static_cast<std::uint32_t>(crc32_z(0, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()));
}

class Inflater {
 public:
  Inflater() { ready_ = inflateInit2(&stream_, -MAX_WBITS) == Z_OK; }
  ~Inflater() {
    if (ready_) inflateEnd(&stream_);
  }
  Inflater(const Inflater&) = delete;
  Inflater& operator=(const Inflater&) = delete;

  // True when the record's bytes give exactly `into`.
  bool run(const ZipRecord& record, const Input& input, std::span<std::byte> into) {
    std::string chunk;
    std::uint64_t taken = 0;
    std::size_t filled = 0;
    int status = ready_ ? Z_OK : Z_MEM_ERROR;
    while (status == Z_OK) {
      if (stream_.avail_in == 0 && taken < record.stored_size) {
        chunk = input.read_text(record.offset + taken,
                                std::min<std::uint64_t>(1u << 20, record.stored_size - taken));
        taken += chunk.size();
        stream_.next_in = reinterpret_cast<Bytef*>(chunk.data());
        stream_.avail_in = static_cast<uInt>(chunk.size());
      }
      const std::size_t room = std::min<std::size_t>(into.size() - filled, 1u << 30);
      Bytef nothing = 0;  // lets zlib report the end of an empty or full record
      stream_.next_out = room > 0 ? reinterpret_cast<Bytef*>(into.data() + filled) : &nothing;
      stream_.avail_out = static_cast<uInt>(room);
      status = inflate(&stream_, Z_NO_FLUSH);
      filled += room - stream_.avail_out;
    }
    return status == Z_STREAM_END && filled == into.size() && taken == record.stored_size &&
           stream_.avail_in == 0;
  }

 private:
  z_stream stream_{};
  bool ready_ = false;
};

}  // namespace

ZipArchive::ZipArchive(const Input& input) : input_(input) {
  const Directory directory = find_directory(input);
  const std::string bytes = input.read_text(directory.offset, directory.size);
  std::string_view entries = bytes;
  while (!entries.empty()) {
    ZipRecord record = take_entry(entries, input);
    check_sizes(record, input);
    locate_bytes(record, directory, input);
    records_.push_back(std::move(record));
  }
  if (records_.size() != directory.count) {
    refuse_zip(input, fmt::format("its directory has {} entries, {} are announced", records_.size(),
                                  directory.count));
  }
  check_overlap(records_, input);
  for (std::size_t i = 0; i < records_.size(); ++i) {
    if (!index_.emplace(records_[i].name, i).second) {
      refuse_zip(input, fmt::format("it holds '{}' twice", records_[i].name));
    }
  }
}

const ZipRecord* ZipArchive::find(std::string_view name) const noexcept {
  const auto found = index_.find(name);
  return found == index_.end() ? nullptr : &records_[found->second];
}

void ZipArchive::read(const ZipRecord& record, std::span<std::byte> into) const {
  if (!record.deflated) {
    input_.read(record.offset, into);
  } else if (!Inflater().run(record, input_, into)) {
    refuse_zip(input_, fmt::format("'{}' cannot be inflated", record.name));
  }
  const std::uint32_t found = checksum(into);
  if (found != record.crc) {
    refuse_zip(input_,
               fmt::format("the bytes of '{}' are damaged: their CRC-32 is {:08x}, {:08x} is recorded",
                           record.name, found, record.crc));
  }
}

std::string ZipArchive::read_text(const ZipRecord& record) const {
  std::string text;
  try {
    text.resize(record.size);
  } catch (const std::exception&) {
    refuse("E750",
           fmt::format("not enough memory for '{}' of {}: {}", record.name, input_.name(),
                       byte_count(record.size)),
           input_.name());
  }
  read(record, std::as_writable_bytes(std::span(text)));
  return text;
}

}  // namespace nexuml::tensor_io
