// Holds the module that an NnModule names; its parameters are `<layer>.module.<parameter>`.
#pragma once

#include <nexuml/layer.h>
#include <nexuml/module.h>

#include <memory>

namespace nexuml {

class TorchModuleAdapter final : public PipelineLayer {
 public:
  TorchModuleAdapter(const LayerBuildContext& context, std::shared_ptr<TensorModule> module);
  at::Tensor forward_tensor(const at::Tensor& input, const at::Tensor& label) override;

 private:
  std::shared_ptr<TensorModule> module_;
};

}  // namespace nexuml
