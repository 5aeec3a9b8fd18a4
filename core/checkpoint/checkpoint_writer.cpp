#include "checkpoint/checkpoint_writer.h"

#include <c10/core/GradMode.h>

#include <map>
#include <string>

namespace nexuml {

namespace {

// Names that share a tensor share the copy too.
TensorMap copied(const TensorMap& tensors) {
  std::map<std::string, std::string> first_name;
  for (const auto& group : find_shared(tensors))
    for (const std::string& name : group) first_name.emplace(name, group.front());
  TensorMap copies;
  for (const auto& [name, tensor] : tensors) {
    const auto shared = first_name.find(name);
    if (shared != first_name.end() && shared->second != name)
      copies.add(name, copies.at(shared->second));
    else
      copies.add(name, tensor.detach().to(at::kCPU, tensor.scalar_type(), false, true));
  }
  return copies;
}

}  // namespace

CheckpointWriter::CheckpointWriter(CheckpointStore store)
    : store_(std::move(store)),
      next_index_(store_.next()),
      written_(next_index_ - 1),
      thread_([this] { work(); }) {}

CheckpointWriter::~CheckpointWriter() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

std::int64_t CheckpointWriter::submit(const Checkpoint& checkpoint) {
  {
    // Before the copy: at most two exist, the one that waits and the one that is written.
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return !waiting_ || failure_; });
    rethrow_failure();
  }
  const at::AutoGradMode no_grad(false);
  Job job{next_index_++, checkpoint};
  job.checkpoint.model = copied(checkpoint.model);
  job.checkpoint.trainer = copied(checkpoint.trainer);
  const std::int64_t index = job.index;
  {
    const std::lock_guard lock(mutex_);
    waiting_ = std::move(job);
  }
  changed_.notify_all();
  return index;
}

void CheckpointWriter::remove(std::int64_t index) {
  {
    const std::lock_guard lock(mutex_);
    if (written_ < next_index_ - 1) {
      removals_.push_back({index, next_index_ - 1});
      return;
    }
  }
  store_.remove(index);
}

// Those that waited for no later one than `written`.
std::vector<std::int64_t> CheckpointWriter::take_removals(std::int64_t written) {
  std::vector<std::int64_t> taken;
  std::erase_if(removals_, [&](const Removal& removal) {
    if (removal.after > written) return false;
    taken.push_back(removal.index);
    return true;
  });
  return taken;
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
    if (failure) {
      failure_ = failure;
    } else {
      written_ = job.index;
      const std::vector<std::int64_t> removals = take_removals(written_);
      lock.unlock();
      for (const std::int64_t index : removals) store_.remove(index);
      lock.lock();
    }
    writing_ = false;
    changed_.notify_all();
  }
}

}  // namespace nexuml
