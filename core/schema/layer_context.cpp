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

std::int64_t LayerInferContext::required_num_classes() const {
  if (num_classes) return *num_classes;
  throw Error("E806", "the layer needs the number of classes, which nothing gives", Where::in_layer(layer),
              "set data.num_classes, or use a data source that declares the classes of its label");
}

Shapes LayerInferContext::single_output(TensorSpec spec) const {
  if (keys_out.size() != 1)
    throw Error("E808", fmt::format("the layer makes one output, keys_out lists {}", keys_out.size()),
                Where::in_layer(layer));
  Shapes shapes;
  shapes.outputs[output_key()] = std::move(spec);
  return shapes;
}

Shapes LayerInferContext::output_per_input(
    const std::function<TensorSpec(const TensorSpec& input)>& output) const {
  if (!keys_out.empty() && keys_out.size() != keys_in.size())
    throw Error("E808",
                fmt::format("the layer makes one output for each input; keys_in lists {}, keys_out {}",
                            keys_in.size(), keys_out.size()),
                Where::in_layer(layer), "list as many keys_out as keys_in");
  Shapes shapes;
  for (std::size_t i = 0; i < keys_out.size(); ++i) shapes.outputs[keys_out[i]] = output(input(i));
  return shapes;
}

void LayerInferContext::fail(const std::string& message, const std::string& hint) const {
  throw Error("E807", message, Where::in_layer(layer), hint);
}

}  // namespace nexuml
