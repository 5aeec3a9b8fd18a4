#include <nexuml/compile.h>

namespace nexuml {

// The trace event format: complete events ("X") with microseconds, and one name per thread.
std::string build_trace(std::span<const BuildSpan> spans) {
  Value events = Value::list();
  int threads = 0;
  for (const BuildSpan& span : spans) {
    threads = std::max(threads, span.thread + 1);
    events.push_back(Value::map({{"name", span.name},
                                 {"cat", span.category},
                                 {"ph", "X"},
                                 {"ts", static_cast<double>(span.start.count()) / 1e3},
                                 {"dur", static_cast<double>(span.duration.count()) / 1e3},
                                 {"pid", 1},
                                 {"tid", span.thread},
                                 {"args", Value::map({{"scenario", span.scenario}})}}));
  }
  for (int thread = 0; thread < threads; ++thread)
    events.push_back(Value::map({{"name", "thread_name"},
                                 {"ph", "M"},
                                 {"pid", 1},
                                 {"tid", thread},
                                 {"args", Value::map({{"name", "builder " + std::to_string(thread)}})}}));
  return write_json(Value::map({{"traceEvents", events}, {"displayTimeUnit", "ms"}}), {.indent = -1});
}

}  // namespace nexuml
