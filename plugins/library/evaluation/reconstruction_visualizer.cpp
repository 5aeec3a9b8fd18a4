#include "evaluation/reconstruction_visualizer.h"

#include <ATen/ops/cat.h>
#include <fmt/format.h>
#include <nexuml/evaluation.h>

#include <algorithm>

#include "evaluation/batch_columns.h"
#include "evaluation/chart.h"

namespace nexuml_library {

namespace {

constexpr double cell_side = 96, cell_gap = 8, row_label_width = 96, title_height = 44;
constexpr double panel_width = 300, panel_height = 210;

std::string sample_shape_text(const at::Tensor& tensor) {
  return nexuml::to_string(nexuml::Shape(tensor.sizes().vec()));
}

// [tokens, patch * patch * channels] -> [channels, height, width]; patches row by row, channels last.
at::Tensor join_patches(const at::Tensor& patches, const at::Tensor& like, std::int64_t patch) {
  const at::Tensor image = like.dim() == 2 ? like.unsqueeze(0) : like;
  const std::int64_t channels = image.size(0), rows = image.size(1) / patch, columns = image.size(2) / patch;
  if (patches.numel() != rows * columns * patch * patch * channels)
    throw nexuml::Error("E853", fmt::format("patches of {} do not fill an image of {} with patch_size {}",
                                            sample_shape_text(patches), sample_shape_text(like), patch));
  return patches.reshape({rows, columns, patch, patch, channels})
      .permute({4, 0, 2, 1, 3})
      .reshape({channels, rows * patch, columns * patch});
}

// One sample, or a mask of it, in the shape of the original.
at::Tensor in_shape_of(const at::Tensor& original, const at::Tensor& values,
                       std::optional<std::int64_t> patch, const std::string& key) {
  if (values.numel() == original.numel() && (!patch || values.sizes() == original.sizes()))
    return values.reshape(original.sizes());
  if (patch && original.dim() >= 2) {
    const std::int64_t height = original.size(-2) / *patch, width = original.size(-1) / *patch;
    if (values.numel() == height * width)  // one number a patch
      return values.reshape({height, width})
          .repeat_interleave(*patch, 0)
          .repeat_interleave(*patch, 1)
          .expand_as(original);
    return join_patches(values, original, *patch).reshape(original.sizes());
  }
  throw nexuml::Error("E853",
                      fmt::format("'{}' is {}; the sample is {}", key, sample_shape_text(values),
                                  sample_shape_text(original)),
                      {}, "set patch_size where the reconstruction is a list of patches");
}

struct Sample {
  at::Tensor original, reconstructed, masked;  // of equal shape; masked may be undefined
  std::string caption;
};

class ReconstructionRuntime final : public nexuml::EvalAlgorithm {
 public:
  ReconstructionRuntime(const ReconstructionVisualizer& settings, const nexuml::EvalBuildContext& context)
      : settings_(settings), context_(context), name_(context.name) {
    if (!context.feature_key)
      throw nexuml::Error("E851",
                          fmt::format("the evaluation algorithm '{}' needs feature_key: what was to be "
                                      "reconstructed",
                                      name_),
                          {}, "set feature_key of the algorithm");
    feature_key_ = *context.feature_key;
  }

  void eval_batch(const nexuml::EvalBatch& batch) override {
    const at::Tensor& original = batch.tensor(feature_key_, name_);
    const at::Tensor& reconstructed = batch.tensor(settings_.reconstructed_key, name_);
    const at::Tensor* mask = settings_.mask_key ? &batch.tensor(*settings_.mask_key, name_) : nullptr;
    for (std::int64_t i = 0;
         i < batch.size && static_cast<std::int64_t>(samples_.size()) < settings_.n_samples; ++i)
      samples_.push_back(
          sample_of(batch, original[i], reconstructed[i], mask ? (*mask)[i] : at::Tensor(), i));
  }

  nexuml::OrderedMap<double> results() const override {
    if (samples_.empty()) return {};
    double sum = 0;
    for (const Sample& sample : samples_)
      sum += (sample.original - sample.reconstructed).square().mean().item<double>();
    return {{"reconstruction_mse_sample", sum / static_cast<double>(samples_.size())}};
  }

  void write_artifacts(const std::filesystem::path& folder) const override {
    if (samples_.empty()) return;
    if (samples_.front().original.dim() >= 2)
      draw_images(folder / "reconstruction");
    else
      draw_curves(folder / "reconstruction");
  }

