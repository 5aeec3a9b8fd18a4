#include "compile/fake_layers.h"

#include <ATen/CPUGeneratorImpl.h>
#include <nexuml/nn_module.h>
#include <nexuml/registration.h>
#include <torch/nn/modules/batchnorm.h>
#include <torch/nn/modules/dropout.h>
#include <torch/nn/modules/linear.h>

#include <catch2/catch.hpp>
#include <chrono>
#include <thread>

namespace fake {
namespace {

// A layer whose forward_tensor is a function; it may hold modules.
class Function : public PipelineLayer {
 public:
  using Body = std::function<at::Tensor(const at::Tensor&, const at::Tensor&)>;
  Function(const LayerBuildContext& context, Body body) : PipelineLayer(context), body_(std::move(body)) {}
  at::Tensor forward_tensor(const at::Tensor& input, const at::Tensor& label) override {
    return body_(input, label);
  }

 private:
  Body body_;
};

class DenseLayer : public PipelineLayer {
 public:
  DenseLayer(const LayerBuildContext& context, std::int64_t size)
      : PipelineLayer(context),
        linear_(register_module("linear", torch::nn::Linear(context.input().shape.back(), size))) {}
  at::Tensor forward_tensor(const at::Tensor& input, const at::Tensor&) override { return linear_(input); }
  OrderedMap<Value> attributes() const override { return {{"input_size", linear_->options.in_features()}}; }

 private:
  torch::nn::Linear linear_;
};

class NoisyLayer : public PipelineLayer {
 public:
  NoisyLayer(const LayerBuildContext& context, std::int64_t size)
      : PipelineLayer(context),
        norm_(register_module("norm", torch::nn::BatchNorm1d(size))),
        dropout_(register_module("dropout", torch::nn::Dropout(0.5))) {
    register_buffer("calls", torch::zeros({}));
  }
  at::Tensor forward_tensor(const at::Tensor& input, const at::Tensor&) override {
    named_buffers(false)["calls"].add_(1);
    return dropout_(norm_(input)) + at::rand({1});
  }

 private:
  torch::nn::BatchNorm1d norm_;
  torch::nn::Dropout dropout_;
};

class DifferenceLayer : public PipelineLayer {
 public:
  using PipelineLayer::PipelineLayer;
  void forward(Batch& batch) override {
    set_output(batch, input(batch, std::string_view("left")) - input(batch, std::string_view("right")));
  }
};

class MeanLayer : public PipelineLayer {
 public:
  using PipelineLayer::PipelineLayer;
  void forward(Batch& batch) override { set_output(batch, merge_inputs(batch).mean()); }
};

class WriterLayer : public PipelineLayer {
 public:
  WriterLayer(const LayerBuildContext& context, std::string key)
      : PipelineLayer(context), key_(std::move(key)) {}
  at::Tensor forward_tensor(const at::Tensor& input, const at::Tensor&) override {
    storage().set(key_, input.sum());
    return input;
  }

 private:
  std::string key_;
};

class ReaderLayer : public PipelineLayer {
 public:
  ReaderLayer(const LayerBuildContext& context, std::string key)
      : PipelineLayer(context), key_(std::move(key)) {}
  at::Tensor forward_tensor(const at::Tensor& input, const at::Tensor&) override {
    const at::Tensor kept = storage().get(key_);
    return kept.defined() ? input + kept : input;
  }

 private:
  std::string key_;
};

class CentreLayer : public PostTrainLayer {
 public:
  explicit CentreLayer(const LayerBuildContext& context) : PostTrainLayer(context) {
    register_buffer("centre", torch::zeros(context.input().shape));
  }
  void collect_batch(const Batch& batch) override { seen_.push_back(input(batch).detach()); }
  void finalize_fit() override { named_buffers(false)["centre"].copy_(at::cat(seen_).mean(0)); }
  void transform(Batch& batch) override { set_output(batch, input(batch) - named_buffers(false)["centre"]); }

