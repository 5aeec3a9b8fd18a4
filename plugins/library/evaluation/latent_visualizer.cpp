#include "evaluation/latent_visualizer.h"

#include <ATen/ops/cat.h>
#include <fmt/format.h>
#include <nexuml/evaluation.h>

#include <algorithm>
#include <map>

#include "evaluation/batch_columns.h"
#include "evaluation/class_numbers.h"
#include "evaluation/feature_store.h"
#include "evaluation/plane_plot.h"
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
    nexuml::OrderedMap<double> numbers{
        {"n_projected_samples", plane_.defined() ? static_cast<double>(plane_.size(0)) : 0.0}};
    if (not_finite_ > 0) numbers["n_not_finite"] = static_cast<double>(not_finite_);
    return numbers;
  }

  void write_artifacts(const std::filesystem::path& folder) const override {
    if (!plane_.defined()) return;
    const std::string method =
        nexuml::FieldTraits<LatentVisualizer::Method>::encode(settings_.method, nullptr).as_string();
    write_text(folder / ("latent_" + method + ".csv"), table().text());
    save_plane_plot(folder / ("latent_" + method),
                    plot(
                        "", [](const Kept& sample) { return sample.label; },
                        [&](std::int64_t label) { return class_name(label); }));
    for (std::size_t axis = 0; axis < context_.axis_keys.size(); ++axis) {
      const std::string& key = context_.axis_keys[axis].key;
      save_plane_plot(folder / ("latent_" + method + "_" + file_name(key)),
                      plot(
                          ", coloured by " + key, [&](const Kept& sample) { return sample.texts->at(axis); },
                          [](const std::string& text) { return text; }));
    }
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
    add_finite(store, features, classes, axis_texts(batch));
  }

  // By sample, what the axis keys of the scenario say of it.
  std::vector<std::vector<std::string>> axis_texts(const nexuml::EvalBatch& batch) const {
    std::vector<std::vector<std::string>> texts(static_cast<std::size_t>(batch.size));
    for (const nexuml::AxisKeySpec& axis : context_.axis_keys) {
      const std::vector<std::string> column = column_texts(batch, context_, axis.key, axis.source);
      for (std::size_t i = 0; i < texts.size(); ++i) texts[i].push_back(column.at(i));
    }
    return texts;
  }

  // A sample that is not finite has no place in the plane.
  void add_finite(FeatureStore& store, const at::Tensor& features, const std::vector<std::int64_t>& classes,
                  const std::vector<std::vector<std::string>>& texts) {
    const at::Tensor rows = features.detach().reshape({features.size(0), -1}).to(at::kCPU, at::kFloat);
    const at::Tensor kept = rows.isfinite().all(1).nonzero().flatten();
    if (kept.size(0) == rows.size(0)) return store.add(rows, classes, texts);
    not_finite_ += rows.size(0) - kept.size(0);
    if (kept.size(0) == 0) return;
    std::vector<std::int64_t> kept_classes;
    std::vector<std::vector<std::string>> kept_texts;
    for (std::int64_t i = 0; i < kept.size(0); ++i) {
      const auto row = static_cast<std::size_t>(kept[i].item<std::int64_t>());
      if (!classes.empty()) kept_classes.push_back(classes[row]);
      kept_texts.push_back(texts[row]);
    }
    store.add(rows.index_select(0, kept), kept_classes, kept_texts);
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

  struct Kept {
    std::int64_t label;
    const std::vector<std::string>* texts;
    bool test;
  };
  // The sample in row `i` of the plane.
  Kept kept(std::int64_t i) const {
    const bool test = i >= train_.size();
    const FeatureStore& store = test ? test_ : train_;
    const auto place = static_cast<std::size_t>(test ? i - train_.size() : i);
    return {store.classes()[place], &store.texts()[place], test};
  }

  std::string class_name(std::int64_t label) const {
    if (label < 0) return "samples";
    const auto names = context_.names_of(label_key_);
    const auto index = static_cast<std::size_t>(label);
    return index < names.size() ? names[index] : std::to_string(label);
  }

  TableFile table() const {
    std::vector<std::string> columns{"x", "y", "class", "split"};
    for (const nexuml::AxisKeySpec& axis : context_.axis_keys) columns.push_back(axis.key);
    TableFile table(std::move(columns));
    const float* place = plane_.const_data_ptr<float>();
    for (std::int64_t i = 0; i < plane_.size(0); ++i) {
      const Kept sample = kept(i);
      table.add(place[2 * i], place[2 * i + 1], sample.label < 0 ? std::string() : class_name(sample.label),
                std::string(sample.test ? "test" : "train"), *sample.texts);
    }
    return table;
  }

  // One group for each value of `key_of`, in its order.
  template <class KeyOf, class NameOf>
  PlanePlot plot(const std::string& colored_by, const KeyOf& key_of, const NameOf& name_of) const {
    static constexpr const char* method_names[] = {"t-SNE", "UMAP", "PCA"};
    const char* method = method_names[static_cast<std::size_t>(settings_.method)];
    PlanePlot plot{.title = fmt::format("'{}' by {}{}", feature_key_, method, colored_by), .axis = method};
    std::map<decltype(key_of(Kept{})), std::size_t> groups;
    for (std::int64_t i = 0; i < plane_.size(0); ++i) groups.emplace(key_of(kept(i)), 0);
    for (auto& [key, group] : groups) {
      group = plot.groups.size();
      plot.groups.push_back(name_of(key));
    }
    const float* place = plane_.const_data_ptr<float>();
    for (std::int64_t i = 0; i < plane_.size(0); ++i)
      plot.dots.push_back({place[2 * i], place[2 * i + 1], groups.at(key_of(kept(i))), kept(i).test});
    return plot;
  }

  const LatentVisualizer settings_;
  const nexuml::EvalBuildContext context_;
  std::string feature_key_;
  std::string label_key_;
  FeatureStore train_, test_;
  at::Tensor plane_;  // [train + test, 2]
  std::int64_t not_finite_ = 0;
};

}  // namespace

void LatentVisualizer::describe(nexuml::Schema<LatentVisualizer>& s) {
  s.summary(
      "Samples of a latent space in a plane, coloured by class and once more by each of the axis_keys, as "
      "CSV "
      "and plots.\n"
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
