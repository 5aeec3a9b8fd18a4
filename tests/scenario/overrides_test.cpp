#include "scenario/scenario_fixtures.h"

using namespace scenario_fixtures;

namespace {

Checked overridden(std::string_view text, const std::vector<std::string>& overrides) {
  Checked checked;
  Value document = parse_yaml(text, "case.yaml", checked.problems);
  apply_overrides(document, *schema_of<ScenarioSpec>(), overrides, &registry(), checked.problems);
  checked.value = check_scenario(std::move(document), {.names = &registry()}, checked.problems);
  return checked;
}

Value result(const std::string& override_text) {
  Checked checked = overridden(base_text(), {override_text});
  INFO(checked.problems.to_text());
  REQUIRE(checked.problems.empty());
  return checked.value;
}

Diagnostic refused(const std::string& override_text) {
  const Checked checked = overridden(base_text(), {override_text});
  INFO(checked.problems.to_text());
  REQUIRE(checked.problems.size() == 1);
  return checked.problems.entries().front();
}

}  // namespace

TEST_CASE("an override takes scalars, null, lists, maps, list indices and component parameters") {
  CHECK(value_at(result("training.lr=1e-2"), "training.lr") == Value(0.01));
  CHECK(value_at(result("training.max_epochs= 7 "), "training.max_epochs") == Value(7));
  CHECK(value_at(result("data.num_classes=3"), "data.num_classes") == Value(3));
  CHECK(value_at(result("data.num_classes=null"), "data.num_classes") == Value());
  CHECK(value_at(result("data.num_classes="), "data.num_classes") == Value());
  CHECK(value_at(result("data.loader.shuffle_train=false"), "data.loader.shuffle_train") == Value(false));
  CHECK(value_at(result("pipeline.stages.Encoder[0].component.params.hidden_dims=[5, 3]"),
                 "pipeline.stages.Encoder[0].component.params.hidden_dims") == Value::list({5, 3}));
  CHECK(value_at(result("pipeline.stages.Encoder[0].component.params.hidden_dims[1]=9"),
                 "pipeline.stages.Encoder[0].component.params.hidden_dims") == Value::list({24, 9}));
  CHECK(value_at(result("pipeline.stages.Encoder[0].keys_in={x: features}"),
                 "pipeline.stages.Encoder[0].keys_in.x") == Value("features"));
  CHECK(value_at(result("data.datasets[0].source.params.num_samples=5"),
                 "data.datasets[0].source.params.num_samples") == Value(5));
  CHECK(value_at(result("training.batch_size={mode: auto, max: 64}"), "training.batch_size.max") ==
        Value(64));
  CHECK(value_at(result("training.batch_size={mode: auto, max: 64}"), "training.batch_size.min") == Value(1));
}

TEST_CASE("where the schema wants text an unquoted value is text, and quotes keep a text a text") {
  CHECK(value_at(result("name=5"), "name") == Value("5"));
  CHECK(value_at(result("name=1e-3"), "name") == Value("1e-3"));
  CHECK(value_at(result("name=true"), "name") == Value("true"));
  CHECK(value_at(result("name=.nan"), "name") == Value(".nan"));
  CHECK(value_at(result("name=a: b # c"), "name") == Value("a: b # c"));
  CHECK(value_at(result("name=x=y"), "name") == Value("x=y"));
  CHECK(value_at(result("name=\"null\""), "name") == Value("null"));
  CHECK(value_at(result("name='it''s'"), "name") == Value("it's"));
  CHECK(value_at(result("logging.run_name=2026"), "logging.run_name") == Value("2026"));
  CHECK(value_at(result("logging.run_name=null"), "logging.run_name") == Value());
  CHECK(value_at(result("training.devices=2"), "training.devices") == Value(2));
  CHECK(value_at(result("training.devices=\"2\""), "training.devices") == Value("2"));
  CHECK(value_at(result("training.strategy=5"), "training.strategy") == Value("5"));
  CHECK(refused("training.lr=\"0.1\"").code == "E712");
  CHECK(refused("name=null").code == "E714");
  CHECK(refused("training.lr=.nan").code == "E716");
}

