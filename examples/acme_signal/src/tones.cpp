#include "tones.h"

#include <ATen/CPUGeneratorImpl.h>
#include <nexuml/data.h>

#include <numbers>

namespace acme {

void Tones::describe(nexuml::Schema<Tones>& s) {
  s.summary("Sine waves of one frequency a class, with noise.");
  s.field("num_samples", &Tones::num_samples).at_least(1);
  s.field("length", &Tones::length).doc("Values a wave.").at_least(4);
  s.field("num_classes", &Tones::num_classes).doc("Class c has c + 1 periods in a wave.").at_least(2);
  s.field("noise", &Tones::noise).doc("Standard deviation of what is added.").at_least(0);
}

nexuml::DataDeclaration Tones::declare() const {
  nexuml::DataDeclaration data;
  data.features["features"] = {{length}, nexuml::DType::float32};
  data.labels["tone"] = {{}, nexuml::DType::int64};
  data.num_classes["tone"] = num_classes;
  data.num_samples = num_samples;
  return data;
}

std::shared_ptr<nexuml::Dataset> Tones::build(const nexuml::DataContext& context) const {
  const at::Generator generator = at::detail::createCPUGenerator(context.seed);
  const at::Tensor tone = torch::randint(num_classes, {num_samples}, generator, torch::kLong);
  const at::Tensor phase = torch::rand({num_samples, 1}, generator) * (2 * std::numbers::pi);
  const at::Tensor time =
      torch::arange(length, torch::kFloat32).unsqueeze(0) * (2 * std::numbers::pi / length);
  at::Tensor waves = torch::sin(time * (tone.unsqueeze(1) + 1) + phase);
  waves = waves + noise * torch::randn(waves.sizes(), generator);

  nexuml::TensorDict x, y;
  x.set(context.feature_key, waves.to(torch::kFloat32));
  y.set("tone", tone);
  nexuml::TensorDatasetInfo info;
  info.num_classes["tone"] = num_classes;
  return std::make_shared<nexuml::TensorDataset>(std::move(x), std::move(y), std::move(info));
}

}  // namespace acme
