// LatentVisualizer: where the samples of each class lie in a latent space, projected onto a plane.
//
//     EvalAlgorithmSpec{.algorithm = LatentVisualizer{.method = LatentVisualizer::Method::tsne},
//                       .feature_key = "latent", .label_key = "digit"}
//
// Training and test samples are drawn apart (discs and crosses), at most `max_samples` of each, chosen
// fairly. Where the data has no label `label_key`, the first label that is a class colours the samples.
#pragma once

#include <nexuml/definition.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>

namespace nexuml_library {

enum class StoreBackend { memory, memmap };

// Shape: latent [batch, ...], flattened; the projection is [samples, 2].
// Formula: principal components, t-SNE or UMAP of a random selection of max_samples rows.
// Source: van der Maaten and Hinton, JMLR 9, 2008; McInnes, Healy and Melville, arXiv 1802.03426
struct LatentVisualizer {
  enum class Method { tsne, umap, pca };
  Method method = Method::tsne;
  std::int64_t max_samples = 2000;
  std::int64_t perplexity = 30;
  StoreBackend storage_backend = StoreBackend::memory;
  std::optional<std::string> storage_path = std::nullopt;

  static void describe(nexuml::Schema<LatentVisualizer>& s);
  std::shared_ptr<nexuml::EvalAlgorithm> build(const nexuml::EvalBuildContext& context) const;
};

}  // namespace nexuml_library

template <>
struct nexuml::EnumText<nexuml_library::LatentVisualizer::Method> {
  using Method = nexuml_library::LatentVisualizer::Method;
  static constexpr std::pair<Method, const char*> names[] = {
      {Method::tsne, "tsne"}, {Method::umap, "umap"}, {Method::pca, "pca"}};
};
template <>
struct nexuml::EnumText<nexuml_library::StoreBackend> {
  using Backend = nexuml_library::StoreBackend;
  static constexpr std::pair<Backend, const char*> names[] = {{Backend::memory, "memory"},
                                                              {Backend::memmap, "memmap"}};
};
