// Conv1d to Conv3d and their transposed forms.
#include <fmt/format.h>
#include <nexuml/module.h>
#include <nexuml/registration.h>
#include <torch/nn/modules/conv.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "targets/arguments.h"
#include "targets/targets.h"

namespace nexuml::torch_targets {
namespace {

constexpr const char* kSpatial[] = {"", "channels, length", "channels, height, width",
                                    "channels, depth, height, width"};

template <std::size_t N>
using Padding = std::variant<std::int64_t, std::array<std::int64_t, N>, std::string>;

torch::nn::detail::conv_padding_mode_t padding_mode_of(const std::string& mode) {
  if (mode == "reflect") return torch::kReflect;
  if (mode == "replicate") return torch::kReplicate;
  if (mode == "circular") return torch::kCircular;
  return torch::kZeros;
}

// Groups must divide both channel counts.
template <class T>
void check_groups(const T& conv, RuleProblems& problems) {
  if (conv.in_channels % conv.groups != 0)
    problems.add("groups",
                 fmt::format("in_channels {} cannot be divided by groups {}", conv.in_channels, conv.groups));
  if (conv.out_channels % conv.groups != 0)
    problems.add("groups", fmt::format("out_channels {} cannot be divided by groups {}", conv.out_channels,
                                       conv.groups));
}

// LibTorch lists the two sides of "same" padding with the first dimension first; the padding of the other
// modes wants the last one first, as Python has it.
template <class Impl>
class SamePaddedConv final : public Impl {
 public:
  template <class Options>
  explicit SamePaddedConv(const Options& given) : Impl(given) {
    std::vector<std::int64_t>& sides = this->_reversed_padding_repeated_twice;
    std::ranges::reverse(sides);
    for (std::size_t i = 0; i < sides.size(); i += 2) std::swap(sides[i], sides[i + 1]);
  }
};

template <std::size_t N>
struct Conv {
  std::int64_t in_channels = 0;
  std::int64_t out_channels = 0;
  Sizes<N> kernel_size = std::int64_t{1};
  Sizes<N> stride = std::int64_t{1};
  Padding<N> padding = std::int64_t{0};
  Sizes<N> dilation = std::int64_t{1};
  std::int64_t groups = 1;
  bool bias = true;
  std::string padding_mode = "zeros";
  std::optional<std::string> device;
  std::optional<std::string> dtype;

  static void describe(Schema<Conv>& s) {
    s.summary("Convolution over [batch, channels, ...].");
    s.field("in_channels", &Conv::in_channels).required().at_least(1);
    s.field("out_channels", &Conv::out_channels).required().at_least(1);
    s.field("kernel_size", &Conv::kernel_size).required().at_least(1);
    s.field("stride", &Conv::stride).at_least(1);
    s.field("padding", &Conv::padding).at_least(0).one_of({"same", "valid"});
    s.field("dilation", &Conv::dilation).at_least(1);
    s.field("groups", &Conv::groups).at_least(1);
    s.field("bias", &Conv::bias);
    s.field("padding_mode", &Conv::padding_mode).one_of({"zeros", "reflect", "replicate", "circular"});
    describe_placement(s);
    s.check(check_groups<Conv>);
    s.check([](const Conv& conv, RuleProblems& problems) {
      const auto strides = each<N>(conv.stride);
      if (conv.same_padding() && std::ranges::any_of(strides, [](auto stride) { return stride != 1; }))
        problems.add("padding", "padding 'same' needs a stride of 1");
    });
  }
  bool same_padding() const {
    const auto* text = std::get_if<std::string>(&padding);
    return text && *text == "same";
  }
  std::array<std::int64_t, N> padding_sizes() const {
    if (const auto* list = std::get_if<std::array<std::int64_t, N>>(&padding)) return *list;
    std::array<std::int64_t, N> result{};
    if (const auto* size = std::get_if<std::int64_t>(&padding)) result.fill(*size);
    return result;
  }
  static std::string name() { return fmt::format("Conv{}d", N); }
  template <class Impl>
  std::shared_ptr<TensorModule> module_of(const torch::nn::ConvOptions<N>& options) const {
    if (same_padding()) return tensor_module(std::make_shared<SamePaddedConv<Impl>>(options));
    return tensor_module(std::make_shared<Impl>(options));
  }

