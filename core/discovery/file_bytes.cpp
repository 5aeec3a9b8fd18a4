#include "discovery/file_bytes.h"

#include <cstring>

namespace nexuml {

std::optional<std::string> ByteSource::text(std::uint64_t offset, std::uint64_t length) const {
  if (offset > size() || length > size() - offset) return std::nullopt;
  std::string result(length, '\0');
  if (!read(offset, std::as_writable_bytes(std::span(result.data(), result.size())))) return std::nullopt;
  return result;
}

bool MemoryBytes::read(std::uint64_t offset, std::span<std::byte> into) const {
  if (offset > bytes_.size() || into.size() > bytes_.size() - offset) return false;
  if (!into.empty()) std::memcpy(into.data(), bytes_.data() + offset, into.size());
  return true;
}

}  // namespace nexuml
