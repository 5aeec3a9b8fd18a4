// Worker threads that prepare batches ahead of their use and hand them over in order.
//
//     Prefetcher prefetcher(gather, 2, 4);            // threads, batches ready or in the making
//     prefetcher.start(0, 100);
//     Batch batch = prefetcher.take();                // batch 0, then 1, ...
//     // No thread gathers any more; start may be called again.
//     prefetcher.halt();
#pragma once

#include <nexuml/tensor_dict.h>

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <exception>
#include <functional>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

namespace nexuml {

class Prefetcher {
 public:
  // `gather` is called from all workers. No thread runs before the first `start`.
  Prefetcher(std::function<Batch(std::int64_t)> gather, std::int64_t workers, std::int64_t window);
  ~Prefetcher();

  // Batches first..last-1. What was in progress has been halted.
  void start(std::int64_t first, std::int64_t last);
  // Drops what is ready and waits for what is in the making.
  void halt();
  // The next batch in order; rethrows what gathering it threw.
  Batch take();

 private:
  struct Slot {
    std::optional<Batch> batch;
    std::exception_ptr failure;
    bool ready() const noexcept { return batch || failure; }
  };

  void work();

  const std::function<Batch(std::int64_t)> gather_;
  const std::size_t most_workers_, window_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Slot> slots_;  // of batches front_ .. next_ - 1
  std::int64_t front_ = 0, next_ = 0, last_ = 0;
  std::size_t gathering_ = 0;  // workers that do
  bool stopping_ = false;
  std::vector<std::thread> workers_;  // last: they use the rest
};

}  // namespace nexuml
