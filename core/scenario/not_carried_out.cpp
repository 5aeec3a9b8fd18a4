#include "scenario/not_carried_out.h"

#include <fmt/format.h>

#include <algorithm>
#include <initializer_list>
#include <string_view>

#include "scenario/tree_path.h"

namespace nexuml {
namespace {

bool is_set(const Value& value) {
  return !value.is_null();
}
bool is_on(const Value& value) {
  return value.as_boolean();
}
bool has_entries(const Value& value) {
  return value.size() != 0;
}
bool is_map(const Value& value) {
  return value.is_map();
}
bool is_ray(const Value& value) {
  return value == Value("ray");
}

bool is_none_of(const Value& value, std::initializer_list<Value> carried_out) {
  return std::ranges::find(carried_out, value) == carried_out.end();
}
bool is_other_accelerator(const Value& value) {
  return is_none_of(value, {"auto", "cpu", "cuda", "gpu"});
}
bool is_other_precision(const Value& value) {
  return is_none_of(value, {"32-true", "32", 32, "bf16-mixed", "bf16"});
}
bool is_several_devices(const Value& value) {
  return is_none_of(value, {"auto", "1", 1, "-1", -1});
}
bool is_other_strategy(const Value& value) {
  return value.is_string() && is_none_of(value, {"auto", "single_device"});
}

struct Block {
  std::string_view path;
  bool (*present)(const Value&);
  Severity severity;
  bool evaluated;  // matters when a trained run is evaluated, too
  std::string_view what;
  std::string_view hint;
};

// Take a row out when its block is carried out.
constexpr Block blocks[] = {
    {"execution.kind", is_ray, Severity::error, true, "running on a Ray cluster",
     "write execution: {kind: local}"},
    {"training.batch_size", is_map, Severity::error, true, "finding the batch size", "write a number"},
    {"training.accelerator", is_other_accelerator, Severity::error, true, "this accelerator",
     "write auto, cpu or cuda"},
    {"training.devices", is_several_devices, Severity::error, true, "training on several devices",
     "write auto or 1"},
    {"training.strategy", is_other_strategy, Severity::error, true, "this strategy", "write auto"},
    {"training.precision", is_other_precision, Severity::error, true, "this precision",
     "write 32-true or bf16-mixed"},
    {"training.scheduler.warmup", is_set, Severity::warning, false,
     "warm-up by a scheduler that does not ask for it", ""},
    {"logging.dvclive", is_set, Severity::warning, false, "logging to DVCLive",
     "metrics.csv, report.html and logging.tensorboard hold the numbers"},
    {"logging.mlflow", is_set, Severity::warning, false, "logging to MLflow",
     "metrics.csv, report.html and logging.tensorboard hold the numbers"},
    {"logging.log_system_metrics", is_on, Severity::warning, false, "logging the load of the machine",
     "the callback lightning.pytorch.callbacks:DeviceStatsMonitor does it"},
    {"exports", has_entries, Severity::warning, false, "exporting after training",
     "the weights lie in model.safetensors of the newest checkpoint"},
    {"tuning", is_set, Severity::warning, false, "tuning under train",
     "the scenario is trained as it stands"},
};

}  // namespace

void report_not_carried_out(const Value& scenario, ScenarioWork work, Diagnostics& problems) {
  if (work == ScenarioWork::build) return;
  for (const Block& block : blocks) {
    if (work == ScenarioWork::evaluate && !block.evaluated) continue;
    const Value* found = find_path(scenario, block.path);
    if (!found || !block.present(*found)) continue;
    Diagnostic problem{.code = "E737",
                       .severity = block.severity,
                       .message = fmt::format("{} is not carried out", block.what),
                       .where = Where(found->position(), std::string(block.path)),
                       .hint = std::string(block.hint)};
    if (block.severity == Severity::warning) problem.message += ": the numbers are the same without it";
    problems.add(std::move(problem));
  }
}

}  // namespace nexuml
