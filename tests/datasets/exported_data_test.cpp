#include <ATen/ops/arange.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/ones.h>
#include <nexuml/exported_data.h>
#include <nexuml/tensor_io.h>

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <numeric>

#include "data/data_fingerprint.h"
#include "data/export_run.h"
#include "data/exported_dataset.h"
#include "sanitizer.h"

namespace nexuml {
namespace {

namespace fs = std::filesystem;
using Rows = std::vector<std::int64_t>;

class ExportFolder {
 public:
  ExportFolder() {
    std::string pattern = (fs::temp_directory_path() / "nexuml-export-XXXXXX").string();
    root_ = ::mkdtemp(pattern.data());
  }
  ~ExportFolder() { fs::remove_all(root_); }
  fs::path path() const { return root_ / "data"; }
  const fs::path& root() const { return root_; }

 private:
  fs::path root_;
};

// `count` rows: 60 % train, 20 % each validate and test.
DataModule numbered(std::int64_t count) {
  TensorDict x{{"features", at::arange(count, at::kFloat).unsqueeze(1) * at::ones({1, 3})}};
  TensorDict y{{"class", at::arange(count, at::kLong).remainder(4)},
               {"small", at::arange(count, at::kShort)}};
  std::vector<std::string> names;
  Splits splits;
  for (std::int64_t row = 0; row < count; ++row) {
    names.push_back("row, \"" + std::to_string(row) + "\"");
    (row % 5 < 3 ? splits.train : row % 5 == 3 ? splits.val : splits.test).push_back(row);
  }
  auto dataset = std::make_shared<TensorDataset>(
      x, y,
      TensorDatasetInfo{.num_classes = {{"class", 4}},
                        .class_names = {{"class", {"a", "b", "c", "d"}}},
                        .metadata = {{"name", names}, {"number", at::arange(count, at::kLong)}}});
  return DataModule(DataSpec{}, 7, dataset, splits, {});
}

using MakeWriter = std::function<std::shared_ptr<DatasetWriter>(const WriterBuildContext&)>;
MakeWriter shards_of(std::int64_t samples) {
  return [samples](const WriterBuildContext& context) { return make_tensor_shards_writer(context, samples); };
}

std::int64_t row_of(const Batch& batch, std::int64_t i) {
  return batch.x.get("features")[i][0].item<std::int64_t>();
}

Rows epoch_of(DataLoader& loader, std::int64_t epoch, std::int64_t first = 0) {
  Rows rows;
  loader.start_epoch(epoch, first);
  while (const auto batch = loader.next()) {
    CHECK(
        at::equal(batch->y->get("class"), batch->x.get("features").select(1, 0).to(at::kLong).remainder(4)));
    for (std::int64_t i = 0; i < batch->batch_size(); ++i) rows.push_back(row_of(*batch, i));
  }
  return rows;
}

LoaderRequest request_for(const std::shared_ptr<const ExportedDataset>& dataset, bool shuffle) {
  return {.dataset = dataset,
          .indices = dataset->split_rows().train,
          .split = "train",
          .batch_size = 8,
          .shuffle = shuffle,
          .seed = 5};
}

}  // namespace

TEST_CASE("what a writer wrote is read back: tensors, dtypes, splits, classes and metadata") {
  const ExportFolder folder;
  const MakeWriter writer =
      GENERATE(MakeWriter(shards_of(8)), MakeWriter(make_numpy_writer), MakeWriter(make_numpy_mmap_writer));
  const DataModule data = numbered(50);
  export_data(data, {.folder = folder.path(), .writer = writer});
  const ExportedDataset read(folder.path());
  CHECK(read.size() == 50);
  CHECK(read.labels().at("class").dtype == DType::int64);
  CHECK(read.labels().at("small").dtype == DType::int16);
  CHECK(read.class_names().at("class").at(2) == "c");
  const Rows wanted{49, 0, 31, 0};  // of both splits, and one twice
  const Batch batch = read.gather(wanted);
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    const auto at = static_cast<std::int64_t>(i);
    const auto row = static_cast<std::size_t>(wanted[i]);
    const std::int64_t number = row_of(batch, at);
    CHECK(batch.y->get("small")[at].item<std::int64_t>() == number);
    CHECK(std::get<at::Tensor>(read.metadata().at("number"))[wanted[i]].item<std::int64_t>() == number);
    CHECK(std::get<std::vector<std::string>>(read.metadata().at("name")).at(row) ==
          "row, \"" + std::to_string(number) + "\"");
    CHECK(read.splits().at(row) == (number % 5 < 3 ? "train" : number % 5 == 3 ? "val" : "test"));
  }
  const Splits splits = read.split_rows();
  CHECK((splits.train.size() == 30 && splits.val.size() == 10 && splits.test.size() == 10));
}

