// CheckpointWriter: saves checkpoints on a thread of its own while training goes on.
//
//     CheckpointWriter writer(store);
//     std::int64_t index = writer.submit(checkpoint);   // copies the tensors, returns
//     writer.finish();                                  // all are on disk, or the error is thrown
//
// At most one checkpoint waits while another is written: memory is bounded by two copies of the training
// state. `submit` waits for a place. An error is thrown by the next `submit`, and by `finish` at the latest.
// [training thread]
#pragma once

#include <nexuml/export.h>

#include <condition_variable>
#include <cstdint>
#include <exception>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "checkpoint/checkpoint_store.h"

namespace nexuml {

class NEXUML_EXPORT CheckpointWriter {
 public:
  explicit CheckpointWriter(CheckpointStore store);
  // Waits for what was submitted; an error that nobody asked for is lost with the object.
  ~CheckpointWriter();
  CheckpointWriter(const CheckpointWriter&) = delete;
  CheckpointWriter& operator=(const CheckpointWriter&) = delete;

  // The index that the next one will have.
  std::int64_t next() const noexcept { return next_index_; }
  std::int64_t submit(const Checkpoint& checkpoint);
  // Takes a checkpoint away once everything that was submitted before is on disk; until then, and where that
  // failed, it stays.
  void remove(std::int64_t index);
  void finish();

 private:
  struct Job {
    std::int64_t index;
    Checkpoint checkpoint;
  };
  struct Removal {
    std::int64_t index;
    std::int64_t after;  // the index that has to be on disk first
  };
  void work();
  std::vector<std::int64_t> take_removals(std::int64_t written);
  void rethrow_failure();

  const CheckpointStore store_;
  std::int64_t next_index_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::optional<Job> waiting_;
  std::vector<Removal> removals_;
  std::int64_t written_;  // the newest on disk
  bool writing_ = false;
  bool stopping_ = false;
  std::exception_ptr failure_;
  std::thread thread_;  // last: it uses the rest
};

}  // namespace nexuml
