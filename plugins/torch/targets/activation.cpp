// Activations: element by element, and those over a dimension.
#include <torch/nn/modules/activation.h>

#include <fmt/format.h>

#include <nexuml/module.h>
#include <nexuml/registration.h>

#include "targets/arguments.h"
#include "targets/targets.h"

namespace nexuml::torch_targets {
namespace {

// Keeps the shape of floating-point input.
TensorSpec elementwise(const TensorSpec& input, const char* module) {
  require_floating(input, module);
  return input;
}

// Activations whose only argument is `inplace`.
template <class Holder, class Options>
struct InplaceActivation {
  bool inplace = false;

  static void describe(Schema<InplaceActivation>& s) { s.field("inplace", &InplaceActivation::inplace); }
  std::optional<TensorSpec> infer(const TensorSpec& input) const { return elementwise(input, "the activation"); }
  std::shared_ptr<TensorModule> build(const ModuleBuildContext&) const {
    return tensor_module(Holder(Options().inplace(inplace)));
  }
};

// Activations without arguments.
template <class Holder>
struct PlainActivation {
  static void describe(Schema<PlainActivation>&) {}
  std::optional<TensorSpec> infer(const TensorSpec& input) const { return elementwise(input, "the activation"); }
  std::shared_ptr<TensorModule> build(const ModuleBuildContext&) const { return tensor_module(Holder()); }
};

// Functions for which the C++ frontend has no module.
class FunctionModule final : public torch::nn::Module {
 public:
  explicit FunctionModule(std::function<at::Tensor(const at::Tensor&)> function) : function_(std::move(function)) {}
  at::Tensor forward(const at::Tensor& input) { return function_(input); }

 private:
  std::function<at::Tensor(const at::Tensor&)> function_;
};

std::shared_ptr<TensorModule> function_module(std::function<at::Tensor(const at::Tensor&)> function) {
  return tensor_module(std::make_shared<FunctionModule>(std::move(function)));
}

struct SiLU {
  bool inplace = false;

  static void describe(Schema<SiLU>& s) { s.field("inplace", &SiLU::inplace); }
  std::optional<TensorSpec> infer(const TensorSpec& input) const { return elementwise(input, "SiLU"); }
  std::shared_ptr<TensorModule> build(const ModuleBuildContext&) const {
    if (!inplace) return tensor_module(torch::nn::SiLU());
    return function_module([](const at::Tensor& input) { return at::silu_(const_cast<at::Tensor&>(input)); });
  }
};

struct Mish {
  bool inplace = false;

  static void describe(Schema<Mish>& s) { s.field("inplace", &Mish::inplace); }
  std::optional<TensorSpec> infer(const TensorSpec& input) const { return elementwise(input, "Mish"); }
  std::shared_ptr<TensorModule> build(const ModuleBuildContext&) const {
    if (!inplace) return tensor_module(torch::nn::Mish());
    return function_module([](const at::Tensor& input) { return at::mish_(const_cast<at::Tensor&>(input)); });
  }
};

struct Hardswish {
  bool inplace = false;

  static void describe(Schema<Hardswish>& s) { s.field("inplace", &Hardswish::inplace); }
  std::optional<TensorSpec> infer(const TensorSpec& input) const { return elementwise(input, "Hardswish"); }
  std::shared_ptr<TensorModule> build(const ModuleBuildContext&) const {
    return function_module([inplace = inplace](const at::Tensor& input) {
      return inplace ? at::hardswish_(const_cast<at::Tensor&>(input)) : at::hardswish(input);
    });
  }
};

struct Hardsigmoid {
  bool inplace = false;

  static void describe(Schema<Hardsigmoid>& s) { s.field("inplace", &Hardsigmoid::inplace); }
  std::optional<TensorSpec> infer(const TensorSpec& input) const { return elementwise(input, "Hardsigmoid"); }
  std::shared_ptr<TensorModule> build(const ModuleBuildContext&) const {
    return function_module([inplace = inplace](const at::Tensor& input) {
      return inplace ? at::hardsigmoid_(const_cast<at::Tensor&>(input)) : at::hardsigmoid(input);
    });
  }
};

struct LeakyReLU {
  double negative_slope = 0.01;
  bool inplace = false;

