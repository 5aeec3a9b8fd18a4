#include "runtime/seeded_random.h"

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/Context.h>
#include <ATen/Parallel.h>
#include <ATen/ops/dropout.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/normal.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/rand.h>
#include <ATen/ops/randperm.h>
#include <tbb/parallel_for.h>
#include <torch/nn/modules/linear.h>

#include <catch2/catch.hpp>
#include <functional>

#include "runtime/worker_arena.h"

using namespace nexuml;

namespace {

using Draw = std::function<at::Tensor()>;

at::Tensor drawn(std::uint64_t seed, const Draw& draw) {
  const SeededRandom random(seed);
  return draw();
}

struct Serial {
  Serial() { SeededRandom::force_serial(true); }
  ~Serial() { SeededRandom::force_serial(false); }
};

const std::vector<std::pair<const char*, Draw>> draws = {
    {"uniform_", [] { return at::empty({9}).uniform_(); }},
    {"normal_", [] { return at::empty({40}).normal_(); }},
    {"bernoulli_", [] { return at::empty({9}).bernoulli_(0.3); }},
    {"rand", [] { return at::rand({9}); }},
    {"randperm", [] { return at::randperm(50); }},
    {"normal of tensors", [] { return at::normal(at::zeros({9}), 1.0); }},
    {"dropout", [] { return at::dropout(at::ones({99}), 0.4, true); }},
    {"half normal_", [] { return at::empty({64}, at::kHalf).normal_(); }},
    {"a linear layer", [] { return torch::nn::Linear(7, 9)->weight.detach(); }}};

}  // namespace

TEST_CASE("this LibTorch lets every layer draw from a stream of its own") {
  CHECK(SeededRandom::parallel());
}

TEST_CASE("what a scope draws equals manual_seed followed by the same call, and nothing else notices") {
  for (const auto& [name, draw] : draws) {
    CAPTURE(name);
    const at::Tensor before = default_random_state();
    const at::Tensor first = drawn(7, draw), second = drawn(7, draw), other = drawn(8, draw);
    CHECK(at::equal(before, default_random_state()));
    CHECK(at::equal(first, second));
    CHECK_FALSE(at::equal(first, other));
    at::Generator generator = at::detail::getDefaultCPUGenerator();
    generator.set_current_seed(7);
    CHECK(at::equal(first, draw()));
  }
}

TEST_CASE("the serial fallback gives the same bits and puts the default generator back") {
  for (const auto& [name, draw] : draws) {
    CAPTURE(name);
    const at::Tensor parallel = drawn(7, draw);
    const Serial serial;
    const at::Tensor before = default_random_state();
    CHECK(at::equal(parallel, drawn(7, draw)));
    CHECK(at::equal(before, default_random_state()));
  }
}

TEST_CASE("a scope inside a scope has a stream of its own") {
  const Draw uniform = draws[0].second;
  const at::Tensor inner_alone = drawn(2, uniform);
  const SeededRandom outer(1);
  const at::Tensor first = uniform();
  CHECK(at::equal(drawn(2, uniform), inner_alone));
  const at::Tensor second = uniform();
  const SeededRandom again(1);
  CHECK(at::equal(first, uniform()));
  CHECK(at::equal(second, uniform()));
}

TEST_CASE("a generator that was passed is left alone") {
  at::Generator generator = at::make_generator<at::CPUGeneratorImpl>(5);
  const at::Tensor expected = at::empty({9}).uniform_(0, 1, generator);
  generator.set_current_seed(5);
  const SeededRandom random(1);
  CHECK(at::equal(expected, at::empty({9}).uniform_(0, 1, generator)));
}

TEST_CASE("seeds of layers differ by seed, stage and layer and do not run into each other") {
  CHECK(layer_seed(0, "A", "B") == layer_seed(0, "A", "B"));
  CHECK(layer_seed(0, "A", "B") != layer_seed(1, "A", "B"));
  CHECK(layer_seed(0, "A", "B") != layer_seed(0, "AB", ""));
  // The weights that a seed gives must not change from one release to the next.
  CHECK(layer_seed(0, "Encoder", "00_LinearEncoder") == 2740917401704238962u);
}

TEST_CASE("threads of an arena leave LibTorch one thread each, and the caller's count returns") {
  const int before = at::get_num_threads();
  at::set_num_threads(2);
  std::atomic<int> most{0};
  WorkerArena arena(2);
  arena.execute([&] {
    tbb::parallel_for(0, 64, [&](int) {
      int seen = most;
      while (at::get_num_threads() > seen && !most.compare_exchange_weak(seen, at::get_num_threads())) {
      }
    });
  });
  CHECK(most == 1);
  CHECK(at::get_num_threads() == 2);
  at::set_num_threads(before);
}
