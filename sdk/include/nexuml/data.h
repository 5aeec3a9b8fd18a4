// Data: what a data source builds, and how batches of it reach the training loop.
//
//     struct Ramp {                                     // a data source: all of it in memory
//       std::int64_t num_samples = 100;
//       static void describe(nexuml::Schema<Ramp>& s) { s.field("num_samples",
//       &Ramp::num_samples).at_least(1); } std::shared_ptr<nexuml::Dataset> build(const nexuml::DataContext&
//       context) const {
//         nexuml::TensorDict x;
//         x.set(context.feature_key, torch::arange(num_samples, torch::kFloat32).unsqueeze(1));
//         return std::make_shared<nexuml::TensorDataset>(std::move(x));
//       }
//     };
//
// A dataset hands out whole batches, never single samples: `gather(indices)` stacks the rows along a new
// first dimension, so data in memory costs one `index_select` a key. Everything here is deterministic: the
// order of an epoch depends on the seed and the epoch alone, not on the number of workers.
#pragma once

#include <nexuml/definition.h>
#include <nexuml/export.h>
#include <nexuml/shape.h>
#include <nexuml/target.h>
#include <nexuml/tensor_dict.h>
#include <torch/types.h>

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <variant>
#include <vector>

namespace nexuml {

// What a data source is told when it opens its data.
struct NEXUML_EXPORT DataContext {
  std::filesystem::path data_root;       // relative paths are meant from here
  std::string feature_key = "features";  // the key of `data.feature_key`
  std::uint64_t seed = 0;
  std::stop_token stop;           // a long scan or download polls it
  Diagnostics* advice = nullptr;  // takes warnings; null: nobody listens

  std::filesystem::path resolve(const std::filesystem::path& path) const { return data_root / path; }
};

// One column of a dataset's metadata: numbers as a tensor of [size], or texts.
using MetadataColumn = std::variant<at::Tensor, std::vector<std::string>>;

class NEXUML_EXPORT Dataset {
 public:
  virtual ~Dataset();

  virtual std::int64_t size() const = 0;
  // Rows `indices` (0 <= i < size()) as one batch; every tensor has the first dimension indices.size().
  // [any thread, several at once]
  virtual Batch gather(std::span<const std::int64_t> indices) const = 0;

  // Shapes and dtypes of one sample.
  virtual OrderedMap<TensorSpec> features() const = 0;
  virtual OrderedMap<TensorSpec> labels() const;
  // By label key, where it is known: distinct classes of a categorical label, length of a vector label.
  virtual OrderedMap<std::int64_t> num_classes() const;
  // By label key, where the classes have names: the text of class 0, 1, ...
  virtual OrderedMap<std::vector<std::string>> class_names() const;
  // The split that the data itself assigns to each row: "train", "val", "test", or "fit" and "all" for rows
  // to be split at random. Empty: the data says nothing.
  virtual std::vector<std::string> splits() const;
  // Further columns, [size()] each, for evaluation algorithms.
  virtual OrderedMap<MetadataColumn> metadata() const;
  // Files that decide what the rows hold, in a fixed order. Prepared data stays valid as long as their
  // content is the same. Empty: unknown, or no file; the rows themselves are compared then.
  virtual std::vector<std::filesystem::path> files() const;
};

// What is known of the samples beside their tensors.
struct TensorDatasetInfo {
  OrderedMap<std::int64_t> num_classes;
  OrderedMap<std::vector<std::string>> class_names;
  std::vector<std::string> splits;
  OrderedMap<MetadataColumn> metadata;
  std::vector<std::filesystem::path> files;
};

// A dataset whose tensors lie in memory, first dimension = samples.
class NEXUML_EXPORT TensorDataset : public Dataset {
 public:
  // Throws Error E830 when the first dimensions differ, a tensor has none, or there is no tensor.
  explicit TensorDataset(TensorDict x, std::optional<TensorDict> y = std::nullopt,
                         TensorDatasetInfo info = {});

  std::int64_t size() const override { return size_; }
  Batch gather(std::span<const std::int64_t> indices) const override;
  OrderedMap<TensorSpec> features() const override;
  OrderedMap<TensorSpec> labels() const override;
  OrderedMap<std::int64_t> num_classes() const override { return info_.num_classes; }
  OrderedMap<std::vector<std::string>> class_names() const override { return info_.class_names; }
  std::vector<std::string> splits() const override { return info_.splits; }
  OrderedMap<MetadataColumn> metadata() const override { return info_.metadata; }
  std::vector<std::filesystem::path> files() const override { return info_.files; }

  const TensorDict& x() const noexcept { return x_; }
  const std::optional<TensorDict>& y() const noexcept { return y_; }

 private:
  TensorDict x_;
  std::optional<TensorDict> y_;
  TensorDatasetInfo info_;
  std::int64_t size_ = 0;
};

// ---- loaders

// The batches of one split, epoch after epoch. The order is a function of (seed, epoch). [training thread]
class NEXUML_EXPORT DataLoader {
 public:
  virtual ~DataLoader();
  virtual std::int64_t num_batches() const = 0;  // an epoch
  virtual std::int64_t num_samples() const = 0;  // an epoch
  // Begins `epoch` at batch `first_batch` (> 0 when a run is resumed inside an epoch).
  virtual void start_epoch(std::int64_t epoch, std::int64_t first_batch = 0) = 0;
  // Nothing at the end of the epoch. x carries `sample_index`, int64 of [batch]: rows of the dataset.
  virtual std::optional<Batch> next() = 0;
};

// One loader to be made: rows of a dataset and how to walk them.
struct LoaderRequest {
  std::shared_ptr<const Dataset> dataset;
  std::vector<std::int64_t> indices;  // rows, in the order of an unshuffled epoch
  std::vector<double> weights;        // one per entry of indices: draw with replacement; empty: each row once
  std::string split;                  // train, val, test or predict, for messages
  std::int64_t batch_size = 64;
  bool shuffle = false;
  bool drop_last = false;
  bool pin_memory = false;  // page-locked batches, for copies to a GPU
  std::uint64_t seed = 0;
  std::int64_t num_workers = 0;
  std::int64_t prefetch_factor = 2;  // batches in flight a worker
  bool persistent_workers = false;   // threads live on from one epoch to the next
  std::stop_token stop;
};

class NEXUML_EXPORT LoaderBackend {
 public:
  virtual ~LoaderBackend();
  virtual std::unique_ptr<DataLoader> create_loader(const LoaderRequest& request) const = 0;
};

struct LoaderBuildContext {
  std::stop_token stop;
};

// The loader `torch`: gathers batches from the dataset, in worker threads with prefetch when num_workers > 0.
// Also what a LoaderSpec without a backend means.
NEXUML_EXPORT std::shared_ptr<LoaderBackend> make_torch_loader_backend();

// ---- writers

// Writes a dataset in one on-disk format. [one thread]
class NEXUML_EXPORT DatasetWriter {
 public:
  virtual ~DatasetWriter();
  virtual std::string format() const = 0;
  // Rows arrive in order: `first_index` counts samples over all splits.
  virtual void write(const TensorDict& rows, const std::string& split, std::int64_t first_index) = 0;
  virtual void finish() = 0;
};

struct WriterBuildContext {
  std::filesystem::path folder;
  OrderedMap<TensorSpec> tensors;  // by stored key
  std::int64_t num_samples = 0;
  std::stop_token stop;
};

}  // namespace nexuml
