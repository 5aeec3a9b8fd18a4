// Linear, Identity, Flatten, Unflatten, Embedding.
#include <torch/nn/modules/embedding.h>
#include <torch/nn/modules/linear.h>

#include <nexuml/module.h>
#include <nexuml/registration.h>

#include "targets/arguments.h"
#include "targets/targets.h"

namespace nexuml::torch_targets {
namespace {

struct Linear {
  std::int64_t in_features = 0;
  std::int64_t out_features = 0;
  bool bias = true;
  std::optional<std::string> device;
  std::optional<std::string> dtype;

  static void describe(Schema<Linear>& s) {
    s.summary("y = x Wᵀ + b over the last dimension.");
    s.field("in_features", &Linear::in_features).required().at_least(1);
    s.field("out_features", &Linear::out_features).required().at_least(1);
    s.field("bias", &Linear::bias);
    describe_placement(s);
  }
  std::optional<TensorSpec> infer(const TensorSpec& input) const {
    require_floating(input, "Linear");
    if (input.shape.empty()) shapes_do_not_meet("Linear needs features: [batch, ..., in_features], found [batch]");
    require_size(input, input.shape.size() - 1, in_features, "Linear", "in_features");
    TensorSpec output = input;
    output.shape.back() = out_features;
    return output;
  }
  std::shared_ptr<TensorModule> build(const ModuleBuildContext&) const {
    return tensor_module(torch::nn::Linear(torch::nn::LinearOptions(in_features, out_features).bias(bias)));
  }
};

struct Identity {
  static void describe(Schema<Identity>& s) { s.summary("Gives its input back."); }
  std::optional<TensorSpec> infer(const TensorSpec& input) const { return input; }
  std::shared_ptr<TensorModule> build(const ModuleBuildContext&) const { return tensor_module(torch::nn::Identity()); }
};

struct Flatten {
  std::int64_t start_dim = 1;
  std::int64_t end_dim = -1;

  static void describe(Schema<Flatten>& s) {
    s.summary("Merges the dimensions from start_dim to end_dim, both counted with the batch as 0.");
    s.field("start_dim", &Flatten::start_dim);
    s.field("end_dim", &Flatten::end_dim);
  }
  std::optional<TensorSpec> infer(const TensorSpec& input) const {
    TensorSpec output{{}, input.dtype};
    const std::size_t first = sample_dimension(input, start_dim, "Flatten");
    const std::size_t last = sample_dimension(input, end_dim, "Flatten");
    if (first > last) shapes_do_not_meet("Flatten: start_dim lies behind end_dim");
    const auto begin = input.shape.begin();
    output.shape.assign(begin, begin + static_cast<std::ptrdiff_t>(first));
    output.shape.push_back(element_count(Shape(begin + static_cast<std::ptrdiff_t>(first),
                                               begin + static_cast<std::ptrdiff_t>(last) + 1)));
    output.shape.insert(output.shape.end(), begin + static_cast<std::ptrdiff_t>(last) + 1, input.shape.end());
    return output;
  }
  std::shared_ptr<TensorModule> build(const ModuleBuildContext&) const {
    return tensor_module(torch::nn::Flatten(torch::nn::FlattenOptions().start_dim(start_dim).end_dim(end_dim)));
  }
};

struct Unflatten {
  std::int64_t dim = 1;
  std::vector<std::int64_t> unflattened_size;

  static void describe(Schema<Unflatten>& s) {
    s.summary("Splits one dimension into several.");
    s.field("dim", &Unflatten::dim).required();
    s.field("unflattened_size", &Unflatten::unflattened_size).required().min_size(1).at_least(1);
  }
  std::optional<TensorSpec> infer(const TensorSpec& input) const {
    const std::size_t at = sample_dimension(input, dim, "Unflatten");
    require_size(input, at, element_count(unflattened_size), "Unflatten", "the product of unflattened_size");
    TensorSpec output = input;
    const auto place = output.shape.erase(output.shape.begin() + static_cast<std::ptrdiff_t>(at));
    output.shape.insert(place, unflattened_size.begin(), unflattened_size.end());
    return output;
  }
  std::shared_ptr<TensorModule> build(const ModuleBuildContext&) const {
    return tensor_module(torch::nn::Unflatten(torch::nn::UnflattenOptions(dim, unflattened_size)));
  }
};

struct Embedding {
  std::int64_t num_embeddings = 0;
  std::int64_t embedding_dim = 0;
  std::optional<std::int64_t> padding_idx;
  std::optional<double> max_norm;
  double norm_type = 2.0;
  bool scale_grad_by_freq = false;
  bool sparse = false;
  std::optional<std::string> device;
  std::optional<std::string> dtype;

  static void describe(Schema<Embedding>& s) {
    s.summary("A table of vectors looked up by integer index.");
    s.field("num_embeddings", &Embedding::num_embeddings).required().at_least(1);
    s.field("embedding_dim", &Embedding::embedding_dim).required().at_least(1);
    s.field("padding_idx", &Embedding::padding_idx);
    s.field("max_norm", &Embedding::max_norm).greater_than(0);
    s.field("norm_type", &Embedding::norm_type);
    s.field("scale_grad_by_freq", &Embedding::scale_grad_by_freq);
    s.field("sparse", &Embedding::sparse);
    describe_placement(s);
  }
  std::optional<TensorSpec> infer(const TensorSpec& input) const {
    if (input.dtype != DType::int32 && input.dtype != DType::int64)
      shapes_do_not_meet("Embedding needs integer indices (int32 or int64), found " +
                         std::string(to_string(input.dtype)));
    TensorSpec output{input.shape, DType::float32};
    output.shape.push_back(embedding_dim);
    return output;
  }
  std::shared_ptr<TensorModule> build(const ModuleBuildContext&) const {
    auto options = torch::nn::EmbeddingOptions(num_embeddings, embedding_dim)
                       .norm_type(norm_type)
                       .scale_grad_by_freq(scale_grad_by_freq)
                       .sparse(sparse);
    if (padding_idx) options.padding_idx(*padding_idx);
    if (max_norm) options.max_norm(*max_norm);
    return tensor_module(torch::nn::Embedding(options));
  }
};

}  // namespace

void register_linear_targets(Registration& registry) {
  add_module<Linear>(registry, "linear", "Linear");
  add_module<Identity>(registry, "linear", "Identity");
  add_module<Flatten>(registry, "flatten", "Flatten");
  add_module<Unflatten>(registry, "flatten", "Unflatten");
  add_module<Embedding>(registry, "sparse", "Embedding");
}

}  // namespace nexuml::torch_targets
