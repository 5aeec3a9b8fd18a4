#include "data/prefetcher.h"

#include <algorithm>

namespace nexuml {

Prefetcher::Prefetcher(std::function<Batch(std::int64_t)> gather, std::int64_t first, std::int64_t last,
                       std::int64_t workers, std::int64_t window)
    : gather_(std::move(gather)),
      last_(last),
      window_(static_cast<std::size_t>(std::max(window, workers))),
      front_(first),
      next_(first) {
  for (std::int64_t i = 0; i < std::min(workers, last - first); ++i)
    workers_.emplace_back([this] { work(); });
}

Prefetcher::~Prefetcher() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_all();
  for (std::thread& worker : workers_) worker.join();
}

Batch Prefetcher::take() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return !slots_.empty() && slots_.front().ready(); });
  Slot slot = std::move(slots_.front());
  slots_.pop_front();
  ++front_;
  lock.unlock();
  changed_.notify_all();
  if (slot.failure) std::rethrow_exception(slot.failure);
  return *std::move(slot.batch);
}

void Prefetcher::work() {
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [&] { return stopping_ || next_ == last_ || slots_.size() < window_; });
    if (stopping_ || next_ == last_) return;
    const std::int64_t batch = next_++;
    slots_.emplace_back();
    lock.unlock();
    Slot made;
    try {
      made.batch = gather_(batch);
    } catch (...) {
      made.failure = std::current_exception();
    }
    lock.lock();
    slots_[static_cast<std::size_t>(batch - front_)] = std::move(made);
    changed_.notify_all();
  }
}

}  // namespace nexuml
