// Passes over batches of zeros: what shapes do layers really make? In eval mode, without gradients, with a
// random stream of its own; buffers, training flags and shared storage are put back.
#pragma once

#include <nexuml/layer.h>
#include <nexuml/shape.h>
#include <nexuml/tensor_dict.h>

#include <memory>
#include <optional>
#include <vector>

#include "compile/graph.h"
#include "runtime/seeded_random.h"
#include "runtime/storage_scratch.h"

namespace nexuml {

// While one lives, the layer is in eval mode; its buffers and training flags return when it ends.
class UntouchedLayer {
 public:
  explicit UntouchedLayer(PipelineLayer& layer);
  ~UntouchedLayer();
  UntouchedLayer(const UntouchedLayer&) = delete;
  UntouchedLayer& operator=(const UntouchedLayer&) = delete;

 private:
  std::vector<std::pair<std::shared_ptr<torch::nn::Module>, bool>> training_;
  std::vector<std::pair<at::Tensor, at::Tensor>> buffers_;
};

// [2, ...] zeros; `unknown` stands for sizes that only data tells.
at::Tensor zeros_of(const TensorSpec& spec, std::int64_t unknown);

// The shapes and dtypes of what a built layer makes of zeros. Where inputs have unknown sizes it is tried
// with two values of them; what differs is unknown. `labels` may lack the layer's keys: then it gets none.
OrderedMap<TensorSpec> try_layer(PipelineLayer& layer, const LayerInferContext& context);

// Runs all layers in order on zeros and compares with what they inferred (E827). Layers whose labels are not
// known are left out.
void verify_shapes(const Graph& graph, const std::vector<std::shared_ptr<PipelineLayer>>& layers,
                   const std::vector<Shapes>& shapes, const SharedStorage& storage, Diagnostics& problems);

}  // namespace nexuml