TEST_CASE("blocks that a document leaves out start from their defaults") {
  const auto empty = [](const std::string& override_text) {
    Checked checked = overridden("name: small", {override_text});
    INFO(checked.problems.to_text());
    REQUIRE(checked.problems.empty());
    return checked.value;
  };
  CHECK(value_at(empty("training.scheduler.kwargs.factor=0.5"), "training.scheduler.kwargs") ==
        Value::map({{"factor", 0.5}, {"total_iters", 0}}));
  CHECK(value_at(empty("training.optimizer.kwargs.weight_decay=0.1"), "training.optimizer.kwargs") ==
        Value::map({{"lr", 0.001}, {"weight_decay", 0.1}}));
  CHECK(value_at(empty("training.optimizer.kwargs.betas[1]=0.5"), "training.optimizer.kwargs.betas") ==
        Value::list({0.9, 0.5}));
  CHECK(value_at(empty("logging.mlflow.tags.owner=me"), "logging.mlflow.tags.owner") == Value("me"));
  CHECK(value_at(empty("checkpoint.source=weights.pt"), "checkpoint.source") == Value("weights.pt"));
  CHECK(value_at(empty("training.progress_bar_keys[0]=val/loss"), "training.progress_bar_keys") ==
        Value::list({"val/loss"}));
  CHECK(value_at(empty("data.loader.drop_last=true"), "data.loader.drop_last") == Value(true));
}

TEST_CASE("new keys go into open maps, as the last part of a path") {
  CHECK(value_at(result("training.loss_keys.kl=0.1"), "training.loss_keys.kl") == Value(0.1));
  CHECK(value_at(result("training.loss_keys.\"a.b\"=0.5"), "training.loss_keys").find("a.b") != nullptr);
  CHECK(value_at(result("pipeline.stages.Encoder[0].meta_out.output_dim=latent"),
                 "pipeline.stages.Encoder[0].meta_out.output_dim") == Value("latent"));
  CHECK(value_at(result("pipeline.stages.Extra=[]"), "pipeline.stages.Extra") == Value::list());
  const Diagnostic problem = refused("pipeline.stages.Encodr[0].delay_epochs=1");
  CHECK(problem.code == "E721");
  CHECK(problem.message == "there is no 'Encodr' in pipeline.stages");
  CHECK(problem.hint == "did you mean Encoder?");
}

TEST_CASE("a path that does not exist names the nearest key and the place in the override") {
  struct Case {
    const char* text;
    const char* message;
    const char* hint;
    std::uint32_t column;
  };
  for (const Case& c : {
           Case{"training.max_epoch=3", "there is no 'max_epoch' in training", "did you mean max_epochs?",
                10},
           Case{"trainin.lr=3", "there is no 'trainin' in the document", "did you mean training?", 1},
           Case{"pipeline.stages.Encoder[0].component.params.output_dims=3",
                "there is no 'output_dims' in pipeline.stages.Encoder[0].component.params",
                "did you mean output_dim?", 45},
           Case{"pipeline.stages.Encoder[4].keys_out=[]",
                "there is no entry [4] in pipeline.stages.Encoder: it has 1 entry", "indices start at 0", 24},
           Case{"pipeline.stages.Encoder.keys_out=[]",
                "pipeline.stages.Encoder is a list: an index is expected, found 'keys_out'",
                "write pipeline.stages.Encoder[0]", 25},
           Case{"training[0]=1", "training is a map: a key is expected, found an index",
                "write .0 in place of [0]", 9},
           Case{"training.lr.x=1", "training.lr is number 0.001: it has no parts", "", 13},
           Case{"training.optimizer.kwargs.weight_deacy=1",
                "there is no 'weight_deacy' in training.optimizer.kwargs", "did you mean weight_decay?", 27},
           Case{"data.loader.backend.param.x=1", "there is no 'param' in data.loader.backend",
                "did you mean params?", 21},
           Case{"logging.zzz=1", "there is no 'zzz' in logging",
                "there is tensorboard, dvclive, mlflow, diagram, temp_artifact_dir, experiment_name, "
                "run_name, "
                "log_system_metrics",
                9},
       }) {
    INFO(c.text);
    const Diagnostic problem = refused(c.text);
    INFO(problem.to_text());
    CHECK(problem.code == "E721");
    CHECK(problem.message == c.message);
    CHECK(problem.hint == c.hint);
    CHECK(problem.where.line == 1);
    CHECK(problem.where.column == c.column);
    const std::string text = c.text;
    CHECK(problem.where.file == "-O " + text.substr(0, text.find('=')));
  }
}

