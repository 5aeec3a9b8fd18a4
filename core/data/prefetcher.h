// Worker threads that prepare batches ahead of their use and hand them over in order.
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
  // Batches first..last-1, at most `window` of them ready or in the making. `gather` is called from all
  // workers.
  Prefetcher(std::function<Batch(std::int64_t)> gather, std::int64_t first, std::int64_t last,
             std::int64_t workers, std::int64_t window);
  ~Prefetcher();

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
  const std::int64_t last_;
  const std::size_t window_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Slot> slots_;  // of batches front_ .. next_ - 1
  std::int64_t front_, next_;
  bool stopping_ = false;
  std::vector<std::thread> workers_;  // last: they use the rest
};

}  // namespace nexuml
