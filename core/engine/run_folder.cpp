#include "engine/run_folder.h"

#include <ATen/Parallel.h>
#include <fmt/chrono.h>
#include <fmt/format.h>

#include <chrono>
#include <cmath>
#include <cstdlib>
#include <system_error>

#include "engine/value_changes.h"
#include "scenario/document.h"
#include "tensor_io/hashing_writer.h"
#include "track/metrics_csv.h"
#include "track/text_files.h"
#include "train/strategy_checkpoint.h"

namespace nexuml {

namespace fs = std::filesystem;

namespace {

std::string utc_now(const char* format) {
  return fmt::format(fmt::runtime(format),
                     fmt::gmtime(std::chrono::system_clock::to_time_t(std::chrono::system_clock::now())));
}

fs::path default_folder(const std::string& scenario) {
  const char* root = std::getenv("NEXUML_LOGS_ROOT");
  const fs::path base =
      (root && *root ? fs::path(root) : fs::current_path()) / "runs" / folder_name(scenario);
  const std::string time = utc_now("{:%Y-%m-%dT%H-%M-%SZ}");
  fs::path path = base / time;
  for (int again = 2; fs::exists(path); ++again) path = base / fmt::format("{}-{}", time, again);
  return path;
}

Value provenance_of(const EngineCall& call, const ScenarioInput& input) {
  Value overrides = Value::list();
  for (const std::string& text : call.texts("overrides")) overrides.push_back(text);
  return Value::map({{"command", call.command()},
                     {"source", input.source},
                     {"overrides", std::move(overrides)},
                     {"seed", static_cast<std::int64_t>(input.seed)},
                     {"threads", at::get_num_threads()},
                     {"started", utc_now("{:%Y-%m-%dT%H:%M:%SZ}")},
                     {"data_root", input.data_root.string()},
                     {"nexuml", NEXUML_VERSION},
                     {"libtorch", NEXUML_TORCH_VERSION},
                     {"libraries", library_records(input.registry)}});
}

}  // namespace

Value metric_value(double value) {
  return std::isfinite(value) ? Value(value) : Value(metric_text(value));
}

RunFolder RunFolder::plan(const ScenarioInput& input, const std::optional<std::string>& wanted) {
  const fs::path path = wanted ? fs::absolute(*wanted).lexically_normal() : default_folder(input.spec.name);
  std::error_code failure;
  if (fs::exists(path, failure) && !(fs::is_directory(path, failure) && fs::is_empty(path, failure)))
    throw Error("E887", "the run folder is not empty", Where::in_file(path.string()),
                "choose another --run-dir: earlier runs are never overwritten");
  return RunFolder(path);
}

void RunFolder::begin(const EngineCall& call, const ScenarioInput& input) const {
  std::error_code failure;
  fs::create_directories(path_, failure);
  if (failure)
    throw Error("E887", "the run folder cannot be made: " + failure.message(),
                Where::in_file(path_.string()));
  tensor_io::write_text_file(scenario_file(), write_yaml(input.document));
  tensor_io::write_text_file(path_ / "provenance.json", write_json(provenance_of(call, input)) + "\n");
}

RunFolder RunFolder::open(const fs::path& wanted) {
  RunFolder folder(fs::absolute(wanted).lexically_normal());
  if (!fs::is_regular_file(folder.scenario_file()))
    throw Error("E888", "there is no run here: scenario.yaml is missing",
                Where::in_file(folder.path_.string()), "give a folder that `train` left behind");
  return folder;
}

Value RunFolder::provenance() const {
  const std::string path = (path_ / "provenance.json").string();
  Diagnostics problems;
  const std::string text = read_text_file(path, problems);
  Value value = problems.has_errors() ? Value() : parse_json(text, path, problems);
  if (problems.has_errors()) throw Error(std::move(problems));
  return value;
}

void RunFolder::adopt_origin(ScenarioInput& input, const EngineCall& call) const {
  const Value origin = provenance();
  if (const Value* root = origin.find("data_root"); root && root->is_string())
    input.data_root = data_root_or(root->as_string());
  if (const Value* seed = origin.find("seed"); seed && seed->is_integer() && !call.integer("seed"))
    input.seed = static_cast<std::uint64_t>(seed->as_integer());
}

std::vector<std::string> RunFolder::tell_changes(const EngineCall& call, const ScenarioInput& input) const {
  Diagnostics ignored;
  std::vector<std::string> changes =
      value_changes(read_document(scenario_file().string(), ignored), input.document);
  for (const std::string& change : changes)
    call.diagnostics().note("W766", "continued with another " + change);
  return changes;
}

void RunFolder::record_resume(const ScenarioInput& input, std::int64_t index,
                              const std::vector<std::string>& changes) const {
  Value origin = provenance();
  Value* resumed = origin.find("resumed");
  if (!resumed) resumed = &origin.set("resumed", Value::list());
  resumed->push_back(Value::map(
      {{"at", utc_now("{:%Y-%m-%dT%H:%M:%SZ}")}, {"checkpoint", index}, {"changes", Value(changes)}}));
  tensor_io::write_text_file(path_ / "provenance.json", write_json(origin) + "\n");
  tensor_io::write_text_file(scenario_file(), write_yaml(input.document));
}

void RunFolder::write_summary(const Value& summary) const {
  tensor_io::write_text_file(path_ / "summary.json", write_json(summary) + "\n");
}

}  // namespace nexuml
