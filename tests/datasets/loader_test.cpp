#include <ATen/ops/arange.h>
#include <ATen/ops/equal.h>
#include <nexuml/data.h>

#include <catch2/catch.hpp>
#include <filesystem>
#include <mutex>
#include <numeric>
#include <set>
#include <stdexcept>
#include <thread>
#include <utility>

namespace nexuml {
namespace {

using Rows = std::vector<std::int64_t>;

std::shared_ptr<const Dataset> numbers(std::int64_t n) {
  TensorDict x, y;
  x.set("features", at::arange(n, at::kFloat).unsqueeze(1));
  y.set("class", at::arange(n, at::kLong));
  return std::make_shared<TensorDataset>(std::move(x), std::move(y));
}

LoaderRequest request_of(std::int64_t n) {
  LoaderRequest request{
      .dataset = numbers(n), .indices = Rows(static_cast<std::size_t>(n)), .split = "train"};
  std::iota(request.indices.begin(), request.indices.end(), std::int64_t{0});
  request.batch_size = 7;
  request.shuffle = true;
  request.seed = 3;
  return request;
}

std::vector<Rows> batches_of(DataLoader& loader, std::int64_t epoch, std::int64_t first = 0) {
  std::vector<Rows> batches;
  loader.start_epoch(epoch, first);
  while (const auto batch = loader.next()) {
    const at::Tensor rows = batch->x.get("sample_index");
    batches.emplace_back(rows.const_data_ptr<std::int64_t>(),
                         rows.const_data_ptr<std::int64_t>() + rows.numel());
    CHECK(at::equal(batch->y->get("class"), rows));
    CHECK(at::equal(batch->x.get("features").squeeze(1).to(at::kLong), rows));
  }
  return batches;
}

std::vector<Rows> epoch_of(const LoaderRequest& request, std::int64_t epoch, std::int64_t first = 0) {
  return batches_of(*make_torch_loader_backend()->create_loader(request), epoch, first);
}

Rows flat(const std::vector<Rows>& batches) {
  Rows all;
  for (const Rows& batch : batches) all.insert(all.end(), batch.begin(), batch.end());
  return all;
}

// Notes the threads that gather.
class WatchedDataset final : public Dataset {
 public:
  std::int64_t size() const override { return 200; }
  Batch gather(std::span<const std::int64_t> indices) const override {
    const std::lock_guard lock(mutex_);
    threads_.insert(std::this_thread::get_id());
    return numbers(200)->gather(indices);
  }
  OrderedMap<TensorSpec> features() const override { return {{"features", {{1}}}}; }
  std::set<std::thread::id> take_threads() {
    const std::lock_guard lock(mutex_);
    return std::exchange(threads_, {});
  }