  static void describe(Schema<LeakyReLU>& s) {
    s.field("negative_slope", &LeakyReLU::negative_slope);
    s.field("inplace", &LeakyReLU::inplace);
  }
  std::optional<TensorSpec> infer(const TensorSpec& input) const { return elementwise(input, "LeakyReLU"); }
  std::shared_ptr<TensorModule> build(const ModuleBuildContext&) const {
    return tensor_module(
        torch::nn::LeakyReLU(torch::nn::LeakyReLUOptions().negative_slope(negative_slope).inplace(inplace)));
  }
};

struct ELU {
  double alpha = 1.0;
  bool inplace = false;

  static void describe(Schema<ELU>& s) {
    s.field("alpha", &ELU::alpha);
    s.field("inplace", &ELU::inplace);
  }
  std::optional<TensorSpec> infer(const TensorSpec& input) const { return elementwise(input, "ELU"); }
  std::shared_ptr<TensorModule> build(const ModuleBuildContext&) const {
    return tensor_module(torch::nn::ELU(torch::nn::ELUOptions().alpha(alpha).inplace(inplace)));
  }
};

struct CELU {
  double alpha = 1.0;
  bool inplace = false;

  static void describe(Schema<CELU>& s) {
    s.field("alpha", &CELU::alpha);
    s.field("inplace", &CELU::inplace);
    s.check([](const CELU& celu, RuleProblems& problems) {
      if (celu.alpha == 0) problems.add("alpha", "alpha must not be 0");
    });
  }
  std::optional<TensorSpec> infer(const TensorSpec& input) const { return elementwise(input, "CELU"); }
  std::shared_ptr<TensorModule> build(const ModuleBuildContext&) const {
    return tensor_module(torch::nn::CELU(torch::nn::CELUOptions().alpha(alpha).inplace(inplace)));
  }
};

struct GELU {
  std::string approximate = "none";

  static void describe(Schema<GELU>& s) { s.field("approximate", &GELU::approximate).one_of({"none", "tanh"}); }
  std::optional<TensorSpec> infer(const TensorSpec& input) const { return elementwise(input, "GELU"); }
  std::shared_ptr<TensorModule> build(const ModuleBuildContext&) const {
    return tensor_module(torch::nn::GELU(torch::nn::GELUOptions().approximate(approximate)));
  }
};

struct Hardtanh {
  double min_val = -1.0;
  double max_val = 1.0;
  bool inplace = false;

  static void describe(Schema<Hardtanh>& s) {
    s.field("min_val", &Hardtanh::min_val);
    s.field("max_val", &Hardtanh::max_val);
    s.field("inplace", &Hardtanh::inplace);
    s.check([](const Hardtanh& hardtanh, RuleProblems& problems) {
      if (!(hardtanh.max_val > hardtanh.min_val)) problems.add("max_val", "max_val must be greater than min_val");
    });
  }
  std::optional<TensorSpec> infer(const TensorSpec& input) const { return elementwise(input, "Hardtanh"); }
  std::shared_ptr<TensorModule> build(const ModuleBuildContext&) const {
    return tensor_module(
        torch::nn::Hardtanh(torch::nn::HardtanhOptions().min_val(min_val).max_val(max_val).inplace(inplace)));
  }
};

struct Hardshrink {
  double lambd = 0.5;

  static void describe(Schema<Hardshrink>& s) { s.field("lambd", &Hardshrink::lambd); }
  std::optional<TensorSpec> infer(const TensorSpec& input) const { return elementwise(input, "Hardshrink"); }
  std::shared_ptr<TensorModule> build(const ModuleBuildContext&) const {
    return tensor_module(torch::nn::Hardshrink(torch::nn::HardshrinkOptions(lambd)));
  }
};

struct Softshrink {
  double lambd = 0.5;

  static void describe(Schema<Softshrink>& s) { s.field("lambd", &Softshrink::lambd).at_least(0); }
  std::optional<TensorSpec> infer(const TensorSpec& input) const { return elementwise(input, "Softshrink"); }
  std::shared_ptr<TensorModule> build(const ModuleBuildContext&) const {
    return tensor_module(torch::nn::Softshrink(torch::nn::SoftshrinkOptions(lambd)));
  }
};

struct Softplus {
  double beta = 1.0;
  double threshold = 20.0;

