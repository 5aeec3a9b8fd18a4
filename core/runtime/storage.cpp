#include <ATen/ops/cat.h>
#include <fmt/format.h>
#include <nexuml/diagnostic.h>
#include <nexuml/shape.h>
#include <nexuml/storage.h>

#include "runtime/storage_scratch.h"

namespace nexuml {
namespace {

std::string shape_text(const at::Tensor& tensor) {
  return to_string(Shape(tensor.sizes().begin(), tensor.sizes().end()));
}

bool same_layout(const at::Tensor& left, const at::Tensor& right) {
  return left.sizes() == right.sizes() && left.scalar_type() == right.scalar_type() &&
         left.device() == right.device();
}

thread_local const SharedStorage* scratched = nullptr;
thread_local std::map<std::string, at::Tensor> scratch;

}  // namespace

StorageScratch::StorageScratch(const SharedStorage& storage) {
  const std::lock_guard lock(storage.mutex_);
  scratch.clear();
  for (const auto& [key, tensor] : storage.tensors_) scratch[key] = tensor.clone();
  scratched = &storage;
}

StorageScratch::~StorageScratch() {
  scratched = nullptr;
  scratch.clear();
}

SharedStorage::Tensors& SharedStorage::held() {
  return scratched == this ? scratch : tensors_;
}

void SharedStorage::set(const std::string& key, const at::Tensor& value) {
  const std::lock_guard lock(mutex_);
  at::Tensor& tensor = held()[key];
  if (tensor.defined() && same_layout(tensor, value))
    tensor.copy_(value.detach());
  else
    tensor = value.detach().clone();
}

void SharedStorage::append(const std::string& key, const at::Tensor& value) {
  const std::lock_guard lock(mutex_);
  at::Tensor& tensor = held()[key];
  tensor = tensor.defined() ? at::cat({tensor, value.detach()}, 0) : value.detach().clone();
}

std::int64_t SharedStorage::set_ring_buffer(const std::string& key, const at::Tensor& value,
                                            std::int64_t counter) {
  const std::lock_guard lock(mutex_);
  const auto found = held().find(key);
  if (found == held().end())
    throw Error("E821", fmt::format("the ring buffer '{}' does not exist", key), {},
                fmt::format("set('{}', a tensor of [rows, ...]) once before", key));
  const at::Tensor& buffer = found->second;
  const bool rows_fit = buffer.dim() > 0 && value.dim() == buffer.dim() &&
                        value.sizes().slice(1) == buffer.sizes().slice(1) && value.size(0) <= buffer.size(0);
  if (!rows_fit || counter < 0 || (buffer.size(0) > 0 && counter >= buffer.size(0)))
    throw Error("E821", fmt::format("rows of {} do not fit into the ring buffer '{}' of {} at row {}",
                                    shape_text(value), key, shape_text(buffer), counter));
  const std::int64_t rows = value.size(0), until_end = std::min(rows, buffer.size(0) - counter);
  if (rows == 0) return counter;
  buffer.narrow(0, counter, until_end).copy_(value.detach().narrow(0, 0, until_end));
  if (rows > until_end)
    buffer.narrow(0, 0, rows - until_end).copy_(value.detach().narrow(0, until_end, rows - until_end));
  return (counter + rows) % buffer.size(0);
}

at::Tensor SharedStorage::get(const std::string& key) const {
  const std::lock_guard lock(mutex_);
  const auto found = held().find(key);
  return found == held().end() ? at::Tensor() : found->second;
}

void SharedStorage::clear(const std::string& key) {
  const std::lock_guard lock(mutex_);
  held().erase(key);
}

void SharedStorage::clear() {
  const std::lock_guard lock(mutex_);
  held().clear();
}

std::vector<std::string> SharedStorage::keys() const {
  const std::lock_guard lock(mutex_);
  std::vector<std::string> names;
  for (const auto& [key, tensor] : held()) names.push_back(key);
  return names;
}

}  // namespace nexuml
