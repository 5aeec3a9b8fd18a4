#include "evaluation/latent_visualizer.h"

#include <ATen/ops/cat.h>
#include <fmt/format.h>
#include <nexuml/evaluation.h>

#include <algorithm>
#include <set>

#include "evaluation/chart.h"
#include "evaluation/class_numbers.h"
#include "evaluation/feature_store.h"
#include "evaluation/projection.h"
#include "evaluation/table_file.h"

namespace nexuml_library {

namespace {

constexpr std::int64_t fewest_samples = 3;
constexpr const char* default_feature_key = "latent";
// What pipelines without a key `latent` call their latent space.
constexpr const char* other_feature_keys[] = {"embeddings", "embedding", "encoded"};

class LatentRuntime final : public nexuml::EvalAlgorithm {
 public:
  LatentRuntime(const LatentVisualizer& settings, nexuml::EvalBuildContext context)
      : settings_(settings),
        context_(std::move(context)),
        feature_key_(context_.feature_key.value_or(default_feature_key)),
        train_(store_options(1)),
        test_(store_options(2)) {}

  bool needs_fit() const override { return true; }
  void fit_batch(const nexuml::EvalBatch& batch) override { add(train_, batch); }
  void eval_batch(const nexuml::EvalBatch& batch) override { add(test_, batch); }

  void eval_end() override {
    if (train_.size() + test_.size() < fewest_samples) return;
    plane_ = project(train_.size() == 0  ? test_.features()
                     : test_.size() == 0 ? train_.features()
                                         : at::cat({train_.features(), test_.features()}))
                 .contiguous();
  }

  nexuml::OrderedMap<double> results() const override {
    return {{"n_projected_samples", plane_.defined() ? static_cast<double>(plane_.size(0)) : 0.0}};
  }

  void write_artifacts(const std::filesystem::path& folder) const override {
    if (!plane_.defined()) return;
    const std::string method =
        nexuml::FieldTraits<LatentVisualizer::Method>::encode(settings_.method, nullptr).as_string();
    write_text(folder / ("latent_" + method + ".csv"), table().text());
    save_figure(folder / ("latent_" + method), {.width = 640, .height = 480},
                [&](Canvas& canvas) { draw(canvas); });
  }

 private:
  FeatureStoreOptions store_options(std::uint64_t stream) const {
    std::optional<std::filesystem::path> folder;
    if (settings_.storage_path) folder = context_.run_folder / *settings_.storage_path;
    return {.capacity = settings_.max_samples,
            .seed = context_.seed * 2 + stream,
            .mapped = settings_.storage_backend == StoreBackend::memmap,
            .folder = folder};
  }

  const at::Tensor& latent_of(const nexuml::EvalBatch& batch) {
    if (feature_key_ == default_feature_key && !batch.x.contains(feature_key_))
      for (const char* other : other_feature_keys)
        if (batch.x.contains(other)) feature_key_ = other;
    return batch.tensor(feature_key_, context_.name);
  }

  void add(FeatureStore& store, const nexuml::EvalBatch& batch) {
    const at::Tensor& features = latent_of(batch);
    std::vector<std::int64_t> classes;
    if (const auto label = class_label(batch, context_)) {
      label_key_ = label->key;
      const bool several = label->values.dim() == 2 && label->values.size(1) > 1 &&
                           label->values.sum(1).gt(1).any().item<bool>();
      if (!several) classes = class_numbers(label->values, label->key);
    }
    store.add(features, classes);
  }

  at::Tensor project(const at::Tensor& samples) const {
    constexpr std::uint64_t projection_seed = 42;
    switch (settings_.method) {
      case LatentVisualizer::Method::umap:
        return umap_projection(samples, projection_seed, context_.stop);
      case LatentVisualizer::Method::pca:
        return pca_projection(samples);
      case LatentVisualizer::Method::tsne:
        break;
    }
    return tsne_projection(samples, static_cast<double>(settings_.perplexity), context_.stop);
  }

  struct Dot {
    double x, y;
    std::int64_t label;
    bool test;
  };
  std::vector<Dot> dots() const {
    std::vector<Dot> dots;
    const float* place = plane_.const_data_ptr<float>();
    for (std::int64_t i = 0; i < plane_.size(0); ++i) {
      const bool test = i >= train_.size();
      const auto& classes = test ? test_.classes() : train_.classes();
      dots.push_back({place[2 * i], place[2 * i + 1],
                      classes[static_cast<std::size_t>(test ? i - train_.size() : i)], test});
    }
    return dots;
  }

