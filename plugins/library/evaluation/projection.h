// Projections of samples onto a plane, for plots: [n, dims] -> [n, 2]. All follow their seed.
#pragma once

#include <torch/types.h>

#include <cstdint>
#include <stop_token>

namespace nexuml_library {

// The two directions of largest variance (principal component analysis).
at::Tensor pca_projection(const at::Tensor& samples);

// t-SNE (van der Maaten and Hinton, 2008), exact, begun from the principal components. The perplexity is at
// most (n - 1) / 3. Memory and time grow with n squared: a few seconds for 2,000 samples.
at::Tensor tsne_projection(const at::Tensor& samples, double perplexity, const std::stop_token& stop = {});

// UMAP (McInnes, Healy and Melville, 2018) over 15 exact neighbours, minimal distance 0.1, begun from the
// principal components.
at::Tensor umap_projection(const at::Tensor& samples, std::uint64_t seed, const std::stop_token& stop = {});

}  // namespace nexuml_library
