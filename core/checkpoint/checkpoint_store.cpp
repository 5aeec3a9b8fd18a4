#include "checkpoint/checkpoint_store.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <charconv>
#include <cstring>
#include <system_error>

#include "tensor_io/hashing_writer.h"
#include "tensor_io/sha256.h"

namespace nexuml {

namespace fs = std::filesystem;

namespace {

constexpr std::int64_t checkpoint_format = 1;
constexpr const char* staging_prefix = ".staging-";

std::optional<std::int64_t> index_of(const std::string& name) {
  std::int64_t index = 0;
  const auto [end, failure] = std::from_chars(name.data(), name.data() + name.size(), index);
  const bool canonical =
      failure == std::errc{} && end == name.data() + name.size() && std::to_string(index) == name;
  return canonical && index >= 0 ? std::optional(index) : std::nullopt;
}

[[noreturn]] void save_failed(const fs::path& path, const std::string& reason) {
  throw Error("E762", "the checkpoint cannot be written: " + reason, Where::in_file(path.string()),
              "free space or choose another --run-dir; earlier checkpoints are intact");
}

void sync_folder(const fs::path& folder) {
  const int descriptor = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0) save_failed(folder, std::strerror(errno));
  const int failed = ::fsync(descriptor) != 0 ? errno : 0;
  ::close(descriptor);
  if (failed) save_failed(folder, std::strerror(failed));
}

// A folder that is written to and then renamed into place; removed when it is not committed.
class Staging {
 public:
  explicit Staging(const fs::path& parent) {
    static std::atomic<int> count{0};
    path_ = parent / fmt::format("{}{}-{}", staging_prefix, ::getpid(), count++);
    std::error_code failure;
    fs::create_directories(path_, failure);
    if (failure) save_failed(path_, failure.message());
  }
  ~Staging() {
    std::error_code ignored;
    if (!committed_) fs::remove_all(path_, ignored);
  }
  Staging(const Staging&) = delete;
  Staging& operator=(const Staging&) = delete;

  const fs::path& path() const noexcept { return path_; }

  // False when the place is taken.
  bool commit(const fs::path& place) {
    if (::rename(path_.c_str(), place.c_str()) == 0) return committed_ = true;
    if (errno == EEXIST || errno == ENOTEMPTY || errno == ENOTDIR) return false;
    save_failed(place, std::strerror(errno));
  }

 private:
  fs::path path_;
  bool committed_ = false;
};

// Leftovers of processes that no longer run.
void sweep(const fs::path& folder) {
  std::error_code failure;
  for (const auto& entry : fs::directory_iterator(folder, failure)) {
    const std::string name = entry.path().filename().string();
    if (!name.starts_with(staging_prefix)) continue;
    const std::string_view rest = std::string_view(name).substr(std::strlen(staging_prefix));
    pid_t process = 0;
    std::from_chars(rest.data(), rest.data() + rest.size(), process);
    if (process > 0 && ::kill(process, 0) != 0 && errno == ESRCH) {
      std::error_code ignored;
      fs::remove_all(entry.path(), ignored);
    }
  }
}

Value file_entry(const WrittenFile& written) {
  return Value::map({{"size", static_cast<std::int64_t>(written.size)}, {"sha256", written.sha256}});
}

WrittenFile write_text(const fs::path& path, const std::string& text) {
  tensor_io::HashingWriter writer(path.string());
  writer.write(text);
  return writer.commit();
}

[[noreturn]] void load_failed(const fs::path& file, const std::string& reason) {
  throw Error("E763", "the checkpoint cannot be used: " + reason, Where::in_file(file.string()),
              "nothing was changed; choose an earlier index");
}

Value read_json_object(const fs::path& path) {
  Diagnostics problems;
  const std::string text = read_text_file(path.string(), problems);
  Value value = problems.has_errors() ? Value() : parse_json(text, path.string(), problems);
  if (problems.has_errors()) load_failed(path, problems.entries().front().message);
  if (!value.is_map()) load_failed(path, "a JSON object expected, found " + describe_for_message(value));
  if (write_json(value) + "\n" != text) load_failed(path, "its bytes are not those that were written");
  return value;
}

// The manifest vouches for the other files, and with a digest of itself for itself.
Value signed_manifest(Value manifest) {
  manifest.set("sha256", tensor_io::sha256_hex(write_json(manifest)));
  return manifest;
}

Value read_manifest(const fs::path& path) {
  Value manifest = read_json_object(path);
  const Value* digest = manifest.find("sha256");
  const std::string recorded = digest && digest->is_string() ? digest->as_string() : std::string();
  manifest.erase("sha256");
  if (recorded != tensor_io::sha256_hex(write_json(manifest)))
    load_failed(path, "it was changed after it was written");
  return manifest;
}

struct Expected {
  std::uint64_t size;
  std::string sha256;
};
Expected expected_of(const Value& manifest, const fs::path& folder, const std::string& name) {
  const Value* files = manifest.find("files");
  const Value* entry = files ? files->find(name) : nullptr;
  const Value* size = entry ? entry->find("size") : nullptr;
  const Value* hash = entry ? entry->find("sha256") : nullptr;
  if (!size || !size->is_integer() || !hash || !hash->is_string())
    load_failed(folder / "manifest.json", fmt::format("it says no size and sha256 of '{}'", name));
  return {static_cast<std::uint64_t>(size->as_integer()), hash->as_string()};
}

void verify(const fs::path& file, const Expected& expected, const std::string& found_hash) {
  if (found_hash != expected.sha256)
    load_failed(file, fmt::format("its bytes changed: SHA-256 is {}, the manifest says {}", found_hash,
                                  expected.sha256));
}

void verify_size(const fs::path& file, const Expected& expected) {
  std::error_code failure;
  const std::uint64_t size = fs::file_size(file, failure);
  if (failure) load_failed(file, failure.message());
  if (size != expected.size)
    load_failed(file, fmt::format("it has {} bytes, the manifest says {}", size, expected.size));
}

TensorMap load_tensors(const Value& manifest, const fs::path& folder, const std::string& name) {
  const fs::path file = folder / name;
  const Expected expected = expected_of(manifest, folder, name);
  verify_size(file, expected);
  TensorFile read = read_safetensors(file.string(), {.mapped = false, .hash = true});
  verify(file, expected, read.sha256);
  return std::move(read.tensors);
}

void write_files(const fs::path& folder, const Checkpoint& checkpoint) {
  Value files = Value::map();
  const auto add = [&](const std::string& name, const WrittenFile& written) {
    files.set(name, file_entry(written));
  };
  const auto path = [&](const char* name) { return (folder / name).string(); };
  try {
    add("model.safetensors",
        write_safetensors(path("model.safetensors"), checkpoint.model, {{"format", "pt"}}));
    add("trainer.safetensors", write_safetensors(path("trainer.safetensors"), checkpoint.trainer));
    add("trainer.json", write_text(path("trainer.json"), write_json(checkpoint.trainer_state) + "\n"));
    Value manifest = Value::map({{"format", checkpoint_format}, {"about", checkpoint.about}});
    manifest.set("files", std::move(files));
    write_text(path("manifest.json"), write_json(signed_manifest(std::move(manifest))) + "\n");
  } catch (const Error& error) {
    save_failed(folder, error.diagnostics().entries().front().message);
  }
  sync_folder(folder);
}

}  // namespace

