#include "checkpoint/checkpoint_writer.h"

#include <c10/core/GradMode.h>

namespace nexuml {

namespace {

TensorMap copied(const TensorMap& tensors) {
  TensorMap copies;
  for (const auto& [name, tensor] : tensors)
    copies.add(name, tensor.detach().to(at::kCPU, tensor.scalar_type(), false, true));
  return copies;
}

}  // namespace

CheckpointWriter::CheckpointWriter(CheckpointStore store)
    : store_(std::move(store)), next_index_(store_.latest().value_or(-1) + 1), thread_([this] { work(); }) {}

CheckpointWriter::~CheckpointWriter() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

std::int64_t CheckpointWriter::submit(const Checkpoint& checkpoint) {
  const at::AutoGradMode no_grad(false);
  Job job{next_index_++,
          {copied(checkpoint.model), copied(checkpoint.trainer), checkpoint.trainer_state, checkpoint.about}};
  const std::int64_t index = job.index;
  {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return !waiting_ || failure_; });
    rethrow_failure();
    waiting_ = std::move(job);
  }
  changed_.notify_all();
  return index;
}

void CheckpointWriter::finish() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return (!waiting_ && !writing_) || failure_; });
  rethrow_failure();
}

void CheckpointWriter::rethrow_failure() {
  if (!failure_) return;
  waiting_.reset();
  std::rethrow_exception(std::exchange(failure_, nullptr));
}

void CheckpointWriter::work() {
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [&] { return waiting_ || stopping_; });
    if (!waiting_) return;
    const Job job = *std::exchange(waiting_, std::nullopt);
    writing_ = true;
    lock.unlock();
    changed_.notify_all();
    std::exception_ptr failure;
    try {
      store_.save_as(job.index, job.checkpoint);
    } catch (...) {
      failure = std::current_exception();
    }
    lock.lock();
    writing_ = false;
    if (failure) failure_ = failure;
    changed_.notify_all();
  }
}

}  // namespace nexuml
