// The loader `tensor_shards`: windows of whole shards, read ahead by threads, permuted inside the window.
#include <ATen/ops/cat.h>
#include <ATen/ops/index_select.h>
#include <ATen/ops/randperm.h>
#include <fmt/format.h>
#include <nexuml/exported_data.h>

#include <algorithm>
#include <deque>

#include "data/exported_dataset.h"
#include "data/pinned.h"
#include "data/prefetcher.h"
#include "data/random.h"
#include "data/tensor_shards.h"

namespace nexuml {

namespace {

using ShardNumbers = std::vector<std::size_t>;

Where at_backend() {
  Where where;
  where.key_path = "data.loader.backend";
  return where;
}

std::vector<std::int64_t> shuffled(std::int64_t count, at::Generator generator) {
  const at::Tensor order = at::randperm(count, std::move(generator), at::kLong);
  const auto* data = order.const_data_ptr<std::int64_t>();
  return {data, data + count};
}

TensorDict rows_between(const TensorDict& rows, std::int64_t begin, std::int64_t count) {
  TensorDict part;
  for (const auto& [key, tensor] : rows) part.set(key, tensor.narrow(0, begin, count));
  return part;
}

TensorDict end_to_end(const std::vector<TensorDict>& parts) {
  if (parts.size() == 1) return parts.front();
  TensorDict joined;
  for (const auto& [key, first] : parts.front()) {
    std::vector<at::Tensor> tensors;
    for (const TensorDict& part : parts) tensors.push_back(part.get(key));
    joined.set(key, at::cat(tensors));
  }
  return joined;
}

class ShardLoader final : public DataLoader {
 public:
  ShardLoader(const LoaderRequest& request, const TensorShardsLoaderOptions& options,
              std::shared_ptr<const ExportedDataset> dataset, const TensorShards& shards, ShardNumbers chosen)
      : request_(request),
        options_(options),
        dataset_(std::move(dataset)),
        shards_(shards),
        chosen_(std::move(chosen)) {
    drop_last_ = request_.drop_last || (options_.drop_last && request_.split == "train");
    rows_ = static_cast<std::int64_t>(request_.indices.size());
  }

  std::int64_t num_batches() const override {
    return drop_last_ ? rows_ / request_.batch_size : (rows_ + request_.batch_size - 1) / request_.batch_size;
  }
  std::int64_t num_samples() const override {
    return drop_last_ ? num_batches() * request_.batch_size : rows_;
  }

  void start_epoch(std::int64_t epoch, std::int64_t first_batch) override {
    prefetcher_.reset();
    arrange(epoch);
    next_batch_ = first_batch;
    window_ = {};
    position_ = first_batch * request_.batch_size;
    std::int64_t first_window = 0;
    while (first_window < window_count() && position_ >= window_rows(first_window))
      position_ -= window_rows(first_window++);
    if (next_batch_ >= num_batches()) return;
    prefetcher_.emplace([this, epoch](std::int64_t window) { return read_window(epoch, window); },
                        options_.prefetch_workers, options_.prefetch_windows);
    prefetcher_->start(first_window, window_count());
    window_ = prefetcher_->take().x;
  }

  std::optional<Batch> next() override {
    if (next_batch_ >= num_batches()) return std::nullopt;
    std::int64_t wanted = std::min(request_.batch_size, rows_ - next_batch_ * request_.batch_size);
    ++next_batch_;
    std::vector<TensorDict> parts;
    while (wanted > 0) {
      if (position_ == window_.batch_size()) {
        window_ = prefetcher_->take().x;
        position_ = 0;
      }
      const std::int64_t count = std::min(wanted, window_.batch_size() - position_);
      parts.push_back(rows_between(window_, position_, count));
      position_ += count;
      wanted -= count;
    }
    TensorDict stored = end_to_end(parts);
    const at::Tensor rows = stored.get(row_key);
    stored.erase(row_key);
    Batch batch = dataset_->batch_of(stored);
    batch.x.set("sample_index", rows);
    return request_.pin_memory || options_.pin_memory ? pinned(batch) : batch;
  }

 private:
  static constexpr const char* row_key = "\x01row";  // no stored key begins so

  std::int64_t window_count() const {
    const auto size = static_cast<std::size_t>(options_.shards_per_window);
    return static_cast<std::int64_t>((order_.size() + size - 1) / size);
  }
  std::pair<std::size_t, std::size_t> shards_of(std::int64_t window) const {
    const auto size = static_cast<std::size_t>(options_.shards_per_window);
    const std::size_t begin = static_cast<std::size_t>(window) * size;
    return {begin, std::min(begin + size, order_.size())};
  }
  std::int64_t window_rows(std::int64_t window) const {
    const auto [begin, end] = shards_of(window);
    std::int64_t count = 0;
    for (std::size_t i = begin; i < end; ++i)
      count += shards_.shards()[order_[i]].end - shards_.shards()[order_[i]].begin;
    return count;
  }
  std::uint64_t seed() const {
    return options_.seed ? static_cast<std::uint64_t>(*options_.seed) : request_.seed;
  }

