// The loader backends `tensor_shards` and `dali`, and the writers of exported data.
#pragma once

#include <nexuml/definition.h>
#include <nexuml/target.h>

#include <cstdint>
#include <memory>
#include <optional>

namespace nexuml_library {

// Whole shards in windows, read ahead; the samples of a window are permuted.
// Shape: batches of [batch, ...] of what the shards hold.
struct TensorShardsLoader {
  std::int64_t shards_per_window = 6;
  std::int64_t prefetch_windows = 2;
  std::int64_t prefetch_workers = 2;
  std::optional<bool> shuffle_shards = std::nullopt;
  std::optional<bool> shuffle_samples = std::nullopt;
  bool pin_memory = false;
  bool drop_last = false;
  std::optional<std::int64_t> seed = std::nullopt;

  static void describe(nexuml::Schema<TensorShardsLoader>& s);
  std::shared_ptr<nexuml::LoaderBackend> build(const nexuml::LoaderBuildContext& context) const;
};

// Decoding by threads under the name that scenarios of audio use.
// Shape: batches of [batch, ...] of what the samples hold.
struct DaliLoader {
  static void describe(nexuml::Schema<DaliLoader>& s);
  std::shared_ptr<nexuml::LoaderBackend> build(const nexuml::LoaderBuildContext& context) const;
};

struct TensorShardsBackend {
  std::int64_t samples_per_shard = 4096;

  static void describe(nexuml::Schema<TensorShardsBackend>& s);
  std::shared_ptr<nexuml::DatasetWriter> build(const nexuml::WriterBuildContext& context) const;
};

struct NumpyBackend {
  static void describe(nexuml::Schema<NumpyBackend>& s);
  std::shared_ptr<nexuml::DatasetWriter> build(const nexuml::WriterBuildContext& context) const;
};

struct NumpyMmapBackend {
  static void describe(nexuml::Schema<NumpyMmapBackend>& s);
  std::shared_ptr<nexuml::DatasetWriter> build(const nexuml::WriterBuildContext& context) const;
};

}  // namespace nexuml_library
