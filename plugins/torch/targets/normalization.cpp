// BatchNorm, InstanceNorm, LayerNorm, GroupNorm, LocalResponseNorm, CrossMapLRN2d.
#include <fmt/format.h>
#include <nexuml/module.h>
#include <nexuml/registration.h>
#include <torch/nn/functional/normalization.h>
#include <torch/nn/init.h>
#include <torch/nn/modules/batchnorm.h>
#include <torch/nn/modules/instancenorm.h>
#include <torch/nn/modules/normalization.h>

#include "targets/arguments.h"
#include "targets/targets.h"

namespace nexuml::torch_targets {
namespace {

// The fields that batch and instance normalisation share; only two defaults differ.
template <class T>
void describe_running_norm(Schema<T>& s) {
  s.field("num_features", &T::num_features).required().at_least(1);
  s.field("eps", &T::eps).at_least(0);
  s.field("momentum", &T::momentum).doc("Null: a cumulative average.").at_least(0);
  s.field("affine", &T::affine);
  s.field("track_running_stats", &T::track_running_stats);
  describe_placement(s);
}

// Channels are dimension 1. N is the number of spatial dimensions; 1 also takes [batch, channels] where
// `flat` allows.
TensorSpec infer_channels(const TensorSpec& input, std::size_t spatial, bool flat, std::int64_t num_features,
                          const std::string& module) {
  require_floating(input, module.c_str());
  const std::size_t rank = input.shape.size();
  if (!(rank == spatial + 1 || (flat && rank == 1)))
    shapes_do_not_meet(fmt::format("{} needs [batch, channels{}], found [batch, ...] with {}", module,
                                   spatial == 1   ? (flat ? "] or [batch, channels, length" : ", length")
                                   : spatial == 2 ? ", height, width"
                                                  : ", depth, height, width",
                                   to_string(input.shape)));
  require_size(input, 0, num_features, module.c_str(), "num_features");
  return input;
}

template <std::size_t N>
struct BatchNorm {
  std::int64_t num_features = 0;
  double eps = 1e-5;
  std::optional<double> momentum = 0.1;
  bool affine = true;
  bool track_running_stats = true;
  std::optional<std::string> device;
  std::optional<std::string> dtype;

  static void describe(Schema<BatchNorm>& s) {
    s.summary("Normalises each channel over the batch; keeps running statistics for evaluation.");
    describe_running_norm(s);
  }
  std::optional<TensorSpec> infer(const TensorSpec& input) const {
    return infer_channels(input, N, N == 1, num_features, fmt::format("BatchNorm{}d", N));
  }
  std::shared_ptr<TensorModule> build(const ModuleBuildContext&) const {
    const auto options = torch::nn::BatchNormOptions(num_features)
                             .eps(eps)
                             .momentum(momentum)
                             .affine(affine)
                             .track_running_stats(track_running_stats);
    if constexpr (N == 1)
      return tensor_module(torch::nn::BatchNorm1d(options));
    else if constexpr (N == 2)
      return tensor_module(torch::nn::BatchNorm2d(options));
    else
      return tensor_module(torch::nn::BatchNorm3d(options));
  }
};

template <std::size_t N>
struct InstanceNorm {
  std::int64_t num_features = 0;
  double eps = 1e-5;
  std::optional<double> momentum = 0.1;
  bool affine = false;
  bool track_running_stats = false;
  std::optional<std::string> device;
  std::optional<std::string> dtype;

  static void describe(Schema<InstanceNorm>& s) {
    s.summary("Normalises each channel of each sample.");
    describe_running_norm(s);
    s.check([](const InstanceNorm& norm, RuleProblems& problems) {
      if (!norm.momentum) problems.add("momentum", "InstanceNorm needs a momentum");
    });
  }
  std::optional<TensorSpec> infer(const TensorSpec& input) const {
    return infer_channels(input, N, false, num_features, fmt::format("InstanceNorm{}d", N));
  }
  std::shared_ptr<TensorModule> build(const ModuleBuildContext&) const {
    const auto options = torch::nn::InstanceNormOptions(num_features)
                             .eps(eps)
                             .momentum(*momentum)
                             .affine(affine)
                             .track_running_stats(track_running_stats);
    if constexpr (N == 1)
      return tensor_module(torch::nn::InstanceNorm1d(options));
    else if constexpr (N == 2)
      return tensor_module(torch::nn::InstanceNorm2d(options));
    else
      return tensor_module(torch::nn::InstanceNorm3d(options));
  }
};

// LibTorch's LayerNorm cannot leave out the bias; Python's can.
class LayerNormModule final : public torch::nn::Module {
 public:
  LayerNormModule(std::vector<std::int64_t> shape, double eps, bool affine, bool with_bias)
      : shape_(std::move(shape)), eps_(eps) {
    weight_ = register_parameter("weight", affine ? torch::ones(shape_) : torch::Tensor());
    bias_ = register_parameter("bias", affine && with_bias ? torch::zeros(shape_) : torch::Tensor());
  }
  at::Tensor forward(const at::Tensor& input) {
    return torch::layer_norm(input, shape_, weight_, bias_, eps_);
  }

 private:
  std::vector<std::int64_t> shape_;
  double eps_;
  at::Tensor weight_, bias_;
};

struct LayerNorm {
  std::variant<std::int64_t, std::vector<std::int64_t>> normalized_shape = std::int64_t{1};
  double eps = 1e-5;
  bool elementwise_affine = true;
  bool bias = true;
  std::optional<std::string> device;
  std::optional<std::string> dtype;

