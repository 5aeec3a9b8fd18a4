#include "data/tensor_shards.h"

#include <ATen/ops/cat.h>
#include <ATen/ops/index_select.h>
#include <ATen/ops/tensor.h>
#include <fmt/format.h>
#include <nexuml/pickled_value.h>

#include <algorithm>

namespace nexuml {

namespace {

constexpr std::size_t shards_in_cache = 4;

std::int64_t integer_of(const Value& map, const char* name, const std::filesystem::path& place) {
  const Value* found = map.find(name);
  if (!found || !found->is_integer() || found->as_integer() < 0)
    refuse_export(place, fmt::format("the manifest of the shards has no number '{}'", name));
  return found->as_integer();
}

std::string text_of(const Value& map, const char* name, const std::filesystem::path& place) {
  const Value* found = map.find(name);
  if (!found || !found->is_string())
    refuse_export(place, fmt::format("the manifest of the shards has no text '{}'", name));
  return found->as_string();
}

// A path that leaves the folder would let a manifest name any file.
bool stays_inside(const std::string& path) {
  const std::filesystem::path relative(path);
  return relative.is_relative() &&
         std::none_of(relative.begin(), relative.end(), [](const auto& part) { return part == ".."; });
}

}  // namespace

TensorShards::TensorShards(std::filesystem::path folder) : folder_(std::move(folder)) {
  const std::filesystem::path place = folder_ / shard_manifest;
  Diagnostics problems;
  const std::string text = read_text_file(place.string(), problems);
  const Value manifest = problems.has_errors() ? Value() : parse_json(text, place.string(), problems);
  if (problems.has_errors()) throw Error(std::move(problems));
  if (!manifest.is_map() || integer_of(manifest, "format_version", place) != shard_format_version)
    refuse_export(place, "the manifest of the shards is of another version", "write the data again");
  const Value* list = manifest.find("shards");
  if (!list || !list->is_list()) refuse_export(place, "the manifest lists no shards");
  for (const Value& entry : list->items()) {
    Shard shard{text_of(entry, "split", place), text_of(entry, "path", place),
                integer_of(entry, "start_index", place), integer_of(entry, "end_index", place)};
    if (!stays_inside(shard.path))
      refuse_export(place, fmt::format("the shard '{}' lies outside the folder", shard.path));
    if (shard.begin != size_ || shard.end < shard.begin)
      refuse_export(
          place, fmt::format("the shard '{}' begins at row {}, expected {}", shard.path, shard.begin, size_));
    size_ = shard.end;
    shards_.push_back(std::move(shard));
  }
  if (integer_of(manifest, "num_samples", place) != size_)
    refuse_export(place, fmt::format("the shards hold {} samples, the manifest says {}", size_,
                                     manifest.at("num_samples").as_integer()));
  if (shards_.empty()) return;
  for (const auto& [key, tensor] : read(shards_.front()))
    tensors_[key] = {tensor.sizes().slice(1).vec(), dtype_of(tensor.scalar_type())};
}

TensorDict TensorShards::read(const Shard& shard) const {
  const std::string path = (folder_ / shard.path).string();
  const PickledValue file = read_pt(path);
  const PickledValue* features = file.find("features");
  const auto* entries = features ? features->get_if<PickledValue::Dict>() : nullptr;
  if (!entries) refuse_export(path, "the shard holds no features", "write the data again");
  TensorDict rows;
  const std::int64_t count = shard.end - shard.begin;
  for (const PickledValue::Entry& entry : entries->entries) {
    const auto* key = entry.key.get_if<std::string>();
    const auto* tensor = entry.value.get_if<at::Tensor>();
    if (!key || !tensor || tensor->dim() == 0 || tensor->size(0) < count)
      refuse_export(path,
                    fmt::format("the shard holds no {} rows of '{}'", count, key ? *key : std::string("?")));
    rows.set(*key, tensor->narrow(0, 0, count));
  }
  return rows;
}

TensorDict TensorShards::cached(std::size_t shard) const {
  {
    const std::lock_guard lock(mutex_);
    const auto found =
        std::find_if(cache_.begin(), cache_.end(), [&](const Cached& entry) { return entry.shard == shard; });
    if (found != cache_.end()) {
      Cached entry = std::move(*found);
      cache_.erase(found);
      cache_.push_front(std::move(entry));
      return cache_.front().rows;
    }
  }
  TensorDict rows = read(shards_[shard]);  // two threads may read the same one: better than waiting
  const std::lock_guard lock(mutex_);
  cache_.push_front({shard, rows});
  if (cache_.size() > shards_in_cache) cache_.pop_back();
  return rows;
}

TensorDict TensorShards::gather(std::span<const std::int64_t> rows) const {
  std::vector<std::vector<std::int64_t>> local(shards_.size());
  std::vector<std::pair<std::size_t, std::size_t>> places;  // shard, and which of its wanted rows
  for (const std::int64_t row : rows) {
    const auto after =
        std::upper_bound(shards_.begin(), shards_.end(), row,
                         [](std::int64_t value, const Shard& shard) { return value < shard.end; });
    const auto shard = static_cast<std::size_t>(std::distance(shards_.begin(), after));
    places.emplace_back(shard, local.at(shard).size());
    local[shard].push_back(row - shards_[shard].begin);
  }
  std::vector<TensorDict> pieces;
  std::vector<std::int64_t> begins(shards_.size(), 0);
  std::int64_t gathered = 0;
  for (std::size_t shard = 0; shard < shards_.size(); ++shard) {
    if (local[shard].empty()) continue;
    begins[shard] = gathered;
    gathered += static_cast<std::int64_t>(local[shard].size());
    const at::Tensor wanted = at::tensor(local[shard], at::kLong);
    TensorDict piece;
    for (const auto& [key, tensor] : cached(shard)) piece.set(key, tensor.index_select(0, wanted));
    pieces.push_back(std::move(piece));
  }
  std::vector<std::int64_t> order;
  for (const auto& [shard, place] : places) order.push_back(begins[shard] + static_cast<std::int64_t>(place));
  const at::Tensor wanted = at::tensor(order, at::kLong);
  TensorDict result;
  for (const auto& [key, spec] : tensors_) {
    std::vector<at::Tensor> parts;
    for (const TensorDict& piece : pieces) parts.push_back(piece.get(key));
    result.set(key, at::cat(parts).index_select(0, wanted));
  }
  return result;
}

std::shared_ptr<const StoredRows> open_tensor_shards(const std::filesystem::path& folder) {
  return std::make_shared<const TensorShards>(folder);
}

}  // namespace nexuml