std::vector<std::int64_t> CheckpointStore::indices() const {
  std::vector<std::int64_t> found;
  std::error_code failure;
  for (const auto& entry : fs::directory_iterator(folder_, failure))
    if (const auto index = index_of(entry.path().filename().string()); index && entry.is_directory())
      found.push_back(*index);
  std::sort(found.begin(), found.end());
  return found;
}

std::optional<std::int64_t> CheckpointStore::latest() const {
  const std::vector<std::int64_t> found = indices();
  return found.empty() ? std::nullopt : std::optional(found.back());
}

std::int64_t CheckpointStore::save(const Checkpoint& checkpoint) const {
  Staging staging(folder_);
  sweep(folder_);
  write_files(staging.path(), checkpoint);
  std::int64_t index = latest().value_or(-1) + 1;
  while (!staging.commit(path_of(index))) ++index;
  sync_folder(folder_);
  return index;
}

void CheckpointStore::save_as(std::int64_t index, const Checkpoint& checkpoint) const {
  Staging staging(folder_);
  write_files(staging.path(), checkpoint);
  if (!staging.commit(path_of(index))) save_failed(path_of(index), "the index is taken");
  sync_folder(folder_);
}

Checkpoint CheckpointStore::load(std::int64_t index) const {
  return load_checkpoint(path_of(index));
}

void CheckpointStore::remove(std::int64_t index) const {
  std::error_code ignored;
  // Renamed first: a reader sees the whole folder or none of it.
  const fs::path leaving = folder_ / fmt::format("{}{}-removed-{}", staging_prefix, ::getpid(), index);
  fs::rename(path_of(index), leaving, ignored);
  fs::remove_all(leaving, ignored);
}

Checkpoint load_checkpoint(const fs::path& folder) {
  const Value manifest = read_manifest(folder / "manifest.json");
  const Value* format = manifest.find("format");
  if (!format || *format != Value(checkpoint_format))
    load_failed(folder / "manifest.json", fmt::format("format {} expected, found {}", checkpoint_format,
                                                      format ? describe_for_message(*format) : "none"));
  Checkpoint checkpoint;
  checkpoint.model = load_tensors(manifest, folder, "model.safetensors");
  checkpoint.trainer = load_tensors(manifest, folder, "trainer.safetensors");
  const fs::path state = folder / "trainer.json";
  const Expected expected = expected_of(manifest, folder, "trainer.json");
  verify_size(state, expected);
  verify(state, expected, tensor_io::sha256_of_file(state.string()));
  checkpoint.trainer_state = read_json_object(state);
  if (const Value* about = manifest.find("about")) checkpoint.about = *about;
  return checkpoint;
}

}  // namespace nexuml
