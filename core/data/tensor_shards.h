// Shards: files of torch.save with the rows of one split each, and the manifest that lists them.
//
//     data/tensor_shards_index.json
//     data/shards/train/shard-000000.pt    {format_version, format, split, shard_id,
//                                           start_index, num_samples, capacity, num_padding_samples,
//                                           valid_mask, indices, features}
#pragma once

#include <deque>
#include <filesystem>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "data/stored_rows.h"

namespace nexuml {

inline constexpr std::int64_t shard_format_version = 1;
inline constexpr const char* shard_format = "tensor_shards";
inline constexpr const char* shard_manifest = "data/tensor_shards_index.json";

struct Shard {
  std::string split;
  std::string path;                 // from the folder of the export
  std::int64_t begin = 0, end = 0;  // rows
};

class TensorShards final : public StoredRows {
 public:
  explicit TensorShards(std::filesystem::path folder);

  std::int64_t size() const override { return size_; }
  OrderedMap<TensorSpec> tensors() const override { return tensors_; }
  TensorDict gather(std::span<const std::int64_t> rows) const override;

  const std::vector<Shard>& shards() const noexcept { return shards_; }
  // The rows of one shard, without padding; reads the file.
  TensorDict read(const Shard& shard) const;

 private:
  TensorDict cached(std::size_t shard) const;

  std::filesystem::path folder_;
  std::vector<Shard> shards_;
  std::int64_t size_ = 0;
  OrderedMap<TensorSpec> tensors_;
  struct Cached {
    std::size_t shard;
    TensorDict rows;
  };
  mutable std::mutex mutex_;
  mutable std::deque<Cached> cache_;  // used last first
};

}  // namespace nexuml
