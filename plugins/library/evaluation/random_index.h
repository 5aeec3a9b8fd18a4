// Random indices that are the same with every standard library.
#pragma once

#include <cstdint>
#include <random>

namespace nexuml_library {

// Even over 0 <= index < bound (Lemire, 2019, without the rejection step: the bias is below bound / 2^64).
inline std::int64_t random_index(std::mt19937_64& random, std::int64_t bound) {
  return static_cast<std::int64_t>(
      (static_cast<unsigned __int128>(random()) * static_cast<std::uint64_t>(bound)) >> 64);
}

}  // namespace nexuml_library
