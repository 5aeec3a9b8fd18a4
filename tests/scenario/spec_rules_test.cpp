// Fields, defaults and rules of the specs.
#include "scenario/scenario_fixtures.h"

using namespace scenario_fixtures;

namespace {

struct Refusal {
  const char* from;  // replaced in the base scenario
  const char* to;
  const char* code;
  const char* key_path;
  const char* message;  // part of it
};

const Refusal refusals[] = {
    // batch size
    {"batch_size: 16", "batch_size: 0", "E713", "training.batch_size", "greater than 0, found 0"},
    {"batch_size: 16", "batch_size: -3", "E713", "training.batch_size", "found -3"},
    {"batch_size: 16", "batch_size: true", "E712", "training.batch_size", "got boolean"},
    {"batch_size: 16", "batch_size: {mode: manual}", "E715", "training.batch_size.mode", "auto"},
    {"batch_size: 16", "batch_size: {min: 0}", "E713", "training.batch_size.min", "greater than 0"},
    {"batch_size: 16", "batch_size: {max: -1}", "E713", "training.batch_size.max", "greater than 0"},
    {"batch_size: 16", "batch_size: {min: 64, max: 32}", "E717", "training.batch_size.min",
     "min 64 and max 32"},
    {"batch_size: 16", "batch_size: {safety: margin, margin: 0}", "E717", "training.batch_size.margin",
     "found 0"},
    {"batch_size: 16", "batch_size: {safety: margin, margin: 1.5}", "E717", "training.batch_size.margin",
     "1.5"},
    {"batch_size: 16", "batch_size: {safety: brave}", "E715", "training.batch_size.safety", "brave"},
    {"batch_size: 16", "batch_size: {candidates: primes}", "E715", "training.batch_size.candidates",
     "primes"},
    {"batch_size:\n", "batch_size: 0\n", "E713", "data.loader.batch_size", "greater than 0"},
    // splits
    {"train_split: 0.7", "train_split: 0.8", "E717", "data.train_split", "0.8 + 0.15 + 0.15"},
    {"train_split: 0.7", "train_split: 0.70001", "E717", "data.train_split", "must sum to 1"},
    {"train_split: 0.7\n  val_split: 0.15", "train_split: -0.7\n  val_split: 1.55", "E713",
     "data.train_split", "at least 0"},
    // execution
    {"execution:\n  kind: local", "execution: {kind: slurm}", "E715", "execution.kind", "local, ray"},
    {"execution:\n  kind: local", "execution: {}", "E711", "execution.kind", "'kind' is missing"},
    {"execution:\n  kind: local", "execution: {kind: ray, workers: 0}", "E717", "execution.workers",
     "found 0"},
    {"execution:\n  kind: local", "execution: {kind: ray, workers: [3, 2]}", "E717", "execution.workers",
     "[3, 2]"},
    {"execution:\n  kind: local", "execution: {kind: ray, workers: [0, 2]}", "E717", "execution.workers",
     "[0, 2]"},
    {"execution:\n  kind: local", "execution: {kind: ray, workers: [1]}", "E713", "execution.workers",
     "exactly 2"},
    {"execution:\n  kind: local", "execution: {kind: ray, resources_per_worker: {}}", "E717",
     "execution.resources_per_worker", "at least one resource"},
    {"execution:\n  kind: local", "execution: {kind: ray, resources_per_worker: {' ': 1}}", "E717",
     "execution.resources_per_worker", "needs a name"},
    {"execution:\n  kind: local", "execution: {kind: ray, resources_per_worker: {CPU: 0}}", "E717",
     "execution.resources_per_worker", "'CPU' must be greater than 0, found 0"},
    {"execution:\n  kind: local", "execution: {kind: ray, target: {kind: cloud}}", "E715",
     "execution.target.kind", "cloud"},
    // words
    {"progress_bar_keys: [loss]", "progress_bar_keys: some", "E717", "training.progress_bar_keys",
     "all or none"},
    {"progress_bar_keys: [loss]", "progress_bar_keys: [1]", "E712", "training.progress_bar_keys[0]", "text"},
    {"test_result_metrics: none", "test_result_metrics: mse", "E717", "evaluation.test_result_metrics",
     "all or none"},
    {"exports: []", "exports: [{kind: pickle}]", "E715", "exports[0].kind", "pickle"},
    // shapes of values
    {"keys_in: [features]", "keys_in: features", "E712", "pipeline.stages.Encoder[0].keys_in", "list"},
    {"      keys_in: [features]\n", "", "E711", "pipeline.stages.Encoder[0].keys_in", "missing"},
    {"update_every_n_epochs: 1", "update_every_n_epochs: 0", "E713",
     "pipeline.stages.Encoder[0].update_every_n_epochs", "at least 1"},
    {"version: '1'", "version: 1", "E712", "pipeline.stages.Encoder[0].component.version", "text"},
    {"args: []", "args: {}", "E712", "training.optimizer.args", "list"},
    {"args: []", "args:", "E714", "training.optimizer.args", "null"},
    {"kwargs:\n      lr: 0.001", "kwargs: [0.001]", "E712", "training.optimizer.kwargs", "map"},
    {"lr: 0.001\n  scheduler", "lr: fast\n  scheduler", "E712", "training.optimizer.kwargs.lr", "'fast'"},
    {"factory: torch.optim.adam:Adam", "factory: torch.optim:Adamm", "E733", "training.optimizer.factory",
     "Adamm"},
    {"factory: torch.optim.adam:Adam", "factory: torch.nn:ReLU", "E736", "training.optimizer.factory",
     "module"},
    {"factory: torch.optim.adam:Adam\n    args: []\n    kwargs:\n      lr: 0.001",
     "factory: acme.optim:Rateless", "E734", "training.optimizer.kwargs.lr", "has no argument 'lr'"},
    {"callbacks: []", "callbacks: [{factory: 'acme:Stop'}]", "E733", "callbacks[0].factory", "acme:Stop"},
    {"callbacks: []", "callbacks: [{kwargs: {}}]", "E711", "callbacks[0].factory", "missing"},
    {"strategy: auto", "strategy: {args: []}", "E711", "training.strategy.factory", "missing"},
    {"max_epochs: 2", "max_epochs: 2.5", "E712", "training.max_epochs", "integer"},
    {"max_epochs: 2", "max_epochs: -1", "E713", "training.max_epochs", "at least 0"},
    {"max_epochs: 2", "max_epoch: 2", "E710", "training.max_epoch", "no field 'max_epoch'"},
    {"num_workers: 0", "num_workers: -1", "E713", "data.loader.num_workers", "at least 0"},
    {"targets: []\n  train", "targets: [{type: multiclass}]\n  train", "E711", "data.targets[0].key",
     "missing"},
    {"type: torch", "type: dali", "E730", "data.loader.backend.type", "no loader_backend is named 'dali'"},
    {"logging:", "logging: {mlflow: {tracking: x}}", "E710", "logging.mlflow.tracking", "no field"},
    {"algorithms: []",
     "algorithms: [{algorithm: {type: report, version: '1'}, axis_keys: [{key: a, source: z}]}]", "E715",
     "evaluation.algorithms[0].axis_keys[0].source", "x, y, metadata"},
};

}  // namespace

