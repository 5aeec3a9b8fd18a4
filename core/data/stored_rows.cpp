#include "data/stored_rows.h"

#include <fmt/format.h>

#include "tensor_io/hashing_writer.h"

namespace nexuml {

namespace {

constexpr std::int64_t export_format_version = 2;

Value texts_value(const std::vector<std::string>& texts) {
  Value list = Value::list();
  for (const std::string& text : texts) list.push_back(text);
  return list;
}

std::vector<std::string> texts_of(const Value* value) {
  std::vector<std::string> texts;
  if (value && value->is_list())
    for (const Value& item : value->items())
      if (item.is_string()) texts.push_back(item.as_string());
  return texts;
}

TensorSpec read_key_spec(const Value& written, const std::string& key, const std::filesystem::path& place) {
  TensorSpec spec;
  const Value* shape = written.find("shape");
  const Value* dtype = written.find("dtype");
  if (!shape || !shape->is_list() || !dtype || !dtype->is_string())
    refuse_export(place, fmt::format("key_specs.{} has no shape and dtype", key));
  for (const Value& size : shape->items()) {
    if (!size.is_integer() || size.as_integer() < 0)
      refuse_export(place, fmt::format("key_specs.{}.shape is no list of sizes", key));
    spec.shape.push_back(size.as_integer());
  }
  std::string_view name = dtype->as_string();
  if (name.starts_with("torch.")) name.remove_prefix(6);
  const auto known = dtype_from_string(name == "bool" ? "boolean" : name);
  const auto same = known ? known : dtype_from_string(name);
  if (!same) refuse_export(place, fmt::format("key_specs.{} has an unknown dtype '{}'", key, name));
  spec.dtype = *same;
  return spec;
}

}  // namespace

void write_file(const std::filesystem::path& path, std::string_view text) {
  tensor_io::HashingWriter file(path.string());
  file.write(text);
  file.commit();
}

void refuse_export(const std::filesystem::path& place, std::string message, std::string hint) {
  throw Error("E838", std::move(message), Where::in_file(place.string()), std::move(hint));
}

Value write_export_config(const ExportConfig& config) {
  Value specs = Value::map(), shapes = Value::map(), classes = Value::map(), names = Value::map();
  for (const auto& [key, spec] : config.tensors) {
    Value shape = Value::list();
    for (const std::int64_t size : spec.shape) shape.push_back(size);
    const bool is_label = key.starts_with(config.label_prefix);
    specs.set(key, Value::map({{"key", is_label ? key.substr(config.label_prefix.size()) : key},
                               {"role", is_label ? "y" : "x"},
                               {"shape", shape},
                               {"dtype", "torch." + std::string(to_string(spec.dtype))}}));
    if (!is_label) shapes.set(key, std::move(shape));
  }
  for (const auto& [label, count] : config.num_classes) classes.set(label, count);
  for (const auto& [label, texts] : config.class_names) names.set(label, texts_value(texts));
  return Value::map({{"format_version", export_format_version},
                     {"backend", config.writer},
                     {"writer", config.writer},
                     {"num_samples", config.num_samples},
                     {"label_names", texts_value(config.y_keys)},
                     {"num_classes", std::move(classes)},
                     {"x_keys", texts_value(config.x_keys)},
                     {"y_keys", texts_value(config.y_keys)},
                     {"label_prefix", config.label_prefix},
                     {"feature_shapes", std::move(shapes)},
                     {"key_specs", std::move(specs)},
                     {"class_names", std::move(names)},
                     {"extra", config.extra}});
}

ExportConfig read_export_config(const std::filesystem::path& folder) {
  const std::filesystem::path place = folder / "config.yaml";
  Diagnostics problems;
  const std::string text = read_text_file(place.string(), problems);
  const Value written = problems.has_errors() ? Value() : parse_yaml(text, place.string(), problems);
  if (problems.has_errors()) throw Error(std::move(problems));
  const auto field = [&](const char* name) -> const Value& {
    const Value* found = written.is_map() ? written.find(name) : nullptr;
    if (!found)
      refuse_export(place, fmt::format("the file says nothing of '{}'", name), "write the data again");
    return *found;
  };
  if (field("format_version") != Value(export_format_version))
    refuse_export(place, fmt::format("the data is of format {}, {} is read",
                                     describe_for_message(field("format_version")), export_format_version));
  ExportConfig config;
  if (!field("writer").is_string() || !field("num_samples").is_integer() ||
      !field("label_prefix").is_string() || !field("key_specs").is_map())
    refuse_export(place, "the file is malformed: writer, num_samples, label_prefix or key_specs",
                  "write the data again");
  config.writer = field("writer").as_string();
  config.num_samples = field("num_samples").as_integer();
  config.label_prefix = field("label_prefix").as_string();
  for (const auto& entry : field("key_specs").entries())
    config.tensors[entry.key] = read_key_spec(entry.value, entry.key, place);
  config.x_keys = texts_of(written.find("x_keys"));
  config.y_keys = texts_of(written.find("y_keys"));
  if (const Value* counts = written.find("num_classes"); counts && counts->is_map())
    for (const auto& entry : counts->entries())
      if (entry.value.is_integer()) config.num_classes[entry.key] = entry.value.as_integer();
  if (const Value* names = written.find("class_names"); names && names->is_map())
    for (const auto& entry : names->entries()) config.class_names[entry.key] = texts_of(&entry.value);
  if (const Value* extra = written.find("extra"); extra && extra->is_map()) config.extra = *extra;
  return config;
}

}  // namespace nexuml