  static void describe(Schema<Softplus>& s) {
    s.field("beta", &Softplus::beta);
    s.field("threshold", &Softplus::threshold);
  }
  std::optional<TensorSpec> infer(const TensorSpec& input) const { return elementwise(input, "Softplus"); }
  std::shared_ptr<TensorModule> build(const ModuleBuildContext&) const {
    return tensor_module(torch::nn::Softplus(torch::nn::SoftplusOptions().beta(beta).threshold(threshold)));
  }
};

struct Threshold {
  double threshold = 0;
  double value = 0;
  bool inplace = false;

  static void describe(Schema<Threshold>& s) {
    s.field("threshold", &Threshold::threshold).required();
    s.field("value", &Threshold::value).required();
    s.field("inplace", &Threshold::inplace);
  }
  std::optional<TensorSpec> infer(const TensorSpec& input) const { return elementwise(input, "Threshold"); }
  std::shared_ptr<TensorModule> build(const ModuleBuildContext&) const {
    return tensor_module(torch::nn::Threshold(torch::nn::ThresholdOptions(threshold, value).inplace(inplace)));
  }
};

struct RReLU {
  double lower = 1.0 / 8;
  double upper = 1.0 / 3;
  bool inplace = false;

  static void describe(Schema<RReLU>& s) {
    s.field("lower", &RReLU::lower);
    s.field("upper", &RReLU::upper);
    s.field("inplace", &RReLU::inplace);
    s.check([](const RReLU& rrelu, RuleProblems& problems) {
      if (rrelu.lower > rrelu.upper) problems.add("lower", "lower must not be greater than upper");
    });
  }
  std::optional<TensorSpec> infer(const TensorSpec& input) const { return elementwise(input, "RReLU"); }
  std::shared_ptr<TensorModule> build(const ModuleBuildContext&) const {
    return tensor_module(torch::nn::RReLU(torch::nn::RReLUOptions().lower(lower).upper(upper).inplace(inplace)));
  }
};

struct PReLU {
  std::int64_t num_parameters = 1;
  double init = 0.25;
  std::optional<std::string> device;
  std::optional<std::string> dtype;

  static void describe(Schema<PReLU>& s) {
    s.field("num_parameters", &PReLU::num_parameters).at_least(1);
    s.field("init", &PReLU::init);
    describe_placement(s);
  }
  std::optional<TensorSpec> infer(const TensorSpec& input) const {
    if (num_parameters != 1) {
      if (input.shape.empty()) shapes_do_not_meet("PReLU needs [batch, channels, ...]");
      require_size(input, 0, num_parameters, "PReLU", "num_parameters");
    }
    return elementwise(input, "PReLU");
  }
  std::shared_ptr<TensorModule> build(const ModuleBuildContext&) const {
    return tensor_module(torch::nn::PReLU(torch::nn::PReLUOptions().num_parameters(num_parameters).init(init)));
  }
};

struct GLU {
  std::int64_t dim = -1;

  static void describe(Schema<GLU>& s) { s.field("dim", &GLU::dim); }
  std::optional<TensorSpec> infer(const TensorSpec& input) const {
    TensorSpec output = elementwise(input, "GLU");
    std::int64_t& size = output.shape[sample_dimension(input, dim, "GLU")];
    if (size == unknown_size) return output;
    if (size % 2 != 0) shapes_do_not_meet(fmt::format("GLU halves dimension {}, its size {} is odd", dim, size));
    size /= 2;
    return output;
  }
  std::shared_ptr<TensorModule> build(const ModuleBuildContext&) const {
    return tensor_module(torch::nn::GLU(torch::nn::GLUOptions(dim)));
  }
};

// The dimension that Python takes when none is given: 0 for 0, 1 and 3 dimensions, else 1.
std::int64_t implicit_softmax_dim(std::int64_t dimensions) {
  return dimensions == 0 || dimensions == 1 || dimensions == 3 ? 0 : 1;
}

enum class SoftmaxForm { softmax, softmin, log_softmax };

template <SoftmaxForm Form>
struct SoftmaxOver {
  std::optional<std::int64_t> dim;

