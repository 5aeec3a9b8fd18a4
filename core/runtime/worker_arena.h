// WorkerArena: TBB threads whose LibTorch calls use one thread each, so that the two do not multiply.
//
//     WorkerArena arena(threads);
//     arena.execute([&] { ... tbb::task_group, tbb::parallel_for ... });
//
// Setting the count once does not reach a worker that has used LibTorch before, so each is set when it enters
// and put back when it leaves.
#pragma once

#include <nexuml/export.h>
#include <tbb/global_control.h>
#include <tbb/task_arena.h>
#include <tbb/task_scheduler_observer.h>

#include <optional>
#include <utility>

namespace nexuml {

class NEXUML_EXPORT WorkerArena {
 public:
  // 0: as many as there are cores.
  explicit WorkerArena(int threads);
  ~WorkerArena();

  template <class Function>
  void execute(Function&& function) {
    arena_.execute(std::forward<Function>(function));
  }

 private:
  class OneTorchThread final : public tbb::task_scheduler_observer {
   public:
    explicit OneTorchThread(tbb::task_arena& arena);
    ~OneTorchThread() override;
    void on_scheduler_entry(bool is_worker) override;
    void on_scheduler_exit(bool is_worker) override;
  };

  std::optional<tbb::global_control> more_than_cores_;
  tbb::task_arena arena_;
  OneTorchThread observer_;
};

}  // namespace nexuml
