#include <nexuml/scenario.h>

#include "scenario/key_choice.h"

namespace nexuml {

void AxisKeySpec::describe(Schema<AxisKeySpec>& s) {
  s.summary("A value that results are grouped by, and where it comes from.");
  s.field("key", &AxisKeySpec::key).doc("Its key.").required();
  s.field("source", &AxisKeySpec::source).doc("Features, labels or metadata.").one_of({"x", "y", "metadata"});
}

void EvalAlgorithmSpec::describe(Schema<EvalAlgorithmSpec>& s) {
  s.summary("An evaluation algorithm and the keys that it reads.");
  s.field("algorithm", &EvalAlgorithmSpec::algorithm).doc("The algorithm: type, version, params.").required();
  s.field("name", &EvalAlgorithmSpec::name).doc("Prefix of its results; null takes the component's name.");
  s.field("enabled", &EvalAlgorithmSpec::enabled).doc("Whether it runs.");
  s.field("axis_keys", &EvalAlgorithmSpec::axis_keys).doc("Values that results are grouped by.");
  s.field("feature_key", &EvalAlgorithmSpec::feature_key).doc("The feature that it looks at.");
  s.field("label_key", &EvalAlgorithmSpec::label_key).doc("The label that it compares with.");
}

void EvaluationSpec::describe(Schema<EvaluationSpec>& s) {
  s.summary("What is measured after training.");
  s.field("metrics", &EvaluationSpec::metrics).doc("Read and not used, as in NexuML 0.2.1.");
  s.field("algorithms", &EvaluationSpec::algorithms).doc("Evaluation algorithms, run after the test epoch.");
  s.field("test_result_metrics", &EvaluationSpec::test_result_metrics)
      .doc("Results that are also recorded as test/...: a list, all or none.");
  s.check([](const EvaluationSpec& spec, RuleProblems& problems) {
    check_key_choice("test_result_metrics", spec.test_result_metrics, problems);
  });
}

}  // namespace nexuml
