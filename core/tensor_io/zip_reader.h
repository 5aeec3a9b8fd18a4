// A zip archive, read without trust: bounds, overlaps and names are checked at once, the CRC-32 of a record
// when it is read. Stored and deflated records, also of 4 GiB and more; no encryption, no second volume.
// Format: APPNOTE.TXT of PKWARE.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tensor_io/input_file.h"

namespace nexuml::tensor_io {

struct ZipRecord {
  std::string name;
  std::uint64_t offset = 0;       // of its bytes in the file
  std::uint64_t stored_size = 0;  // of its bytes in the file
  std::uint64_t size = 0;         // after inflating
  std::uint32_t crc = 0;
  bool deflated = false;
};

class ZipArchive {
 public:
  // Throws E756. The input is borrowed.
  explicit ZipArchive(const Input& input);

  const Input& input() const noexcept { return input_; }
  const std::vector<ZipRecord>& records() const noexcept {
    return records_;
  }  // in the order of the directory
  const ZipRecord* find(std::string_view name) const noexcept;

  // Throws E756 where the bytes do not have the record's checksum; `into` has the record's size.
  void read(const ZipRecord& record, std::span<std::byte> into) const;
  std::string read_text(const ZipRecord& record) const;

 private:
  const Input& input_;
  std::vector<ZipRecord> records_;
  std::map<std::string_view, std::size_t> index_;
};

}  // namespace nexuml::tensor_io