  static void describe(Schema<SoftmaxOver>& s) {
    s.summary("Normalises over one dimension, counted with the batch as 0.");
    s.field("dim", &SoftmaxOver::dim).doc("Null: 0 for tensors of 0, 1 or 3 dimensions, else 1.");
  }
  std::optional<TensorSpec> infer(const TensorSpec& input) const {
    const auto rank = static_cast<std::int64_t>(input.shape.size()) + 1;
    (void)sample_dimension(input, dim.value_or(implicit_softmax_dim(rank)), "Softmax");
    return elementwise(input, "Softmax");
  }
  std::shared_ptr<TensorModule> build(const ModuleBuildContext&) const {
    return function_module([dim = dim](const at::Tensor& input) {
      const std::int64_t over = dim.value_or(implicit_softmax_dim(input.dim()));
      if constexpr (Form == SoftmaxForm::softmin)
        return at::softmax(-input, over);
      else if constexpr (Form == SoftmaxForm::log_softmax)
        return at::log_softmax(input, over);
      else
        return at::softmax(input, over);
    });
  }
};

struct Softmax2d {
  static void describe(Schema<Softmax2d>&) {}
  std::optional<TensorSpec> infer(const TensorSpec& input) const {
    require_rank(input, 3, "Softmax2d", "channels, height, width");
    return elementwise(input, "Softmax2d");
  }
  std::shared_ptr<TensorModule> build(const ModuleBuildContext&) const {
    return tensor_module(torch::nn::Softmax2d());
  }
};

template <class T>
void add_activation(Registration& registry, const std::string& name) {
  add_module<T>(registry, "activation", name);
}

}  // namespace

void register_activation_targets(Registration& registry) {
  using namespace torch::nn;
  add_activation<InplaceActivation<torch::nn::ReLU, ReLUOptions>>(registry, "ReLU");
  add_activation<InplaceActivation<torch::nn::ReLU6, ReLU6Options>>(registry, "ReLU6");
  add_activation<InplaceActivation<torch::nn::SELU, SELUOptions>>(registry, "SELU");
  add_activation<PlainActivation<torch::nn::Tanh>>(registry, "Tanh");
  add_activation<PlainActivation<torch::nn::Sigmoid>>(registry, "Sigmoid");
  add_activation<PlainActivation<torch::nn::LogSigmoid>>(registry, "LogSigmoid");
  add_activation<PlainActivation<torch::nn::Softsign>>(registry, "Softsign");
  add_activation<PlainActivation<torch::nn::Tanhshrink>>(registry, "Tanhshrink");
  add_activation<torch_targets::SiLU>(registry, "SiLU");
  add_activation<torch_targets::Mish>(registry, "Mish");
  add_activation<torch_targets::GELU>(registry, "GELU");
  add_activation<torch_targets::LeakyReLU>(registry, "LeakyReLU");
  add_activation<torch_targets::ELU>(registry, "ELU");
  add_activation<torch_targets::CELU>(registry, "CELU");
  add_activation<torch_targets::Hardtanh>(registry, "Hardtanh");
  add_activation<Hardswish>(registry, "Hardswish");
  add_activation<Hardsigmoid>(registry, "Hardsigmoid");
  add_activation<torch_targets::Hardshrink>(registry, "Hardshrink");
  add_activation<torch_targets::Softshrink>(registry, "Softshrink");
  add_activation<torch_targets::Softplus>(registry, "Softplus");
  add_activation<torch_targets::Threshold>(registry, "Threshold");
  add_activation<torch_targets::RReLU>(registry, "RReLU");
  add_activation<torch_targets::PReLU>(registry, "PReLU");
  add_activation<torch_targets::GLU>(registry, "GLU");
  add_activation<SoftmaxOver<SoftmaxForm::softmax>>(registry, "Softmax");
  add_activation<SoftmaxOver<SoftmaxForm::softmin>>(registry, "Softmin");
  add_activation<SoftmaxOver<SoftmaxForm::log_softmax>>(registry, "LogSoftmax");
  add_activation<torch_targets::Softmax2d>(registry, "Softmax2d");
}

}  // namespace nexuml::torch_targets
