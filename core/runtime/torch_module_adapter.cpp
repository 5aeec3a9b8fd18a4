#include "runtime/torch_module_adapter.h"

#include <nexuml/diagnostic.h>

namespace nexuml {

TorchModuleAdapter::TorchModuleAdapter(const LayerBuildContext& context, std::shared_ptr<TensorModule> module)
    : PipelineLayer(context), module_(std::move(module)) {
  register_module("module", module_->module());
}

at::Tensor TorchModuleAdapter::forward_tensor(const at::Tensor& input, const at::Tensor&) {
  at::Tensor output = module_->forward(input);
  if (!output.defined())
    throw Error("E824", "the module returned no tensor", Where::in_layer(layer_name()),
                "a module target has to return one tensor");
  return output;
}

}  // namespace nexuml
