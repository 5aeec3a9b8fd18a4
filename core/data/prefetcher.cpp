#include "data/prefetcher.h"

#include <algorithm>

namespace nexuml {

Prefetcher::Prefetcher(std::function<Batch(std::int64_t)> gather, std::int64_t workers, std::int64_t window)
    : gather_(std::move(gather)),
      most_workers_(static_cast<std::size_t>(workers)),
      window_(static_cast<std::size_t>(std::max(window, workers))) {}

Prefetcher::~Prefetcher() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_all();
  for (std::thread& worker : workers_) worker.join();
}

void Prefetcher::start(std::int64_t first, std::int64_t last) {
  {
    const std::lock_guard lock(mutex_);
    front_ = next_ = first;
    last_ = last;
  }
  changed_.notify_all();
  const auto useful =
      std::min(most_workers_, static_cast<std::size_t>(std::max<std::int64_t>(0, last - first)));
  while (workers_.size() < useful) workers_.emplace_back([this] { work(); });
}

void Prefetcher::halt() {
  std::unique_lock lock(mutex_);
  last_ = next_;
  changed_.wait(lock, [&] { return gathering_ == 0; });
  slots_.clear();
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
    changed_.wait(lock, [&] { return stopping_ || (next_ != last_ && slots_.size() < window_); });
    if (stopping_) return;
    const std::int64_t batch = next_++;
    slots_.emplace_back();
    ++gathering_;
    lock.unlock();
    Slot made;
    try {
      made.batch = gather_(batch);
    } catch (...) {
      made.failure = std::current_exception();
    }
    lock.lock();
    slots_[static_cast<std::size_t>(batch - front_)] = std::move(made);
    --gathering_;
    changed_.notify_all();
  }
}

}  // namespace nexuml
