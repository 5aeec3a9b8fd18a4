// `nexuml-run __probe`: the worker that opens libraries for this host, each task in a child of its own.
#include <fmt/format.h>

#include "host/commands.h"
#include "host/probe_tasks.h"
#include "loading/probe.h"

namespace nexuml {
namespace {

Value carry_out(LibraryLoader& loader, const Value& request) {
  const std::string task = request.at("task").as_string();
  if (task == "open") return open_for_probe(loader, request);
  if (task == "declare") return declare_library(loader, request);
  if (task == "engine") return run_engine_task(loader, request);
  throw Error("E401", fmt::format("the worker knows no task '{}'", task));
}

}  // namespace

int serve_probes(Session&) {
  return run_probe_worker(3, 4, carry_out);
}

}  // namespace nexuml