TEST_CASE("every rule refuses what breaks it, at its place in the file") {
  for (const Refusal& refusal : refusals) {
    INFO(refusal.to);
    const std::string text = base_with(refusal.from, refusal.to);
    const Diagnostic problem = only_problem(text);
    INFO(problem.to_text());
    CHECK(problem.severity == Severity::error);
    CHECK(problem.code == refusal.code);
    CHECK(problem.where.key_path == refusal.key_path);
    CHECK(problem.message.find(refusal.message) != std::string::npos);
    CHECK(problem.where.file == "case.yaml");
    CHECK(problem.where.line > 0);
  }
}

TEST_CASE("what NexuML accepts is accepted") {
  for (const auto& [from, to] : std::initializer_list<std::pair<const char*, const char*>>{
           {"batch_size: 16", "batch_size: {mode: auto, min: 8, max: 8, safety: largest, margin: 7}"},
           {"batch_size: 16", "batch_size: {}"},
           {"train_split: 0.7", "train_split: 0.7000005"},
           {"train_split: 0.7\n  val_split: 0.15\n  test_split: 0.15",
            "train_split: 1\n  val_split: 0\n  test_split: 0"},
           {"execution:\n  kind: local", "execution: {kind: ray, workers: [1, 4]}"},
           {"execution:\n  kind: local\n", ""},
           {"progress_bar_keys: [loss]", "progress_bar_keys: all"},
           {"devices: 1", "devices: auto"},
           {"precision: 32-true", "precision: 16"},
           {"warmup:", "warmup: 5%"},
           {"warmup:", "warmup: 3"},
           {"label_key:", "label_key: [class, domain]"},
           {"keys_in: [features]", "keys_in: {x: features}"},
           {"logging:", "logging: {diagram: , mlflow: {tags: {a: 1, b: [x]}}}"},
           {"logging:", "logging: {}"},
           {"merge_labels:",
            "merge_labels: {class: {columns: [machine], logits: false, include_dataset: false}}"},
           {"factory: torch.optim.adam:Adam", "factory: torch.optim.Adam"},
           {"  preprocessing", "  preprocessing"},
           {"name: case_linear_ae\n", ""},
           {"algorithms: []",
            "algorithms: [{algorithm: {type: report, version: '1'}, axis_keys: [domain, {key: a}]}]"}}) {
    if (base_text().find(from) == std::string::npos) continue;
    INFO(to);
    const Value scenario = good(base_with(from, to));
    CHECK(good(write_yaml(scenario)) == scenario);
  }
}

