#include "evaluation/projection.h"

#include <ATen/ops/cdist.h>
#include <ATen/ops/linalg_svd.h>
#include <ATen/ops/where.h>
#include <ATen/ops/zeros.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace nexuml_library {

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

// Row i: how likely i picks each other sample as its neighbour, with the bandwidth at which the entropy is
// log(perplexity). Found by bisection over all rows at once.
at::Tensor neighbour_probabilities(const at::Tensor& squared_distances, double perplexity) {
  const std::int64_t n = squared_distances.size(0);
  const auto column = [&](double value) { return at::full({n, 1}, value, squared_distances.options()); };
  at::Tensor precision = column(1), low = column(0), high = column(infinity);
  // Relative to the nearest neighbour, so that the exponential does not underflow.
  const at::Tensor others = squared_distances.clone().fill_diagonal_(infinity);
  const at::Tensor shifted = squared_distances - std::get<0>(others.min(1, /*keepdim=*/true));
  const double wanted = std::log(perplexity);
  at::Tensor probabilities;
  for (int step = 0; step < 60; ++step) {
    const at::Tensor weights = (shifted * -precision).exp_().fill_diagonal_(0);
    const at::Tensor total = weights.sum(1, true);
    probabilities = weights / total;
    const at::Tensor entropy = total.log() + precision * (shifted * probabilities).sum(1, true);
    const at::Tensor too_wide = entropy > wanted;
    low = at::where(too_wide, precision, low);
    high = at::where(too_wide, high, precision);
    precision = at::where(high.isinf(), precision * 2, (low + high) / 2);
  }
  return probabilities;
}

}  // namespace

at::Tensor pca_projection(const at::Tensor& samples) {
  const at::Tensor centred = samples.to(at::kDouble) - samples.to(at::kDouble).mean(0, true);
  const auto [left, scales, right] = at::linalg_svd(centred, /*full_matrices=*/false);
  const std::int64_t components = std::min<std::int64_t>(2, scales.size(0));
  at::Tensor plane = at::zeros({samples.size(0), 2}, at::kDouble);
  for (std::int64_t i = 0; i < components; ++i) {
    // The sign of a direction is free: its largest weight is made positive.
    const at::Tensor direction = right[i];
    const double largest = direction[direction.abs().argmax()].item<double>();
    plane.select(1, i).copy_(left.select(1, i) * scales[i] * (largest < 0 ? -1 : 1));
  }
  return plane.to(at::kFloat);
}

at::Tensor tsne_projection(const at::Tensor& samples, double perplexity, const std::stop_token& stop) {
  constexpr int exaggerated_steps = 250, steps = 750;
  constexpr double exaggeration = 12, smallest = 1e-12;
  const std::int64_t n = samples.size(0);
  perplexity = std::max(1.0, std::min(perplexity, static_cast<double>(n - 1) / 3));

  const at::Tensor distances = at::cdist(samples.to(at::kFloat), samples.to(at::kFloat)).square_();
  at::Tensor target = neighbour_probabilities(distances, perplexity);
  target = ((target + target.t()) / (2 * static_cast<double>(n))).clamp_min_(smallest) * exaggeration;

  at::Tensor plane = pca_projection(samples);
  plane = plane / plane.select(1, 0).std().clamp_min(smallest) * 1e-4;
  at::Tensor velocity = at::zeros_like(plane), gains = at::ones_like(plane);
  const double rate = std::max(static_cast<double>(n) / exaggeration / 4, 50.0);
  for (int step = 0; step < steps && !stop.stop_requested(); ++step) {
    if (step == exaggerated_steps) target = target / exaggeration;
    // Student-t similarities in the plane; the diagonal says nothing.
    const at::Tensor similar = at::cdist(plane, plane).square_().add_(1).reciprocal_().fill_diagonal_(0);
    const at::Tensor pull = (target - similar / similar.sum()).mul_(similar);
    const at::Tensor gradient = (pull.sum(1, true) * plane - pull.matmul(plane)) * 4;
    gains = at::where((gradient * velocity) < 0, gains + 0.2, gains * 0.8).clamp_min_(0.01);
    velocity = velocity * (step < exaggerated_steps ? 0.5 : 0.8) - gains * gradient * rate;
    plane = plane + velocity;
  }
  return plane - plane.mean(0, true);
}

}  // namespace nexuml_library
