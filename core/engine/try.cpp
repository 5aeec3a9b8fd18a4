// try: recorded cases, run and compared. Exit code 3 where a number differs.
#include <c10/util/Exception.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>

#include "engine/engine_call.h"
#include "engine/replay.h"
#include "engine/try_case.h"
#include "scenario/document.h"

namespace nexuml {

namespace fs = std::filesystem;

Definition case_definition(const Value& component, ComponentKind kind, const ComponentRegistry& registry) {
  const auto text = [&](const char* key, std::string otherwise) {
    const Value* found = component.find(key);
    return found && found->is_string() ? found->as_string() : otherwise;
  };
  const Value* params = component.find("params");
  return registry.definition({kind, text("type", ""), text("version", "1")}, params ? *params : Value::map());
}

Value case_arguments(const GoldenCase& golden) {
  const Value* component = golden.find("component");
  const Value* params = component ? component->find("params") : nullptr;
  return params && params->is_map() ? *params : Value::map();
}

namespace {

using CaseRunner = void (*)(const GoldenCase&, const ComponentRegistry&, CaseReport&);

constexpr std::array<std::pair<std::string_view, CaseRunner>, 9> runners{{
    {"layer", try_layer},
    {"metric_layer", try_metric_layer},
    {"post_train_layer", try_post_train_layer},
    {"decision_rule", try_decision_rule},
    {"metric_function", try_function},
    {"eval_algorithm", try_eval_algorithm},
    {"scheduler", try_scheduler},
    {"optimizer", try_optimizer},
    {"data_source", try_data_source},
}};

// A row of the table.
struct CaseResult {
  std::string name, kind, subject, outcome, largest_at;
  double largest_error = 0;
  std::vector<std::string> failures;
};

// A folder stands for the .json files in it, in the order of their names.
std::vector<fs::path> case_files(const std::vector<std::string>& paths) {
  std::vector<fs::path> files;
  for (const std::string& path : paths) {
    if (!fs::is_directory(path)) {
      files.emplace_back(path);
      if (files.back().extension() == ".safetensors") files.back().replace_extension(".json");
      continue;
    }
    std::vector<fs::path> found;
    for (const auto& entry : fs::directory_iterator(path))
      if (entry.path().extension() == ".json" && entry.path().filename() != "index.json")
        found.push_back(entry.path());
    std::sort(found.begin(), found.end());
    files.insert(files.end(), found.begin(), found.end());
  }
  return files;
}

// A refusal is right where the case expects one in that step or a later one.
void judge_refusal(const GoldenCase& golden, const CaseReport& report, const std::string& message,
                   CaseResult& result) {
  if (golden.expected_refusal && report.phase <= *golden.expected_refusal) {
    result.outcome = fmt::format("refused ({})", to_string(report.phase));
    return;
  }
  result.failures.push_back(fmt::format("{} failed: {}", to_string(report.phase), message));
}

CaseResult run_case(const GoldenCase& golden, const ComponentRegistry& registry, const fs::path& file) {
  const auto* runner = std::find_if(runners.begin(), runners.end(),
                                    [&](const auto& entry) { return entry.first == golden.kind; });
  if (runner == runners.end())
    throw Error("E870", fmt::format("the case is of the unknown kind '{}'", golden.kind),
                Where::in_file(file.string()));
  CaseReport report(golden.tolerance);
  CaseResult result{.name = golden.name, .kind = golden.kind, .subject = golden.subject()};
  try {
    runner->second(golden, registry, report);
    if (golden.expected_refusal)
      result.failures.push_back(
          fmt::format("it was accepted; {} should refuse it", to_string(*golden.expected_refusal)));
  } catch (const Error& error) {
    judge_refusal(golden, report, error.diagnostics().entries().front().message, result);
  } catch (const c10::Error& error) {
    judge_refusal(golden, report, error.what_without_backtrace(), result);
  } catch (const std::exception& error) {
    judge_refusal(golden, report, error.what(), result);
  }
  result.largest_error = report.largest_error();
  result.largest_at = report.largest_at();
  result.failures.insert(result.failures.end(), report.failures().begin(), report.failures().end());
  if (result.outcome.empty() || !result.failures.empty())
    result.outcome = result.failures.empty() ? "passed" : "FAILED";
  return result;
}

std::string table_of(const std::vector<CaseResult>& results) {
  std::size_t name = 4, subject = 9;
  for (const CaseResult& result : results) {
    name = std::max(name, result.name.size());
    subject = std::max(subject, result.subject.size());
  }
  std::string table = fmt::format("{:<{}}  {:<{}}  {:<17}  {:<13}  {}\n", "case", name, "component", subject,
                                  "result", "largest error", "at");
  for (const CaseResult& result : results) {
    const std::string error = result.largest_at.empty() ? "" : fmt::format("{:.3g}", result.largest_error);
    table += fmt::format("{:<{}}  {:<{}}  {:<17}  {:<13}  {}\n", result.name, name, result.subject, subject,
                         result.outcome, error, result.largest_at);
    for (const std::string& failure : result.failures) table += fmt::format("    {}\n", failure);
  }
  const auto failed = std::count_if(results.begin(), results.end(),
                                    [](const CaseResult& result) { return !result.failures.empty(); });
  return table + fmt::format("{} cases, {} failed\n", results.size(), failed);
}

Value answer_of(const std::vector<CaseResult>& results) {
  Value rows = Value::list();
  for (const CaseResult& result : results) {
    Value row = Value::map({{"case", result.name},
                            {"kind", result.kind},
                            {"component", result.subject},
                            {"result", result.outcome},
                            {"failures", Value(result.failures)}});
    if (!result.largest_at.empty() && std::isfinite(result.largest_error)) {
      row.set("largest_error", result.largest_error);
      row.set("at", result.largest_at);
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

}  // namespace

int try_cases(EngineCall& call) {
  bool all = true;
  std::vector<CaseResult> results;
  for (const fs::path& file : case_files(call.texts("cases"))) {
    Diagnostics problems;
    const Value document = read_document(file.string(), problems);
    if (problems.has_errors()) throw Error(std::move(problems));
    if (is_training_reference(document)) {
      all = replay_training(call, document, file) && all;
      continue;
    }
    if (!is_golden_case(document))
      throw Error("E870", "the file is no case that `try` knows", Where::in_file(file.string()));
    if (results.empty()) call.loader().load_all(call.diagnostics());
    results.push_back(run_case(read_golden_case(document, file), call.loader().registry(), file));
    all = all && results.back().failures.empty();
  }
  if (results.empty()) return all ? 0 : 3;
  call.print(table_of(results));
  if (call.json()) call.answer().set("cases", answer_of(results));
  return all ? 0 : 3;
}

}  // namespace nexuml