  static void describe(Schema<LayerNorm>& s) {
    s.summary("Normalises each sample over its last dimensions.");
    s.field("normalized_shape", &LayerNorm::normalized_shape).required().at_least(1).min_size(1);
    s.field("eps", &LayerNorm::eps).at_least(0);
    s.field("elementwise_affine", &LayerNorm::elementwise_affine);
    s.field("bias", &LayerNorm::bias);
    describe_placement(s);
  }
  std::vector<std::int64_t> shape() const {
    if (const auto* size = std::get_if<std::int64_t>(&normalized_shape)) return {*size};
    return std::get<std::vector<std::int64_t>>(normalized_shape);
  }
  std::optional<TensorSpec> infer(const TensorSpec& input) const {
    require_floating(input, "LayerNorm");
    const auto expected = shape();
    if (input.shape.size() < expected.size())
      shapes_do_not_meet(fmt::format("LayerNorm normalises {} dimensions, a sample has {}", expected.size(),
                                     to_string(input.shape)));
    for (std::size_t i = 0; i < expected.size(); ++i)
      require_size(input, input.shape.size() - expected.size() + i, expected[i], "LayerNorm",
                   "normalized_shape");
    return input;
  }
  std::shared_ptr<TensorModule> build(const ModuleBuildContext&) const {
    return tensor_module(std::make_shared<LayerNormModule>(shape(), eps, elementwise_affine, bias));
  }
};

struct GroupNorm {
  std::int64_t num_groups = 1;
  std::int64_t num_channels = 1;
  double eps = 1e-5;
  bool affine = true;
  std::optional<std::string> device;
  std::optional<std::string> dtype;

  static void describe(Schema<GroupNorm>& s) {
    s.summary("Normalises groups of channels of each sample.");
    s.field("num_groups", &GroupNorm::num_groups).required().at_least(1);
    s.field("num_channels", &GroupNorm::num_channels).required().at_least(1);
    s.field("eps", &GroupNorm::eps).at_least(0);
    s.field("affine", &GroupNorm::affine);
    describe_placement(s);
    s.check([](const GroupNorm& norm, RuleProblems& problems) {
      if (norm.num_channels % norm.num_groups != 0)
        problems.add("num_groups", "num_channels must be divisible by num_groups");
    });
  }
  std::optional<TensorSpec> infer(const TensorSpec& input) const {
    require_floating(input, "GroupNorm");
    if (input.shape.empty()) shapes_do_not_meet("GroupNorm needs [batch, channels, ...]");
    require_size(input, 0, num_channels, "GroupNorm", "num_channels");
    return input;
  }
  std::shared_ptr<TensorModule> build(const ModuleBuildContext&) const {
    return tensor_module(
        torch::nn::GroupNorm(torch::nn::GroupNormOptions(num_groups, num_channels).eps(eps).affine(affine)));
  }
};

struct LocalResponseNorm {
  std::int64_t size = 1;
  double alpha = 1e-4;
  double beta = 0.75;
  double k = 1.0;

  static void describe(Schema<LocalResponseNorm>& s) {
    s.summary("Divides by the sum over neighbouring channels.");
    s.field("size", &LocalResponseNorm::size).required().at_least(1);
    s.field("alpha", &LocalResponseNorm::alpha);
    s.field("beta", &LocalResponseNorm::beta);
    s.field("k", &LocalResponseNorm::k);
  }
  std::optional<TensorSpec> infer(const TensorSpec& input) const {
    require_floating(input, "LocalResponseNorm");
    if (input.shape.size() < 2) shapes_do_not_meet("LocalResponseNorm needs [batch, channels, length, ...]");
    return input;
  }
  std::shared_ptr<TensorModule> build(const ModuleBuildContext&) const {
    return tensor_module(
        torch::nn::LocalResponseNorm(torch::nn::LocalResponseNormOptions(size).alpha(alpha).beta(beta).k(k)));
  }
};

struct CrossMapLRN2d {
  std::int64_t size = 1;
  double alpha = 1e-4;
  double beta = 0.75;
  double k = 1.0;

  static void describe(Schema<CrossMapLRN2d>& s) {
    s.summary("Divides by the sum over neighbouring channels of [batch, channels, height, width].");
    s.field("size", &CrossMapLRN2d::size).required().at_least(1);
    s.field("alpha", &CrossMapLRN2d::alpha);
    s.field("beta", &CrossMapLRN2d::beta);
    s.field("k", &CrossMapLRN2d::k);
  }
  std::optional<TensorSpec> infer(const TensorSpec& input) const {
    require_floating(input, "CrossMapLRN2d");
    require_rank(input, 3, "CrossMapLRN2d", "channels, height, width");
    return input;
  }
  std::shared_ptr<TensorModule> build(const ModuleBuildContext&) const {
    return tensor_module(
        torch::nn::CrossMapLRN2d(torch::nn::CrossMapLRN2dOptions(size).alpha(alpha).beta(beta).k(k)));
  }
};

}  // namespace

void register_normalization_targets(Registration& registry) {
  add_module<BatchNorm<1>>(registry, "batchnorm", "BatchNorm1d");
  add_module<BatchNorm<2>>(registry, "batchnorm", "BatchNorm2d");
  add_module<BatchNorm<3>>(registry, "batchnorm", "BatchNorm3d");
  add_module<InstanceNorm<1>>(registry, "instancenorm", "InstanceNorm1d");
  add_module<InstanceNorm<2>>(registry, "instancenorm", "InstanceNorm2d");
  add_module<InstanceNorm<3>>(registry, "instancenorm", "InstanceNorm3d");
  add_module<LayerNorm>(registry, "normalization", "LayerNorm");
  add_module<GroupNorm>(registry, "normalization", "GroupNorm");
  add_module<LocalResponseNorm>(registry, "normalization", "LocalResponseNorm");
  add_module<CrossMapLRN2d>(registry, "normalization", "CrossMapLRN2d");
}

}  // namespace nexuml::torch_targets
