// Pools over the spatial dimensions of [batch, channels, ...].
#include <fmt/format.h>
#include <nexuml/module.h>
#include <nexuml/registration.h>
#include <torch/nn/modules/pooling.h>

#include "targets/arguments.h"
#include "targets/targets.h"

namespace nexuml::torch_targets {
namespace {

constexpr const char* kPooled[] = {"", "channels, length", "channels, height, width",
                                   "channels, depth, height, width"};

template <class T>
void refuse_indices(const T& pool, RuleProblems& problems) {
  if (pool.return_indices)
    problems.add("return_indices", "a module gives one tensor: indices cannot be returned");
}

// torch refuses padding beyond half of the window.
template <std::size_t N>
bool padding_within_half(const Sizes<N>& padding, const Sizes<N>& kernel) {
  const auto paddings = each<N>(padding), kernels = each<N>(kernel);
  for (std::size_t i = 0; i < N; ++i)
    if (paddings[i] > kernels[i] / 2) return false;
  return true;
}

template <std::size_t N>
struct MaxPool {
  Sizes<N> kernel_size = std::int64_t{1};
  std::optional<Sizes<N>> stride;
  Sizes<N> padding = std::int64_t{0};
  Sizes<N> dilation = std::int64_t{1};
  bool return_indices = false;
  bool ceil_mode = false;

  static void describe(Schema<MaxPool>& s) {
    s.summary("The maximum of each window.");
    s.field("kernel_size", &MaxPool::kernel_size).required().at_least(1);
    s.field("stride", &MaxPool::stride).doc("Null: kernel_size.").at_least(1);
    s.field("padding", &MaxPool::padding).at_least(0);
    s.field("dilation", &MaxPool::dilation).at_least(1);
    s.field("return_indices", &MaxPool::return_indices);
    s.field("ceil_mode", &MaxPool::ceil_mode);
    s.check(refuse_indices<MaxPool>);
    s.check([](const MaxPool& pool, RuleProblems& problems) {
      if (!padding_within_half<N>(pool.padding, pool.kernel_size))
        problems.add("padding", "padding must be at most half of kernel_size");
    });
  }
  std::optional<TensorSpec> infer(const TensorSpec& input) const {
    const std::string module = fmt::format("MaxPool{}d", N);
    require_rank(input, N + 1, module.c_str(), kPooled[N]);
    const auto kernels = each<N>(kernel_size), strides = each<N>(stride.value_or(kernel_size));
    const auto paddings = each<N>(padding), dilations = each<N>(dilation);
    TensorSpec output = input;
    for (std::size_t i = 0; i < N; ++i)
      output.shape[i + 1] = window_count(input.shape[i + 1], kernels[i], strides[i], paddings[i],
                                         dilations[i], ceil_mode, module.c_str());
    return output;
  }
  std::shared_ptr<TensorModule> build(const ModuleBuildContext&) const {
    const auto options = torch::nn::MaxPoolOptions<N>(expanding<N>(kernel_size))
                             .stride(expanding<N>(stride.value_or(kernel_size)))
                             .padding(expanding<N>(padding))
                             .dilation(expanding<N>(dilation))
                             .ceil_mode(ceil_mode);
    if constexpr (N == 1)
      return tensor_module(torch::nn::MaxPool1d(options));
    else if constexpr (N == 2)
      return tensor_module(torch::nn::MaxPool2d(options));
    else
      return tensor_module(torch::nn::MaxPool3d(options));
  }
};

template <std::size_t N>
TensorSpec average_pooled(const TensorSpec& input, const Sizes<N>& kernel, const Sizes<N>& stride,
                          const Sizes<N>& padding, bool ceil_mode) {
  const std::string module = fmt::format("AvgPool{}d", N);
  require_floating(input, module.c_str());
  require_rank(input, N + 1, module.c_str(), kPooled[N]);
  const auto kernels = each<N>(kernel), strides = each<N>(stride), paddings = each<N>(padding);
  TensorSpec output = input;
  for (std::size_t i = 0; i < N; ++i)
    output.shape[i + 1] =
        window_count(input.shape[i + 1], kernels[i], strides[i], paddings[i], 1, ceil_mode, module.c_str());
  return output;
}

struct AvgPool1d {
  Sizes<1> kernel_size = std::int64_t{1};
  std::optional<Sizes<1>> stride;
  Sizes<1> padding = std::int64_t{0};
  bool ceil_mode = false;
  bool count_include_pad = true;

