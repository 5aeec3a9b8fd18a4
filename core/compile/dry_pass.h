// One layer on a batch of zeros: what shapes does it really make? In eval mode, without gradients, with a
// random stream of its own; buffers, training flags and shared storage are put back.
#pragma once

#include <nexuml/layer.h>
#include <nexuml/layer_context.h>
#include <nexuml/shape.h>
#include <nexuml/tensor_dict.h>

#include <memory>
#include <utility>
#include <vector>

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

// The shapes and dtypes of what a built layer makes of zeros. Where inputs have unknown sizes it is tried
// with two values of them; what differs is unknown. `labels` may lack the layer's keys: then it gets none.
OrderedMap<TensorSpec> try_layer(PipelineLayer& layer, const LayerBuildContext& context);

// Runs the layer on zeros and compares with what it inferred. Throws Error E827 when they differ. A layer
// whose labels are not known is left alone, and so is one that makes nothing of them.
void verify_layer(PipelineLayer& layer, const LayerBuildContext& context, const Shapes& inferred);

}  // namespace nexuml
