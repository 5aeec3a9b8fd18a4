#include "layers/shape_rules.h"

#include <string>

namespace nexuml_library {

namespace {

std::string described_input(const nexuml::LayerInferContext& context, std::size_t index) {
  return "'" + context.keys_in[index] + "' of shape " + nexuml::to_string(context.input(index).shape);
}

}  // namespace

void check_key_counts(const nexuml::LayerInferContext& context, std::size_t inputs, std::size_t outputs) {
  if (context.keys_in.size() != inputs)
    context.fail("keys_in must list " + std::to_string(inputs) + ", found " +
                 std::to_string(context.keys_in.size()));
  if (context.keys_out.size() != outputs)
    context.fail("keys_out must list " + std::to_string(outputs) + ", found " +
                 std::to_string(context.keys_out.size()));
}

std::int64_t feature_count(const nexuml::LayerInferContext& context, std::size_t index) {
  const std::int64_t count = nexuml::element_count(context.input(index).shape);
  if (count == nexuml::unknown_size)
    context.fail("the number of features must be known, found " + described_input(context, index),
                 "give the sizes in data.input_shapes");
  return count;
}

std::int64_t last_size(const nexuml::LayerInferContext& context, std::size_t index) {
  const nexuml::Shape& shape = context.input(index).shape;
  if (shape.empty()) context.fail("a feature dimension is needed, found " + described_input(context, index));
  if (shape.back() == nexuml::unknown_size)
    context.fail("the last size must be known, found " + described_input(context, index),
                 "give the sizes in data.input_shapes");
  return shape.back();
}

std::size_t sample_dimension(const nexuml::LayerInferContext& context, std::int64_t dim, std::size_t rank) {
  const auto dimensions = static_cast<std::int64_t>(rank) + 1;
  const std::int64_t from_front = dim < 0 ? dim + dimensions : dim;
  if (from_front < 0 || from_front >= dimensions)
    context.fail("dim " + std::to_string(dim) + " is outside of a tensor of " + std::to_string(dimensions) +
                 " dimensions");
  if (from_front == 0)
    context.fail("dim " + std::to_string(dim) + " is the batch dimension of a tensor of " +
                 std::to_string(dimensions) + " dimensions");
  return static_cast<std::size_t>(from_front - 1);
}

std::int64_t token_features(const nexuml::LayerInferContext& context, std::int64_t dim) {
  if (context.input().shape.size() != 2)
    context.fail("tokens [tokens, features] are needed, found " + described_input(context, 0));
  if (sample_dimension(context, dim, 2) != 0)
    context.fail("dim " + std::to_string(dim) + " names the features; the tokens are dimension -2");
  return last_size(context);
}

}  // namespace nexuml_library
