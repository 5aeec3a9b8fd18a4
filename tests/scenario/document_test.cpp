#include "scenario/learning_rate.h"
#include "scenario/not_carried_out.h"
#include "scenario/required_components.h"
#include "scenario/scenario_fixtures.h"

using namespace scenario_fixtures;

TEST_CASE("a scenario made in code and the same scenario in a file are one") {
  ScenarioSpec spec{.name = "both"};
  spec.pipeline.stages["Encoder"] = {{.component = LinearEncoder{.hidden_dims = {{32}}},
                                      .keys_in = Keys{"features"},
                                      .keys_out = {"latent"}}};
  spec.training.loss_keys = {{"latent", 1.0}};
  spec.data.datasets = {{.source = Synthetic{.num_samples = 10}}};
  Diagnostics problems;
  const Value lowered = lower_scenario(spec, registry(), registry(), problems);
  INFO(problems.to_text());
  REQUIRE(problems.empty());
  CHECK(value_at(lowered, "pipeline.stages.Encoder[0].component") ==
        Value::map({{"type", "LinearEncoder"},
                    {"version", "1"},
                    {"params", write(LinearEncoder{.hidden_dims = {{32}}})}}));
  CHECK(value_at(lowered, "data.loader.backend") ==
        Value::map({{"type", "torch"}, {"version", "1"}, {"params", Value::map()}}));

  const ScenarioSpec restored = materialise(good(write_yaml(lowered)), registry());
  CHECK(restored.data.loader.backend.get_if<TorchLoader>() != nullptr);
  CHECK(lower_scenario(restored, registry(), registry(), problems) == lowered);
  CHECK(restored.pipeline == spec.pipeline);
  CHECK(restored.training == spec.training);
}

TEST_CASE("stages keep the order in which they are written, keys and labels are read in both forms") {
  const ScenarioSpec spec = materialise(
      good(base_with("keys_in: [features]", "keys_in: {left: features, right: on}\n      label_key: class")
               .replace(0, 0, "")
               .erase(base_with("keys_in: [features]",
                                "keys_in: {left: features, right: on}\n      label_key: class")
                          .find("      label_key:\n"),
                      std::string("      label_key:\n").size())),
      registry());
  std::vector<std::string> stages;
  for (const auto& [name, layers] : spec.pipeline.stages) stages.push_back(name);
  CHECK(stages == std::vector<std::string>{"Encoder", "Decoder", "Loss"});
  const LayerSpec& first = spec.pipeline.stages.at("Encoder")[0];
  CHECK(first.input_keys() == Keys{"features", "on"});
  CHECK(first.label_keys() == Keys{"class"});
  CHECK(spec.pipeline.stages.at("Loss")[0].label_keys().empty());
}

TEST_CASE("components that became plain modules are refused at their place with what to write") {
  for (const char* name : {"IdentityLayer", "Dropout", "Flatten"}) {
    const Diagnostic problem = only_problem(base_with("type: LinearEncoder", std::string("type: ") + name));
    CHECK(problem.code == "E735");
    CHECK(problem.where.key_path == "pipeline.stages.Encoder[0].component.type");
    CHECK(problem.where.line == 6);
    CHECK(problem.hint.find("NnModule") != std::string::npos);
    CHECK(problem.hint.find("torch.nn:") != std::string::npos);
  }
}

TEST_CASE("a writer is looked up only where preprocessing is enabled") {
  CHECK(value_at(good(base_text()), "data.preprocessing.writer.factory") ==
        Value("nexuml.data.export.numpy_files:NumpyBackend"));
  const Diagnostic problem = only_problem(
      base_with("skip_pipeline_stages: []",
                "skip_pipeline_stages: []\n  preprocessing: {enabled: true, writer: {factory: 'a.b:C'}}"));
  CHECK(problem.code == "E733");
  CHECK(problem.where.key_path == "data.preprocessing.writer.factory");
}

TEST_CASE("an evaluation algorithm that is not there is left out only when that is asked for") {
  const std::string text = base_with("algorithms: []",
                                     "algorithms:\n  - algorithm: {type: umap, version: '1', params: {}}\n"
                                     "  - algorithm: {type: report, version: '1', params: {}}");
  const Diagnostic refused = only_problem(text);
  CHECK(refused.code == "E730");
  CHECK(refused.hint.find("--allow-missing-eval") != std::string::npos);

  const Checked checked = check_text(text, {.names = &registry(), .allow_missing_eval = true});
  REQUIRE(checked.problems.size() == 1);
  const Diagnostic& warning = checked.problems.entries()[0];
  CHECK(warning.severity == Severity::warning);
  CHECK(warning.where.key_path == "evaluation.algorithms[0].algorithm.type");
  CHECK(warning.where.line > 0);
  REQUIRE(value_at(checked.value, "evaluation.algorithms").size() == 1);
  CHECK(value_at(checked.value, "evaluation.algorithms[0].algorithm.type") == Value("report"));
}

