// Threads that read a registry while others make new ones of it; run under the thread sanitizer by
// scripts/test-sanitized.
#include <nexuml/registry.h>

#include <atomic>
#include <catch2/catch.hpp>
#include <thread>
#include <vector>

using namespace nexuml;

namespace {

struct SnapshotLayer {
  double value = 1.0;

  static void describe(Schema<SnapshotLayer>& s) { s.field("value", &SnapshotLayer::value).at_least(0); }
  std::shared_ptr<PipelineLayer> build(const LayerBuildContext&) const { return nullptr; }
};
struct LaterLayer {
  double value = 2.0;

  static void describe(Schema<LaterLayer>& s) { s.field("value", &LaterLayer::value); }
  std::shared_ptr<PipelineLayer> build(const LayerBuildContext&) const { return nullptr; }
};

}  // namespace

TEST_CASE("a registry is read by many threads while others register more on copies of it") {
  const ComponentRegistry shared =
      ComponentRegistry().with_program([](Registration& r) { r.add<SnapshotLayer>("snapshot"); });
  std::atomic<int> wrong = 0;
  std::vector<std::thread> threads;
  for (int thread = 0; thread < 4; ++thread) {
    threads.emplace_back([&, thread] {
      for (int round = 0; round < 200; ++round) {
        const Definition layer = shared.layer("snapshot", {{"value", thread}});
        wrong += shared.identity_of(layer) != Identity{ComponentKind::layer, "snapshot", "1"};
        wrong += shared.definitions().size() != 1;
        if (round % 20 != 0) continue;
        const ComponentRegistry more =
            shared.with_program([](Registration& r) { r.add<LaterLayer>("later"); });
        wrong += more.definitions().size() != 2;
      }
    });
  }
  for (auto& thread : threads) thread.join();
  CHECK(wrong == 0);
  CHECK(shared.definitions().size() == 1);
}