TEST_CASE("the shard loader gives each row once, in an order of seed and epoch, whatever its threads") {
  const ExportFolder folder;
  export_data(numbered(200), {.folder = folder.path(), .writer = shards_of(16)});
  const auto dataset = std::make_shared<const ExportedDataset>(folder.path());
  const auto loader = [&](bool shuffle, std::int64_t workers, std::int64_t window = 2) {
    return make_tensor_shards_loader_backend({.shards_per_window = window, .prefetch_workers = workers})
        ->create_loader(request_for(dataset, shuffle));
  };
  const Rows ordered = epoch_of(*loader(false, 2), 0);
  CHECK(std::is_sorted(ordered.begin(), ordered.end()));
  const Rows first = epoch_of(*loader(true, 1), 0), second = epoch_of(*loader(true, 1), 1);
  CHECK(first != ordered);
  CHECK(first != second);
  CHECK(epoch_of(*loader(true, 3), 0) == first);
  Rows sorted = first;
  std::sort(sorted.begin(), sorted.end());
  CHECK(sorted == ordered);
  CHECK(loader(true, 1)->num_batches() == 15);
  CHECK(epoch_of(*loader(true, 2, 100), 0).size() == 120);
  // A resumed run goes on where it was.
  const Rows rest = epoch_of(*loader(true, 2), 0, 6);
  CHECK(rest == Rows(first.begin() + 48, first.end()));
}

TEST_CASE("batches go on over the ends of windows: only the last is short") {
  const ExportFolder folder;
  export_data(numbered(100), {.folder = folder.path(), .writer = shards_of(5)});
  const auto dataset = std::make_shared<const ExportedDataset>(folder.path());
  const auto loader =
      make_tensor_shards_loader_backend({.shards_per_window = 1})->create_loader(request_for(dataset, true));
  loader->start_epoch(0);
  Rows sizes;
  while (const auto batch = loader->next()) sizes.push_back(batch->batch_size());
  CHECK(sizes == Rows{8, 8, 8, 8, 8, 8, 8, 4});
}

TEST_CASE("the shard loader refuses data that is not in shards, part of a shard and weights") {
  const ExportFolder folder;
  export_data(numbered(50), {.folder = folder.path(), .writer = shards_of(8)});
  const auto dataset = std::make_shared<const ExportedDataset>(folder.path());
  const auto refusal = [](const LoaderRequest& request) {
    try {
      make_tensor_shards_loader_backend({})->create_loader(request);
    } catch (const Error& error) {
      return std::string(error.what());
    }
    return std::string("accepted");
  };
  LoaderRequest request = request_for(dataset, true);
  request.indices.pop_back();
  CHECK_THAT(refusal(request), Catch::Contains("whole shards"));
  request = request_for(dataset, true);
  request.weights.assign(request.indices.size(), 1);
  CHECK_THAT(refusal(request), Catch::Contains("weighted_sampling"));
  request = request_for(dataset, true);
  request.dataset = std::make_shared<TensorDataset>(TensorDict{{"features", at::ones({50, 1})}});
  CHECK_THAT(refusal(request), Catch::Contains("TensorShardsBackend"));
}

TEST_CASE("the writer of mapped arrays keeps no rows in memory") {
  ExportFolder folder;
  constexpr std::int64_t rows = 4096, width = 4096, part = 64;  // 64 MiB
  const auto writer = make_numpy_mmap_writer(
      {.folder = folder.path(), .tensors = {{"features", {{width}, DType::float32}}}, .num_samples = rows});
  const at::Tensor batch = at::ones({part, width});
  const auto resident = [] {
    std::ifstream file("/proc/self/statm");
    std::int64_t all = 0, pages = 0;
    file >> all >> pages;
    return pages * 4096;
  };
  writer->write({{"features", batch}}, "train", 0);
  const std::int64_t before = resident();
  for (std::int64_t row = part; row < rows; row += part) {
    if (row == 2 * part)
      CHECK_THROWS_WITH(writer->write({{"features", batch}}, "train", 0), Catch::Contains("in order"));
    writer->write({{"features", batch * static_cast<double>(row)}}, "train", row);
  }
  // A sanitizer keeps what was freed for a while.
  if (!nexuml::test::kSanitized) CHECK(resident() - before < 16 << 20);
  CHECK_THROWS_WITH(writer->write({{"features", batch}}, "train", rows), Catch::Contains("beyond"));
  writer->finish();
  const at::Tensor written = read_npy((folder.path() / "data" / "features.npy").string(), {.mapped = true});
  CHECK(written.sizes() == at::IntArrayRef({rows, width}));
  CHECK(written[rows - 1][0].item<double>() == rows - part);
}

