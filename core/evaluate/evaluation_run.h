// EvaluationRun: the evaluation algorithms of one scenario, from building to results.
//
//     EvaluationRun run(scenario.evaluation, context);
//     for (each test batch) run.eval_batch(batch);
//     // eval/<name>/<key>, and test/<name>/<key> where mirrored
//     OrderedMap<double> numbers = run.finish();
//     if (run.failures().has_errors()) ...
#pragma once

#include <nexuml/evaluation.h>
#include <nexuml/export.h>
#include <nexuml/registry.h>
#include <nexuml/scenario.h>

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "evaluate/scenario_metrics.h"

namespace nexuml {

class NEXUML_EXPORT EvaluationRun {
 public:
  // Builds every enabled algorithm; `context` gives what they share. Throws Error E85x.
  EvaluationRun(const EvaluationSpec& spec, const EvalBuildContext& context,
                const ComponentRegistry& registry);

  // Computes the scenario's `evaluation.metrics` too, as eval/<metric>.
  void measure(const ScenarioSpec& scenario) { metrics_.emplace(scenario); }

  bool empty() const noexcept { return entries_.empty(); }
  // What algorithms failed with while they ran: each is left out from there on, the others go on.
  const Diagnostics& failures() const noexcept { return failures_; }
  bool needs_fit() const;
  void fit_batch(const EvalBatch& batch);
  void fit_end();
  void eval_batch(const EvalBatch& batch);
  // Ends all algorithms, writes their files below `<run folder>/evaluation/<name>` and gives their numbers.
  OrderedMap<double> finish();

 private:
  struct Entry {
    std::string name;
    std::string key_path;
    std::shared_ptr<EvalAlgorithm> algorithm;
    bool failed = false;
  };
  template <class Call>
  void for_each(Call&& call);
  bool mirrored(const std::string& name, const std::string& key) const;

  std::vector<Entry> entries_;
  Diagnostics failures_;
  std::optional<ScenarioMetrics> metrics_;
  std::filesystem::path run_folder_;
  std::variant<Keys, std::string> test_result_metrics_;
};

// The rows of `columns` that a batch holds, by its `sample_index`.
OrderedMap<MetadataColumn> metadata_rows(const OrderedMap<MetadataColumn>& columns,
                                         const at::Tensor& sample_index);

}  // namespace nexuml