TEST_CASE("what is read but not carried out is named with its place") {
  struct Case {
    const char* from;
    const char* to;
    const char* key_path;
    Severity severity;
  };
  for (const Case& c : {
           Case{"execution:\n  kind: local", "execution: {kind: ray}", "execution.kind", Severity::error},
           Case{"batch_size: 16", "batch_size: {mode: auto}", "training.batch_size", Severity::error},
           Case{"devices: 1", "devices: 2", "training.devices", Severity::error},
           Case{"strategy: auto", "strategy: ddp", "training.strategy", Severity::error},
           Case{"precision: 32-true", "precision: 16-mixed", "training.precision", Severity::error},
           Case{"accelerator: cpu", "accelerator: tpu", "training.accelerator", Severity::error},
           Case{"warmup:", "warmup: 5%", "training.scheduler.warmup", Severity::warning},
           Case{"logging:", "logging: {dvclive: {}}", "logging.dvclive", Severity::warning},
           Case{"logging:", "logging: {mlflow: {}}", "logging.mlflow", Severity::warning},
           Case{"exports: []", "exports: [{kind: onnx}]", "exports", Severity::warning},
           Case{"tuning:", "tuning: {}", "tuning", Severity::warning},
       }) {
    INFO(c.to);
    const Value scenario = good(base_with(c.from, c.to));
    Diagnostics problems;
    report_not_carried_out(scenario, ScenarioWork::train, problems);
    INFO(problems.to_text());
    REQUIRE(problems.size() == 1);
    const Diagnostic& problem = problems.entries()[0];
    CHECK(problem.code == "E737");
    CHECK(problem.severity == c.severity);
    CHECK(problem.where.key_path == c.key_path);

    Diagnostics while_building;
    report_not_carried_out(scenario, ScenarioWork::build, while_building);
    CHECK(while_building.empty());
  }
  Diagnostics problems;
  report_not_carried_out(good(base_text()), ScenarioWork::train, problems);
  report_not_carried_out(good(base_with("merge_labels:", "merge_labels: {class: {columns: [a]}}")),
                         ScenarioWork::train, problems);
  report_not_carried_out(good(base_with("logging:", "logging: {tensorboard: {}}")), ScenarioWork::train,
                         problems);
  INFO(problems.to_text());
  CHECK(problems.empty());
}

TEST_CASE("training.lr replaces the optimizer's lr, and a difference is reported with both places") {
  const auto reported = [](const Value& scenario) {
    Diagnostics problems;
    report_learning_rate(scenario, registry(), problems);
    return problems;
  };
  const auto built = [](const Value& scenario) {
    const ScenarioSpec spec = materialise(scenario, registry());
    return optimizer_with_training_lr(spec.training,
                                      *registry().find_target(spec.training.optimizer.factory)->entry.node);
  };
  CHECK(reported(good(base_text())).empty());

  const Value other = good(base_with("lr: 0.001\n  scheduler", "lr: 0.5\n  scheduler"));
  REQUIRE(reported(other).size() == 1);
  const Diagnostic problem = reported(other).entries()[0];
  CHECK(problem.severity == Severity::warning);
  CHECK(problem.code == "W610");
  CHECK(problem.message.find("training.lr (case.yaml:") != std::string::npos);
  CHECK(problem.message.find("training.optimizer.kwargs.lr (case.yaml:") != std::string::npos);
  CHECK(problem.where.key_path == "training.lr");
  CHECK(built(other).kwargs.at("lr") == Value(0.001));

  // An lr that nobody wrote is no difference worth a word; a default of training.lr that wins is.
  CHECK(reported(good("training: {lr: 0.25}")).empty());
  CHECK(built(good("training: {lr: 0.25}")).kwargs.at("lr") == Value(0.25));
  CHECK(reported(good("training: {optimizer: {kwargs: {lr: 0.25}}}")).size() == 1);
  const Value positional = good("training: {optimizer: {args: [0.25], kwargs: {}}}");
  CHECK(reported(positional).size() == 1);
  CHECK(built(positional).args == Value::list({0.001}));
  CHECK(built(positional).kwargs == Value::map());

  const Value rateless =
      good("training: {lr: 0.25, optimizer: {factory: 'acme.optim:Rateless', kwargs: {}}}");
  CHECK(reported(rateless).empty());
  CHECK(built(rateless).kwargs == Value::map());
}

TEST_CASE("the names that a scenario needs are found at every depth") {
  const Value scenario = good(base_with(
      "type: LinearEncoder\n        version: '1'\n        params:\n          hidden_dims: [24, 12]\n"
      "          output_dim: 4\n          activation: torch.nn.ReLU\n          last_activation: false\n"
      "          bias: true",
      "type: Wrapper\n        version: '1'\n        params:\n          inner:\n            type: NnModule\n"
      "            version: '1'\n            params: {factory: torch.nn.ReLU}"));
  const RequiredComponents needed = required_components(scenario, registry());
  CHECK(needed.definitions == std::set<Identity>{{ComponentKind::layer, "LinearEncoder", "1"},
                                                 {ComponentKind::layer, "NnModule", "1"},
                                                 {ComponentKind::layer, "ReconstructionLoss", "1"},
                                                 {ComponentKind::layer, "Wrapper", "1"},
                                                 {ComponentKind::data_source, "synthetic", "1"},
                                                 {ComponentKind::loader_backend, "torch", "1"}});
  CHECK(needed.targets ==
        std::set<RequiredTarget>{{TargetKind::module, "torch.nn.ReLU"},
                                 {TargetKind::optimizer, "torch.optim.adam:Adam"},
                                 {TargetKind::scheduler, "torch.optim.lr_scheduler:ConstantLR"}});
}

TEST_CASE("rules that no manifest carries are checked at their place when a scenario is made") {
  const DeclaredNames declared;
  const Checked checked = check_text(base_with("num_clusters:", "num_clusters: 500"), {.names = &declared});
  INFO(checked.problems.to_text());
  REQUIRE(checked.problems.empty());
  try {
    (void)materialise(checked.value, registry());
    FAIL("a rule was passed over");
  } catch (const Error& refused) {
    REQUIRE(refused.diagnostics().size() == 1);
    const Diagnostic& problem = refused.diagnostics().entries()[0];
    CHECK(problem.code == "E717");
    CHECK(problem.where.key_path == "data.datasets[0].source.params.num_clusters");
    CHECK(problem.where.file == "case.yaml");
    CHECK(problem.where.line > 0);
  }
}
