// Random numbers of the data room: drawn from generators of their own, never from the process's streams.
#pragma once

#include <ATen/CPUGeneratorImpl.h>

#include <cstdint>

namespace nexuml {

// A well-mixed seed of two numbers (the finaliser of SplitMix64).
inline std::uint64_t mixed_seed(std::uint64_t seed, std::uint64_t stream) {
  std::uint64_t z = seed + 0x9e3779b97f4a7c15ULL * (stream + 1);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
  return z ^ (z >> 31);
}

inline at::Generator generator_of(std::uint64_t seed) {
  return at::detail::createCPUGenerator(seed);
}

}  // namespace nexuml
