// Data sets on disk as NexuML exports them: a folder with config.yaml, metadata.csv and data/.
//
//     auto writer = nexuml::make_tensor_shards_writer(context, 4096);   // data/shards/<split>/shard-%06d.pt
//     writer->write(rows, "train", 0);
//     writer->finish();
//     std::shared_ptr<nexuml::Dataset> dataset = nexuml::open_exported_data("prepared/mnist");
//
// Tensors keep their dtype, labels included. What is read runs no code: shards are state dicts of torch.save.
#pragma once

#include <nexuml/data.h>
#include <nexuml/export.h>

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>

namespace nexuml {

// A file of `torch.save` for each `samples_per_shard` rows of one split; the last one is filled with zeros to
// that size and says so in `valid_mask`. Throws Error E838 for rows that are out of order.
NEXUML_EXPORT std::shared_ptr<DatasetWriter> make_tensor_shards_writer(const WriterBuildContext& context,
                                                                       std::int64_t samples_per_shard);
// data/<key>/<%08d>.npy: a file a sample and key.
NEXUML_EXPORT std::shared_ptr<DatasetWriter> make_numpy_writer(const WriterBuildContext& context);
// data/<key>.npy: a file a key, of [samples, ...]; read through the page cache, never whole.
NEXUML_EXPORT std::shared_ptr<DatasetWriter> make_numpy_mmap_writer(const WriterBuildContext& context);

// Reads what one of the writers wrote. Throws Error E838 for what is missing or does not fit together.
NEXUML_EXPORT std::shared_ptr<Dataset> open_exported_data(const std::filesystem::path& folder);

// The loader `tensor_shards`: reads whole shards in windows ahead of their use and permutes the samples of a
// window. Takes only data that `make_tensor_shards_writer` wrote.
struct TensorShardsLoaderOptions {
  std::int64_t shards_per_window = 6;
  std::int64_t prefetch_windows = 2;
  std::int64_t prefetch_workers = 2;
  std::optional<bool> shuffle_shards;   // null: as the loader; never where the loader does not shuffle
  std::optional<bool> shuffle_samples;  // likewise
  bool pin_memory = false;
  bool drop_last = false;
  std::optional<std::int64_t> seed;  // null: that of the run
};
NEXUML_EXPORT std::shared_ptr<LoaderBackend> make_tensor_shards_loader_backend(
    const TensorShardsLoaderOptions& options);

// The loader `dali`: batches are decoded by threads also where `num_workers` is 0.
NEXUML_EXPORT std::shared_ptr<LoaderBackend> make_decoding_loader_backend();

}  // namespace nexuml
