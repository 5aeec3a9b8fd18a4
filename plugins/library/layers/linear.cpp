#include "layers/linear.h"

#include <nexuml/layer.h>
#include <torch/nn/modules/linear.h>

#include <algorithm>
#include <string>

#include "layers/module_targets.h"
#include "layers/shape_rules.h"
#include "layers/tensor_sequence.h"

namespace nexuml_library {

namespace {

std::vector<std::int64_t> widths_of(const Linear& definition) {
  std::vector<std::int64_t> widths = definition.hidden_dims.value_or(std::vector<std::int64_t>(
      static_cast<std::size_t>(std::max<std::int64_t>(definition.n_layers - 1, 0)), definition.hidden_dim));
  widths.push_back(definition.target_dim);
  return widths;
}

// The shape that the first linear layer sees.
nexuml::Shape flattened_shape(const nexuml::LayerInferContext& context, const Linear& definition) {
  nexuml::Shape shape = context.input().shape;
  if (!definition.flatten_dims) return shape;
  const std::size_t first = sample_dimension(context, (*definition.flatten_dims)[0], shape.size());
  const std::size_t last = sample_dimension(context, (*definition.flatten_dims)[1], shape.size());
  if (first > last) context.fail("flatten_dims must name the first and the last dimension, in this order");
  const auto begin = shape.begin() + static_cast<std::ptrdiff_t>(first);
  const auto end = shape.begin() + static_cast<std::ptrdiff_t>(last) + 1;
  const std::int64_t count = nexuml::element_count(nexuml::Shape(begin, end));
  shape.erase(begin + 1, end);
  shape[first] = count;
  return shape;
}

std::int64_t input_width(const nexuml::LayerInferContext& context, const Linear& definition) {
  const nexuml::Shape shape = flattened_shape(context, definition);
  if (shape.empty() || shape.back() == nexuml::unknown_size)
    context.fail("the last size must be known, found " + nexuml::to_string(shape));
  return shape.back();
}

class LinearRuntime final : public nexuml::PipelineLayer {
 public:
  LinearRuntime(const nexuml::LayerBuildContext& context, const Linear& definition)
      : PipelineLayer(context), model_(register_module("model", std::make_shared<TensorSequence>())) {
    if (const auto& dims = definition.flatten_dims)
      model_->push_back(
          torch::nn::Flatten(torch::nn::FlattenOptions().start_dim((*dims)[0]).end_dim((*dims)[1])));
    const std::vector<std::int64_t> widths = widths_of(definition);
    std::int64_t width = input_width(context, definition);
    for (std::size_t i = 0; i < widths.size(); ++i) {
      model_->push_back(
          torch::nn::Linear(torch::nn::LinearOptions(width, widths[i]).bias(definition.linear_bias)));
      width = widths[i];
      if (definition.normalization)
        model_->push_back(build_module(context, *definition.normalization, nexuml::Value::list({width})));
      const bool last = i + 1 == widths.size();
      if (definition.activation && !(last && definition.skip_last_activation))
        model_->push_back(build_module(context, *definition.activation));
    }
  }

  at::Tensor forward_tensor(const at::Tensor& input, const at::Tensor&) override {
    return model_->forward(input);
  }

 private:
  std::shared_ptr<TensorSequence> model_;
};

}  // namespace

void Linear::describe(nexuml::Schema<Linear>& s) {
  s.summary("Linear layers over the last dimension, each with optional normalisation and activation.");
  s.field("target_dim", &Linear::target_dim).doc("Width of the output.").required().at_least(1);
  s.field("hidden_dim", &Linear::hidden_dim).doc("Width of every layer before the last.").at_least(1);
  s.field("hidden_dims", &Linear::hidden_dims)
      .doc("Widths of the layers before the last; takes the place of hidden_dim and n_layers.")
      .at_least(1);
  s.field("n_layers", &Linear::n_layers).doc("Linear layers; 0 counts as 1.").at_least(0);
  s.field("linear_bias", &Linear::linear_bias).doc("Whether the linear layers have a bias.");
  s.field("activation", &Linear::activation)
      .doc("Module built after each layer; null for none.")
      .target(nexuml::TargetKind::module);
  s.field("normalization", &Linear::normalization)
      .doc("Module built after each linear layer with its width as the argument; null for none.")
      .target(nexuml::TargetKind::module);
  s.field("skip_last_activation", &Linear::skip_last_activation)
      .doc("Whether the last layer goes without activation.");
  s.field("flatten_dims", &Linear::flatten_dims)
      .doc("First and last dimension to flatten before, the batch being dimension 0; null for none.");
}

nexuml::Shapes Linear::infer(const nexuml::LayerInferContext& context) const {
  check_key_counts(context, 1, 1);
  (void)input_width(context, *this);
  nexuml::Shape shape = flattened_shape(context, *this);
  shape.back() = target_dim;
  return context.single_output({.shape = shape, .dtype = context.input().dtype});
}

std::shared_ptr<nexuml::PipelineLayer> Linear::build(const nexuml::LayerBuildContext& context) const {
  return std::make_shared<LinearRuntime>(context, *this);
}

}  // namespace nexuml_library
