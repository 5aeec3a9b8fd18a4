#include "tensor_io/base64.h"

#include <openssl/evp.h>

#include <algorithm>

namespace nexuml::tensor_io {
namespace {

// A multiple of 3, so that the pieces join; EVP counts in int.
constexpr std::size_t kPiece = std::size_t{3} << 24;

}  // namespace

std::string to_base64(std::span<const std::byte> bytes) {
  std::string text((bytes.size() + 2) / 3 * 4 + 1, '\0');  // EVP adds a final zero
  std::size_t written = 0;
  for (std::size_t at = 0; at < bytes.size(); at += kPiece) {
    const auto piece = bytes.subspan(at, std::min(kPiece, bytes.size() - at));
    written += static_cast<std::size_t>(EVP_EncodeBlock(
        reinterpret_cast<unsigned char*>(text.data() + written),
        reinterpret_cast<const unsigned char*>(piece.data()), static_cast<int>(piece.size())));
  }
  text.resize(written);
  return text;
}

std::optional<std::vector<std::byte>> from_base64(std::string_view text) {
  if (text.size() % 4 != 0) return std::nullopt;
  std::vector<std::byte> bytes(text.size() / 4 * 3);
  std::size_t written = 0;
  constexpr std::size_t piece_size = kPiece / 3 * 4;
  for (std::size_t at = 0; at < text.size(); at += piece_size) {
    const auto piece = text.substr(at, piece_size);
    const int decoded =
        EVP_DecodeBlock(reinterpret_cast<unsigned char*>(bytes.data() + written),
                        reinterpret_cast<const unsigned char*>(piece.data()), static_cast<int>(piece.size()));
    if (decoded < 0) return std::nullopt;
    written += static_cast<std::size_t>(decoded);
  }
  const std::size_t padding = text.ends_with("==") ? 2 : text.ends_with('=') ? 1 : 0;
  if (written < padding) return std::nullopt;
  bytes.resize(written - padding);
  // EVP passes over blanks and stray bits: only the one text of these bytes is accepted.
  if (to_base64(bytes) != text) return std::nullopt;
  return bytes;
}

}  // namespace nexuml::tensor_io
