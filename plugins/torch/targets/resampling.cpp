// Upsample, PixelShuffle, PixelUnshuffle, Fold, Unfold.
#include <fmt/format.h>
#include <nexuml/module.h>
#include <nexuml/registration.h>
#include <torch/nn/functional/upsampling.h>
#include <torch/nn/modules/fold.h>
#include <torch/nn/modules/pixelshuffle.h>

#include <cmath>

#include "targets/arguments.h"
#include "targets/targets.h"

namespace nexuml::torch_targets {
namespace {

// One size or factor stands for every spatial dimension; LibTorch's own module takes it for the first alone.
class UpsampleModule final : public torch::nn::Module {
 public:
  using Options = torch::nn::functional::InterpolateFuncOptions;

  explicit UpsampleModule(Options options) : options_(std::move(options)) {}
  at::Tensor forward(const at::Tensor& input) {
    Options options = options_;
    const auto spatial = static_cast<std::size_t>(input.dim() - 2);
    if (options.size() && options.size()->size() == 1)
      options.size() = std::vector<std::int64_t>(spatial, options.size()->front());
    if (options.scale_factor() && options.scale_factor()->size() == 1)
      options.scale_factor() = std::vector<double>(spatial, options.scale_factor()->front());
    return torch::nn::functional::interpolate(input, options);
  }

 private:
  const Options options_;
};

struct Upsample {
  std::optional<std::variant<std::int64_t, std::vector<std::int64_t>>> size;
  std::optional<std::variant<double, std::vector<double>>> scale_factor;
  std::string mode = "nearest";
  std::optional<bool> align_corners;
  std::optional<bool> recompute_scale_factor;

  static void describe(Schema<Upsample>& s) {
    s.summary("Resizes the spatial dimensions of [batch, channels, ...].");
    s.field("size", &Upsample::size).at_least(1);
    s.field("scale_factor", &Upsample::scale_factor).greater_than(0);
    s.field("mode", &Upsample::mode).one_of({"nearest", "linear", "bilinear", "bicubic", "trilinear"});
    s.field("align_corners", &Upsample::align_corners);
    s.field("recompute_scale_factor", &Upsample::recompute_scale_factor);
    s.check([](const Upsample& upsample, RuleProblems& problems) {
      if (upsample.size.has_value() == upsample.scale_factor.has_value())
        problems.add("size", "exactly one of size and scale_factor is needed");
      if (upsample.mode == "nearest" && upsample.align_corners)
        problems.add("align_corners", "align_corners has no meaning for mode nearest");
      if (upsample.recompute_scale_factor.value_or(false) && !upsample.scale_factor)
        problems.add("recompute_scale_factor", "there is no scale_factor to compute anew");
    });
  }
  std::optional<TensorSpec> infer(const TensorSpec& input) const {
    require_floating(input, "Upsample");
    const std::size_t spatial = input.shape.empty() ? 0 : input.shape.size() - 1;
    const std::size_t needed = mode == "linear"      ? 1
                               : mode == "trilinear" ? 3
                               : mode == "nearest"   ? spatial
                                                     : 2;
    if (spatial < 1 || spatial > 3 || spatial != needed)
      shapes_do_not_meet(
          fmt::format("Upsample with mode {} does not fit a sample of {}", mode, to_string(input.shape)));
    TensorSpec output = input;
    for (std::size_t i = 0; i < spatial; ++i) output.shape[i + 1] = resized(input.shape[i + 1], i, spatial);
    return output;
  }
  std::shared_ptr<TensorModule> build(const ModuleBuildContext&) const {
    // Said plainly, so that LibTorch does not warn of defaults that changed long ago.
    auto options = UpsampleModule::Options();
    if (mode != "nearest") options.align_corners(align_corners.value_or(false));
    if (scale_factor) options.recompute_scale_factor(recompute_scale_factor.value_or(false));
    if (mode == "nearest") options.mode(torch::kNearest);
    if (mode == "linear") options.mode(torch::kLinear);
    if (mode == "bilinear") options.mode(torch::kBilinear);
    if (mode == "bicubic") options.mode(torch::kBicubic);
    if (mode == "trilinear") options.mode(torch::kTrilinear);
    if (size) options.size(listed<std::int64_t>(*size));
    if (scale_factor) options.scale_factor(listed<double>(*scale_factor));
    return tensor_module(std::make_shared<UpsampleModule>(options));
  }
  template <class T>
  static std::vector<T> listed(const std::variant<T, std::vector<T>>& sizes) {
    if (const auto* list = std::get_if<std::vector<T>>(&sizes)) return *list;
    return {std::get<T>(sizes)};
  }
  std::int64_t resized(std::int64_t given, std::size_t index, std::size_t spatial) const {
    const auto pick = [&](const auto& list) {
      if (list.size() != 1 && list.size() != spatial)
        shapes_do_not_meet(fmt::format("Upsample has {} sizes for {} dimensions", list.size(), spatial));
      return list.size() == 1 ? list.front() : list[index];
    };
    if (size) return pick(listed<std::int64_t>(*size));
    const double factor = pick(listed<double>(*scale_factor));
    if (given == unknown_size) return unknown_size;
    return static_cast<std::int64_t>(std::floor(static_cast<double>(given) * factor));
  }
};

struct PixelShuffle {
  std::int64_t upscale_factor = 1;

