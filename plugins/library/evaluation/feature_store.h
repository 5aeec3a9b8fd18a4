// FeatureStore: a bounded, fair choice of the samples that pass by, in memory or in a mapped file.
//
//     FeatureStore store({.capacity = 2000, .seed = 42});
//     store.add(latents, labels);            // [batch, ...] and one class a sample, or none
//     at::Tensor kept = store.features();    // [kept, dims] float32
//
// Algorithm R (Vitter, 1985): after n samples each was kept with the same chance; the choice follows the
// seed. A mapped file lives in `folder`, or in the folder for temporary files, and goes with the store.
#pragma once

#include <torch/types.h>

#include <cstdint>
#include <filesystem>
#include <optional>
#include <random>
#include <string>
#include <vector>

namespace nexuml_library {

struct FeatureStoreOptions {
  std::int64_t capacity = 2000;
  std::uint64_t seed = 0;
  bool mapped = false;
  std::optional<std::filesystem::path> folder = std::nullopt;  // kept when it is given
};

class FeatureStore {
 public:
  explicit FeatureStore(FeatureStoreOptions options) : options_(std::move(options)), random_(options_.seed) {}
  ~FeatureStore();
  FeatureStore(const FeatureStore&) = delete;
  FeatureStore& operator=(const FeatureStore&) = delete;

  // `classes` is empty, or holds one number a sample; -1 means none. `texts` is empty, or holds the same
  // number of texts for each sample.
  void add(const at::Tensor& features, const std::vector<std::int64_t>& classes,
           const std::vector<std::vector<std::string>>& texts = {});

  std::int64_t size() const noexcept { return static_cast<std::int64_t>(classes_.size()); }
  std::int64_t seen() const noexcept { return seen_; }
  at::Tensor features() const;
  const std::vector<std::int64_t>& classes() const noexcept { return classes_; }
  const std::vector<std::vector<std::string>>& texts() const noexcept { return texts_; }

 private:
  void allocate(std::int64_t width);

  FeatureStoreOptions options_;
  std::mt19937_64 random_;
  at::Tensor rows_;  // [capacity, width]
  std::vector<std::int64_t> classes_;
  std::vector<std::vector<std::string>> texts_;  // of each kept sample
  std::int64_t seen_ = 0;
  std::filesystem::path file_;
};

}  // namespace nexuml_library