  static void describe(Schema<AvgPool1d>& s) {
    s.summary("The mean of each window.");
    s.field("kernel_size", &AvgPool1d::kernel_size).required().at_least(1);
    s.field("stride", &AvgPool1d::stride).doc("Null: kernel_size.").at_least(1);
    s.field("padding", &AvgPool1d::padding).at_least(0);
    s.field("ceil_mode", &AvgPool1d::ceil_mode);
    s.field("count_include_pad", &AvgPool1d::count_include_pad);
    s.check([](const AvgPool1d& pool, RuleProblems& problems) {
      if (!padding_within_half<1>(pool.padding, pool.kernel_size))
        problems.add("padding", "padding must be at most half of kernel_size");
    });
  }
  std::optional<TensorSpec> infer(const TensorSpec& input) const {
    return average_pooled<1>(input, kernel_size, stride.value_or(kernel_size), padding, ceil_mode);
  }
  std::shared_ptr<TensorModule> build(const ModuleBuildContext&) const {
    return tensor_module(torch::nn::AvgPool1d(torch::nn::AvgPool1dOptions(expanding<1>(kernel_size))
                                                  .stride(expanding<1>(stride.value_or(kernel_size)))
                                                  .padding(expanding<1>(padding))
                                                  .ceil_mode(ceil_mode)
                                                  .count_include_pad(count_include_pad)));
  }
};

template <std::size_t N>
struct AvgPool {
  Sizes<N> kernel_size = std::int64_t{1};
  std::optional<Sizes<N>> stride;
  Sizes<N> padding = std::int64_t{0};
  bool ceil_mode = false;
  bool count_include_pad = true;
  std::optional<std::int64_t> divisor_override;

  static void describe(Schema<AvgPool>& s) {
    s.summary("The mean of each window.");
    s.field("kernel_size", &AvgPool::kernel_size).required().at_least(1);
    s.field("stride", &AvgPool::stride).doc("Null: kernel_size.").at_least(1);
    s.field("padding", &AvgPool::padding).at_least(0);
    s.field("ceil_mode", &AvgPool::ceil_mode);
    s.field("count_include_pad", &AvgPool::count_include_pad);
    s.field("divisor_override", &AvgPool::divisor_override).at_least(1);
    s.check([](const AvgPool& pool, RuleProblems& problems) {
      if (!padding_within_half<N>(pool.padding, pool.kernel_size))
        problems.add("padding", "padding must be at most half of kernel_size");
    });
  }
  std::optional<TensorSpec> infer(const TensorSpec& input) const {
    return average_pooled<N>(input, kernel_size, stride.value_or(kernel_size), padding, ceil_mode);
  }
  std::shared_ptr<TensorModule> build(const ModuleBuildContext&) const {
    auto options = torch::nn::AvgPoolOptions<N>(expanding<N>(kernel_size))
                       .stride(expanding<N>(stride.value_or(kernel_size)))
                       .padding(expanding<N>(padding))
                       .ceil_mode(ceil_mode)
                       .count_include_pad(count_include_pad);
    if (divisor_override) options.divisor_override(*divisor_override);
    if constexpr (N == 2)
      return tensor_module(torch::nn::AvgPool2d(options));
    else
      return tensor_module(torch::nn::AvgPool3d(options));
  }
};

// An output size, or null for "as the input", once or per dimension.
template <std::size_t N>
using OutputSizes = std::variant<std::int64_t, std::array<std::optional<std::int64_t>, N>>;

template <std::size_t N>
std::array<std::optional<std::int64_t>, N> each_output(const OutputSizes<N>& sizes) {
  if (const auto* list = std::get_if<std::array<std::optional<std::int64_t>, N>>(&sizes)) return *list;
  std::array<std::optional<std::int64_t>, N> result;
  result.fill(std::get<std::int64_t>(sizes));
  return result;
}

template <std::size_t N>
TensorSpec adapted(const TensorSpec& input, const OutputSizes<N>& sizes, const std::string& module) {
  require_floating(input, module.c_str());
  require_rank(input, N + 1, module.c_str(), kPooled[N]);
  const auto outputs = each_output<N>(sizes);
  TensorSpec output = input;
  for (std::size_t i = 0; i < N; ++i)
    if (outputs[i]) output.shape[i + 1] = *outputs[i];
  return output;
}

template <std::size_t N, class Options>
Options adaptive_options(const OutputSizes<N>& sizes) {
  const auto outputs = each_output<N>(sizes);
  if constexpr (N == 1) {
    return Options(torch::ExpandingArray<1>(*outputs[0]));
  } else {
    std::array<std::optional<std::int64_t>, N> array = outputs;
    return Options(torch::ExpandingArrayWithOptionalElem<N>(array));
  }
}

template <std::size_t N>
void require_one_dimensional_size(const OutputSizes<N>& sizes, RuleProblems& problems) {
  if constexpr (N == 1)
    if (!each_output<N>(sizes)[0])
      problems.add("output_size", "the output size of one dimension cannot be null");
}

template <std::size_t N>
struct AdaptiveAvgPool {
  OutputSizes<N> output_size = std::int64_t{1};

