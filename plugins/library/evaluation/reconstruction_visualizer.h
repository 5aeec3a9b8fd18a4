// ReconstructionVisualizer: samples beside what the pipeline made of them, and where the two differ.
//
//     EvalAlgorithmSpec{.algorithm = ReconstructionVisualizer{.reconstructed_key = "reconstructed"},
//                       .feature_key = "features"}
//
// Samples of [height, width] or [channels, height, width] are drawn as images, others as curves. With
// `patch_size` the reconstruction is a list of patches [tokens, patch * patch * channels]; `sample_shape`
// draws flat samples as images.
#pragma once

#include <nexuml/definition.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "evaluation/latent_visualizer.h"

namespace nexuml_library {

// Shape: original and reconstruction [batch, channels, height, width] or [batch, ...].
// Formula: rows of original, reconstruction and |error|; reconstruction_mse_sample is the mean squared error
// shown.
struct ReconstructionVisualizer {
  std::string reconstructed_key;
  std::optional<std::string> mask_key = std::nullopt;
  std::optional<std::vector<std::string>> label_keys = std::nullopt;
  std::int64_t n_samples = 8;
  std::optional<std::int64_t> patch_size = std::nullopt;
  StoreBackend storage_backend = StoreBackend::memory;
  std::optional<std::string> storage_path = std::nullopt;
  std::optional<std::vector<std::int64_t>> sample_shape = std::nullopt;

  static void describe(nexuml::Schema<ReconstructionVisualizer>& s);
  std::shared_ptr<nexuml::EvalAlgorithm> build(const nexuml::EvalBuildContext& context) const;
};

}  // namespace nexuml_library