  static void describe(Schema<PixelShuffle>& s) {
    s.summary("[batch, C r², H, W] to [batch, C, H r, W r].");
    s.field("upscale_factor", &PixelShuffle::upscale_factor).required().at_least(1);
  }
  std::optional<TensorSpec> infer(const TensorSpec& input) const {
    require_rank(input, 3, "PixelShuffle", "channels, height, width");
    const std::int64_t square = upscale_factor * upscale_factor;
    TensorSpec output = input;
    if (output.shape[0] != unknown_size) {
      if (output.shape[0] % square != 0)
        shapes_do_not_meet(
            fmt::format("PixelShuffle: {} channels cannot be divided by {}", output.shape[0], square));
      output.shape[0] /= square;
    }
    for (std::size_t i = 1; i < 3; ++i)
      if (output.shape[i] != unknown_size) output.shape[i] *= upscale_factor;
    return output;
  }
  std::shared_ptr<TensorModule> build(const ModuleBuildContext&) const {
    return tensor_module(torch::nn::PixelShuffle(torch::nn::PixelShuffleOptions(upscale_factor)));
  }
};

struct PixelUnshuffle {
  std::int64_t downscale_factor = 1;

  static void describe(Schema<PixelUnshuffle>& s) {
    s.summary("[batch, C, H r, W r] to [batch, C r², H, W].");
    s.field("downscale_factor", &PixelUnshuffle::downscale_factor).required().at_least(1);
  }
  std::optional<TensorSpec> infer(const TensorSpec& input) const {
    require_rank(input, 3, "PixelUnshuffle", "channels, height, width");
    TensorSpec output = input;
    if (output.shape[0] != unknown_size) output.shape[0] *= downscale_factor * downscale_factor;
    for (std::size_t i = 1; i < 3; ++i) {
      if (output.shape[i] == unknown_size) continue;
      if (output.shape[i] % downscale_factor != 0)
        shapes_do_not_meet(
            fmt::format("PixelUnshuffle: {} cannot be divided by {}", output.shape[i], downscale_factor));
      output.shape[i] /= downscale_factor;
    }
    return output;
  }
  std::shared_ptr<TensorModule> build(const ModuleBuildContext&) const {
    return tensor_module(torch::nn::PixelUnshuffle(torch::nn::PixelUnshuffleOptions(downscale_factor)));
  }
};

// The number of windows in a [height, width] of which each has the size of a kernel.
std::int64_t blocks(const std::array<std::int64_t, 2>& size, const Sizes<2>& kernel, const Sizes<2>& dilation,
                    const Sizes<2>& padding, const Sizes<2>& stride, const char* module) {
  const auto kernels = each<2>(kernel), dilations = each<2>(dilation), paddings = each<2>(padding);
  const auto strides = each<2>(stride);
  std::int64_t count = 1;
  for (std::size_t i = 0; i < 2; ++i) {
    const std::int64_t along =
        window_count(size[i], kernels[i], strides[i], paddings[i], dilations[i], false, module);
    if (along == unknown_size) return unknown_size;
    count *= along;
  }
  return count;
}

struct Unfold {
  Sizes<2> kernel_size = std::int64_t{1};
  Sizes<2> dilation = std::int64_t{1};
  Sizes<2> padding = std::int64_t{0};
  Sizes<2> stride = std::int64_t{1};