  static void describe(Schema<AdaptiveAvgPool>& s) {
    s.summary("Means over windows chosen so that the output has the given size.");
    s.field("output_size", &AdaptiveAvgPool::output_size).required().at_least(1);
    s.check([](const AdaptiveAvgPool& pool, RuleProblems& problems) {
      require_one_dimensional_size<N>(pool.output_size, problems);
    });
  }
  std::optional<TensorSpec> infer(const TensorSpec& input) const {
    return adapted<N>(input, output_size, fmt::format("AdaptiveAvgPool{}d", N));
  }
  std::shared_ptr<TensorModule> build(const ModuleBuildContext&) const {
    if constexpr (N == 1)
      return tensor_module(torch::nn::AdaptiveAvgPool1d(
          adaptive_options<1, torch::nn::AdaptiveAvgPool1dOptions>(output_size)));
    else if constexpr (N == 2)
      return tensor_module(torch::nn::AdaptiveAvgPool2d(
          adaptive_options<2, torch::nn::AdaptiveAvgPool2dOptions>(output_size)));
    else
      return tensor_module(torch::nn::AdaptiveAvgPool3d(
          adaptive_options<3, torch::nn::AdaptiveAvgPool3dOptions>(output_size)));
  }
};

template <std::size_t N>
struct AdaptiveMaxPool {
  OutputSizes<N> output_size = std::int64_t{1};
  bool return_indices = false;

  static void describe(Schema<AdaptiveMaxPool>& s) {
    s.summary("Maxima over windows chosen so that the output has the given size.");
    s.field("output_size", &AdaptiveMaxPool::output_size).required().at_least(1);
    s.field("return_indices", &AdaptiveMaxPool::return_indices);
    s.check(refuse_indices<AdaptiveMaxPool>);
    s.check([](const AdaptiveMaxPool& pool, RuleProblems& problems) {
      require_one_dimensional_size<N>(pool.output_size, problems);
    });
  }
  std::optional<TensorSpec> infer(const TensorSpec& input) const {
    return adapted<N>(input, output_size, fmt::format("AdaptiveMaxPool{}d", N));
  }
  std::shared_ptr<TensorModule> build(const ModuleBuildContext&) const {
    if constexpr (N == 1)
      return tensor_module(torch::nn::AdaptiveMaxPool1d(
          adaptive_options<1, torch::nn::AdaptiveMaxPool1dOptions>(output_size)));
    else if constexpr (N == 2)
      return tensor_module(torch::nn::AdaptiveMaxPool2d(
          adaptive_options<2, torch::nn::AdaptiveMaxPool2dOptions>(output_size)));
    else
      return tensor_module(torch::nn::AdaptiveMaxPool3d(
          adaptive_options<3, torch::nn::AdaptiveMaxPool3dOptions>(output_size)));
  }
};

template <std::size_t N>
struct LPPool {
  double norm_type = 2.0;
  Sizes<N> kernel_size = std::int64_t{1};
  std::optional<Sizes<N>> stride;
  bool ceil_mode = false;

  static void describe(Schema<LPPool>& s) {
    s.summary("The p-norm of each window, p = norm_type.");
    s.field("norm_type", &LPPool::norm_type).required().greater_than(0);
    s.field("kernel_size", &LPPool::kernel_size).required().at_least(1);
    s.field("stride", &LPPool::stride).doc("Null: kernel_size.").at_least(1);
    s.field("ceil_mode", &LPPool::ceil_mode);
  }
  std::optional<TensorSpec> infer(const TensorSpec& input) const {
    return average_pooled<N>(input, kernel_size, stride.value_or(kernel_size), std::int64_t{0}, ceil_mode);
  }
  std::shared_ptr<TensorModule> build(const ModuleBuildContext&) const {
    const auto options = torch::nn::LPPoolOptions<N>(norm_type, expanding<N>(kernel_size))
                             .stride(expanding<N>(stride.value_or(kernel_size)))
                             .ceil_mode(ceil_mode);
    if constexpr (N == 1)
      return tensor_module(torch::nn::LPPool1d(options));
    else if constexpr (N == 2)
      return tensor_module(torch::nn::LPPool2d(options));
    else
      return tensor_module(torch::nn::LPPool3d(options));
  }
};

template <std::size_t N>
using Ratios = std::variant<double, std::array<double, N>>;

template <std::size_t N>
std::array<double, N> each_ratio(const Ratios<N>& ratios) {
  if (const auto* list = std::get_if<std::array<double, N>>(&ratios)) return *list;
  std::array<double, N> result;
  result.fill(std::get<double>(ratios));
  return result;
}

template <std::size_t N>
struct FractionalMaxPool {
  Sizes<N> kernel_size = std::int64_t{1};
  std::optional<Sizes<N>> output_size;
  std::optional<Ratios<N>> output_ratio;
  bool return_indices = false;

