// The order in which layers are built, with layers that need no LibTorch: this also runs under the thread
// sanitizer.
#include "compile/task_graph.h"

#include <tbb/global_control.h>
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>

#include <catch2/catch.hpp>
#include <chrono>
#include <cstdint>
#include <random>
#include <thread>
#include <vector>

using namespace nexuml;

namespace {

// A layer whose weights follow from its own seed and, as with shapes that are found by trying, from what the
// layers before it made. It reads them without a lock: that they are done is the graph's promise.
struct FakeLayer {
  std::vector<std::size_t> inputs;
  std::vector<std::uint64_t> weights;
};

// Each layer reads up to three of the layers before it.
std::vector<FakeLayer> random_layers(std::size_t count, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<FakeLayer> layers(count);
  for (std::size_t i = 1; i < count; ++i)
    for (std::size_t n = random() % 4; n > 0; --n) layers[i].inputs.push_back(random() % i);
  return layers;
}

bool build(std::vector<FakeLayer>& layers, std::size_t i) {
  std::mt19937_64 random(i);
  FakeLayer& layer = layers[i];
  layer.weights.resize(64);
  for (std::uint64_t& weight : layer.weights) weight = random();
  for (const std::size_t input : layer.inputs)
    for (std::size_t w = 0; w < layer.weights.size(); ++w) layer.weights[w] += layers[input].weights.at(w);
  return true;
}

TaskGraph graph_of(const std::vector<FakeLayer>& layers) {
  TaskGraph graph(layers.size());
  for (std::size_t i = 0; i < layers.size(); ++i)
    for (const std::size_t input : layers[i].inputs) graph.add_dependency(i, input);
  return graph;
}

std::vector<std::uint64_t> weights_built_with(int threads, std::uint64_t seed) {
  std::vector<FakeLayer> layers = random_layers(200, seed);
  TaskGraph graph = graph_of(layers);
  tbb::task_arena arena(threads);
  arena.execute([&] { graph.run([&](std::size_t i) { return build(layers, i); }, {}); });
  std::vector<std::uint64_t> all;
  for (const FakeLayer& layer : layers) all.insert(all.end(), layer.weights.begin(), layer.weights.end());
  return all;
}

}  // namespace

TEST_CASE("a graph of layers gives the same weights for 1, 2, 3 and 8 threads, a hundred times over") {
  const tbb::global_control more_than_cores(tbb::global_control::max_allowed_parallelism, 8);
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    const std::vector<std::uint64_t> serial = weights_built_with(1, seed);
    REQUIRE(serial.size() == 200 * 64);
    for (const int threads : {2, 3, 8}) REQUIRE(weights_built_with(threads, seed) == serial);
  }
}

TEST_CASE("no task begins after one that failed, and those that wait for it never do") {
  const tbb::global_control more_than_cores(tbb::global_control::max_allowed_parallelism, 8);
  TaskGraph graph(1000);
  for (std::size_t i = 1; i < 1000; ++i) graph.add_dependency(i, i - 1);
  std::vector<int> begun(1000, 0);
  tbb::task_arena(8).execute([&] {
    graph.run(
        [&](std::size_t i) {
          begun[i] = 1;
          return i != 500;
        },
        {});
  });
  for (std::size_t i = 0; i < 1000; ++i) REQUIRE(begun[i] == (i <= 500));
}

TEST_CASE("a request to stop keeps what has not begun from beginning") {
  TaskGraph graph(1000);
  for (std::size_t i = 1; i < 1000; ++i) graph.add_dependency(i, i - 1);
  std::stop_source source;
  std::size_t last = 0;
  tbb::task_arena(2).execute([&] {
    graph.run(
        [&](std::size_t i) {
          last = i;
          if (i == 10) source.request_stop();
          return true;
        },
        source.get_token());
  });
  REQUIRE(last == 10);
}

TEST_CASE("a task that waits inside oneTBB begins no other task on its thread") {
  const tbb::global_control more_than_cores(tbb::global_control::max_allowed_parallelism, 8);
  TaskGraph graph(64);
  static thread_local int inside = 0;
  std::atomic<int> nested{0};
  tbb::task_arena(8).execute([&] {
    graph.run(
        [&](std::size_t) {
          if (inside++ > 0) ++nested;
          tbb::parallel_for(0, 100, [](int) { std::this_thread::sleep_for(std::chrono::microseconds(5)); });
          --inside;
          return true;
        },
        {});
  });
  REQUIRE(nested == 0);
}
