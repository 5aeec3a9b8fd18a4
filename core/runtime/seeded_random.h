// SeededRandom: while one lives, every random operator of LibTorch that runs on this thread without a
// generator of its own draws from a stream of this scope. The bits equal those of manual_seed(seed) followed
// by the same calls; the default generators are untouched, so scopes on several threads do not meet.
//
//     SeededRandom random(layer_seed(seed, "Encoder", "00_LinearEncoder"));
//     auto layer = component->build(context);
//
// It hooks the dispatcher under the key DeferredInit, which LibTorch keeps for initialisation code outside of
// its core. A self-test decides once whether that works in this LibTorch; where it does not, a scope locks
// out all others and seeds the default generator for its time: the same bits, one layer after another.
#pragma once

#include <ATen/core/Tensor.h>
#include <nexuml/export.h>

#include <cstdint>
#include <memory>
#include <string_view>

namespace nexuml {

// A function of its arguments alone (SHA-256), the same on every system.
NEXUML_EXPORT std::uint64_t layer_seed(std::uint64_t seed, std::string_view stage, std::string_view layer);

// The state of the process's default CPU generator.
NEXUML_EXPORT at::Tensor default_random_state();
NEXUML_EXPORT void set_default_random_state(const at::Tensor& state);

class NEXUML_EXPORT SeededRandom {
 public:
  explicit SeededRandom(std::uint64_t seed);
  ~SeededRandom();
  SeededRandom(const SeededRandom&) = delete;
  SeededRandom& operator=(const SeededRandom&) = delete;

  // Whether scopes on several threads run side by side. The first call installs the hook and tests it.
  static bool parallel();
  // For tests of the fallback.
  static void force_serial(bool serial);

  struct Stream;

 private:
  std::unique_ptr<Stream> stream_;
};

}  // namespace nexuml