TEST_CASE("every default is written out, and they are those of NexuML") {
  const Value scenario = good("name: empty\n");
  const Value expected = parse_yaml(text_of(data_path("scenarios/synthetic-linear-ae-reconstruction.yaml")),
                                    "peer", *std::make_unique<Diagnostics>());
  for (const char* path : {"training.optimizer",
                           "training.scheduler",
                           "training.progress_bar_keys",
                           "training.max_epochs",
                           "training.batch_size",
                           "training.lr",
                           "training.accelerator",
                           "training.devices",
                           "training.strategy",
                           "training.precision",
                           "data.train_split",
                           "data.val_split",
                           "data.test_split",
                           "data.loader",
                           "data.preprocessing",
                           "data.feature_key",
                           "logging",
                           "callbacks",
                           "tuning",
                           "checkpoint",
                           "exports",
                           "execution"})
    CHECK(value_at(scenario, path) == value_at(expected, path));
  CHECK(value_at(scenario, "evaluation.metrics") == Value::list({"mse", "mae"}));
  CHECK(value_at(scenario, "training.loss_keys") == Value::map());
}

TEST_CASE("a file without a name has the empty name, a scenario made in code needs one") {
  CHECK(value_at(good("training: {}\n"), "name") == Value(""));
  Diagnostics problems;
  (void)lower_scenario(ScenarioSpec{}, registry(), registry(), problems);
  REQUIRE(problems.size() == 1);
  CHECK(problems.entries()[0].code == "E711");
  CHECK(problems.entries()[0].where.key_path == "name");
}

TEST_CASE("fields that NexuML lacks are written only when set") {
  const Value untouched = good(base_text());
  CHECK(untouched.at("training").find("seed") == nullptr);
  CHECK(untouched.at("training").find("scheduler_interval") == nullptr);
  CHECK(untouched.at("data").at("loader").find("drop_last") == nullptr);
  const Value set = good(base_with("max_epochs: 2", "max_epochs: 2\n  seed: 7\n  scheduler_interval: step"));
  CHECK(value_at(set, "training.seed") == Value(7));
  const ScenarioSpec spec = materialise(set, registry());
  CHECK(spec.training.seed == 7);
  Diagnostics problems;
  const Value lowered = lower_scenario(spec, registry(), registry(), problems);
  CHECK(problems.empty());
  CHECK(lowered == set);
}

TEST_CASE("all problems of a file are reported at once") {
  std::string text = base_with("batch_size: 16", "batch_size: 0");
  text.replace(text.find("type: LinearEncoder"), 19, "type: LinearEncodr");
  text.replace(text.find("max_epochs: 2"), 13, "max_epoch: 2");
  const Checked checked = check_text(text);
  CHECK(checked.problems.size() == 3);
}

TEST_CASE("an unknown field of an axis key is left out with a warning, as NexuML leaves it out in silence") {
  const Checked checked = check_text(
      base_with("algorithms: []",
                "algorithms: [{algorithm: {type: report, version: '1'}, axis_keys: [{key: a, unit: s}]}]"));
  REQUIRE(checked.problems.size() == 1);
  const Diagnostic& problem = checked.problems.entries()[0];
  CHECK(problem.severity == Severity::warning);
  CHECK(problem.where.key_path == "evaluation.algorithms[0].axis_keys[0].unit");
  CHECK(problem.where.line > 0);
  CHECK(value_at(checked.value, "evaluation.algorithms[0].axis_keys[0]") ==
        Value::map({{"key", "a"}, {"source", "y"}}));
}