TEST_CASE("an override that cannot be read is refused with its place") {
  struct Case {
    const char* text;
    std::uint32_t column;
  };
  for (const Case& c : {Case{"training.lr", 12}, Case{"=1", 1}, Case{"training..lr=1", 10}, Case{".lr=1", 1},
                        Case{"training.=1", 10}, Case{"a[x]=1", 3}, Case{"a[-1]=1", 3}, Case{"a[1=1", 3},
                        Case{"a[99999999999999999999]=1", 3}, Case{"a]=1", 2}, Case{"\"a=1", 2},
                        Case{" a=1", 1}, Case{"", 1}, Case{"name=[1, 2", 6}, Case{"name='x", 6}}) {
    INFO(c.text);
    const Checked checked = overridden("name: a", {c.text});
    INFO(checked.problems.to_text());
    REQUIRE(checked.problems.size() == 1);
    const Diagnostic& problem = checked.problems.entries().front();
    CHECK(problem.code == "E720");
    CHECK(problem.where.line == 1);
    CHECK(problem.where.file.starts_with("-O "));
    CHECK(problem.where.column == c.column);
  }
}

TEST_CASE("a wrong value of an override is reported at the override, with the problems of the file") {
  const Checked checked = overridden(base_with("max_epochs: 2", "max_epochs: two"),
                                     {"training.batch_size=0", "training.lr=fast"});
  INFO(checked.problems.to_text());
  REQUIRE(checked.problems.size() == 3);
  std::vector<std::string> places;
  for (const Diagnostic& problem : checked.problems) places.push_back(place(problem));
  CHECK(places[0].starts_with("case.yaml:"));
  CHECK(places[1] == "-O training.batch_size:1:21");
  CHECK(places[2] == "-O training.lr:1:13");
}

TEST_CASE("later overrides win, and a component may be changed before its parameters") {
  const Checked checked =
      overridden(base_text(), {"training.lr=1", "training.lr=2",
                               "pipeline.stages.Encoder[0].component={type: NnModule, version: '1', params: "
                               "{factory: torch.nn.ReLU}}",
                               "pipeline.stages.Encoder[0].component.params.kwargs.inplace=true"});
  INFO(checked.problems.to_text());
  REQUIRE(checked.problems.empty());
  CHECK(value_at(checked.value, "training.lr") == Value(2.0));
  CHECK(value_at(checked.value, "pipeline.stages.Encoder[0].component.params.kwargs.inplace") == Value(true));
}

namespace {
struct DemoParameters {
  std::int64_t width = 32;
  std::string label = "class";
  std::vector<double> weights;

  static void describe(Schema<DemoParameters>& s) {
    s.field("width", &DemoParameters::width).at_least(1);
    s.field("label", &DemoParameters::label);
    s.field("weights", &DemoParameters::weights);
  }
};
}  // namespace

TEST_CASE("parameters of a scenario function are typed by its schema") {
  const auto schema = schema_of<DemoParameters>();
  Diagnostics problems;
  CHECK(read_parameters({"width=8", "label=7", "weights=[1, 0.5]"}, *schema, problems) ==
        Value::map({{"width", 8}, {"label", "7"}, {"weights", Value::list({1.0, 0.5})}}));
  CHECK(problems.empty());
  (void)read_parameters({"width=0", "widht=3"}, *schema, problems);
  REQUIRE(problems.size() == 2);
  CHECK(problems.entries()[0].hint == "did you mean width?");
  CHECK(problems.entries()[0].where.file == "-P widht");
  CHECK(problems.entries()[1].code == "E713");
}