 private:
  Sample sample_of(const nexuml::EvalBatch& batch, const at::Tensor& original,
                   const at::Tensor& reconstructed, const at::Tensor& mask, std::int64_t row) const {
    const auto held = [](const at::Tensor& tensor) { return tensor.detach().to(at::kCPU, at::kFloat); };
    Sample sample{.original = held(original)};
    if (settings_.sample_shape) {
      if (nexuml::element_count(*settings_.sample_shape) != sample.original.numel())
        throw nexuml::Error(
            "E853",
            fmt::format("a sample of {} cannot be drawn as {}", sample_shape_text(sample.original),
                        nexuml::to_string(*settings_.sample_shape)),
            {}, "correct sample_shape");
      sample.original = sample.original.reshape(*settings_.sample_shape);
    }
    sample.reconstructed =
        in_shape_of(sample.original, held(reconstructed), settings_.patch_size, settings_.reconstructed_key);
    if (mask.defined())
      sample.masked = sample.original * (1 - in_shape_of(sample.original, held(mask), settings_.patch_size,
                                                         *settings_.mask_key));
    for (const std::string& key : settings_.label_keys.value_or(std::vector<std::string>{})) {
      const at::Tensor label = batch.label(key, name_)[row].reshape({-1});
      sample.caption +=
          fmt::format("{}{} {:g}", sample.caption.empty() ? "" : ", ", key,
                      label.numel() == 1 ? label.item<double>() : label.argmax().item<double>());
    }
    for (const nexuml::AxisKeySpec& axis : context_.axis_keys)
      sample.caption +=
          fmt::format("{}{} {}", sample.caption.empty() ? "" : ", ", axis.key,
                      column_texts(batch, context_, axis.key, axis.source).at(static_cast<std::size_t>(row)));
    return sample;
  }

  // The last two dimensions are the image; one or three channels before them are gray or red, green, blue.
  static void draw_image(Canvas& canvas, const Box& box, const at::Tensor& values, Range range, bool error) {
    at::Tensor image = values.dim() == 2 ? values.unsqueeze(0) : values;
    if (image.dim() > 3) image = image.flatten(0, -3);
    if (image.size(0) != 3 || error) image = image.mean(0, true).expand({3, image.size(1), image.size(2)});
    const at::Tensor unit =
        ((image - range.low) / std::max(range.high - range.low, 1e-12)).clamp(0, 1).contiguous();
    const std::int64_t pixels = unit.size(1) * unit.size(2);
    const float* level = unit.const_data_ptr<float>();
    std::vector<Color> colors(static_cast<std::size_t>(pixels));
    for (std::int64_t i = 0; i < pixels; ++i) {
      const double one = level[i];
      colors[static_cast<std::size_t>(i)] = error ? Color{1 - 0.165 * one, 1 - 0.63 * one, 1 - one}
                                                  // white to the palette's vermilion
                                                  : Color{one, level[pixels + i], level[2 * pixels + i]};
    }
    canvas.image(box, colors, static_cast<std::size_t>(unit.size(2)));
    canvas.frame(box, grid_color, 1);
  }

  void draw_images(const std::filesystem::path& stem) const {
    const bool masked = samples_.front().masked.defined();
    const std::size_t rows = masked ? 4 : 3;
    const FigureSize size{
        row_label_width + static_cast<double>(samples_.size()) * (cell_side + cell_gap) + cell_gap,
        title_height + static_cast<double>(rows) * (cell_side + cell_gap) + 34};
    double worst = 0;
    for (const Sample& sample : samples_)
      worst = std::max(worst, (sample.original - sample.reconstructed).abs().max().item<double>());
    save_figure(stem, size, [&](Canvas& canvas) {
      canvas.text({cell_gap, 17}, fmt::format("Reconstruction of '{}'", feature_key_),
                  {.size = 13, .bold = true});
      const char* names[] = {"original", "reconstructed", "|error|", "masked input"};
      for (std::size_t row = 0; row < rows; ++row)
        canvas.text({row_label_width - cell_gap, cell_box(0, row).y + cell_side / 2}, names[row],
                    {.horizontal = Canvas::end});
      for (std::size_t i = 0; i < samples_.size(); ++i) {
        const Sample& sample = samples_[i];
        const Range range{sample.original.min().item<double>(), sample.original.max().item<double>()};
        draw_image(canvas, cell_box(i, 0), sample.original, range, false);
        draw_image(canvas, cell_box(i, 1), sample.reconstructed, range, false);
        draw_image(canvas, cell_box(i, 2), (sample.original - sample.reconstructed).abs(), {0, worst}, true);
        if (masked) draw_image(canvas, cell_box(i, 3), sample.masked, range, false);
        canvas.text({cell_box(i, 0).x + cell_side / 2, title_height - 9},
                    canvas.fitted(sample.caption, 10, cell_side), {.size = 10, .horizontal = Canvas::center});
      }
      canvas.text({row_label_width, size.height - 16},
                  fmt::format("|error|: white 0, full colour {:.3g}", worst),
                  {.size = 10, .color = faint_ink});
    });
  }

