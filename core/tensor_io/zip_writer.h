// Writes a zip archive of stored records whose bytes begin at multiples of 64, as torch.save and numpy.savez
// do. Names and bytes alone decide the result: the recorded time is always 1980-01-01.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <vector>

#include "tensor_io/hashing_writer.h"

namespace nexuml::tensor_io {

class ZipWriter {
 public:
  explicit ZipWriter(HashingWriter& file) : file_(file) {}

  // One record made of some parts.
  void add(const std::string& name, std::initializer_list<std::span<const std::byte>> parts);
  void add(const std::string& name, std::string_view text) { add(name, {std::as_bytes(std::span(text))}); }
  void finish();

 private:
  struct Entry {
    std::string name;
    std::uint64_t size = 0;
    std::uint64_t offset = 0;  // of the local header
    std::uint32_t crc = 0;
  };

  HashingWriter& file_;
  std::vector<Entry> entries_;
};

}  // namespace nexuml::tensor_io
