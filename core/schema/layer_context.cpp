#include <fmt/format.h>
#include <nexuml/layer_context.h>

namespace nexuml {

const TensorSpec& LayerInferContext::input(std::size_t index) const {
  if (index >= keys_in.size())
    fail(fmt::format("{} inputs are needed, keys_in lists {}", index + 1, keys_in.size()));
  if (const TensorSpec* spec = inputs.find(keys_in[index])) return *spec;
  fail(fmt::format("the shape of the input '{}' is not known", keys_in[index]));
}

const std::string& LayerInferContext::output_key(std::size_t index) const {
  if (index >= keys_out.size())
    fail(fmt::format("{} outputs are needed, keys_out lists {}", index + 1, keys_out.size()));
  return keys_out[index];
}

const Value& LayerInferContext::required_metadata(const std::string& name) const {
  if (const Value* value = metadata.find(name)) return *value;
  throw Error(
      "E805", fmt::format("the layer needs the metadata '{}'", name), Where::in_layer(layer),
      fmt::format("add meta_in: {{{}: KEY}} with a KEY that an earlier layer publishes through meta_out",
                  name));
}

Shapes LayerInferContext::single_output(TensorSpec spec) const {
  Shapes shapes;
  shapes.outputs[output_key()] = std::move(spec);
  return shapes;
}

void LayerInferContext::fail(const std::string& message, const std::string& hint) const {
  throw Error("E807", message, Where::in_layer(layer), hint);
}

}  // namespace nexuml