  static Box cell_box(std::size_t column, std::size_t row) {
    return {row_label_width + static_cast<double>(column) * (cell_side + cell_gap),
            title_height + static_cast<double>(row) * (cell_side + cell_gap), cell_side, cell_side};
  }

  void draw_curves(const std::filesystem::path& stem) const {
    const std::size_t columns = std::min<std::size_t>(4, samples_.size());
    const std::size_t rows = (samples_.size() + columns - 1) / columns;
    const FigureSize size{static_cast<double>(columns) * panel_width,
                          static_cast<double>(rows) * panel_height + 24};
    save_figure(stem, size, [&](Canvas& canvas) {
      draw_legend(canvas, {8, 4}, {{fmt::format("'{}'", feature_key_), palette_color(0)}});
      draw_legend(canvas, {size.width / 2, 4}, {{"reconstructed", palette_color(1)}});
      for (std::size_t i = 0; i < samples_.size(); ++i) {
        const Box box{static_cast<double>(i % columns) * panel_width,
                      static_cast<double>(i / columns) * panel_height + 24, panel_width, panel_height};
        draw_sample_curves(canvas, box, samples_[i], i);
      }
    });
  }

  static void draw_sample_curves(Canvas& canvas, const Box& box, const Sample& sample, std::size_t index) {
    const auto values = [](const at::Tensor& tensor) {
      const at::Tensor flat = tensor.reshape({-1}).to(at::kDouble).contiguous();
      return std::vector<double>(flat.const_data_ptr<double>(), flat.const_data_ptr<double>() + flat.numel());
    };
    const std::vector<double> original = values(sample.original),
                              reconstructed = values(sample.reconstructed);
    std::vector<double> both = original;
    both.insert(both.end(), reconstructed.begin(), reconstructed.end());
    const auto last = static_cast<double>(std::max<std::size_t>(original.size(), 2) - 1);
    const Axes axes(canvas, box, {{0, last}, range_of(both)},
                    {.title = sample.caption.empty() ? fmt::format("sample {}", index) : sample.caption,
                     .x = "feature",
                     .y = "value"});
    for (const bool second : {false, true}) {
      std::vector<Point> points;
      for (std::size_t i = 0; i < original.size(); ++i)
        points.push_back(axes.at(static_cast<double>(i), second ? reconstructed[i] : original[i]));
      canvas.line(points, palette_color(second ? 1 : 0), 1.3);
    }
  }

  const ReconstructionVisualizer settings_;
  const nexuml::EvalBuildContext context_;
  const std::string name_;
  std::string feature_key_;
  std::vector<Sample> samples_;
};

}  // namespace

void ReconstructionVisualizer::describe(nexuml::Schema<ReconstructionVisualizer>& s) {
  s.summary(
      "The first test samples, their reconstruction and the difference, as a plot.\n"
      "reads: feature_key [batch, ...] and reconstructed_key of as many numbers");
  s.field("reconstructed_key", &ReconstructionVisualizer::reconstructed_key)
      .doc("Key of what the pipeline made of the samples.")
      .required();
  s.field("mask_key", &ReconstructionVisualizer::mask_key)
      .doc("Key of a mask, 1 where the input was hidden; adds the masked input.");
  s.field("label_keys", &ReconstructionVisualizer::label_keys).doc("Labels to write above the samples.");
  s.field("n_samples", &ReconstructionVisualizer::n_samples)
      .doc("How many samples are drawn.")
      .at_least(1)
      .at_most(64);
  s.field("patch_size", &ReconstructionVisualizer::patch_size)
      .doc("Side of the patches that the reconstruction consists of; null: no patches.")
      .at_least(1);
  s.field("storage_backend", &ReconstructionVisualizer::storage_backend)
      .doc("Accepted; the few samples are kept in memory.");
  s.field("storage_path", &ReconstructionVisualizer::storage_path).doc("Accepted; has no effect.");
  s.field("sample_shape", &ReconstructionVisualizer::sample_shape)
      .doc("Shape in which samples are drawn, as [1, 8, 8] for flat images; null: as they are.")
      .at_least(1)
      .written_when_set();
}

std::shared_ptr<nexuml::EvalAlgorithm> ReconstructionVisualizer::build(
    const nexuml::EvalBuildContext& context) const {
  return std::make_shared<ReconstructionRuntime>(*this, context);
}

}  // namespace nexuml_library
