#include <ATen/ops/cdist.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <random>
#include <utility>
#include <vector>

#include "evaluation/projection.h"
#include "evaluation/random_index.h"

namespace nexuml_library {

namespace {

constexpr std::int64_t most_neighbours = 15;
constexpr int umap_epochs = 300;
constexpr int negative_samples = 5;
// The curve 1 / (1 + a d^2b) that is near 1 up to the distance 0.1 and then falls like exp(-d).
constexpr double curve_a = 1.5769434603, curve_b = 0.8950608779;

struct Edge {
  std::int64_t from, to;
  double weight;
};

// The bandwidth at which the neighbours of one sample weigh log2(their number) together.
double bandwidth(const float* distances, std::int64_t count, double nearest) {
  double low = 0, high = INFINITY, width = 1;
  for (int step = 0; step < 64; ++step) {
    double sum = 0;
    for (std::int64_t i = 0; i < count; ++i) sum += std::exp(-std::max(0.0, distances[i] - nearest) / width);
    if (sum > std::log2(static_cast<double>(count)))
      high = width;
    else
      low = width;
    width = std::isinf(high) ? width * 2 : (low + high) / 2;
  }
  return std::max(width, 1e-6);
}

// Weights of both directions joined: a + b - a b.
std::vector<Edge> neighbour_graph(const at::Tensor& samples) {
  const std::int64_t n = samples.size(0), count = std::min(most_neighbours, n - 1);
  const at::Tensor distances = at::cdist(samples, samples).fill_diagonal_(INFINITY);
  const auto [values, indices] = distances.topk(count, 1, /*largest=*/false);
  const at::Tensor near = values.contiguous(), who = indices.contiguous();
  std::map<std::pair<std::int64_t, std::int64_t>, std::array<double, 2>> both;
  for (std::int64_t i = 0; i < n; ++i) {
    const float* row = near.const_data_ptr<float>() + i * count;
    const std::int64_t* other = who.const_data_ptr<std::int64_t>() + i * count;
    const double width = bandwidth(row, count, row[0]);
    for (std::int64_t k = 0; k < count; ++k)
      both[std::minmax(i, other[k])][i < other[k] ? 0 : 1] =
          std::exp(-std::max(0.0, static_cast<double>(row[k] - row[0])) / width);
  }
  std::vector<Edge> edges;
  edges.reserve(both.size());
  for (const auto& [ends, weights] : both)
    edges.push_back({ends.first, ends.second, weights[0] + weights[1] - weights[0] * weights[1]});
  return edges;
}

// Stochastic descent on the cross entropy: edges attract as often as they weigh, random samples repel.
class Layout {
 public:
  Layout(at::Tensor plane, std::uint64_t seed)
      : plane_(plane.to(at::kFloat).contiguous()), places_(plane_.mutable_data_ptr<float>()), random_(seed) {}

  void run(const std::vector<Edge>& edges, const std::stop_token& stop) {
    double heaviest = 0;
    for (const Edge& edge : edges) heaviest = std::max(heaviest, edge.weight);
    std::vector<double> due(edges.size(), 0);
    for (int epoch = 0; epoch < umap_epochs && !stop.stop_requested(); ++epoch) {
      const double rate = 1.0 - static_cast<double>(epoch) / umap_epochs;
      for (std::size_t i = 0; i < edges.size(); ++i) {
        due[i] += edges[i].weight / heaviest;
        if (due[i] < 1) continue;
        due[i] -= 1;
        attract(edges[i].from, edges[i].to, rate);
        for (int k = 0; k < negative_samples; ++k)
          repel(edges[i].from, random_index(random_, plane_.size(0)), rate);
      }
    }
  }
  const at::Tensor& plane() const noexcept { return plane_; }

 private:
  void attract(std::int64_t i, std::int64_t j, double rate) {
    const double squared = squared_distance(i, j);
    if (squared <= 0) return;
    const double power = std::pow(squared, curve_b);
    const double strength = -2 * curve_a * curve_b * power / squared / (1 + curve_a * power);
    move(i, j, strength, rate, /*both=*/true);
  }
  void repel(std::int64_t i, std::int64_t j, double rate) {
    if (i == j) return;
    const double squared = squared_distance(i, j);
    const double strength = 2 * curve_b / ((0.001 + squared) * (1 + curve_a * std::pow(squared, curve_b)));
    move(i, j, strength, rate, /*both=*/false);
  }
  void move(std::int64_t i, std::int64_t j, double strength, double rate, bool both) {
    for (int axis = 0; axis < 2; ++axis) {
      float& a = places_[2 * i + axis];
      float& b = places_[2 * j + axis];
      const auto step = static_cast<float>(std::clamp(strength * (a - b), -4.0, 4.0) * rate);
      a += step;
      if (both) b -= step;
    }
  }
  double squared_distance(std::int64_t i, std::int64_t j) const {
    const double dx = places_[2 * i] - places_[2 * j], dy = places_[2 * i + 1] - places_[2 * j + 1];
    return dx * dx + dy * dy;
  }

  at::Tensor plane_;
  float* places_;
  std::mt19937_64 random_;
};

}  // namespace

at::Tensor umap_projection(const at::Tensor& samples, std::uint64_t seed, const std::stop_token& stop) {
  const at::Tensor points = samples.to(at::kFloat);
  at::Tensor plane = pca_projection(points);
  plane = plane / plane.abs().max().clamp_min(1e-12) * 10;
  Layout layout(plane, seed);
  layout.run(neighbour_graph(points), stop);
  return layout.plane();
}

}  // namespace nexuml_library
