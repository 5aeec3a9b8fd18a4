// Modules in a row, named 0, 1, ... as torch.nn.Sequential names them, so that state dicts agree.
#pragma once

#include <nexuml/module.h>
#include <torch/nn/module.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace nexuml_library {

class TensorSequence final : public torch::nn::Module {
 public:
  void push_back(std::shared_ptr<nexuml::TensorModule> step) {
    register_module(std::to_string(steps_.size()), step->module());
    steps_.push_back(std::move(step));
  }
  template <class Contained>
  void push_back(const torch::nn::ModuleHolder<Contained>& holder) {
    push_back(nexuml::tensor_module(holder));
  }
  std::size_t size() const noexcept { return steps_.size(); }

  at::Tensor forward(const at::Tensor& input) {
    at::Tensor value = input;
    for (const auto& step : steps_) value = step->forward(value);
    return value;
  }

 private:
  std::vector<std::shared_ptr<nexuml::TensorModule>> steps_;
};

}  // namespace nexuml_library
