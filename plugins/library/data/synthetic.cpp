#include "data/synthetic.h"

#include <ATen/CPUGeneratorImpl.h>
#include <nexuml/data.h>

#include <algorithm>
#include <cmath>
#include <set>

namespace nexuml_library {

namespace {

constexpr const char* reconstruction_target = "reconstruction_target";
constexpr double default_positive_fraction = 0.2;

std::vector<std::int64_t> with_samples(std::int64_t samples, const std::vector<std::int64_t>& shape) {
  std::vector<std::int64_t> sizes{samples};
  sizes.insert(sizes.end(), shape.begin(), shape.end());
  return sizes;
}

// One generator in a fixed order of calls: the same numbers as NexuML 0.2.1 with the same seed.
class SyntheticData {
 public:
  explicit SyntheticData(const Synthetic& source)
      : source_(source), generator_(at::detail::createCPUGenerator(static_cast<std::uint64_t>(source.seed))) {
    draw_features();
    for (const SyntheticTarget& target : source.targets) labels_.set(target.key, draw(target));
    labels_.set(reconstruction_target, features_);
  }

  std::shared_ptr<nexuml::Dataset> dataset() {
    nexuml::TensorDict x;
    x.set(source_.feature_key, features_);
    return std::make_shared<nexuml::TensorDataset>(
        std::move(x), std::move(labels_),
        nexuml::TensorDatasetInfo{.num_classes = source_.declare().num_classes});
  }

 private:
  void draw_features() {
    const std::int64_t clusters = source_.num_clusters.value_or(1);
    const auto sizes = with_samples(source_.num_samples, source_.feature_shape);
    if (clusters > 1) {
      cluster_ids_ = at::randint(0, clusters, {source_.num_samples}, generator_, at::kLong);
      const at::Tensor centres = normal(with_samples(clusters, source_.feature_shape)) * 3.0;
      features_ = centres.index_select(0, cluster_ids_) + normal(sizes) * 0.5;
    } else if (source_.noise_type == Synthetic::Noise::uniform) {
      features_ = at::rand(sizes, generator_, at::kFloat) * 2.0 - 1.0;
    } else {
      features_ = normal(sizes);
    }
  }

  at::Tensor draw(const SyntheticTarget& target) {
    switch (target.type) {
      case SyntheticTarget::Type::multiclass:
        return draw_classes(*source_.classes_of(target));
      case SyntheticTarget::Type::multilabel:
        return at::rand({source_.num_samples, *target.num_classes}, generator_, at::kFloat)
            .lt(target.label_density)
            .to(at::kFloat);
      case SyntheticTarget::Type::regression:
        return draw_outputs(target.num_outputs.value_or(1));
      case SyntheticTarget::Type::anomaly:
        return draw_anomalies(target.positive_fraction.value_or(default_positive_fraction));
    }
    return {};
  }

  at::Tensor draw_classes(std::int64_t classes) {
    if (cluster_ids_.defined()) return cluster_ids_.remainder(classes);
    return at::randint(0, classes, {source_.num_samples}, generator_, at::kLong);
  }

  // A random linear map of the features, with a tenth of noise.
  at::Tensor draw_outputs(std::int64_t outputs) {
    const at::Tensor flat = features_.reshape({source_.num_samples, -1});
    const at::Tensor weights = normal({flat.size(1), outputs});
    return flat.matmul(weights) * 0.1 + normal({source_.num_samples, outputs}) * 0.1;
  }

  // Moves some rows away by 3 in every feature.
  at::Tensor draw_anomalies(double fraction) {
    const auto wanted = static_cast<std::int64_t>(static_cast<double>(source_.num_samples) * fraction);
    const std::int64_t count = std::clamp<std::int64_t>(wanted, 1, source_.num_samples);
    const at::Tensor rows =
        at::randperm(source_.num_samples, generator_, at::kLong).narrow(0, 0, count).contiguous();
    features_.index_add_(0, rows,
                         at::full(with_samples(count, source_.feature_shape), 3.0, features_.options()));
    at::Tensor labels = at::zeros({source_.num_samples}, at::kFloat);
    labels.index_fill_(0, rows, 1.0);
    return labels;
  }

  at::Tensor normal(const std::vector<std::int64_t>& sizes) {
    return at::randn(sizes, generator_, at::kFloat);
  }