  std::optional<TensorSpec> infer(const TensorSpec& input) const {
    const std::string module = name();
    require_floating(input, module.c_str());
    require_rank(input, N + 1, module.c_str(), kSpatial[N]);
    require_size(input, 0, in_channels, module.c_str(), "in_channels");
    TensorSpec output = input;
    output.shape[0] = out_channels;
    if (same_padding()) return output;
    const auto kernels = each<N>(kernel_size), strides = each<N>(stride), dilations = each<N>(dilation);
    const auto paddings = padding_sizes();
    for (std::size_t i = 0; i < N; ++i)
      output.shape[i + 1] = window_count(input.shape[i + 1], kernels[i], strides[i], paddings[i],
                                         dilations[i], false, module.c_str());
    return output;
  }
  std::shared_ptr<TensorModule> build(const ModuleBuildContext&) const {
    auto options = torch::nn::ConvOptions<N>(in_channels, out_channels, expanding<N>(kernel_size))
                       .stride(expanding<N>(stride))
                       .dilation(expanding<N>(dilation))
                       .groups(groups)
                       .bias(bias);
    if (same_padding())
      options.padding(torch::kSame);
    else
      options.padding(torch::ExpandingArray<N>(padding_sizes()));
    options.padding_mode(padding_mode_of(padding_mode));
    if constexpr (N == 1)
      return module_of<torch::nn::Conv1dImpl>(options);
    else if constexpr (N == 2)
      return module_of<torch::nn::Conv2dImpl>(options);
    else
      return module_of<torch::nn::Conv3dImpl>(options);
  }
};

template <std::size_t N>
struct ConvTranspose {
  std::int64_t in_channels = 0;
  std::int64_t out_channels = 0;
  Sizes<N> kernel_size = std::int64_t{1};
  Sizes<N> stride = std::int64_t{1};
  Sizes<N> padding = std::int64_t{0};
  Sizes<N> output_padding = std::int64_t{0};
  std::int64_t groups = 1;
  bool bias = true;
  Sizes<N> dilation = std::int64_t{1};
  std::string padding_mode = "zeros";
  std::optional<std::string> device;
  std::optional<std::string> dtype;

  static void describe(Schema<ConvTranspose>& s) {
    s.summary("Transposed convolution over [batch, channels, ...].");
    s.field("in_channels", &ConvTranspose::in_channels).required().at_least(1);
    s.field("out_channels", &ConvTranspose::out_channels).required().at_least(1);
    s.field("kernel_size", &ConvTranspose::kernel_size).required().at_least(1);
    s.field("stride", &ConvTranspose::stride).at_least(1);
    s.field("padding", &ConvTranspose::padding).at_least(0);
    s.field("output_padding", &ConvTranspose::output_padding).at_least(0);
    s.field("groups", &ConvTranspose::groups).at_least(1);
    s.field("bias", &ConvTranspose::bias);
    s.field("dilation", &ConvTranspose::dilation).at_least(1);
    s.field("padding_mode", &ConvTranspose::padding_mode).one_of({"zeros"});
    describe_placement(s);
    s.check(check_groups<ConvTranspose>);
    s.check([](const ConvTranspose& conv, RuleProblems& problems) {
      const auto strides = each<N>(conv.stride), dilations = each<N>(conv.dilation);
      const auto extra = each<N>(conv.output_padding);
      for (std::size_t i = 0; i < N; ++i)
        if (extra[i] >= std::max(strides[i], dilations[i])) {
          problems.add("output_padding", "output_padding must be smaller than stride or dilation");
          return;
        }
    });
  }

  // (size - 1) stride - 2 padding + dilation (kernel - 1) + output_padding + 1
  std::optional<TensorSpec> infer(const TensorSpec& input) const {
    const std::string module = fmt::format("ConvTranspose{}d", N);
    require_floating(input, module.c_str());
    require_rank(input, N + 1, module.c_str(), kSpatial[N]);
    require_size(input, 0, in_channels, module.c_str(), "in_channels");
    TensorSpec output = input;
    output.shape[0] = out_channels;
    const auto kernels = each<N>(kernel_size), strides = each<N>(stride), paddings = each<N>(padding);
    const auto dilations = each<N>(dilation), extra = each<N>(output_padding);
    for (std::size_t i = 0; i < N; ++i) {
      std::int64_t& size = output.shape[i + 1];
      if (size == unknown_size) continue;
      size = (size - 1) * strides[i] - 2 * paddings[i] + dilations[i] * (kernels[i] - 1) + extra[i] + 1;
      if (size < 1) shapes_do_not_meet(fmt::format("{}: the padding leaves no output", module));
    }
    return output;
  }
  std::shared_ptr<TensorModule> build(const ModuleBuildContext&) const {
    const auto options =
        torch::nn::ConvTransposeOptions<N>(in_channels, out_channels, expanding<N>(kernel_size))
            .stride(expanding<N>(stride))
            .padding(expanding<N>(padding))
            .output_padding(expanding<N>(output_padding))
            .groups(groups)
            .bias(bias)
            .dilation(expanding<N>(dilation));
    if constexpr (N == 1)
      return tensor_module(torch::nn::ConvTranspose1d(options));
    else if constexpr (N == 2)
      return tensor_module(torch::nn::ConvTranspose2d(options));
    else
      return tensor_module(torch::nn::ConvTranspose3d(options));
  }
};

}  // namespace

void register_convolution_targets(Registration& registry) {
  add_module<Conv<1>>(registry, "conv", "Conv1d");
  add_module<Conv<2>>(registry, "conv", "Conv2d");
  add_module<Conv<3>>(registry, "conv", "Conv3d");
  add_module<ConvTranspose<1>>(registry, "conv", "ConvTranspose1d");
  add_module<ConvTranspose<2>>(registry, "conv", "ConvTranspose2d");
  add_module<ConvTranspose<3>>(registry, "conv", "ConvTranspose3d");
}

}  // namespace nexuml::torch_targets
