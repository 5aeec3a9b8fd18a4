// Convolutional autoencoders on synthetic images, some of them anomalous; plain and variational.
#pragma once

#include <nexuml/scenario.h>

#include <cstdint>

namespace nexuml_library {

struct SyntheticConvAnomaly {
  std::int64_t image_size = 64;
  std::int64_t latent_dim = 64;
  std::int64_t num_samples = 160;
  double positive_fraction = 0.2;
  std::int64_t max_epochs = 2;
  std::int64_t batch_size = 16;
  std::int64_t seed = 42;

  static void describe(nexuml::Schema<SyntheticConvAnomaly>& s);
};
nexuml::ScenarioSpec synthetic_conv_anomaly(const SyntheticConvAnomaly& parameters,
                                            const nexuml::ScenarioContext& context);

struct SyntheticVariationalAnomaly {
  std::int64_t image_size = 64;
  std::int64_t hidden_dim = 128;
  std::int64_t latent_dim = 32;
  double beta = 0.001;
  std::int64_t num_samples = 160;
  double positive_fraction = 0.2;
  std::int64_t max_epochs = 2;
  std::int64_t batch_size = 16;
  std::int64_t seed = 42;

  static void describe(nexuml::Schema<SyntheticVariationalAnomaly>& s);
};
nexuml::ScenarioSpec synthetic_variational_anomaly(const SyntheticVariationalAnomaly& parameters,
                                                   const nexuml::ScenarioContext& context);

}  // namespace nexuml_library
