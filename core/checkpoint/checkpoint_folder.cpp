#include "checkpoint/checkpoint_folder.h"

#include <fmt/format.h>
#include <nexuml/tensor_serializers.h>

#include <algorithm>
#include <system_error>

#include "checkpoint/checkpoint_manifest.h"
#include "tensor_io/hashing_writer.h"
#include "tensor_io/sha256.h"

namespace nexuml {

namespace fs = std::filesystem;

namespace {

const ManifestFile& listed_file(const CheckpointManifest& manifest, const fs::path& folder,
                                const std::string& name) {
  if (const ManifestFile* file = manifest.find(name)) return *file;
  refuse_checkpoint(folder / manifest_file_name, fmt::format("it says no size and sha256 of '{}'", name));
}

void verify_size(const fs::path& path, const ManifestFile& expected) {
  std::error_code failure;
  const std::uint64_t size = fs::file_size(path, failure);
  if (failure) refuse_checkpoint(path, failure.message());
  if (size != expected.size)
    refuse_checkpoint(path, fmt::format("it has {} bytes, the manifest says {}", size, expected.size));
}

void verify_digests(const fs::path& path, const ManifestFile& expected,
                    const std::vector<std::string>& found) {
  if (found == expected.sha256) return;
  const auto [differs, recorded] = std::ranges::mismatch(found, expected.sha256);
  if (differs == found.end() || recorded == expected.sha256.end())
    refuse_checkpoint(path, "its length is not that of the manifest");
  const auto chunk = static_cast<std::uint64_t>(differs - found.begin());
  const std::string place = expected.chunk == 0
                                ? std::string()
                                : fmt::format(" between {} and {}", chunk * expected.chunk,
                                              std::min(expected.size, (chunk + 1) * expected.chunk));
  refuse_checkpoint(path, fmt::format("its bytes changed{}: SHA-256 is {}, the manifest says {}", place,
                                      *differs, *recorded));
}

// Hidden files are those of the system and of people who looked into the folder.
std::vector<fs::path> foreign_files(const CheckpointManifest& manifest, const fs::path& folder) {
  std::vector<fs::path> found;
  std::error_code failure;
  for (const auto& entry : fs::directory_iterator(folder, failure)) {
    const std::string name = entry.path().filename().string();
    if (name != manifest_file_name && !name.starts_with('.') && !manifest.find(name))
      found.push_back(entry.path());
  }
  std::sort(found.begin(), found.end());
  return found;
}

constexpr const char* foreign_reason = "it does not belong to the checkpoint: the manifest does not list it";

TensorMap load_tensors(const CheckpointManifest& manifest, const fs::path& folder, const std::string& name) {
  const fs::path path = folder / name;
  const ManifestFile& expected = listed_file(manifest, folder, name);
  verify_size(path, expected);
  tensor_io::HashedTensors read;
  try {
    read = tensor_io::read_safetensors_in_chunks(path.string(), expected.chunk);
  } catch (const Error& error) {
    // The header is read first; what is wrong there is a change of the bytes as well.
    refuse_checkpoint(path, error.diagnostics().entries().front().message);
  }
  verify_digests(path, expected, read.sha256);
  return std::move(read.file.tensors);
}

Value load_json(const CheckpointManifest& manifest, const fs::path& folder, const std::string& name) {
  const fs::path path = folder / name;
  const ManifestFile& expected = listed_file(manifest, folder, name);
  verify_size(path, expected);
  verify_digests(path, expected, tensor_io::sha256_of_chunks(path.string(), expected.chunk));
  return read_written_json(path);
}

Value load_recipe(const CheckpointManifest& manifest, const fs::path& folder) {
  const Value recipe = load_json(manifest, folder, "recipe.json");
  if (!manifest.find("recipe.safetensors")) return recipe;
  const TensorMap tensors = load_tensors(manifest, folder, "recipe.safetensors");
  try {
    return with_tensors(recipe, tensors);
  } catch (const Error& error) {
    refuse_checkpoint(folder / "recipe.json", error.diagnostics().entries().front().message);
  }
}

void verify_file(const fs::path& path, const ManifestFile& expected) {
  verify_size(path, expected);
  try {
    verify_digests(path, expected, tensor_io::sha256_of_chunks(path.string(), expected.chunk));
  } catch (const Error& error) {
    if (error.diagnostics().entries().front().code == "E763") throw;
    refuse_checkpoint(path, error.diagnostics().entries().front().message);
  }
  if (path.extension() == ".safetensors") inspect_safetensors(path.string());
  if (path.extension() == ".json") read_written_json(path);
}

// `check` throws what it finds.
template <class Check>
void collect(Diagnostics& problems, Check&& check) {
  try {
    check();
  } catch (const Error& error) {
    problems.append(error.diagnostics());
  }
}

}  // namespace

bool is_checkpoint_folder(const fs::path& folder) {
  std::error_code failure;
  return fs::exists(folder / manifest_file_name, failure);
}

Checkpoint load_checkpoint(const fs::path& folder) {
  const CheckpointManifest manifest = read_manifest(folder);
  if (const auto foreign = foreign_files(manifest, folder); !foreign.empty())
    refuse_checkpoint(foreign.front(), foreign_reason);
  Checkpoint checkpoint;
  checkpoint.model = load_tensors(manifest, folder, "model.safetensors");
  checkpoint.trainer = load_tensors(manifest, folder, "trainer.safetensors");
  checkpoint.trainer_state = load_json(manifest, folder, "trainer.json");
  if (manifest.find("recipe.json")) checkpoint.recipe = load_recipe(manifest, folder);
  checkpoint.about = manifest.about;
  for (const auto& group : manifest.aliases) {
    const at::Tensor* stored = checkpoint.model.find(group.front());
    if (!stored)
      refuse_checkpoint(folder / manifest_file_name,
                        fmt::format("the tied tensor '{}' is not stored", group.front()));
    const at::Tensor tied = *stored;
    for (std::size_t i = 1; i < group.size(); ++i) checkpoint.model.add(group[i], tied);
  }
  return checkpoint;
}

Diagnostics verify_checkpoint(const fs::path& folder) {
  Diagnostics problems;
  CheckpointManifest manifest;
  collect(problems, [&] { manifest = read_manifest(folder); });
  if (!problems.empty()) return problems;
  for (const ManifestFile& file : manifest.files)
    collect(problems, [&] { verify_file(folder / file.name, file); });
  for (const char* needed : {"model.safetensors", "trainer.safetensors", "trainer.json"})
    collect(problems, [&] { listed_file(manifest, folder, needed); });
  for (const fs::path& foreign : foreign_files(manifest, folder))
    collect(problems, [&] { refuse_checkpoint(foreign, foreign_reason); });
  return problems;
}

}  // namespace nexuml