  static void describe(Schema<FractionalMaxPool>& s) {
    s.summary("Maxima over windows placed at random (Graham, 2014).");
    s.field("kernel_size", &FractionalMaxPool::kernel_size).required().at_least(1);
    s.field("output_size", &FractionalMaxPool::output_size).at_least(1);
    s.field("output_ratio", &FractionalMaxPool::output_ratio)
        .doc("The output's share of the input.")
        .greater_than(0)
        .less_than(1);
    s.field("return_indices", &FractionalMaxPool::return_indices);
    s.check(refuse_indices<FractionalMaxPool>);
    s.check([](const FractionalMaxPool& pool, RuleProblems& problems) {
      if (pool.output_size.has_value() == pool.output_ratio.has_value())
        problems.add("output_size", "exactly one of output_size and output_ratio is needed");
    });
  }
  std::optional<TensorSpec> infer(const TensorSpec& input) const {
    const std::string module = fmt::format("FractionalMaxPool{}d", N);
    require_floating(input, module.c_str());
    require_rank(input, N + 1, module.c_str(), kPooled[N]);
    const auto kernels = each<N>(kernel_size);
    TensorSpec output = input;
    for (std::size_t i = 0; i < N; ++i) {
      std::int64_t& size = output.shape[i + 1];
      const std::int64_t found = size;
      if (output_size)
        size = each<N>(*output_size)[i];
      else if (found != unknown_size)
        size = static_cast<std::int64_t>(static_cast<double>(found) * each_ratio<N>(*output_ratio)[i]);
      if (found != unknown_size && (size < 1 || size + kernels[i] - 1 > found))
        shapes_do_not_meet(
            fmt::format("{}: {} windows of {} do not fit into {}", module, size, kernels[i], found));
    }
    return output;
  }
  std::shared_ptr<TensorModule> build(const ModuleBuildContext&) const {
    auto options = torch::nn::FractionalMaxPoolOptions<N>(expanding<N>(kernel_size));
    if (output_size) options.output_size(expanding<N>(*output_size));
    if (output_ratio) options.output_ratio(torch::ExpandingArray<N, double>(each_ratio<N>(*output_ratio)));
    if constexpr (N == 2)
      return tensor_module(torch::nn::FractionalMaxPool2d(options));
    else
      return tensor_module(torch::nn::FractionalMaxPool3d(options));
  }
};

}  // namespace

void register_pooling_targets(Registration& registry) {
  add_module<MaxPool<1>>(registry, "pooling", "MaxPool1d");
  add_module<MaxPool<2>>(registry, "pooling", "MaxPool2d");
  add_module<MaxPool<3>>(registry, "pooling", "MaxPool3d");
  add_module<AvgPool1d>(registry, "pooling", "AvgPool1d");
  add_module<AvgPool<2>>(registry, "pooling", "AvgPool2d");
  add_module<AvgPool<3>>(registry, "pooling", "AvgPool3d");
  add_module<AdaptiveAvgPool<1>>(registry, "pooling", "AdaptiveAvgPool1d");
  add_module<AdaptiveAvgPool<2>>(registry, "pooling", "AdaptiveAvgPool2d");
  add_module<AdaptiveAvgPool<3>>(registry, "pooling", "AdaptiveAvgPool3d");
  add_module<AdaptiveMaxPool<1>>(registry, "pooling", "AdaptiveMaxPool1d");
  add_module<AdaptiveMaxPool<2>>(registry, "pooling", "AdaptiveMaxPool2d");
  add_module<AdaptiveMaxPool<3>>(registry, "pooling", "AdaptiveMaxPool3d");
  add_module<LPPool<1>>(registry, "pooling", "LPPool1d");
  add_module<LPPool<2>>(registry, "pooling", "LPPool2d");
  add_module<LPPool<3>>(registry, "pooling", "LPPool3d");
  add_module<FractionalMaxPool<2>>(registry, "pooling", "FractionalMaxPool2d");
  add_module<FractionalMaxPool<3>>(registry, "pooling", "FractionalMaxPool3d");
}

}  // namespace nexuml::torch_targets
