// checkpoint show: what a checkpoint or a weights file holds, without its numbers.
#include <fmt/format.h>

#include "checkpoint/checkpoint_store.h"
#include "engine/engine_call.h"
#include "engine/stored_weights.h"
#include "tensor_io/dtypes.h"
#include "tensor_io/input_file.h"
#include "tensor_io/layout.h"

namespace nexuml {

namespace {

std::string one_line(const Value& value) {
  return value.is_string() ? value.as_string() : write_json(value, {.indent = -1});
}

std::uint64_t bytes_of(const TensorInfo& info) {
  std::uint64_t bytes = c10::elementSize(info.dtype);
  for (const std::int64_t size : info.shape) bytes *= static_cast<std::uint64_t>(size);
  return bytes;
}

Value tensor_list(const std::vector<TensorInfo>& tensors) {
  Value list = Value::list();
  for (const TensorInfo& info : tensors)
    list.push_back(Value::map({{"name", info.name},
                               {"dtype", std::string(tensor_io::dtype_name(info.dtype))},
                               {"shape", Value(info.shape)}}));
  return list;
}

Value alias_list(const std::vector<std::vector<std::string>>& aliases) {
  Value list = Value::list();
  for (const auto& group : aliases) list.push_back(Value(group));
  return list;
}

// name  dtype [shape], a line each.
std::string tensor_lines(const std::string& title, const std::vector<TensorInfo>& tensors) {
  std::uint64_t bytes = 0;
  std::size_t width = 0;
  for (const TensorInfo& info : tensors) {
    bytes += bytes_of(info);
    width = std::max(width, info.name.size());
  }
  std::string text =
      fmt::format("\n{}: {} tensors, {}\n", title, tensors.size(), tensor_io::byte_count(bytes));
  for (const TensorInfo& info : tensors)
    text += fmt::format("  {:{}}  {} {}\n", info.name, width, tensor_io::dtype_name(info.dtype),
                        tensor_io::shape_text(info.shape));
  return text;
}

std::string alias_lines(const std::vector<std::vector<std::string>>& aliases) {
  std::string text;
  for (const auto& group : aliases) text += fmt::format("  one tensor: {}\n", fmt::join(group, ", "));
  return text;
}

std::string library_lines(const Value& libraries) {
  std::string text = "\nlibraries\n";
  for (const Value& library : libraries.items())
    text += fmt::format("  {} {}  {}\n", one_line(library.at("id")), one_line(library.at("version")),
                        one_line(library.at("build_id")));
  return text;
}

std::string value_lines(const Value& values) {
  std::string text;
  for (const auto& entry : values.entries())
    if (!(entry.value.is_list() && entry.key == "libraries"))
      text += fmt::format("  {}: {}\n", entry.key, one_line(entry.value));
  return text;
}

std::string digest_text(const ManifestFile& file) {
  if (file.chunk == 0) return file.sha256.front();
  return fmt::format("{} digests, one for {} each", file.sha256.size(), tensor_io::byte_count(file.chunk));
}

void show_folder(EngineCall& call, const std::filesystem::path& folder) {
  const CheckpointManifest manifest = read_manifest(folder);
  std::string text = fmt::format("checkpoint {}\n", folder.string()) + value_lines(manifest.about);
  Value files = Value::list(), tensors = Value::map();
  text += "\nfiles\n";
  for (const ManifestFile& file : manifest.files) {
    text +=
        fmt::format("  {:20}  {:>20}  {}\n", file.name, tensor_io::byte_count(file.size), digest_text(file));
    files.push_back(
        Value::map({{"name", file.name},
                    {"size", static_cast<std::int64_t>(file.size)},
                    {"sha256", file.chunk == 0 ? Value(file.sha256.front()) : Value(file.sha256)}}));
  }
  if (const Value* libraries = manifest.about.find("libraries"); libraries && libraries->is_list())
    text += library_lines(*libraries);
  for (const auto& [title, name] :
       {std::pair("model", "model.safetensors"), {"trainer", "trainer.safetensors"}}) {
    if (!manifest.find(name)) continue;
    const SafetensorsHeader header = inspect_safetensors((folder / name).string());
    text += tensor_lines(title, header.tensors);
    if (name == std::string("model.safetensors")) text += alias_lines(manifest.aliases);
    tensors.set(title, tensor_list(header.tensors));
  }
  Value& answer = call.answer();
  answer.set("path", folder.string());
  answer.set("about", manifest.about);
  answer.set("files", std::move(files));
  answer.set("tensors", std::move(tensors));
  answer.set("aliases", alias_list(manifest.aliases));
  if (manifest.find("trainer.json")) answer.set("state", read_written_json(folder / "trainer.json"));
  if (manifest.find("recipe.json")) answer.set("recipe", read_written_json(folder / "recipe.json"));
  call.print(text);
}

void show_file(EngineCall& call, const StoredPlace& place) {
  const std::string file = place.path.string();
  const StoredTensors stored = look_into(file, place.key);
  const std::string title = place.key.empty() ? file : file + "#" + place.key;
  std::string text = fmt::format("weights {}\n", title) + value_lines(stored.values);
  call.print(text + tensor_lines("tensors", stored.tensors) + alias_lines(stored.aliases));
  Value& answer = call.answer();
  answer.set("path", title);
  answer.set("values", stored.values);
  answer.set("tensors", tensor_list(stored.tensors));
  answer.set("aliases", alias_list(stored.aliases));
}

// One line an index; one that cannot be read is told and does not hide the others.
void list_indices(EngineCall& call, const StoredPlace& place) {
  Value list = Value::list();
  std::string text = fmt::format("checkpoints in {}\n", place.path.string());
  for (const std::int64_t index : place.indices) {
    Value entry = Value::map({{"index", index}});
    try {
      const CheckpointManifest manifest = read_manifest(place.checkpoint(index));
      std::uint64_t bytes = 0;
      for (const ManifestFile& file : manifest.files) bytes += file.size;
      const auto number = [&](const char* key) {
        const Value* found = manifest.about.find(key);
        return found ? one_line(*found) : std::string("?");
      };
      text += fmt::format("  {:>6}  epoch {}, step {}, {}\n", index, number("epoch"), number("global_step"),
                          tensor_io::byte_count(bytes));
      entry.set("about", manifest.about);
      entry.set("bytes", static_cast<std::int64_t>(bytes));
    } catch (const Error& error) {
      text += fmt::format("  {:>6}  cannot be used\n", index);
      call.diagnostics().append(error.diagnostics());
    }
    list.push_back(std::move(entry));
  }
  call.print(text + "\n");
  call.answer().set("checkpoints", std::move(list));
}

}  // namespace

int show_checkpoint(EngineCall& call) {
  const StoredPlace place = find_stored(call.text("path").value());
  switch (place.kind) {
    case StoredPlace::Kind::file:
      show_file(call, place);
      break;
    case StoredPlace::Kind::checkpoint:
      show_folder(call, place.path);
      break;
    case StoredPlace::Kind::run:
      list_indices(call, place);
      show_folder(call, place.checkpoint(place.indices.back()));
      break;
  }
  return 0;
}

}  // namespace nexuml