  const Synthetic& source_;
  at::Generator generator_;
  at::Tensor cluster_ids_, features_;
  nexuml::TensorDict labels_;
};

void check_targets(const Synthetic& source, nexuml::RuleProblems& problems) {
  std::set<std::string> keys{reconstruction_target};
  for (const SyntheticTarget& target : source.targets) {
    if (target.key.empty()) problems.add("targets", "a target needs a key that is not empty");
    if (!keys.insert(target.key).second)
      problems.add("targets", "the target key '" + target.key + "' is taken");
    const bool multilabel = target.type == SyntheticTarget::Type::multilabel;
    if (multilabel && !target.num_classes)
      problems.add("targets", "the multilabel target '" + target.key + "' needs num_classes");
    if (target.type == SyntheticTarget::Type::multiclass && !source.classes_of(target))
      problems.add("targets", "the multiclass target '" + target.key +
                                  "' needs num_classes, or num_clusters of the source");
  }
}

}  // namespace

void SyntheticTarget::describe(nexuml::Schema<SyntheticTarget>& s) {
  s.summary("A label of synthetic data.");
  s.field("type", &SyntheticTarget::type)
      .doc(
          "multiclass: the cluster, or a random class; multilabel: independent zeros and ones; regression: "
          "a noisy linear map of the features; anomaly: rows moved by 3, labelled 1.")
      .required();
  s.field("key", &SyntheticTarget::key).doc("Label key.").required();
  s.field("num_classes", &SyntheticTarget::num_classes)
      .doc("multiclass and multilabel: number of classes.")
      .at_least(1);
  s.field("num_outputs", &SyntheticTarget::num_outputs)
      .doc("regression: number of outputs; null for one.")
      .at_least(1);
  s.field("label_density", &SyntheticTarget::label_density)
      .doc("multilabel: share of ones.")
      .at_least(0)
      .at_most(1);
  s.field("positive_fraction", &SyntheticTarget::positive_fraction)
      .doc("anomaly: share of anomalous rows, at least one row; null for 0.2.")
      .at_least(0)
      .at_most(1);
}

void Synthetic::describe(nexuml::Schema<Synthetic>& s) {
  s.summary(
      "Seeded random features, with labels of any kind. Labels also hold `reconstruction_target`, the "
      "features.\nshape: features [samples, *feature_shape] float32");
  s.field("feature_shape", &Synthetic::feature_shape).doc("Shape of one sample.").min_size(1).at_least(1);
  s.field("num_samples", &Synthetic::num_samples).doc("Number of samples.").at_least(1);
  s.field("noise_type", &Synthetic::noise_type)
      .doc("Without clusters: gaussian (mean 0, deviation 1) or uniform in [-1, 1).");
  s.field("num_clusters", &Synthetic::num_clusters)
      .doc("More than 1: samples scatter (deviation 0.5) around so many random centres (deviation 3).")
      .at_least(1);
  s.field("targets", &Synthetic::targets).doc("Labels, drawn in this order.");
  s.field("seed", &Synthetic::seed).doc("Seed of the generator.").at_least(0);
  s.field("feature_key", &Synthetic::feature_key).doc("Key of the features.").min_size(1);
  s.check(check_targets);
}

std::optional<std::int64_t> Synthetic::classes_of(const SyntheticTarget& target) const {
  if (target.num_classes || target.type != SyntheticTarget::Type::multiclass) return target.num_classes;
  return num_clusters.value_or(1) > 1 ? num_clusters : std::nullopt;
}

nexuml::DataDeclaration Synthetic::declare() const {
  nexuml::DataDeclaration declared;
  declared.features[feature_key] = {feature_shape, nexuml::DType::float32};
  for (const SyntheticTarget& target : targets) {
    nexuml::TensorSpec spec{{}, nexuml::DType::float32};
    switch (target.type) {
      case SyntheticTarget::Type::multiclass:
        spec.dtype = nexuml::DType::int64;
        declared.num_classes[target.key] = *classes_of(target);
        break;
      case SyntheticTarget::Type::multilabel:
        spec.shape = {*target.num_classes};
        declared.num_classes[target.key] = *target.num_classes;
        break;
      case SyntheticTarget::Type::regression:
        spec.shape = {target.num_outputs.value_or(1)};
        break;
      case SyntheticTarget::Type::anomaly:
        declared.num_classes[target.key] = 2;
        break;
    }
    declared.labels[target.key] = spec;
  }
  declared.labels[reconstruction_target] = {feature_shape, nexuml::DType::float32};
  declared.num_samples = num_samples;
  return declared;
}

std::shared_ptr<nexuml::Dataset> Synthetic::build(const nexuml::DataContext&) const {
  return SyntheticData(*this).dataset();
}

}  // namespace nexuml_library
