// Builds the layers of checked graphs, in parallel.
#pragma once

#include <nexuml/compile.h>

#include <chrono>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "compile/graph.h"

namespace nexuml {

// Collects spans from all threads, where somebody asked for them.
class SpanLog {
 public:
  explicit SpanLog(std::vector<BuildSpan>* spans)
      : spans_(spans), origin_(std::chrono::steady_clock::now()) {}

  // Measures until the end of the scope.
  class Scope {
   public:
    Scope(SpanLog& log, std::string name, std::string category, std::string scenario);
    ~Scope();
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;

   private:
    SpanLog& log_;
    BuildSpan span_;
    std::chrono::steady_clock::time_point start_;
  };

 private:
  std::vector<BuildSpan>* spans_;
  std::chrono::steady_clock::time_point origin_;
  std::mutex mutex_;
};

// One scenario on its way to a pipeline. The vectors go by layer.
struct BuildJob {
  const CompileInput& input;
  Graph graph;
  std::shared_ptr<SharedStorage> storage = std::make_shared<SharedStorage>();
  std::vector<std::shared_ptr<PipelineLayer>> layers;
  std::vector<Shapes> shapes;                // inferred, or found by trying
  std::vector<OrderedMap<Value>> published;  // by metadata key

  BuildJob(const CompileInput& input_, Graph graph_);
};

// Builds every layer of every job as soon as its inputs are known. The first failure keeps tasks that have
// not begun from beginning; what failed is in `problems`.
void build_layers(std::vector<BuildJob>& jobs, const CompileOptions& options, SpanLog& log,
                  Diagnostics& problems);

// What a layer is told whose sources are all built. Throws Error E822 when the shape of an input is not
// known.
LayerBuildContext build_context(const BuildJob& job, const GraphLayer& layer, const CompileOptions& options);

// One layer from its context, with the random stream of (seed, stage, layer).
std::shared_ptr<PipelineLayer> build_layer(const GraphLayer& layer, const LayerBuildContext& context,
                                           std::uint64_t seed);

}  // namespace nexuml
