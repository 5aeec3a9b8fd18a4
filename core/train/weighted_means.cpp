#include <ATen/ops/scalar_tensor.h>
#include <ATen/ops/zeros.h>
#include <nexuml/weighted_means.h>

namespace nexuml {

void WeightedMeans::add(std::string_view name, const at::Tensor& value, std::int64_t samples) {
  Entry& entry = entries_[name];
  entry.samples += samples;
  if (value.is_cpu()) {
    entry.sum += value.item<double>() * static_cast<double>(samples);
    return;
  }
  if (!entry.device_sum.defined())
    entry.device_sum = at::zeros({}, value.options().dtype(at::kDouble).requires_grad(false));
  entry.device_sum.add_(value.detach().to(at::kDouble), static_cast<double>(samples));
}

OrderedMap<double> WeightedMeans::means() const {
  OrderedMap<double> means;
  for (const auto& [name, entry] : entries_) {
    const double sum = entry.sum + (entry.device_sum.defined() ? entry.device_sum.item<double>() : 0.0);
    means.append(name, sum / static_cast<double>(entry.samples));
  }
  return means;
}

TrainingState WeightedMeans::state() const {
  TrainingState state;
  for (const auto& [name, entry] : entries_) {
    const double sum = entry.sum + (entry.device_sum.defined() ? entry.device_sum.item<double>() : 0.0);
    state.tensors.append(name, at::scalar_tensor(sum, at::kDouble));
    state.scalars.set(name, entry.samples);
  }
  return state;
}

void WeightedMeans::load_state(const TrainingState& state) {
  OrderedMap<Entry> loaded;
  for (const auto& [name, sum] : state.tensors) {
    const Value* samples = state.scalars.find(name);
    if (!samples || !samples->is_integer())
      throw Error("E842", "saved epoch means: no number of samples for '" + name + "'");
    loaded[name] = {.sum = sum.item<double>(), .device_sum = {}, .samples = samples->as_integer()};
  }
  entries_ = std::move(loaded);
}

}  // namespace nexuml