  std::string class_name(std::int64_t label) const {
    if (label < 0) return "samples";
    const auto names = context_.names_of(label_key_);
    const auto index = static_cast<std::size_t>(label);
    return index < names.size() ? names[index] : std::to_string(label);
  }

  TableFile table() const {
    TableFile table({"x", "y", "class", "split"});
    for (const Dot& dot : dots())
      table.add(dot.x, dot.y, dot.label < 0 ? std::string() : class_name(dot.label),
                std::string(dot.test ? "test" : "train"));
    return table;
  }

  void draw(Canvas& canvas) const {
    static constexpr const char* method_names[] = {"t-SNE", "UMAP", "PCA"};
    const char* method = method_names[static_cast<std::size_t>(settings_.method)];
    const std::vector<Dot> all = dots();
    std::vector<double> x, y;
    std::set<std::int64_t> labels;
    for (const Dot& dot : all) {
      x.push_back(dot.x);
      y.push_back(dot.y);
      labels.insert(dot.label);
    }
    const bool named = labels.size() <= 2 * palette_size;  // else too many to tell apart
    const Axes axes(canvas, {0, 0, 530, 480}, {range_of(x), range_of(y)},
                    {.title = fmt::format("'{}' by {}", feature_key_, method),
                     .x = fmt::format("{} 1", method),
                     .y = fmt::format("{} 2", method)});
    for (const bool test : {false, true})
      for (const Dot& dot : all)
        if (dot.test == test) draw_dot(canvas, axes.at(dot.x, dot.y), color_of(dot.label, labels), test);

    std::vector<LegendEntry> entries;
    if (named)
      for (const std::int64_t label : labels) entries.push_back({class_name(label), color_of(label, labels)});
    if (train_.size() > 0) entries.push_back({"train", faint_ink});
    if (test_.size() > 0) entries.push_back({"test", faint_ink, true});
    draw_legend(canvas, {538, 36}, entries);
  }

  static void draw_dot(Canvas& canvas, Point at, Color color, bool test) {
    if (test)
      canvas.cross(at, 3.2, color);
    else
      canvas.circle(at, 2.6, color, 0.65);
  }

  // Beyond the palette the colours come again, lighter.
  static Color color_of(std::int64_t label, const std::set<std::int64_t>& labels) {
    const auto index = static_cast<std::size_t>(std::distance(labels.begin(), labels.find(label)));
    Color color = palette_color(index);
    if ((index / palette_size) % 2 == 1)
      for (double* part : {&color.red, &color.green, &color.blue}) *part = 0.5 + *part * 0.5;
    return color;
  }

  const LatentVisualizer settings_;
  const nexuml::EvalBuildContext context_;
  std::string feature_key_;
  std::string label_key_;
  FeatureStore train_, test_;
  at::Tensor plane_;  // [train + test, 2]
};

}  // namespace

void LatentVisualizer::describe(nexuml::Schema<LatentVisualizer>& s) {
  s.summary(
      "Samples of a latent space in a plane, coloured by class, as CSV and a plot.\n"
      "reads: feature_key (null: latent; where there is none embeddings, embedding or encoded) [batch, ...], "
      "label_key as class numbers where there are any");
  s.field("method", &LatentVisualizer::method).doc("Projection: t-SNE, UMAP or principal components.");
  s.field("max_samples", &LatentVisualizer::max_samples).doc("Most samples of each split.").at_least(3);
  s.field("perplexity", &LatentVisualizer::perplexity)
      .doc("t-SNE: about how many neighbours a sample has; at most (samples - 1) / 3.")
      .at_least(1);
  s.field("storage_backend", &LatentVisualizer::storage_backend).doc("Where samples are kept until the end.");
  s.field("storage_path", &LatentVisualizer::storage_path)
      .doc(
          "memmap: folder of the file, relative to the run folder, kept afterwards; null for a temporary "
          "one.");
}

std::shared_ptr<nexuml::EvalAlgorithm> LatentVisualizer::build(
    const nexuml::EvalBuildContext& context) const {
  return std::make_shared<LatentRuntime>(*this, context);
}

}  // namespace nexuml_library
