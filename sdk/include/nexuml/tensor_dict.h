// TensorDict and Batch: what flows through a pipeline.
//
//     Batch batch;
//     batch.x.set("features", torch::randn({64, 128}));
//     batch.y = TensorDict{{"class", torch::zeros({64}, torch::kLong)}};
//     at::Tensor latent = batch.x.get("latent");      // Error E801 naming the keys that exist
//
// A TensorDict maps keys to tensors and keeps the order in which keys were added. The first dimension of
// every tensor is the batch; scalars (losses, metrics) have none. Copies share the tensors.
#pragma once

#include <nexuml/export.h>
#include <nexuml/shape.h>
#include <torch/types.h>

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace nexuml {

class NEXUML_EXPORT TensorDict {
 public:
  using Entry = std::pair<std::string, at::Tensor>;

  TensorDict() = default;
  TensorDict(std::initializer_list<Entry> entries);

  // Replaces the tensor of a key or adds the key at the end.
  void set(std::string_view key, at::Tensor tensor);
  // Throws Error E801 naming the keys that exist, the near one first.
  const at::Tensor& get(std::string_view key) const;
  // Null for a missing key.
  const at::Tensor* find(std::string_view key) const noexcept;
  bool contains(std::string_view key) const noexcept { return find(key) != nullptr; }
  bool erase(std::string_view key);

  bool empty() const noexcept { return entries_.empty(); }
  std::size_t size() const noexcept { return entries_.size(); }
  std::vector<std::string> keys() const;
  auto begin() const noexcept { return entries_.begin(); }
  auto end() const noexcept { return entries_.end(); }

  // The first dimension of the first tensor that has one; 0 when there is none.
  std::int64_t batch_size() const;
  TensorDict to(const at::Device& device, bool non_blocking = false) const;

 private:
  std::vector<Entry> entries_;
};

struct Batch {
  TensorDict x;                 // features, and what layers add
  std::optional<TensorDict> y;  // labels, where there are any

  std::int64_t batch_size() const { return x.batch_size(); }
  NEXUML_EXPORT Batch to(const at::Device& device, bool non_blocking = false) const;
};

// Between the words of definitions and those of LibTorch. `dtype_of` throws Error E801 for a dtype that
// definitions cannot name, such as complex64.
NEXUML_EXPORT at::ScalarType scalar_type(DType dtype) noexcept;
NEXUML_EXPORT DType dtype_of(at::ScalarType type);

}  // namespace nexuml
