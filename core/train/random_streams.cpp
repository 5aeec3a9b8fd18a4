#include "train/random_streams.h"

#include <ATen/Context.h>

#include <mutex>

namespace nexuml {

namespace {

template <class Call>
void for_each_stream(const at::Device& device, Call&& call) {
  const auto visit = [&](const char* name, const at::Device& of) {
    at::Generator generator = at::globalContext().defaultGenerator(of);
    const std::lock_guard lock(generator.mutex());
    call(name, generator);
  };
  visit("cpu", at::kCPU);
  if (!device.is_cpu()) visit("device", device);
}

}  // namespace

void seed_random_streams(std::uint64_t seed, const at::Device& device) {
  for_each_stream(device, [&](const char*, at::Generator& generator) { generator.set_current_seed(seed); });
}

TrainingState random_state(const at::Device& device) {
  TrainingState state;
  for_each_stream(device, [&](const char* name, at::Generator& generator) {
    state.tensors.append(name, generator.get_state());
  });
  return state;
}

void set_random_state(const TrainingState& state, const at::Device& device) {
  for_each_stream(device, [&](const char* name, at::Generator& generator) {
    if (const at::Tensor* saved = state.tensors.find(name)) generator.set_state(*saved);
  });
}

}  // namespace nexuml
