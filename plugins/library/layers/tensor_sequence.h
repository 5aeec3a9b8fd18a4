// Modules in a row, named 0, 1, ... as torch.nn.Sequential names them, so that state dicts agree.
#pragma once

#include <ATen/ops/linear.h>
#include <nexuml/module.h>
#include <torch/nn/module.h>
#include <torch/nn/modules/linear.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace nexuml_library {

// A linear map as Python's torch computes it. The C++ frontend multiplies and adds in two passes where the input
// has more than two dimensions; at::linear does both in one.
class LinearStep final : public nexuml::TensorModule {
 public:
  explicit LinearStep(std::shared_ptr<torch::nn::LinearImpl> linear) : linear_(std::move(linear)) {}
  std::shared_ptr<torch::nn::Module> module() const override { return linear_; }
  at::Tensor forward(const at::Tensor& input) override {
    return at::linear(input, linear_->weight, linear_->bias);
  }

 private:
  std::shared_ptr<torch::nn::LinearImpl> linear_;
};

class TensorSequence final : public torch::nn::Module {
 public:
  void push_back(std::shared_ptr<nexuml::TensorModule> step) {
    register_module(std::to_string(steps_.size()), step->module());
    steps_.push_back(std::move(step));
  }
  void push_back(const torch::nn::Linear& linear) { push_back(std::make_shared<LinearStep>(linear.ptr())); }
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
