#include "compile/task_graph.h"

#include <tbb/task_arena.h>
#include <tbb/task_group.h>

namespace nexuml {

class TaskGraph::Run {
 public:
  Run(TaskGraph& graph, const std::function<bool(std::size_t)>& task, const std::stop_token& stop)
      : tasks_(graph.tasks_), task_(task), stop_(stop) {}

  void all() {
    for (std::size_t i = 0; i < tasks_.size(); ++i) release(i);
    group_.wait();
  }

 private:
  void release(std::size_t i) {
    if (--tasks_[i].waiting == 0) group_.run([this, i] { begin(i); });
  }

  void begin(std::size_t i) {
    if (failed_ || stop_.stop_requested()) return;
    bool done = false;
    tbb::this_task_arena::isolate([&] { done = task_(i); });
    if (!done) {
      failed_ = true;
      return;
    }
    for (const std::size_t dependent : tasks_[i].dependents) release(dependent);
  }

  std::vector<Task>& tasks_;
  const std::function<bool(std::size_t)>& task_;
  const std::stop_token& stop_;
  std::atomic<bool> failed_{false};
  tbb::task_group group_;
};

void TaskGraph::add_dependency(std::size_t task, std::size_t on) {
  tasks_[on].dependents.push_back(task);
  ++tasks_[task].waiting;
}

void TaskGraph::run(const std::function<bool(std::size_t)>& task, const std::stop_token& stop) {
  Run(*this, task, stop).all();
}

}  // namespace nexuml
