// Linear autoencoders on synthetic data, alone or with a head: reconstruction, multiclass, multilabel,
// regression.
#pragma once

#include <nexuml/scenario.h>

#include <cstdint>

namespace nexuml_library {

// What the four have in common.
struct SyntheticReconstruction {
  std::int64_t feature_dim = 128;
  std::int64_t latent_dim = 8;
  std::int64_t num_samples = 1000;
  std::int64_t max_epochs = 10;
  std::int64_t batch_size = 64;
  std::int64_t seed = 42;

  static void describe(nexuml::Schema<SyntheticReconstruction>& s);
};
nexuml::ScenarioSpec synthetic_reconstruction(const SyntheticReconstruction& parameters,
                                              const nexuml::ScenarioContext& context);

struct SyntheticMulticlass {
  std::int64_t feature_dim = 128;
  std::int64_t latent_dim = 8;
  std::int64_t num_classes = 5;
  std::int64_t num_samples = 1000;
  std::int64_t max_epochs = 10;
  std::int64_t batch_size = 64;
  std::int64_t seed = 42;

  static void describe(nexuml::Schema<SyntheticMulticlass>& s);
};
nexuml::ScenarioSpec synthetic_multiclass(const SyntheticMulticlass& parameters,
                                          const nexuml::ScenarioContext& context);

struct SyntheticMultilabel {
  std::int64_t feature_dim = 128;
  std::int64_t latent_dim = 8;
  std::int64_t num_classes = 5;
  std::int64_t num_samples = 1000;
  std::int64_t max_epochs = 10;
  std::int64_t batch_size = 64;
  std::int64_t seed = 42;

  static void describe(nexuml::Schema<SyntheticMultilabel>& s);
};
nexuml::ScenarioSpec synthetic_multilabel(const SyntheticMultilabel& parameters,
                                          const nexuml::ScenarioContext& context);

struct SyntheticRegression {
  std::int64_t feature_dim = 128;
  std::int64_t latent_dim = 8;
  std::int64_t num_outputs = 3;
  std::int64_t num_samples = 1000;
  std::int64_t max_epochs = 10;
  std::int64_t batch_size = 64;
  std::int64_t seed = 42;

  static void describe(nexuml::Schema<SyntheticRegression>& s);
};
nexuml::ScenarioSpec synthetic_regression(const SyntheticRegression& parameters,
                                          const nexuml::ScenarioContext& context);

}  // namespace nexuml_library
