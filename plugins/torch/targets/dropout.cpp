// Dropout in its five forms.
#include <torch/nn/modules/dropout.h>

#include <nexuml/module.h>
#include <nexuml/registration.h>

#include "targets/arguments.h"
#include "targets/targets.h"

namespace nexuml::torch_targets {
namespace {

// `MinRank`: the dimensions besides the batch that the form needs at least (channel-wise forms drop whole channels).
template <class Holder, class Options, std::size_t MinRank>
struct DropoutOf {
  double p = 0.5;
  bool inplace = false;

  static void describe(Schema<DropoutOf>& s) {
    s.summary("In training, zeroes elements or channels with probability p; otherwise gives its input back.");
    s.field("p", &DropoutOf::p).at_least(0).at_most(1);
    s.field("inplace", &DropoutOf::inplace);
  }
  std::optional<TensorSpec> infer(const TensorSpec& input) const {
    require_floating(input, "Dropout");
    if (input.shape.size() < MinRank) shapes_do_not_meet("this dropout needs [batch, channels, ...]");
    return input;
  }
  std::shared_ptr<TensorModule> build(const ModuleBuildContext&) const {
    return tensor_module(Holder(Options().p(p).inplace(inplace)));
  }
};

}  // namespace

void register_dropout_targets(Registration& registry) {
  using namespace torch::nn;
  add_module<DropoutOf<Dropout, DropoutOptions, 0>>(registry, "dropout", "Dropout");
  add_module<DropoutOf<Dropout2d, Dropout2dOptions, 2>>(registry, "dropout", "Dropout2d");
  add_module<DropoutOf<Dropout3d, Dropout3dOptions, 3>>(registry, "dropout", "Dropout3d");
  add_module<DropoutOf<AlphaDropout, AlphaDropoutOptions, 0>>(registry, "dropout", "AlphaDropout");
  add_module<DropoutOf<FeatureAlphaDropout, FeatureAlphaDropoutOptions, 1>>(registry, "dropout",
                                                                           "FeatureAlphaDropout");
}

}  // namespace nexuml::torch_targets
