// The loader `torch`: batches gathered from the dataset, in worker threads when asked for.
#include <ATen/ops/empty.h>
#include <ATen/ops/multinomial.h>
#include <ATen/ops/randperm.h>
#include <ATen/ops/tensor.h>
#include <fmt/format.h>
#include <nexuml/data.h>

#include <algorithm>

#include "data/pinned.h"
#include "data/prefetcher.h"
#include "data/random.h"

namespace nexuml {

namespace {

class GatherLoader final : public DataLoader {
 public:
  explicit GatherLoader(const LoaderRequest& request) : request_(request) {
    const auto rows = static_cast<std::int64_t>(request_.indices.size());
    batches_ = request_.drop_last ? rows / request_.batch_size
                                  : (rows + request_.batch_size - 1) / request_.batch_size;
    order_ = request_.indices;
  }

  std::int64_t num_batches() const override { return batches_; }
  std::int64_t num_samples() const override {
    const auto rows = static_cast<std::int64_t>(request_.indices.size());
    return request_.drop_last ? batches_ * request_.batch_size : rows;
  }

  void start_epoch(std::int64_t epoch, std::int64_t first_batch) override {
    if (prefetcher_) prefetcher_->halt();  // an epoch that was left early
    arrange(epoch);
    next_batch_ = first_batch;
    if (request_.num_workers <= 0 || next_batch_ >= batches_) return;
    if (!prefetcher_)
      prefetcher_.emplace([this](std::int64_t batch) { return gather(batch); }, request_.num_workers,
                          request_.num_workers * request_.prefetch_factor);
    prefetcher_->start(first_batch, batches_);
  }

  std::optional<Batch> next() override {
    if (next_batch_ >= batches_) {
      if (!request_.persistent_workers) prefetcher_.reset();
      return std::nullopt;
    }
    const std::int64_t batch = next_batch_++;
    return prefetcher_ ? prefetcher_->take() : gather(batch);
  }

 private:
  void arrange(std::int64_t epoch) {
    const auto rows = static_cast<std::int64_t>(request_.indices.size());
    if (rows == 0 || (!request_.shuffle && request_.weights.empty())) return;
    at::Generator generator = generator_of(mixed_seed(request_.seed, static_cast<std::uint64_t>(epoch)));
    const at::Tensor drawn =
        request_.weights.empty()
            ? at::randperm(rows, generator, at::kLong)
            : at::multinomial(at::tensor(request_.weights, at::kDouble), rows, true, generator);
    const auto* positions = drawn.const_data_ptr<std::int64_t>();
    for (std::size_t i = 0; i < order_.size(); ++i)
      order_[i] = request_.indices[static_cast<std::size_t>(positions[i])];
  }

  Batch gather(std::int64_t batch) const {
    const auto begin = static_cast<std::size_t>(batch * request_.batch_size);
    const auto size = std::min(static_cast<std::size_t>(request_.batch_size), order_.size() - begin);
    const std::span<const std::int64_t> rows(order_.data() + begin, size);
    Batch gathered = request_.dataset->gather(rows);
    if (!gathered.x.contains("sample_index")) {
      at::Tensor index = at::empty({static_cast<std::int64_t>(size)}, at::kLong);
      std::copy(rows.begin(), rows.end(), index.mutable_data_ptr<std::int64_t>());
      gathered.x.set("sample_index", std::move(index));
    }
    return request_.pin_memory ? pinned(gathered) : gathered;
  }

  const LoaderRequest request_;
  std::int64_t batches_ = 0;
  std::int64_t next_batch_ = 0;
  std::vector<std::int64_t> order_;       // rows of the epoch
  std::optional<Prefetcher> prefetcher_;  // last: its workers read the rest
};

class TorchLoaderBackend final : public LoaderBackend {
 public:
  std::unique_ptr<DataLoader> create_loader(const LoaderRequest& request) const override {
    if (request.batch_size <= 0)
      throw Error("E836", fmt::format("a batch size of {} for the {} split; it has to be at least 1",
                                      request.batch_size, request.split));
    if (!request.weights.empty() && request.weights.size() != request.indices.size())
      throw Error("E836", fmt::format("{} weights for {} rows of the {} split", request.weights.size(),
                                      request.indices.size(), request.split));
    return std::make_unique<GatherLoader>(request);
  }
};

}  // namespace

std::shared_ptr<LoaderBackend> make_torch_loader_backend() {
  return std::make_shared<TorchLoaderBackend>();
}

}  // namespace nexuml
