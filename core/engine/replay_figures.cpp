#include "engine/replay_figures.h"

#include <fmt/format.h>
#include <torch/types.h>

#include <algorithm>
#include <limits>

namespace nexuml {

namespace {

constexpr double smallest_scale = 1e-3;
constexpr std::string_view output_prefix = "test_out.";

}  // namespace

void add_number(Figures& figures, const std::string& kind, const std::string& place, const std::string& key,
                double value) {
  const std::string name = place.empty() ? key : fmt::format("{}, {}", place, key);
  figures[name] = {kind, kind + " " + key, torch::tensor(value, at::kDouble)};
}

void add_output(Figures& figures, const std::string& key, const at::Tensor& value) {
  figures["test output " + key] = {"final_test", "output " + key, value.detach().to(at::kCPU, at::kDouble)};
}

Figures recorded_figures(const Value& reference, const TensorMap& outputs) {
  Figures figures;
  const auto add_all = [&](const char* kind, const std::string& place, const std::string& prefix,
                           const Value& numbers) {
    for (const auto& entry : numbers.entries())
      if (entry.value.is_number() && entry.key != "epoch" && entry.key != "batch_size")
        add_number(figures, kind, place, prefix + entry.key, entry.value.as_number());
  };
  const Value::List &steps = reference.at("train_steps").items(),
                    &epochs = reference.at("val_epochs").items();
  for (std::size_t i = 0; i < steps.size(); ++i)
    add_all("train_steps", fmt::format("step {}", i), "", steps[i]);
  for (std::size_t i = 0; i < epochs.size(); ++i)
    add_all("val_epochs", fmt::format("epoch {}", i), "val/", epochs[i]);
  add_all("final_test", "", "", reference.at("final_test"));
  for (const auto& [name, value] : outputs)
    if (name.starts_with(output_prefix)) add_output(figures, name.substr(output_prefix.size()), value);
  return figures;
}

double relative_difference(const at::Tensor& found, const at::Tensor& expected) {
  constexpr double infinite = std::numeric_limits<double>::infinity();
  if (found.sizes() != expected.sizes()) return infinite;
  if (found.numel() == 0 || at::equal(found, expected)) return 0;
  const double difference = (found - expected).abs().max().item<double>();
  const double scale = std::max(smallest_scale, expected.abs().max().item<double>());
  return std::isfinite(difference) && std::isfinite(scale) ? difference / scale : infinite;
}

}  // namespace nexuml
