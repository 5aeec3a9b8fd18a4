#include "data/shard_loader.h"

#include <nexuml/exported_data.h>

namespace nexuml_library {

void TensorShardsLoader::describe(nexuml::Schema<TensorShardsLoader>& s) {
  s.summary("Batches from data in shards: whole shards are read ahead in windows and permuted inside them.");
  s.field("shards_per_window", &TensorShardsLoader::shards_per_window)
      .doc("Shards in memory at once.")
      .at_least(1);
  s.field("prefetch_windows", &TensorShardsLoader::prefetch_windows)
      .doc("Windows that are read ahead.")
      .at_least(1);
  s.field("prefetch_workers", &TensorShardsLoader::prefetch_workers).doc("Threads that read.").at_least(1);
  s.field("shuffle_shards", &TensorShardsLoader::shuffle_shards)
      .doc("A new order of the shards in each training epoch; null as the loader.");
  s.field("shuffle_samples", &TensorShardsLoader::shuffle_samples)
      .doc("A new order of the samples inside a window; null as the loader.");
  s.field("pin_memory", &TensorShardsLoader::pin_memory).doc("Page-locked batches, for copies to a GPU.");
  s.field("drop_last", &TensorShardsLoader::drop_last)
      .doc("Leave out a last training batch that is not full.");
  s.field("seed", &TensorShardsLoader::seed).doc("Of the orders; null for that of the run.").at_least(0);
}
std::shared_ptr<nexuml::LoaderBackend> TensorShardsLoader::build(const nexuml::LoaderBuildContext&) const {
  return nexuml::make_tensor_shards_loader_backend({.shards_per_window = shards_per_window,
                                                    .prefetch_windows = prefetch_windows,
                                                    .prefetch_workers = prefetch_workers,
                                                    .shuffle_shards = shuffle_shards,
                                                    .shuffle_samples = shuffle_samples,
                                                    .pin_memory = pin_memory,
                                                    .drop_last = drop_last,
                                                    .seed = seed});
}

void DaliLoader::describe(nexuml::Schema<DaliLoader>& s) {
  s.summary("Batches decoded by threads ahead of their use: num_workers of them, at least two.");
}
std::shared_ptr<nexuml::LoaderBackend> DaliLoader::build(const nexuml::LoaderBuildContext&) const {
  return nexuml::make_decoding_loader_backend();
}

void TensorShardsBackend::describe(nexuml::Schema<TensorShardsBackend>& s) {
  s.summary("Writes files of samples_per_shard rows, as torch.save does.");
  s.field("samples_per_shard", &TensorShardsBackend::samples_per_shard).doc("Rows of a file.").at_least(1);
}
std::shared_ptr<nexuml::DatasetWriter> TensorShardsBackend::build(
    const nexuml::WriterBuildContext& context) const {
  return nexuml::make_tensor_shards_writer(context, samples_per_shard);
}

void NumpyBackend::describe(nexuml::Schema<NumpyBackend>& s) {
  s.summary("Writes an NPY file for each sample and key.");
}
std::shared_ptr<nexuml::DatasetWriter> NumpyBackend::build(const nexuml::WriterBuildContext& context) const {
  return nexuml::make_numpy_writer(context);
}

void NumpyMmapBackend::describe(nexuml::Schema<NumpyMmapBackend>& s) {
  s.summary("Writes an NPY file for each key, which is mapped when it is read.");
}
std::shared_ptr<nexuml::DatasetWriter> NumpyMmapBackend::build(
    const nexuml::WriterBuildContext& context) const {
  return nexuml::make_numpy_mmap_writer(context);
}

}  // namespace nexuml_library
