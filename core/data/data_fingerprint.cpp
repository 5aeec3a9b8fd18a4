#include "data/data_fingerprint.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>

#include "data/stored_rows.h"
#include "tensor_io/sha256.h"

namespace nexuml {

namespace {

void poll(const std::stop_token& stop) {
  if (stop.stop_requested()) throw Error("E838", "comparing the prepared data with its source was stopped");
}

void add_tensors(tensor_io::Sha256& digest, const TensorDict& tensors) {
  for (const auto& [key, tensor] : tensors) {
    const at::Tensor held = tensor.to(at::kCPU).contiguous();
    digest.update(fmt::format("{} {} {}\n", key, to_string(Shape(held.sizes().vec())),
                              to_string(dtype_of(held.scalar_type()))));
    digest.update(std::span(static_cast<const std::byte*>(held.const_data_ptr()), held.nbytes()));
  }
}

std::string digest_of_rows(const Dataset& dataset, const std::stop_token& stop) {
  constexpr std::int64_t rows_at_once = 1024;
  tensor_io::Sha256 digest;
  std::vector<std::int64_t> rows;
  for (std::int64_t begin = 0; begin < dataset.size(); begin += rows_at_once) {
    poll(stop);
    rows.resize(static_cast<std::size_t>(std::min(rows_at_once, dataset.size() - begin)));
    std::iota(rows.begin(), rows.end(), begin);
    const Batch batch = dataset.gather(rows);
    add_tensors(digest, batch.x);
    if (batch.y) add_tensors(digest, *batch.y);
  }
  return digest.hex();
}

struct FileState {
  std::int64_t size = 0, modified = 0;
  bool operator==(const FileState&) const = default;
};

FileState state_of(const std::filesystem::path& file) {
  std::error_code failure;
  const auto size = std::filesystem::file_size(file, failure);
  const auto modified =
      failure ? std::filesystem::file_time_type() : std::filesystem::last_write_time(file, failure);
  if (failure) refuse_export(file, "the file cannot be read: " + failure.message());
  return {static_cast<std::int64_t>(size), static_cast<std::int64_t>(modified.time_since_epoch().count())};
}

using KnownFiles = std::map<std::string, std::pair<FileState, std::string>>;

KnownFiles read_known(const Value& known) {
  KnownFiles files;
  if (!known.is_list()) return files;
  for (const Value& entry : known.items()) {
    const Value* path = entry.find("path");
    const Value* size = entry.find("size");
    const Value* modified = entry.find("modified");
    const Value* sha256 = entry.find("sha256");
    if (path && path->is_string() && size && size->is_integer() && modified && modified->is_integer() &&
        sha256 && sha256->is_string())
      files[path->as_string()] = {{size->as_integer(), modified->as_integer()}, sha256->as_string()};
  }
  return files;
}

}  // namespace

DataFingerprint fingerprint_of(const Dataset& dataset, const Value& known, std::stop_token stop) {
  DataFingerprint fingerprint;
  const std::vector<std::filesystem::path> files = dataset.files();
  if (files.empty()) {
    fingerprint.digest = digest_of_rows(dataset, stop);
    return fingerprint;
  }
  const KnownFiles known_files = read_known(known);
  tensor_io::Sha256 digest;
  for (const auto& file : files) {
    poll(stop);
    const FileState state = state_of(file);
    const auto found = known_files.find(file.string());
    const std::string sha256 = found != known_files.end() && found->second.first == state
                                   ? found->second.second
                                   : tensor_io::sha256_of_file(file.string());
    digest.update(fmt::format("{} {}\n", file.filename().string(), sha256));
    fingerprint.files.push_back(Value::map(
        {{"path", file.string()}, {"size", state.size}, {"modified", state.modified}, {"sha256", sha256}}));
  }
  fingerprint.digest = digest.hex();
  return fingerprint;
}

}  // namespace nexuml
