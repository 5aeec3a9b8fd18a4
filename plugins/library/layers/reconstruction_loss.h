// ReconstructionLoss: squared error between an original and its reconstruction, one number per sample.
//
//     LayerSpec{.component = ReconstructionLoss{}, .keys_in = {"features", "reconstructed"},
//               .keys_out = {"reconstruction_loss"}};
//
// A masked autoencoder reconstructs tokens: an original [batch, channels, height, width] is then cut into
// square patches to meet a reconstruction [batch, tokens, features].
#pragma once

#include <nexuml/definition.h>

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <variant>

namespace nexuml_library {

// Shape: original [batch, ...], reconstruction [batch, ...] and optionally mask [batch, items] ->
//   [batch]; an image [batch, channels, height, width] is cut into patches to meet tokens [batch,
//   tokens, features]
// Formula: mean((x - x')^2) over the sample, or over the items that the mask selects; norm_pix_loss
//   compares with (x - mean) / sqrt(var + 1e-6) over the last dimension
// Source: He et al., Masked Autoencoders Are Scalable Vision Learners, 2022
struct ReconstructionLoss {
  bool norm_pix_loss = false;
  bool match_min_length = false;
  std::optional<std::variant<std::int64_t, std::array<std::int64_t, 2>>> patch_size = std::nullopt;
  bool use_mask_loss = false;
  bool inverse_mask = true;
  std::int64_t num_tokens = 0;

  static void describe(nexuml::Schema<ReconstructionLoss>& s);
  nexuml::Shapes infer(const nexuml::LayerInferContext& context) const;
  std::shared_ptr<nexuml::PipelineLayer> build(const nexuml::LayerBuildContext& context) const;
};

}  // namespace nexuml_library