 private:
  mutable std::mutex mutex_;
  mutable std::set<std::thread::id> threads_;
};

std::ptrdiff_t threads_of_this_process() {
  return std::distance(std::filesystem::directory_iterator("/proc/self/task"), {});
}

class FailingDataset final : public Dataset {
 public:
  std::int64_t size() const override { return 20; }
  Batch gather(std::span<const std::int64_t> indices) const override {
    if (indices.front() >= 10) throw std::runtime_error("file 10 is broken");
    return numbers(20)->gather(indices);
  }
  OrderedMap<TensorSpec> features() const override { return {{"features", {{1}}}}; }
};

}  // namespace

TEST_CASE("an epoch gives each row once, in batches, and the last batch is not dropped") {
  const auto batches = epoch_of(request_of(30), 0);
  REQUIRE(batches.size() == 5);
  CHECK(batches.back().size() == 2);
  Rows rows = flat(batches);
  std::sort(rows.begin(), rows.end());
  CHECK(rows == request_of(30).indices);
}

TEST_CASE("drop_last leaves out the batch that is not full") {
  LoaderRequest request = request_of(30);
  request.drop_last = true;
  const auto loader = make_torch_loader_backend()->create_loader(request);
  CHECK(loader->num_batches() == 4);
  CHECK(loader->num_samples() == 28);
  CHECK(batches_of(*loader, 0).size() == 4);
}

TEST_CASE("the order depends on seed and epoch alone") {
  LoaderRequest request = request_of(50);
  const auto first = epoch_of(request, 0), second = epoch_of(request, 1);
  CHECK(first != second);
  CHECK(epoch_of(request, 1) == second);
  request.seed = 4;
  CHECK(epoch_of(request, 0) != first);
}

TEST_CASE("the order does not depend on the number of workers") {
  LoaderRequest request = request_of(200);
  const auto expected = epoch_of(request, 2);
  for (const std::int64_t workers : {1, 2, 5}) {
    request.num_workers = workers;
    CHECK(epoch_of(request, 2) == expected);
  }
}

TEST_CASE("an epoch begins where a resumed run stopped") {
  for (const std::int64_t workers : {0, 2}) {
    LoaderRequest request = request_of(50);
    request.num_workers = workers;
    const auto whole = epoch_of(request, 3);
    CHECK(epoch_of(request, 3, 5) == std::vector<Rows>(whole.begin() + 5, whole.end()));
    CHECK(epoch_of(request, 3, 8).empty());
  }
}

TEST_CASE("an epoch that is left early ends its workers and the next one is whole") {
  LoaderRequest request = request_of(200);
  const auto expected = epoch_of(request, 1);
  request.num_workers = 3;
  const auto loader = make_torch_loader_backend()->create_loader(request);
  loader->start_epoch(0);
  (void)loader->next();
  CHECK(batches_of(*loader, 1) == expected);
}

TEST_CASE("persistent workers live on between epochs, others end with theirs") {
  for (const bool persistent : {false, true}) {
    INFO(persistent);
    const auto before = threads_of_this_process();
    const auto dataset = std::make_shared<WatchedDataset>();
    LoaderRequest request = request_of(200);
    const auto expected = epoch_of(request, 1);
    request.dataset = dataset;
    request.num_workers = 1;
    request.persistent_workers = persistent;
    const auto loader = make_torch_loader_backend()->create_loader(request);
    batches_of(*loader, 0);
    CHECK(threads_of_this_process() == before + (persistent ? 1 : 0));
    const auto first = dataset->take_threads();
    CHECK(batches_of(*loader, 1) == expected);
    CHECK(first.size() == 1);
    if (persistent) CHECK(dataset->take_threads() == first);
  }
}

TEST_CASE("what a dataset throws in a worker reaches the training thread at its batch") {
  LoaderRequest request = request_of(20);
  request.dataset = std::make_shared<FailingDataset>();
  request.shuffle = false;
  request.num_workers = 2;
  request.batch_size = 5;
  const auto loader = make_torch_loader_backend()->create_loader(request);
  loader->start_epoch(0);
  CHECK(loader->next());
  CHECK(loader->next());
  CHECK_THROWS_WITH(loader->next(), "file 10 is broken");
}

TEST_CASE("weights draw rows with replacement, in the same way every time") {
  LoaderRequest request = request_of(40);
  request.weights.assign(40, 0.0);
  request.weights[3] = request.weights[9] = 1.0;
  const Rows drawn = flat(epoch_of(request, 0));
  CHECK(drawn.size() == 40);
  for (const std::int64_t row : drawn) CHECK((row == 3 || row == 9));
  CHECK(flat(epoch_of(request, 0)) == drawn);
}

TEST_CASE("tensors with different numbers of samples make no dataset") {
  TensorDict x{{"a", at::arange(3)}, {"b", at::arange(4)}};
  CHECK_THROWS_WITH(TensorDataset(x), Catch::Contains("key 'a' has 3 samples and key 'b' has 4"));
  CHECK_THROWS_WITH(TensorDataset(TensorDict{}), Catch::Contains("at least one tensor"));
}

}  // namespace nexuml