TEST_CASE("mapped arrays whose rows are not all written leave no file") {
  ExportFolder folder;
  {
    const auto writer = make_numpy_mmap_writer(
        {.folder = folder.path(), .tensors = {{"features", {{3}, DType::float32}}}, .num_samples = 10});
    writer->write({{"features", at::ones({4, 3})}}, "train", 0);
    CHECK_THROWS_WITH(writer->finish(), Catch::Contains("4 rows of the 10"));
  }
  CHECK(fs::is_empty(folder.path() / "data"));
}

TEST_CASE("an export that fails leaves what was there, and nothing half-written") {
  const ExportFolder folder;
  export_data(numbered(50), {.folder = folder.path(), .writer = shards_of(8)});
  int batches = 0;
  CHECK_THROWS(
      export_data(numbered(60), {.folder = folder.path(), .writer = shards_of(8), .transform = [&](Batch&) {
                                   if (++batches == 3) throw std::runtime_error("no more");
                                 }}));
  CHECK(ExportedDataset(folder.path()).size() == 50);
  CHECK(std::distance(fs::directory_iterator(folder.root()), fs::directory_iterator()) == 1);
}

TEST_CASE("an export takes the keys that are asked for, and refuses those that are missing") {
  const ExportFolder folder;
  export_data(numbered(20),
              {.folder = folder.path(), .writer = make_numpy_mmap_writer, .y_keys = Keys{"class"}});
  CHECK(ExportedDataset(folder.path()).labels().size() == 1);
  CHECK_THROWS_WITH(
      export_data(numbered(20),
                  {.folder = folder.path(), .writer = make_numpy_writer, .x_keys = Keys{"feature"}}),
      Catch::Contains("E838") && Catch::Contains("features"));
}

TEST_CASE("an exported folder that was tampered with is refused with the file") {
  const ExportFolder folder;
  export_data(numbered(50), {.folder = folder.path(), .writer = shards_of(8)});
  const auto refusal = [&] {
    try {
      ExportedDataset read(folder.path());
      const Rows all{0, 10, 20, 30, 40};
      (void)read.gather(all);
    } catch (const Error& error) {
      return std::string(error.what());
    }
    return std::string("accepted");
  };
  fs::remove(folder.path() / "data/shards/train/shard-000001.pt");
  CHECK_THAT(refusal(), Catch::Contains("shard-000001.pt"));
  std::ofstream(folder.path() / "data/tensor_shards_index.json") << "{\"format_version\": 2}";
  CHECK_THAT(refusal(), Catch::Contains("another version"));
  fs::remove(folder.path() / "metadata.csv");
  std::ofstream(folder.path() / "config.yaml") << "writer: 3";
  CHECK_THAT(refusal(), Catch::Contains("config.yaml"));
}

TEST_CASE("the fingerprint of data follows its content, not its files' times") {
  const DataModule data = numbered(20), same = numbered(20), other = numbered(21);
  CHECK(fingerprint_of(data.dataset(), {}).digest == fingerprint_of(same.dataset(), {}).digest);
  CHECK(fingerprint_of(data.dataset(), {}).digest != fingerprint_of(other.dataset(), {}).digest);

  const ExportFolder folder;
  const fs::path file = folder.root() / "a.bin";
  std::ofstream(file) << "content";
  const TensorDataset with_file(TensorDict{{"features", at::ones({2, 1})}}, std::nullopt,
                                TensorDatasetInfo{.files = {file}});
  const DataFingerprint first = fingerprint_of(with_file, {});
  fs::last_write_time(file, fs::file_time_type::clock::now() + std::chrono::hours(1));
  CHECK(fingerprint_of(with_file, first.files).digest == first.digest);
  std::ofstream(file) << "CONTENT";
  CHECK(fingerprint_of(with_file, first.files).digest != first.digest);
}

}  // namespace nexuml
