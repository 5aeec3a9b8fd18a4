#include <nexuml/scenario.h>

namespace nexuml {

void TuningSpec::describe(Schema<TuningSpec>& s) {
  s.summary("A search for better parameters.");
  s.field("n_trials", &TuningSpec::n_trials).doc("Trials.");
  s.field("directions", &TuningSpec::directions).doc("minimize or maximize, one for each metric.");
  s.field("metric_key", &TuningSpec::metric_key).doc("The metric that is optimised.");
  s.field("storage", &TuningSpec::storage).doc("File that keeps the study.");
  s.field("prune", &TuningSpec::prune).doc("Stops trials that look hopeless.");
}

void CheckpointLoadSpec::describe(Schema<CheckpointLoadSpec>& s) {
  s.summary("Weights that are loaded before training.");
  s.field("source", &CheckpointLoadSpec::source).doc("Path of the weights; null loads none.");
  s.field("include", &CheckpointLoadSpec::include).doc("Globs on full parameter names; empty takes all.");
  s.field("exclude", &CheckpointLoadSpec::exclude).doc("Globs on full parameter names that are left out.");
  s.field("allow_missing", &CheckpointLoadSpec::allow_missing)
      .doc("Parameters may be missing in the source.");
  s.field("allow_shape_mismatch", &CheckpointLoadSpec::allow_shape_mismatch)
      .doc("Parameters of another shape are skipped.");
  s.field("freeze_loaded", &CheckpointLoadSpec::freeze_loaded).doc("What was loaded is not trained.");
}

void ExportSpec::describe(Schema<ExportSpec>& s) {
  s.summary("A form in which the trained model is written.");
  s.field("kind", &ExportSpec::kind).doc("The form.");
  s.field("output", &ExportSpec::output).doc("Where it is written.");
  s.field("include", &ExportSpec::include).doc("Globs on full parameter names; empty takes all.");
  s.field("exclude", &ExportSpec::exclude).doc("Globs on full parameter names that are left out.");
}

void ScenarioSpec::describe(Schema<ScenarioSpec>& s) {
  s.summary("A pipeline, its data, training and evaluation.");
  s.field("name", &ScenarioSpec::name).doc("Name of the scenario; run folders carry it.");
  s.field("pipeline", &ScenarioSpec::pipeline).doc("Stages of layers.");
  s.field("training", &ScenarioSpec::training).doc("How it is trained.");
  s.field("data", &ScenarioSpec::data).doc("What it is trained on.");
  s.field("evaluation", &ScenarioSpec::evaluation).doc("What is measured after training.");
  s.field("logging", &ScenarioSpec::logging).doc("Loggers, or null.");
  s.field("callbacks", &ScenarioSpec::callbacks).doc("Callbacks of the training loop.");
  s.field("tuning", &ScenarioSpec::tuning).doc("Search for better parameters, or null.");
  s.field("checkpoint", &ScenarioSpec::checkpoint).doc("Weights loaded before training, or null.");
  s.field("exports", &ScenarioSpec::exports).doc("Forms in which the trained model is written.");
  s.field("execution", &ScenarioSpec::execution).doc("Where it runs.");
}

}  // namespace nexuml
