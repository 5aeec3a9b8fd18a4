#include <windows.h>
// After windows.h, which it needs.
#include <bcrypt.h>

#include <stdexcept>

#include "schema/sha256.h"

namespace nexuml {

std::array<unsigned char, 32> sha256(std::string_view bytes) {
  std::array<unsigned char, 32> digest{};
  BCRYPT_ALG_HANDLE algorithm = nullptr;
  BCRYPT_HASH_HANDLE hash = nullptr;
  auto* data = reinterpret_cast<unsigned char*>(const_cast<char*>(bytes.data()));
  const bool done = ::BCryptOpenAlgorithmProvider(&algorithm, BCRYPT_SHA256_ALGORITHM, nullptr, 0) == 0 &&
                    ::BCryptCreateHash(algorithm, &hash, nullptr, 0, nullptr, 0, 0) == 0 &&
                    ::BCryptHashData(hash, data, static_cast<ULONG>(bytes.size()), 0) == 0 &&
                    ::BCryptFinishHash(hash, digest.data(), static_cast<ULONG>(digest.size()), 0) == 0;
  if (hash) ::BCryptDestroyHash(hash);
  if (algorithm) ::BCryptCloseAlgorithmProvider(algorithm, 0);
  if (!done) throw std::runtime_error("the system cannot compute a SHA-256");
  return digest;
}

}  // namespace nexuml
