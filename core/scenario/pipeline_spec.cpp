#include <nexuml/scenario.h>

namespace nexuml {

void LayerSpec::describe(Schema<LayerSpec>& s) {
  s.summary("One layer: a component, the keys it reads and the keys it writes.");
  s.field("component", &LayerSpec::component).doc("The layer: type, version, params.").required();
  s.field("keys_in", &LayerSpec::keys_in)
      .doc("Keys that the layer reads, or a map from its own names to keys.")
      .required();
  s.field("keys_out", &LayerSpec::keys_out).doc("Keys that the layer writes.").required();
  s.field("label_key", &LayerSpec::label_key).doc("Label, or labels, handed to the layer.");
  s.field("label_in_x", &LayerSpec::label_in_x).doc("The label is read among the features, not the labels.");
  s.field("meta_in", &LayerSpec::meta_in)
      .doc("Build parameter -> metadata key that an earlier layer published.");
  s.field("meta_out", &LayerSpec::meta_out).doc("Attribute of the layer -> metadata key it is published as.");
  s.field("delay_epochs", &LayerSpec::delay_epochs)
      .doc("Epochs at the start in which the layer does not run.");
  s.field("update_every_n_epochs", &LayerSpec::update_every_n_epochs)
      .doc("The layer runs in every n-th epoch.")
      .at_least(1);
}

Keys LayerSpec::input_keys() const {
  if (const Keys* keys = std::get_if<Keys>(&keys_in)) return *keys;
  Keys keys;
  for (const auto& [name, key] : std::get<NamedKeys>(keys_in)) keys.push_back(key);
  return keys;
}

Keys LayerSpec::label_keys() const {
  if (!label_key) return {};
  if (const std::string* key = std::get_if<std::string>(&*label_key)) return {*key};
  return std::get<Keys>(*label_key);
}

void PipelineSpec::describe(Schema<PipelineSpec>& s) {
  s.summary("Named stages of layers; they run in the order in which they are written.");
  s.field("stages", &PipelineSpec::stages).doc("Stage name -> its layers, in order.");
}

}  // namespace nexuml
