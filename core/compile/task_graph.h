// TaskGraph: tasks that wait for one another, run on the threads of the arena they are run in.
//
//     TaskGraph graph(3);
//     graph.add_dependency(1, 0);  // task 1 waits for task 0
//     graph.add_dependency(2, 0);
//     graph.run([&](std::size_t task) { return build(task); }, stop);
//
// A task begins as soon as all it waits for have returned true. It returns false where it failed: then, as
// after a request to stop, no further task begins, and run() returns when those that had begun are done. What
// a task wrote is visible to those that waited for it. It runs isolated: while it waits inside oneTBB, its
// thread begins no other task of the graph. Knows nothing of tensors.
#pragma once

#include <atomic>
#include <cstddef>
#include <functional>
#include <stop_token>
#include <vector>

namespace nexuml {

class TaskGraph {
 public:
  explicit TaskGraph(std::size_t size) : tasks_(size) {}

  // The same dependency may be added more than once. A cycle would never run: callers pass earlier tasks.
  void add_dependency(std::size_t task, std::size_t on);

  // Once for each graph. `task` must not throw.
  void run(const std::function<bool(std::size_t)>& task, const std::stop_token& stop);

 private:
  struct Task {
    std::vector<std::size_t> dependents;
    std::atomic<int> waiting{1};  // one more than it waits for, until all are set up
  };
  class Run;

  std::vector<Task> tasks_;
};

}  // namespace nexuml
