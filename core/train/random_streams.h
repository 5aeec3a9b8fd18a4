// The random streams that training draws from: the default generators of the CPU and of the GPU in use.
#pragma once

#include <nexuml/export.h>
#include <nexuml/training.h>
#include <torch/types.h>

#include <cstdint>

namespace nexuml {

NEXUML_EXPORT void seed_random_streams(std::uint64_t seed, const at::Device& device);
NEXUML_EXPORT TrainingState random_state(const at::Device& device);
NEXUML_EXPORT void set_random_state(const TrainingState& state, const at::Device& device);

// Puts the streams back where they were: what happens in its scope draws without a trace.
class NEXUML_EXPORT RandomStreamsGuard {
 public:
  explicit RandomStreamsGuard(const at::Device& device) : device_(device), saved_(random_state(device)) {}
  ~RandomStreamsGuard() { set_random_state(saved_, device_); }
  RandomStreamsGuard(const RandomStreamsGuard&) = delete;
  RandomStreamsGuard& operator=(const RandomStreamsGuard&) = delete;

 private:
  at::Device device_;
  TrainingState saved_;
};

}  // namespace nexuml
