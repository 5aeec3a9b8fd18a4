#include <fmt/format.h>

#include "compile/graph.h"

namespace nexuml {
namespace {

bool sizes_agree(std::int64_t left, std::int64_t right) {
  return left == right || left == unknown_size || right == unknown_size;
}

bool shapes_agree(const Shape& left, const Shape& right) {
  if (left.size() != right.size()) return false;
  for (std::size_t i = 0; i < left.size(); ++i)
    if (!sizes_agree(left[i], right[i])) return false;
  return true;
}

// The sizes that either knows.
Shape known_sizes(Shape shape, const Shape& other) {
  for (std::size_t i = 0; i < shape.size(); ++i)
    if (shape[i] == unknown_size) shape[i] = other[i];
  return shape;
}

void merge(DataDeclaration& all, const DataDeclaration& one) {
  for (const auto& [key, spec] : one.features)
    if (!all.features.contains(key)) all.features[key] = spec;
  for (const auto& [key, spec] : one.labels)
    if (!all.labels.contains(key)) all.labels[key] = spec;
  for (const auto& [key, count] : one.num_classes)
    if (!all.num_classes.contains(key)) all.num_classes[key] = count;
  all.complete = all.complete && one.complete;
  all.num_samples =
      all.num_samples && one.num_samples ? std::optional(*all.num_samples + *one.num_samples) : std::nullopt;
}

std::vector<AnyDataSource> sources_of(const DataSpec& data) {
  std::vector<AnyDataSource> sources;
  if (data.source && data.source->has_value()) sources.push_back(*data.source);
  for (const DatasetSpec& dataset : data.datasets)
    if (dataset.source.has_value()) sources.push_back(dataset.source);
  return sources;
}

class DataViewer {
 public:
  DataViewer(const CompileInput& input, Diagnostics& problems)
      : spec_(input.scenario.data), place_(Place(input.document)["data"]), problems_(problems) {
    declaration_ = input.data ? input.data : declared_data(input.scenario);
  }

  DataView view() {
    declared_shapes();
    if (declaration_) declared_by_source();
    merged_labels();
    count_classes();
    // Shapes that were written down are all that the layers can read, whatever else the data holds.
    view_.features_complete =
        declaration_ ? declaration_->complete || !spec_.input_shapes.empty() : !spec_.input_shapes.empty();
    view_.labels_complete = declaration_ && declaration_->complete;
    return std::move(view_);
  }

 private:
  void declared_shapes() {
    for (const auto& [key, shape] : spec_.input_shapes) {
      TensorSpec spec{.shape = shape};
      if (const TensorSpec* given = declaration_ ? declaration_->features.find(key) : nullptr) {
        if (!shapes_agree(shape, given->shape))
          disagree(key, shape, given->shape);
        else
          spec.shape = known_sizes(shape, given->shape);
        spec.dtype = given->dtype;
      } else if (declaration_ && declaration_->complete) {
        const auto names = key_names(declaration_->features);
        problems_
            .error("E810", fmt::format("input_shapes lists '{}', which the data source does not give", key),
                   place_["input_shapes"].key(key).where())
            .hint = did_you_mean(key, names);
      }
      view_.features[key] = spec;
    }
  }
  void disagree(const std::string& key, const Shape& written, const Shape& given) {
    problems_
        .error("E810",
               fmt::format("'{}' is declared as {}, the data source gives {}", key, to_string(written),
                           to_string(given)),
               place_["input_shapes"][key].where())
        .hint = "leave input_shapes empty to take the shape from the data source";
  }
  void declared_by_source() {
    for (const auto& [key, spec] : declaration_->features)
      if (!view_.features.contains(key)) view_.features[key] = spec;
    for (const auto& [key, spec] : declaration_->labels) view_.labels[key] = spec;
    view_.label_classes = declaration_->num_classes;
  }
  void merged_labels() {
    if (!spec_.merge_labels) return;
    for (const auto& [key, rule] : *spec_.merge_labels)
      if (!view_.labels.contains(key)) view_.labels[key] = std::nullopt;
  }
  void count_classes() {
    view_.num_classes = spec_.num_classes;
    if (!view_.num_classes && view_.label_classes.size() == 1)
      view_.num_classes = view_.label_classes.begin()->second;
  }

  const DataSpec& spec_;
  Place place_;
  Diagnostics& problems_;
  std::optional<DataDeclaration> declaration_;
  DataView view_;
};

}  // namespace

std::optional<DataDeclaration> declared_data(const ScenarioSpec& scenario) {
  std::optional<DataDeclaration> all;
  bool every_source_declares = true;
  for (const AnyDataSource& source : sources_of(scenario.data)) {
    const auto one = source->declare();
    every_source_declares = every_source_declares && one.has_value();
    if (one && all) merge(*all, *one);
    if (one && !all) all = one;
  }
  if (all && !every_source_declares) all->complete = false;
  return all;
}

DataView view_data(const CompileInput& input, Diagnostics& problems) {
  return DataViewer(input, problems).view();
}

}  // namespace nexuml
