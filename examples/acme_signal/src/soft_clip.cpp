#include "soft_clip.h"

#include <nexuml/diagnostic.h>
#include <nexuml/module.h>

namespace acme {

namespace {

// limit * tanh(scale * x / limit)
class SoftClipModule final : public torch::nn::Module {
 public:
  SoftClipModule(std::int64_t features, double limit) : limit_(limit) {
    scale_ = register_parameter("scale", torch::ones({features}));
  }
  at::Tensor forward(const at::Tensor& input) { return limit_ * torch::tanh(input * scale_ / limit_); }

 private:
  double limit_;
  at::Tensor scale_;  // [features]
};

}  // namespace

void SoftClip::describe(nexuml::Schema<SoftClip>& s) {
  s.summary("Limits values smoothly, with a learned scale for each feature.");
  s.field("features", &SoftClip::features).doc("Size of the last dimension.").at_least(1).required();
  s.field("limit", &SoftClip::limit).doc("Largest magnitude that comes out.").greater_than(0);
}

std::optional<nexuml::TensorSpec> SoftClip::infer(const nexuml::TensorSpec& input) const {
  if (input.shape.empty() || input.shape.back() != features)
    throw nexuml::Error("E807", "SoftClip expects a last dimension of " + std::to_string(features) +
                                    ", found " + nexuml::to_string(input));
  return input;
}

std::shared_ptr<nexuml::TensorModule> SoftClip::build(const nexuml::ModuleBuildContext&) const {
  return nexuml::tensor_module(std::make_shared<SoftClipModule>(features, limit));
}

}  // namespace acme
