// SharedStorage: tensors that layers of one pipeline exchange beside the batch.
//
//     storage->set("centre", torch::zeros({8}));               // a writer
//     std::int64_t row = 0;
//     storage->set("memory", torch::zeros({1000, 8}));         // a ring buffer of 1000 rows
//     row = storage->set_ring_buffer("memory", latent, row);   // rows wrap once
//     at::Tensor centre = storage->get("centre");              // undefined where nobody has written
//
// The compiler gives every layer of a pipeline the same storage (`LayerBuildContext::storage`). It is private
// to the process and to the pipeline, and no part of the state dict. Every call is safe from any thread;
// the tensors that `get` returns share memory with the storage, so their elements belong to the training
// thread. Layers are built in any order: a layer that is being built may write its own keys, never read
// those of another.
#pragma once

#include <nexuml/export.h>
#include <torch/types.h>

#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <vector>

namespace nexuml {

class NEXUML_EXPORT SharedStorage {
 public:
  // Copies into the tensor that is there when shape, dtype and device agree, else replaces it. Keeps values,
  // not the graph that made them.
  void set(const std::string& key, const at::Tensor& value);
  // Concatenates along the first dimension; a new key starts with `value`.
  void append(const std::string& key, const at::Tensor& value);
  // Writes the rows of `value` from row `counter` on and starts again at row 0 after the last; returns the
  // row that follows. Throws Error E821 when the key does not exist, rows do not fit, or `value` has more
  // rows than the buffer.
  std::int64_t set_ring_buffer(const std::string& key, const at::Tensor& value, std::int64_t counter);
  // Undefined for a missing key.
  at::Tensor get(const std::string& key) const;
  void clear(const std::string& key);
  void clear();
  std::vector<std::string> keys() const;

 private:
  friend class StorageScratch;
  using Tensors = std::map<std::string, at::Tensor>;
  Tensors& held();
  const Tensors& held() const { return const_cast<SharedStorage*>(this)->held(); }

  mutable std::mutex mutex_;
  Tensors tensors_;
};

}  // namespace nexuml
