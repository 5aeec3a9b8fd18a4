#include "runtime/worker_arena.h"

#include <ATen/Parallel.h>
#include <tbb/info.h>

#include <vector>

namespace nexuml {
namespace {

// A thread may enter an arena inside another.
thread_local std::vector<int> torch_threads_before;

}  // namespace

WorkerArena::WorkerArena(int threads)
    : more_than_cores_(threads > tbb::info::default_concurrency()
                           ? std::optional<tbb::global_control>(std::in_place,
                                                                tbb::global_control::max_allowed_parallelism,
                                                                static_cast<std::size_t>(threads))
                           : std::nullopt),
      arena_(threads > 0 ? threads : tbb::task_arena::automatic),
      observer_(arena_) {}
WorkerArena::~WorkerArena() = default;

WorkerArena::OneTorchThread::OneTorchThread(tbb::task_arena& arena) : task_scheduler_observer(arena) {
  observe(true);
}

WorkerArena::OneTorchThread::~OneTorchThread() {
  observe(false);
}

void WorkerArena::OneTorchThread::on_scheduler_entry(bool) {
  torch_threads_before.push_back(at::get_num_threads());
  at::set_num_threads(1);
}

void WorkerArena::OneTorchThread::on_scheduler_exit(bool) {
  if (torch_threads_before.empty()) return;
  at::set_num_threads(torch_threads_before.back());
  torch_threads_before.pop_back();
}

}  // namespace nexuml
