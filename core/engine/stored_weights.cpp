#include "engine/stored_weights.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <system_error>

#include "checkpoint/checkpoint_store.h"
#include "checkpoint/weights.h"

namespace nexuml {

namespace fs = std::filesystem;

namespace {

using Dict = PickledValue::Dict;

// Plain values as themselves, anything else as the text that a person reads.
Value value_of(const PickledValue& value) {
  if (value.get_if<PickledValue::None>()) return Value();
  if (const auto* flag = value.get_if<bool>()) return Value(*flag);
  if (const auto* integer = value.get_if<std::int64_t>()) return Value(*integer);
  if (const auto* number = value.get_if<double>(); number && std::isfinite(*number)) return Value(*number);
  if (const auto* text = value.get_if<std::string>()) return Value(*text);
  if (const auto* big = value.get_if<PickledValue::BigInteger>()) return Value(big->digits);
  return Value(describe(value));
}

std::string key_text(const PickledValue& key) {
  const auto* text = key.get_if<std::string>();
  return text ? *text : describe(key);
}

const PickledValue::Items* items_of(const PickledValue& value) {
  if (const auto* list = value.get_if<PickledValue::List>()) return &list->items;
  if (const auto* tuple = value.get_if<PickledValue::Tuple>()) return &tuple->items;
  return nullptr;
}

// Where a dict lies is written as in `file.pt#model/encoder`.
void walk(const PickledValue& value, const std::string& path, TensorMap& tensors, Value& values) {
  const auto below = [&](const std::string& part) { return path.empty() ? part : path + "/" + part; };
  if (const auto* tensor = value.get_if<at::Tensor>()) {
    if (!tensors.contains(path)) tensors.add(path, *tensor);
  } else if (const auto* dict = value.get_if<Dict>()) {
    if (dict->entries.empty()) values.set(path.empty() ? "(all)" : path, describe(value));
    for (const auto& entry : dict->entries) walk(entry.value, below(key_text(entry.key)), tensors, values);
  } else if (const auto* items = items_of(value); items && !items->empty()) {
    for (std::size_t i = 0; i < items->size(); ++i)
      walk((*items)[i], below(std::to_string(i)), tensors, values);
  } else {
    values.set(path.empty() ? "(all)" : path, value_of(value));
  }
}

const PickledValue& below_key(const PickledValue& root, const std::string& file, const std::string& key) {
  const PickledValue* place = &root;
  for (std::size_t begin = 0; !key.empty() && begin <= key.size();) {
    const std::size_t end = std::min(key.find('/', begin), key.size());
    place = place->find(key.substr(begin, end - begin));
    if (!place)
      throw Error("E754", fmt::format("there is no '{}' in the file", key), Where::in_file(file),
                  "`checkpoint show` of the whole file lists what there is");
    begin = end + 1;
  }
  return *place;
}

bool is_pickled(const std::string& file) {
  const std::string extension = fs::path(file).extension();
  return extension == ".pt" || extension == ".pth" || extension == ".ckpt" || extension == ".bin";
}

StoredContent read_pickled(const std::string& file, const std::string& key) {
  const PickledValue root = read_pt(file);
  StoredContent content;
  walk(below_key(root, file, key), "", content.tensors, content.values);
  return content;
}

Value metadata_of(const TensorMetadata& metadata) {
  Value values = Value::map();
  for (const auto& [name, text] : metadata) values.set(name, text);
  return values;
}

StoredContent read_safetensors_content(const std::string& file) {
  TensorFile read = read_safetensors(file);
  return {std::move(read.tensors), metadata_of(read.metadata)};
}

void refuse_other_files(const std::string& file) {
  if (fs::path(file).extension() == ".safetensors" || is_pickled(file)) return;
  throw Error("E761",
              "weights are read from .safetensors files and from .pt, .pth, .ckpt and .bin of torch.save",
              Where::in_file(file));
}

TensorInfo info_of(const std::string& name, const at::Tensor& tensor) {
  return {.name = name, .dtype = tensor.scalar_type(), .shape = tensor.sizes().vec()};
}

StoredContent read_checkpoint(const fs::path& folder) {
  Checkpoint checkpoint = load_checkpoint(folder);
  StoredContent content{std::move(checkpoint.model), std::move(checkpoint.about)};
  for (const auto& [name, tensor] : checkpoint.trainer) content.tensors.add("trainer: " + name, tensor);
  content.values.set("trainer", std::move(checkpoint.trainer_state));
  if (!checkpoint.recipe.is_null()) content.values.set("recipe", std::move(checkpoint.recipe));
  return content;
}

}  // namespace

StoredPlace find_stored(const std::string& text) {
  std::error_code failure;
  StoredPlace place;
  place.path = text;
  if (!fs::exists(place.path, failure)) {
    if (const auto hash = text.find_last_of('#'); hash != std::string::npos) {
      place.path = text.substr(0, hash);
      place.key = text.substr(hash + 1);
    }
  }
  if (!fs::is_directory(place.path, failure)) {
    if (!fs::exists(fs::symlink_status(place.path, failure)))
      throw Error("E750", fmt::format("cannot read {}: there is no such file or folder", place.path.string()),
                  Where::in_file(place.path.string()));
    refuse_other_files(place.path.string());
    return place;
  }
  place.kind = StoredPlace::Kind::checkpoint;
  if (is_checkpoint_folder(place.path)) return place;
  place.kind = StoredPlace::Kind::run;
  for (const fs::path& folder : {place.path, place.path / "checkpoints"}) {
    place.indices = CheckpointStore(folder).indices();
    place.path = folder;
    if (!place.indices.empty()) return place;
  }
  throw Error("E764", "there is no checkpoint in the folder", Where::in_file(text),
              "name a checkpoint, a run folder, or a weights file");
}

StoredTensors look_into(const std::string& file, const std::string& key) {
  StoredTensors stored;
  if (!is_pickled(file)) {
    SafetensorsHeader header = inspect_safetensors(file);
    stored.tensors = std::move(header.tensors);
    stored.values = metadata_of(header.metadata);
    return stored;
  }
  const StoredContent content = read_pickled(file, key);
  for (const auto& [name, tensor] : content.tensors) stored.tensors.push_back(info_of(name, tensor));
  stored.aliases = find_shared(content.tensors);
  stored.values = content.values;
  return stored;
}

StoredContent read_stored(const StoredPlace& place) {
  if (place.kind == StoredPlace::Kind::checkpoint) return read_checkpoint(place.path);
  if (place.kind == StoredPlace::Kind::run) return read_checkpoint(place.checkpoint(place.indices.back()));
  const std::string file = place.path.string();
  return is_pickled(file) ? read_pickled(file, place.key) : read_safetensors_content(file);
}

}  // namespace nexuml
