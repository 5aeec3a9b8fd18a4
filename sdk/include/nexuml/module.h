// TensorModule: what a module target builds, one tensor in and one tensor out.
//
//     std::shared_ptr<nexuml::TensorModule> Linear::build(const nexuml::ModuleBuildContext&) const {
//       return nexuml::tensor_module(torch::nn::Linear(in_features, out_features));
//     }
//
// `tensor_module` wraps a LibTorch module holder, or a shared pointer to a class derived from
// torch::nn::Module, whose `forward` takes one tensor and returns one. NnModule holds the wrapped module
// under the name `module`.
#pragma once

#include <nexuml/export.h>
#include <nexuml/shape.h>
#include <torch/nn/module.h>
#include <torch/nn/pimpl.h>

#include <concepts>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>

namespace nexuml {

class Targets;

struct ModuleBuildContext {
  std::string layer;                 // Encoder/00_NnModule, for messages
  const Targets* targets = nullptr;  // to build modules inside modules
  std::stop_token stop;
};

class NEXUML_EXPORT TensorModule {
 public:
  virtual ~TensorModule();
  // The module that owns the parameters. [any thread]
  virtual std::shared_ptr<torch::nn::Module> module() const = 0;
  // [training thread]
  virtual at::Tensor forward(const at::Tensor& input) = 0;
};

namespace detail {
template <class Module>
class WrappedModule final : public TensorModule {
 public:
  explicit WrappedModule(std::shared_ptr<Module> module) : module_(std::move(module)) {}
  std::shared_ptr<torch::nn::Module> module() const override { return module_; }
  at::Tensor forward(const at::Tensor& input) override { return module_->forward(input); }

 private:
  std::shared_ptr<Module> module_;
};
}  // namespace detail

template <std::derived_from<torch::nn::Module> Module>
std::shared_ptr<TensorModule> tensor_module(std::shared_ptr<Module> module) {
  static_assert(
      requires(const at::Tensor& input) {
        { module->forward(input) } -> std::convertible_to<at::Tensor>;
      },
      "tensor_module takes modules whose forward takes one tensor and returns one tensor.");
  return std::make_shared<detail::WrappedModule<Module>>(std::move(module));
}

template <class Contained>
std::shared_ptr<TensorModule> tensor_module(const torch::nn::ModuleHolder<Contained>& holder) {
  return tensor_module(holder.ptr());
}

}  // namespace nexuml