 private:
  std::vector<at::Tensor> seen_;
};

Shapes same_as_input(const LayerInferContext& context) {
  return context.single_output(context.input());
}

}  // namespace

void Dense::describe(Schema<Dense>& s) {
  s.summary("A linear layer.");
  s.field("size", &Dense::size).greater_than(0);
  s.field("activation", &Dense::activation).target(TargetKind::module);
}
Shapes Dense::infer(const LayerInferContext& context) const {
  TensorSpec spec = context.input();
  if (!is_floating(spec.dtype)) context.fail("a floating input is needed, got " + to_string(spec));
  if (spec.shape.empty()) context.fail("an input of [batch, size] is needed, got " + to_string(spec));
  const std::int64_t input_size = spec.shape.back();
  spec.shape.back() = size;
  Shapes shapes = context.single_output(spec);
  shapes.attributes["input_size"] = input_size;
  return shapes;
}
std::shared_ptr<PipelineLayer> Dense::build(const LayerBuildContext& context) const {
  return std::make_shared<DenseLayer>(context, size);
}

void Opaque::describe(Schema<Opaque>& s) {
  s.field("size", &Opaque::size);
}
std::shared_ptr<PipelineLayer> Opaque::build(const LayerBuildContext& context) const {
  return std::make_shared<DenseLayer>(context, size);
}

void Noisy::describe(Schema<Noisy>& s) {
  s.field("size", &Noisy::size);
}
std::shared_ptr<PipelineLayer> Noisy::build(const LayerBuildContext& context) const {
  return std::make_shared<NoisyLayer>(context, size);
}

void ClassLoss::describe(Schema<ClassLoss>& s) {
  s.field("needs_classes", &ClassLoss::needs_classes);
}
Shapes ClassLoss::infer(const LayerInferContext& context) const {
  if (needs_classes) (void)context.required_num_classes();
  Shapes shapes = context.single_output({.shape = {}});
  shapes.attributes["epoch_metrics"] = Value::list({"Accuracy"});
  return shapes;
}
std::shared_ptr<PipelineLayer> ClassLoss::build(const LayerBuildContext& context) const {
  return std::make_shared<Function>(context, [](const at::Tensor& input, const at::Tensor& label) {
    return label.defined() ? (input.sum() + label.sum()).to(at::kFloat) : input.sum();
  });
}

void MeanLoss::describe(Schema<MeanLoss>& s) {
  s.field("unused", &MeanLoss::unused);
}
Shapes MeanLoss::infer(const LayerInferContext& context) const {
  return context.single_output({.shape = {}});
}
std::shared_ptr<PipelineLayer> MeanLoss::build(const LayerBuildContext& context) const {
  return std::make_shared<MeanLayer>(context);
}

void Difference::describe(Schema<Difference>& s) {
  s.field("unused", &Difference::unused);
}
Shapes Difference::infer(const LayerInferContext& context) const {
  if (context.input(0) != context.input(1))
    context.fail("inputs of one shape are needed, got " + to_string(context.input(0)) + " and " +
                 to_string(context.input(1)));
  return same_as_input(context);
}
std::shared_ptr<PipelineLayer> Difference::build(const LayerBuildContext& context) const {
  return std::make_shared<DifferenceLayer>(context);
}

void ByWidth::describe(Schema<ByWidth>& s) {
  s.field("unused", &ByWidth::unused);
}
Shapes ByWidth::infer(const LayerInferContext& context) const {
  (void)context.required_metadata("width");
  return same_as_input(context);
}
std::shared_ptr<PipelineLayer> ByWidth::build(const LayerBuildContext& context) const {
  const double width = context.required_metadata("width").as_number();
  return std::make_shared<Function>(
      context, [width](const at::Tensor& input, const at::Tensor&) { return input * width; });
}

void Rogue::describe(Schema<Rogue>& s) {
  s.field("how", &Rogue::how);
}
Shapes Rogue::infer(const LayerInferContext& context) const {
  if (how != "lies") return same_as_input(context);
  TensorSpec spec = context.input();
  spec.shape.back() += 1;
  return context.single_output(spec);
}
std::shared_ptr<PipelineLayer> Rogue::build(const LayerBuildContext& context) const {
  if (how == "throws") throw std::runtime_error("the disk of the layer is full");
  if (how == "torch") (void)at::ones({2}).reshape({3});
  if (how == "null") return nullptr;
  if (how == "draws") (void)at::empty({4}).uniform_(0, 1, at::detail::getDefaultCPUGenerator());
  if (how == "waits")
    while (!context.stop.stop_requested()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  return std::make_shared<Function>(context,
                                    [](const at::Tensor& input, const at::Tensor&) { return input; });
}

void Writer::describe(Schema<Writer>& s) {
  s.field("key", &Writer::key);
}
Shapes Writer::infer(const LayerInferContext& context) const {
  return same_as_input(context);
}
std::shared_ptr<PipelineLayer> Writer::build(const LayerBuildContext& context) const {
  return std::make_shared<WriterLayer>(context, key);
}

void Reader::describe(Schema<Reader>& s) {
  s.field("key", &Reader::key);
}
Shapes Reader::infer(const LayerInferContext& context) const {
  return same_as_input(context);
}
std::shared_ptr<PipelineLayer> Reader::build(const LayerBuildContext& context) const {
  return std::make_shared<ReaderLayer>(context, key);
}

void Centre::describe(Schema<Centre>& s) {
  s.field("unused", &Centre::unused);
}
Shapes Centre::infer(const LayerInferContext& context) const {
  return same_as_input(context);
}
std::shared_ptr<PipelineLayer> Centre::build(const LayerBuildContext& context) const {
  return std::make_shared<CentreLayer>(context);
}

void LinearTarget::describe(Schema<LinearTarget>& s) {
  s.field("in_features", &LinearTarget::in_features).required().greater_than(0);
  s.field("out_features", &LinearTarget::out_features).required().greater_than(0);
  s.field("bias", &LinearTarget::bias);
}
TensorSpec LinearTarget::infer(const TensorSpec& input) const {
  if (input.shape.empty() || input.shape.back() != in_features)
    throw Error("E807", "an input whose last size is " + std::to_string(in_features) + " is needed, got " +
                            to_string(input));
  TensorSpec output = input;
  output.shape.back() = out_features;
  return output;
}
std::shared_ptr<TensorModule> LinearTarget::build(const ModuleBuildContext&) const {
  return tensor_module(torch::nn::Linear(torch::nn::LinearOptions(in_features, out_features).bias(bias)));
}

void Unregistered::describe(Schema<Unregistered>& s) {
  s.field("factor", &Unregistered::factor);
}
Shapes Unregistered::infer(const LayerInferContext& context) const {
  return same_as_input(context);
}
std::shared_ptr<PipelineLayer> Unregistered::build(const LayerBuildContext& context) const {
  return std::make_shared<Function>(
      context, [factor = factor](const at::Tensor& input, const at::Tensor&) { return input * factor; });
}

void Source::describe(Schema<Source>& s) {
  s.field("width", &Source::width);
  s.field("complete", &Source::complete);
}
std::optional<DataDeclaration> Source::declare() const {
  DataDeclaration declaration;
  declaration.features["features"] = {.shape = {width}};
  declaration.features["tokens"] = {.shape = {4}, .dtype = DType::int64};
  declaration.labels["class"] = {.shape = {}, .dtype = DType::int64};
  declaration.num_classes["class"] = 3;
  declaration.complete = complete;
  return declaration;
}
std::shared_ptr<Dataset> Source::build(const DataContext&) const {
  throw std::logic_error("checking and building a pipeline opens no data");
}

void Loader::describe(Schema<Loader>& s) {
  s.field("unused", &Loader::unused);
}
std::shared_ptr<LoaderBackend> Loader::build(const LoaderBuildContext&) const {
  throw std::logic_error("checking and building a pipeline loads no data");
}

ComponentRegistry registry() {
  static const ComponentRegistry all = ComponentRegistry().with_program([](Registration& r) {
    r.add<Dense>("Dense");
    r.add<Opaque>("Opaque");
    r.add<Noisy>("Noisy");
    r.add<ClassLoss>("ClassLoss");
    r.add<MeanLoss>("MeanLoss");
    r.add<Difference>("Difference");
    r.add<ByWidth>("ByWidth");
    r.add<Rogue>("Rogue");
    r.add<Writer>("Writer");
    r.add<Reader>("Reader");
    r.add<Centre>("Centre");
    r.add<NnModule>("NnModule");
    r.add<Source>("source");
    r.add<Loader>("torch");
    r.add_target<LinearTarget>("fake.nn:Linear");
    r.add_target<LinearTarget>("fake.nn:Double");
  });
  return all;
}

ScenarioSpec scenario(std::vector<LayerSpec> layers) {
  ScenarioSpec spec{.name = "test"};
  spec.pipeline.stages["Main"] = std::move(layers);
  spec.data.source = AnyDataSource(Source{});
  return spec;
}

Diagnostics thrown_by(const std::function<void()>& call) {
  try {
    call();
  } catch (const Error& error) {
    return error.diagnostics();
  }
  FAIL("no nexuml::Error was thrown");
  return {};
}

std::string codes(const Diagnostics& problems, bool errors_only) {
  std::string text;
  for (const Diagnostic& problem : problems) {
    if (errors_only && problem.severity != Severity::error) continue;
    text += (text.empty() ? "" : " ") + problem.code;
  }
  return text;
}

}  // namespace fake
