#include "checkpoint/checkpoint_store.h"

#include <nexuml/tensor_serializers.h>

#include <algorithm>
#include <charconv>
#include <set>

#include "checkpoint/checkpoint_manifest.h"
#include "checkpoint/staging_folder.h"
#include "tensor_io/hashing_writer.h"

namespace nexuml {

namespace fs = std::filesystem;

namespace {

// In bytes: longer tensors of a recipe would be unreadable as text, and twice as large in memory.
constexpr std::size_t large_tensor = 4096;

std::optional<std::int64_t> index_of(const std::string& name) {
  std::int64_t index = 0;
  const auto [end, failure] = std::from_chars(name.data(), name.data() + name.size(), index);
  const bool canonical =
      failure == std::errc{} && end == name.data() + name.size() && std::to_string(index) == name;
  return canonical && index >= 0 ? std::optional(index) : std::nullopt;
}

// The model without the further names of tied weights, and those as metadata in the way of Python's
// safetensors.torch.save_model, whose counterpart gives them back.
struct StoredModel {
  TensorMap tensors;
  TensorMetadata metadata{{"format", "pt"}};
  std::vector<std::vector<std::string>> aliases;
};

StoredModel without_aliases(const TensorMap& model) {
  StoredModel stored;
  stored.aliases = find_shared(model);
  std::set<std::string> further;
  for (const auto& group : stored.aliases)
    for (std::size_t i = 1; i < group.size(); ++i) {
      further.insert(group[i]);
      stored.metadata.emplace(group[i], group.front());
    }
  for (const auto& [name, tensor] : model)
    if (!further.contains(name)) stored.tensors.add(name, tensor);
  return stored;
}

void write_files(const fs::path& folder, const Checkpoint& checkpoint) {
  CheckpointManifest manifest;
  manifest.about = checkpoint.about;
  const auto path = [&](const char* name) { return (folder / name).string(); };
  const auto add = [&](const char* name, tensor_io::HashedFile written, std::uint64_t chunk) {
    if (written.sha256.size() == 1) chunk = 0;
    manifest.files.push_back({name, written.size, chunk, std::move(written.sha256)});
  };
  const auto add_tensors = [&](const char* name, const TensorMap& tensors, const TensorMetadata& metadata) {
    add(name, tensor_io::write_safetensors_in_chunks(path(name), tensors, metadata, digest_chunk),
        digest_chunk);
  };
  const auto add_text = [&](const char* name, const Value& value) {
    const WrittenFile written = tensor_io::write_text_file(path(name), format_written_json(value));
    add(name, {written.size, {written.sha256}}, 0);
  };
  try {
    StoredModel model = without_aliases(checkpoint.model);
    manifest.aliases = std::move(model.aliases);
    add_tensors("model.safetensors", model.tensors, model.metadata);
    TensorMap of_recipe;
    if (!checkpoint.recipe.is_null())
      add_text("recipe.json", without_large_tensors(checkpoint.recipe, large_tensor, of_recipe));
    if (!of_recipe.empty()) add_tensors("recipe.safetensors", of_recipe, {});
    add_text("trainer.json", checkpoint.trainer_state);
    add_tensors("trainer.safetensors", checkpoint.trainer, {});
    tensor_io::write_text_file(path(manifest_file_name), format_manifest(manifest));
  } catch (const Error& error) {
    fail_to_save(folder, error.diagnostics().entries().front().message);
  }
  sync_folder(folder);
}

}  // namespace

std::vector<std::int64_t> CheckpointStore::indices() const {
  std::vector<std::int64_t> found;
  std::error_code failure;
  for (const auto& entry : fs::directory_iterator(folder_, failure)) {
    const auto index = index_of(entry.path().filename().string());
    if (index && entry.is_directory(failure)) found.push_back(*index);
  }
  std::sort(found.begin(), found.end());
  return found;
}

std::optional<std::int64_t> CheckpointStore::latest() const {
  const std::vector<std::int64_t> found = indices();
  return found.empty() ? std::nullopt : std::optional(found.back());
}

std::int64_t CheckpointStore::next() const {
  return std::max(first_, latest().value_or(-1) + 1);
}

std::int64_t CheckpointStore::save(const Checkpoint& checkpoint) const {
  StagingFolder staging(folder_);
  StagingFolder::sweep(folder_);
  write_files(staging.path(), checkpoint);
  std::int64_t index = next();
  while (!staging.commit(path_of(index))) ++index;
  return index;
}

void CheckpointStore::save_as(std::int64_t index, const Checkpoint& checkpoint) const {
  StagingFolder staging(folder_);
  StagingFolder::sweep(folder_);
  write_files(staging.path(), checkpoint);
  if (!staging.commit(path_of(index))) fail_to_save(path_of(index), "the index is taken");
}

Checkpoint CheckpointStore::load(std::int64_t index) const {
  return load_checkpoint(path_of(index));
}

void CheckpointStore::remove(std::int64_t index) const {
  StagingFolder::discard(path_of(index));
}

}  // namespace nexuml
