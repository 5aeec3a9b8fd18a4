#include "layers/reconstruction_loss.h"

#include <ATen/core/Reduction.h>
#include <ATen/ops/mse_loss.h>
#include <nexuml/layer.h>

#include <algorithm>
#include <string>

#include "layers/patches.h"
#include "layers/shape_rules.h"

namespace nexuml_library {

namespace {

constexpr double variance_floor = 1e-6;

std::string sizes_text(const at::Tensor& tensor) {
  return nexuml::to_string(nexuml::Shape(tensor.sizes().begin(), tensor.sizes().end()));
}

class ReconstructionLossRuntime final : public nexuml::PipelineLayer {
 public:
  ReconstructionLossRuntime(const nexuml::LayerBuildContext& context, const ReconstructionLoss& definition)
      : PipelineLayer(context), definition_(definition) {}

  void forward(nexuml::Batch& batch) override {
    const at::Tensor& reconstructed = input(batch, 1);
    const at::Tensor target = in_form_of(reconstructed, input(batch, 0));
    if (target.sizes() != reconstructed.sizes()) return set_output(batch, flat_loss(target, reconstructed));
    const at::Tensor expected = normalised(target);
    const bool masked = definition_.use_mask_loss && keys_in().size() > 2;
    set_output(batch, masked ? masked_loss(expected, reconstructed, input(batch, 2))
                             : full_loss(expected, reconstructed));
  }

 private:
  // The original as patches where the reconstruction has the form of tokens.
  at::Tensor in_form_of(const at::Tensor& reconstructed, const at::Tensor& original) const {
    if (original.dim() != 4 || reconstructed.dim() != 3) return original;
    const auto patch = patch_for(original, reconstructed);
    return patch ? patches(original, *patch, reconstructed.size(1)).value_or(original) : original;
  }

  at::Tensor normalised(const at::Tensor& target) const {
    if (!definition_.norm_pix_loss) return target;
    return (target - target.mean(-1, true)) / (target.var(-1, true, true) + variance_floor).sqrt();
  }

  std::optional<PatchSize> patch_for(const at::Tensor& original, const at::Tensor& reconstructed) const {
    if (!definition_.patch_size) return square_patch(original.size(1), reconstructed.size(2));
    const PatchSize patch = explicit_patch(*definition_.patch_size);
    if (original.size(1) * patch[0] * patch[1] != reconstructed.size(2)) return std::nullopt;
    return patch;
  }

  static PatchSize explicit_patch(const std::variant<std::int64_t, std::array<std::int64_t, 2>>& size) {
    if (const auto* pair = std::get_if<std::array<std::int64_t, 2>>(&size)) return *pair;
    return {std::get<std::int64_t>(size), std::get<std::int64_t>(size)};
  }

  // Mean squared error of each sample: [batch].
  static at::Tensor full_loss(const at::Tensor& target, const at::Tensor& reconstructed) {
    return at::mse_loss(reconstructed, target, at::Reduction::None).reshape({target.size(0), -1}).mean(1);
  }

  // The same where the forms differ: over the numbers of a sample one after another, or those that both have.
  at::Tensor flat_loss(const at::Tensor& target, const at::Tensor& reconstructed) const {
    at::Tensor expected = target.reshape({target.size(0), -1});
    at::Tensor found = reconstructed.reshape({reconstructed.size(0), -1});
    if (expected.size(1) != found.size(1)) {
      if (!definition_.match_min_length) refuse_lengths(expected, found);
      const std::int64_t length = std::min(expected.size(1), found.size(1));
      expected = expected.narrow(1, 0, length);
      found = found.narrow(1, 0, length);
    }
    return full_loss(normalised(expected), found);
  }

  // Mean squared error of each sample over the items that the mask selects: [batch].
  at::Tensor masked_loss(const at::Tensor& target, const at::Tensor& reconstructed,
                         const at::Tensor& mask) const {
    const at::Tensor selected = selection(mask, target);
    const at::Tensor counts = selected.sum(1);
    if (counts.sum().item<double>() == 0) return full_loss(target, reconstructed);
    const at::Tensor errors = (target - reconstructed).square().flatten(2).mean(2);
    return (errors * selected).sum(1) / counts.clamp_min(1);
  }

  // 1 for each item that counts: [batch, items].
  at::Tensor selection(const at::Tensor& mask, const at::Tensor& target) const {
    if (mask.dim() != 2)
      throw nexuml::Error("E828", "a mask [batch, items] is expected, found shape " + sizes_text(mask),
                          nexuml::Where::in_layer(layer_name()));
    const std::int64_t items = target.dim() >= 3 ? target.size(1) : -1;
    if (mask.size(0) != target.size(0) || mask.size(1) - definition_.num_tokens != items)
      throw nexuml::Error("E828",
                          "the mask of shape " + sizes_text(mask) + " does not fit a target of shape " +
                              sizes_text(target) + " with num_tokens " +
                              std::to_string(definition_.num_tokens),
                          nexuml::Where::in_layer(layer_name()));
    const at::Tensor kept = mask.narrow(1, definition_.num_tokens, items) != 0;
    return (definition_.inverse_mask ? kept.logical_not() : kept).to(target.dtype());
  }

  [[noreturn]] void refuse_lengths(const at::Tensor& expected, const at::Tensor& found) const {
    throw nexuml::Error("E828",
                        "original and reconstruction differ in length: " + std::to_string(expected.size(1)) +
                            " and " + std::to_string(found.size(1)) + " numbers per sample",
                        nexuml::Where::in_layer(layer_name()),
                        "match_min_length: true compares the part that both have");
  }

  const ReconstructionLoss definition_;
};

}  // namespace

void ReconstructionLoss::describe(nexuml::Schema<ReconstructionLoss>& s) {
  s.summary("Squared error between an original and its reconstruction, one number per sample.");
  s.field("norm_pix_loss", &ReconstructionLoss::norm_pix_loss)
      .doc("Whether the original is normalised over its last dimension.");
  s.field("match_min_length", &ReconstructionLoss::match_min_length)
      .doc("Compares the part that both have when the lengths differ; else that is an error.");
  s.field("patch_size", &ReconstructionLoss::patch_size)
      .doc("Patch size, or height and width; null: the square that fills a token.")
      .at_least(1);
  s.field("use_mask_loss", &ReconstructionLoss::use_mask_loss)
      .doc("Whether the third input, a mask, selects the items that count.");
  s.field("inverse_mask", &ReconstructionLoss::inverse_mask).doc("Whether zeros of the mask select.");
  s.field("num_tokens", &ReconstructionLoss::num_tokens)
      .doc("Leading entries of the mask that stand for no item, such as a class token.")
      .at_least(0);
}

nexuml::Shapes ReconstructionLoss::infer(const nexuml::LayerInferContext& context) const {
  if (context.keys_in.size() != 2 && context.keys_in.size() != 3)
    context.fail("keys_in must list the original, the reconstruction and optionally a mask, found " +
                 std::to_string(context.keys_in.size()) + " keys");
  (void)context.input(0), (void)context.input(1);
  return context.single_output(per_sample());
}

std::shared_ptr<nexuml::PipelineLayer> ReconstructionLoss::build(
    const nexuml::LayerBuildContext& context) const {
  return std::make_shared<ReconstructionLossRuntime>(context, *this);
}

}  // namespace nexuml_library
