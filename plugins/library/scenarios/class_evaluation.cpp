#include "scenarios/class_evaluation.h"

#include "evaluation/class_histogram.h"
#include "evaluation/latent_visualizer.h"

namespace nexuml_library {

nexuml::EvaluationSpec class_evaluation(const std::string& latent_key, const std::string& label_key) {
  const auto latent = [&](LatentVisualizer::Method method) {
    return nexuml::EvalAlgorithmSpec{
        .algorithm = LatentVisualizer{.method = method}, .feature_key = latent_key, .label_key = label_key};
  };
  return {.metrics = {"accuracy", "f1"},
          .algorithms = {{.algorithm = ClassHistogram{}, .label_key = label_key},
                         latent(LatentVisualizer::Method::tsne),
                         latent(LatentVisualizer::Method::umap)},
          .test_result_metrics = nexuml::Keys{"accuracy", "f1"}};
}

}  // namespace nexuml_library