  static void describe(Schema<Unfold>& s) {
    s.summary("[batch, C, H, W] to the columns of its windows: [batch, C kh kw, windows].");
    s.field("kernel_size", &Unfold::kernel_size).required().at_least(1);
    s.field("dilation", &Unfold::dilation).at_least(1);
    s.field("padding", &Unfold::padding).at_least(0);
    s.field("stride", &Unfold::stride).at_least(1);
  }
  std::optional<TensorSpec> infer(const TensorSpec& input) const {
    require_floating(input, "Unfold");
    require_rank(input, 3, "Unfold", "channels, height, width");
    const auto kernels = each<2>(kernel_size);
    const std::int64_t channels = input.shape[0];
    return TensorSpec{
        {channels == unknown_size ? unknown_size : channels * kernels[0] * kernels[1],
         blocks({input.shape[1], input.shape[2]}, kernel_size, dilation, padding, stride, "Unfold")},
        input.dtype};
  }
  std::shared_ptr<TensorModule> build(const ModuleBuildContext&) const {
    return tensor_module(torch::nn::Unfold(torch::nn::UnfoldOptions(expanding<2>(kernel_size))
                                               .dilation(expanding<2>(dilation))
                                               .padding(expanding<2>(padding))
                                               .stride(expanding<2>(stride))));
  }
};

struct Fold {
  Sizes<2> output_size = std::int64_t{1};
  Sizes<2> kernel_size = std::int64_t{1};
  Sizes<2> dilation = std::int64_t{1};
  Sizes<2> padding = std::int64_t{0};
  Sizes<2> stride = std::int64_t{1};

  static void describe(Schema<Fold>& s) {
    s.summary("Sums columns of windows back into [batch, C, H, W].");
    s.field("output_size", &Fold::output_size).required().at_least(1);
    s.field("kernel_size", &Fold::kernel_size).required().at_least(1);
    s.field("dilation", &Fold::dilation).at_least(1);
    s.field("padding", &Fold::padding).at_least(0);
    s.field("stride", &Fold::stride).at_least(1);
  }
  std::optional<TensorSpec> infer(const TensorSpec& input) const {
    require_floating(input, "Fold");
    require_rank(input, 2, "Fold", "C kh kw, windows");
    const auto kernels = each<2>(kernel_size), outputs = each<2>(output_size);
    const std::int64_t window = kernels[0] * kernels[1];
    if (input.shape[0] != unknown_size && input.shape[0] % window != 0)
      shapes_do_not_meet(
          fmt::format("Fold: {} rows cannot be divided by the window's {}", input.shape[0], window));
    require_size(input, 1, blocks(outputs, kernel_size, dilation, padding, stride, "Fold"), "Fold",
                 "the number of windows");
    return TensorSpec{
        {input.shape[0] == unknown_size ? unknown_size : input.shape[0] / window, outputs[0], outputs[1]},
        input.dtype};
  }
  std::shared_ptr<TensorModule> build(const ModuleBuildContext&) const {
    return tensor_module(
        torch::nn::Fold(torch::nn::FoldOptions(expanding<2>(output_size), expanding<2>(kernel_size))
                            .dilation(expanding<2>(dilation))
                            .padding(expanding<2>(padding))
                            .stride(expanding<2>(stride))));
  }
};

}  // namespace

void register_resampling_targets(Registration& registry) {
  add_module<Upsample>(registry, "upsampling", "Upsample");
  add_module<PixelShuffle>(registry, "pixelshuffle", "PixelShuffle");
  add_module<PixelUnshuffle>(registry, "pixelshuffle", "PixelUnshuffle");
  add_module<Unfold>(registry, "fold", "Unfold");
  add_module<Fold>(registry, "fold", "Fold");
}

}  // namespace nexuml::torch_targets