  void arrange(std::int64_t epoch) {
    order_ = chosen_;
    if (!request_.shuffle || !options_.shuffle_shards.value_or(true)) return;
    const auto places = shuffled(static_cast<std::int64_t>(chosen_.size()),
                                 generator_of(mixed_seed(seed(), static_cast<std::uint64_t>(epoch))));
    for (std::size_t i = 0; i < places.size(); ++i) order_[i] = chosen_[static_cast<std::size_t>(places[i])];
  }

  Batch read_window(std::int64_t epoch, std::int64_t window) const {
    const auto [begin, end] = shards_of(window);
    std::vector<TensorDict> parts;
    for (std::size_t i = begin; i < end; ++i) {
      const Shard& shard = shards_.shards()[order_[i]];
      TensorDict rows = shards_.read(shard);
      rows.set(row_key, at::arange(shard.begin, shard.end, at::kLong));
      parts.push_back(std::move(rows));
    }
    Batch batch;
    batch.x = end_to_end(parts);
    if (!request_.shuffle || !options_.shuffle_samples.value_or(true)) return batch;
    const std::uint64_t stream =
        static_cast<std::uint64_t>(epoch) << 32 | static_cast<std::uint64_t>(window + 1);
    const at::Tensor order =
        at::randperm(batch.x.batch_size(), generator_of(mixed_seed(seed(), stream)), at::kLong);
    TensorDict permuted;
    for (const auto& [key, tensor] : batch.x) permuted.set(key, tensor.index_select(0, order));
    batch.x = std::move(permuted);
    return batch;
  }

  const LoaderRequest request_;
  const TensorShardsLoaderOptions options_;
  const std::shared_ptr<const ExportedDataset> dataset_;
  const TensorShards& shards_;
  const ShardNumbers chosen_;  // of the split
  bool drop_last_ = false;
  std::int64_t rows_ = 0;
  ShardNumbers order_;  // of the epoch
  std::int64_t next_batch_ = 0;
  TensorDict window_;
  std::int64_t position_ = 0;             // in window_
  std::optional<Prefetcher> prefetcher_;  // last: its workers read the rest
};

// The shards that hold exactly `rows`.
ShardNumbers shards_with(const std::vector<std::int64_t>& rows, const TensorShards& shards,
                         const std::string& split) {
  std::vector<std::int64_t> sorted = rows;
  std::sort(sorted.begin(), sorted.end());
  ShardNumbers chosen;
  std::size_t covered = 0;
  for (std::size_t i = 0; i < shards.shards().size(); ++i) {
    const Shard& shard = shards.shards()[i];
    const auto begin = std::lower_bound(sorted.begin(), sorted.end(), shard.begin);
    const auto count =
        static_cast<std::int64_t>(std::distance(begin, std::lower_bound(begin, sorted.end(), shard.end)));
    if (count == 0) continue;
    if (count != shard.end - shard.begin)
      throw Error("E837",
                  fmt::format("the {} split takes {} of the {} rows of the shard {}; the loader "
                              "tensor_shards reads whole shards",
                              split, count, shard.end - shard.begin, shard.path),
                  at_backend(), "write the shards with the splits of this scenario, or use the loader torch");
    chosen.push_back(i);
    covered += static_cast<std::size_t>(count);
  }
  if (covered != rows.size())
    throw Error("E837",
                fmt::format("the {} split has {} rows, its shards hold {}", split, rows.size(), covered),
                at_backend());
  return chosen;
}

class TensorShardsBackend final : public LoaderBackend {
 public:
  explicit TensorShardsBackend(const TensorShardsLoaderOptions& options) : options_(options) {}
  std::unique_ptr<DataLoader> create_loader(const LoaderRequest& request) const override {
    const auto dataset = std::dynamic_pointer_cast<const ExportedDataset>(request.dataset);
    const auto* shards = dataset ? dynamic_cast<const TensorShards*>(&dataset->stored()) : nullptr;
    if (!shards)
      throw Error("E837", "the loader tensor_shards reads data in shards, and this data is none",
                  at_backend(),
                  "enable data.preprocessing with the writer "
                  "nexuml.data.export.tensor_shards:TensorShardsBackend, or use the loader torch");
    if (!request.weights.empty())
      throw Error("E837", "the loader tensor_shards draws no weighted samples", at_backend(),
                  "set data.loader.weighted_sampling to false, or use the loader torch");
    if (request.batch_size < 1)
      throw Error("E836", fmt::format("a batch size of {}; it has to be at least 1", request.batch_size));
    return std::make_unique<ShardLoader>(request, options_, dataset, *shards,
                                         shards_with(request.indices, *shards, request.split));
  }

 private:
  const TensorShardsLoaderOptions options_;
};

class DecodingBackend final : public LoaderBackend {
 public:
  std::unique_ptr<DataLoader> create_loader(const LoaderRequest& request) const override {
    constexpr std::int64_t fewest_workers = 2;
    LoaderRequest threaded = request;
    threaded.num_workers = std::max(request.num_workers, fewest_workers);
    return make_torch_loader_backend()->create_loader(threaded);
  }
};

}  // namespace

std::shared_ptr<LoaderBackend> make_tensor_shards_loader_backend(const TensorShardsLoaderOptions& options) {
  return std::make_shared<TensorShardsBackend>(options);
}

std::shared_ptr<LoaderBackend> make_decoding_loader_backend() {
  return std::make_shared<DecodingBackend>();
}

}  // namespace nexuml
