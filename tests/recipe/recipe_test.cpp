#include <catch2/catch.hpp>

#include "recipe/fake_targets.h"

using namespace nexuml;
using namespace recipes;
using Catch::Contains;

namespace {

const std::string kTime = "2025-03-04T05:06:07.000008+00:00";

Recipe from_json(const std::string& json) {
  static const ComponentRegistry known = registry();
  return create_model_spec_from_json(known, json, "model.json");
}

std::string drift(const std::string& fields) {
  return refusal(
      [&] { from_json(R"({"cls_path": "acme.nn.Linear", "timestamp": ")" + kTime + "\"" + fields + "}"); });
}

}  // namespace

TEST_CASE("making a recipe checks its target at once and names near ones") {
  const auto known = registry();
  const Recipe recipe = create_model_spec(known, "acme.nn.Linear", {{"in_features", 8}, {"out_features", 4}});
  CHECK(recipe.kind() == TargetKind::module);
  CHECK(recipe.target() == "acme.nn:Linear");
  const std::string refused = refusal([&] { create_model_spec(known, "acme.nn.Liner"); });
  CHECK_THAT(refused, Contains("E733") && Contains("acme.nn.Liner") && Contains("acme.nn:Linear"));
}

TEST_CASE("arguments of a type that is registered as no target have no name in a recipe") {
  struct Nameless {
    static void describe(Schema<Nameless>&) {}
  };
  CHECK_THAT(refusal([] { create_model_spec(registry(), Nameless{}); }),
             Contains("E742") && Contains("Nameless"));
}

TEST_CASE("a recipe is flat, records every default and keeps time and spelling") {
  const Recipe recipe = from_json(R"({"cls_path": "acme.nn.modules.linear.Linear", "timestamp": ")" + kTime +
                                  R"(", "out_features": 4, "in_features": 8})");
  CHECK(recipe.to_json() == "{\n \"cls_path\": \"acme.nn.modules.linear.Linear\",\n \"timestamp\": \"" +
                                kTime +
                                "\",\n \"in_features\": 8,\n \"out_features\": 4,\n \"bias\": true\n}\n");
}

TEST_CASE("reading and writing a recipe again gives the same value and the same bytes") {
  const auto known = registry();
  const Recipe made = create_model_spec(
      known, "acme.nn.Holder",
      {{"head", create_model_spec(known, Linear{.in_features = 2, .out_features = 3}).to_value()},
       {"extra", Value::map({{"a", Value::list({1, 2.5, "x", Value()})}})}});
  const Recipe again = from_json(made.to_json());
  CHECK(again == made);
  CHECK(again.to_json() == made.to_json());
}

TEST_CASE("neither the time nor the spelling of a target counts for equality, at any depth") {
  const auto known = registry();
  const auto holder = [&](const std::string& spelling, const std::string& time) {
    return create_model_spec(
        known, "acme.nn.Holder",
        {{"head",
          create_model_spec(known, spelling, {{"in_features", 2}, {"out_features", 3}}, {.timestamp = time})
              .to_value()}});
  };
  CHECK(holder("acme.nn.Linear", kTime) == holder("acme.nn.modules.linear:Linear", recipe_timestamp_now()));
  CHECK_FALSE(create_model_spec(known, Linear{.in_features = 2, .out_features = 3}) ==
              create_model_spec(known, Linear{.in_features = 2, .out_features = 4}));
}

TEST_CASE("the time of a recipe is UTC with microseconds, and anything else is refused") {
  const std::string now = recipe_timestamp_now();
  CHECK(now.size() == 32);
  CHECK_THAT(now, Catch::EndsWith("+00:00"));
  const auto known = registry();
  for (const std::string& good : {kTime, std::string("2024-02-29T00:00:00+00:00"), now})
    CHECK(create_model_spec(known, "acme.nn.Dropout", Value::map(), {.timestamp = good}).timestamp() == good);
  for (const char* bad : {"yesterday", "2025-03-04", "2025-13-04T05:06:07+00:00", "2025-02-29T05:06:07+00:00",
                          "2025-03-04T05:06:07.000008+02:00", "2025-03-04T24:06:07+00:00",
                          "2025-03-04T05:06:07Z", "2025-03-04 05:06:07+00:00"})
    CHECK_THAT(refusal([&] {
                 from_json(std::string(R"({"cls_path": "acme.nn.Dropout", "timestamp": ")") + bad + "\"}");
               }),
               Contains("E740") && Contains(bad));
}

TEST_CASE("a document without cls_path or timestamp names what is missing and what is there") {
  CHECK_THAT(refusal([] { from_json(R"({"in_features": 8})"); }),
             Contains("no cls_path") && Contains("no timestamp") && Contains("in_features"));
  CHECK_THAT(refusal([] { from_json(R"([1])"); }), Contains("E740"));
  CHECK_THAT(refusal([] { from_json(R"({"cls_path": 3, "timestamp": 4})"); }),
             Contains("cls_path has to be text") && Contains("timestamp has to be text"));
}

TEST_CASE("a renamed, removed, retyped and newly required argument are one error with every difference") {
  const std::string all = drift(R"(, "in_feature": 8, "bias": "yes", "gain": 1)");
  CHECK_THAT(all, Contains("E741") && Contains("acme.nn.Linear") && Contains(kTime));
  CHECK_THAT(all, Contains("no argument 'in_feature'") && Contains("did you mean in_features") &&
                      Contains("'in_features' is missing") && Contains("'out_features' is missing") &&
                      Contains("no argument 'gain'") && Contains("bias: boolean expected"));
  CHECK(all.find("E741") == all.rfind("E741"));
  for (const char* value : {"true", "8.5", "\"8\"", "null", "0", "[8]"})
    CHECK_THAT(drift(std::string(R"(, "out_features": 4, "in_features": )") + value),
               Contains("E741") && Contains("in_features"));
}

TEST_CASE("a rule over several arguments holds for recipes too") {
  CHECK_THAT(refusal([] {
               create_model_spec(registry(), "acme.nn.Dropout", {{"p", 0}, {"inplace", true}});
             }),
             Contains("E741") && Contains("nothing to do in place"));
}

TEST_CASE("a recipe reaches nothing but registered targets, and only those of the kind that is expected") {
  for (const char* name : {"os.system", "builtins.eval", "subprocess.Popen", "acme.nn.Linear.forward", "",
                           "system", "../../lib:evil", "acme.nn:Linear\n"})
    CHECK_THAT(refusal([&] {
                 create_model_spec(registry(), name, {{"command", "true"}});
               }),
               Contains("E733"));
  const auto known = registry();
  CHECK_THAT(refusal([&] {
               create_model_spec(known, "acme.optim.Adam", Value::map(), {.kind = TargetKind::module});
             }),
             Contains("E736") && Contains("optimizer"));
  CHECK_THAT(refusal([&] {
               create_model_spec(known, "acme.nn.Holder",
                                 {{"head", create_model_spec(known, "acme.optim.Adam").to_value()}});
             }),
             Contains("E736") && Contains("head.cls_path"));
}

TEST_CASE("an argument that is passed when a target is built is never written") {
  CHECK_THAT(refusal([] {
               create_model_spec(registry(), "acme.optim.Adam", {{"params", Value::list()}});
             }),
             Contains("'params' is passed when it is built"));
}

TEST_CASE("names that recipes reserve are refused when a target is registered") {
  struct Reserved {
    std::string timestamp;
    static void describe(Schema<Reserved>& s) { s.field("timestamp", &Reserved::timestamp); }
    std::shared_ptr<TensorModule> build(const ModuleBuildContext&) const { return nullptr; }
  };
  CHECK_THAT(refusal([] {
               (void)ComponentRegistry().with_program(
                   [](Registration& r) { r.add_target<Reserved>("acme:Reserved"); });
             }),
             Contains("E507") && Contains("timestamp"));
}

TEST_CASE("nested recipes stand in optionals, lists, tuples and maps, beside plain items") {
  const auto known = registry();
  const Value linear = create_model_spec(known, Linear{.in_features = 2, .out_features = 3}).to_value();
  const Value dropout =
      create_model_spec(known, "acme.nn.Dropout", {{"p", 0.25}}, {.timestamp = kTime}).to_value();
  const Recipe holder =
      create_model_spec(known, "acme.nn.Holder",
                        {{"head", linear},
                         {"members", Value::list({dropout, 0.5, linear})},
                         {"named", Value::map({{"first", dropout}})},
                         {"weighted", Value::list({linear, 2.0})},
                         {"grid", Value::list({Value::list({linear}), Value::list({dropout})})}});
  CHECK(holder.fields().at("members").items()[0] == dropout);
  CHECK(holder.fields().at("members").items()[1] == Value(0.5));
  CHECK(holder.fields().at("grid").items()[1].items()[0] == dropout);
  CHECK(holder.arguments().at("named").at("first").at("factory") == Value("acme.nn:Dropout"));
  CHECK(holder.arguments().at("grid").items()[0].items()[0].at("kwargs").at("out_features") == Value(3));

  const auto decoded = known.make<TargetKind::module>(holder.target(), Value::list(), holder.arguments());
  const auto& typed = *static_cast<const Holder*>(decoded->value());
  CHECK(typed.head->factory == "acme.nn:Linear");
  CHECK(std::get<double>(typed.members[1]) == 0.5);
  CHECK(std::get<Module>(typed.members[2]).kwargs.at("in_features") == Value(2));
  CHECK(typed.weighted.second == 2.0);
  // The typed struct gives the same recipe.
  CHECK(create_model_spec(known, typed) == holder);
}

TEST_CASE("a default that holds a target is recorded as a recipe") {
  const Recipe holder = create_model_spec(registry(), "acme.nn.Holder", Value::map(), {.timestamp = kTime});
  const Value& weighted = holder.fields().at("weighted").items()[0];
  CHECK(weighted.at("cls_path") == Value("acme.nn.Dropout"));
  CHECK(weighted.at("timestamp") == Value(kTime));
  CHECK(weighted.at("p") == Value(0.5));
}

TEST_CASE("each recipe in a document that no longer fits is an error of its own, with its place") {
  const std::string refused = refusal([] {
    from_json(R"({"cls_path": "acme.nn.Holder", "timestamp": ")" + kTime + R"(", "widgets": 1, "members": [
      {"cls_path": "acme.nn.Linear", "timestamp": "2024-01-01T00:00:00+00:00", "in_features": 2},
      {"cls_path": "acme.nn.Dropout", "timestamp": "2024-01-01T00:00:00+00:00", "q": 2},
      {"cls_path": "acme.nn.Lineer", "timestamp": "2024-01-01T00:00:00+00:00"}]})");
  });
  CHECK_THAT(refused, Contains("members[0]") && Contains("members[1]") && Contains("members[2]") &&
                          Contains("'out_features' is missing") && Contains("no argument 'q'") &&
                          Contains("2024-01-01") && Contains("no argument 'widgets'") && Contains(kTime));
}

TEST_CASE("a recipe where plain values are taken is refused, never passed through as a map") {
  const auto known = registry();
  const Value linear = create_model_spec(known, Linear{.in_features = 2, .out_features = 3}).to_value();
  for (const Value& extra : {linear, Value::list({Value::list({linear})}), Value::map({{"a", linear}})})
    CHECK_THAT(refusal([&] {
                 create_model_spec(known, "acme.nn.Holder", {{"extra", extra}});
               }),
               Contains("E741") && Contains("extra") && Contains("recipe cannot stand here"));
  // A map that only has a key of this name is a map.
  const Value plain = Value::map({{"cls_path", "x"}});
  CHECK(create_model_spec(known, "acme.nn.Holder", {{"extra", plain}}).fields().at("extra") == plain);
}

TEST_CASE("recipes nested without end are refused") {
  const auto known = registry();
  Value holder = Value::map({{"cls_path", "acme.nn.Holder"}, {"timestamp", kTime}});
  for (int i = 0; i < 60; ++i) {
    Value outer = Value::map({{"cls_path", "acme.nn.Holder"}, {"timestamp", kTime}});
    outer.set("head", std::move(holder));
    holder = std::move(outer);
  }
  CHECK_THAT(refusal([&] { create_model_spec_from_json(known, holder); }), Contains("E745"));
}

TEST_CASE("a type with a serializer survives as itself, in every container and in nested recipes") {
  const auto known = registry();
  Basis basis;
  basis.basis = {"gauss", 3.5};
  basis.more = {{"bessel", 1}, {"gauss", 2}};
  basis.named["x"] = {"gauss", 4};
  basis.maybe = RadialBasis("bessel", 5);
  basis.either = RadialBasis("bessel", 7);
  const Recipe inner = create_model_spec(known, basis);
  basis.inner = Module{.factory = inner.target(), .kwargs = inner.arguments()};
  const Recipe recipe = from_json(create_model_spec(known, basis).to_json());
  CHECK(recipe.fields().at("basis") == Value::map({{"kind", "gauss"}, {"cutoff", 3.5}}));
  CHECK(recipe.fields().at("inner").at("more").items()[1].at("kind") == Value("gauss"));

  const auto decoded = known.make<TargetKind::module>(recipe.target(), Value::list(), recipe.arguments());
  const auto& typed = *static_cast<const Basis*>(decoded->value());
  CHECK(typed.basis == RadialBasis("gauss", 3.5));
  CHECK(typed.more[1] == RadialBasis("gauss", 2));
  CHECK(typed.named.at("x") == RadialBasis("gauss", 4));
  CHECK(typed.maybe == RadialBasis("bessel", 5));
  CHECK(std::get<RadialBasis>(typed.either) == RadialBasis("bessel", 7));
}

TEST_CASE("what a serializer refuses names the field and the reason") {
  const auto known = registry();
  const Value negative = Value::map({{"kind", "gauss"}, {"cutoff", -1}});
  CHECK_THAT(
      refusal([&] {
        create_model_spec(known, "acme.nn.Basis", {{"more", Value::list({negative})}, {"maybe", "text"}});
      }),
      Contains("more[0]") && Contains("acme.RadialBasis") && Contains("above 0") &&
          Contains("maybe: text 'text' is no acme.RadialBasis: kind and cutoff expected"));
}

TEST_CASE("a type serializer has one owner, and a target of a type without one is refused") {
  Diagnostics problems;
  StagedRegistration staged;
  Registration registration(staged);
  register_type_serializer<RadialBasis>(registration);
  const auto first = ComponentRegistry().with(staged, {"org.one", "1.0.0", "/one.so", ""}, problems);
  REQUIRE(problems.empty());
  const auto second = first.with(staged, {"org.two", "1.0.0", "/two.so", ""}, problems);
  REQUIRE(problems.size() == 1);
  CHECK_THAT(problems.to_text(),
             Contains("E501") && Contains("acme.RadialBasis") && Contains("org.one") && Contains("org.two"));
  CHECK_THAT(
      refusal([] {
        (void)ComponentRegistry().with_program([](Registration& r) { r.add_target<Basis>("acme.nn:Basis"); });
      }),
      Contains("E507") && Contains("acme.RadialBasis") && Contains("register_type_serializer"));
}

TEST_CASE("a schema from a manifest knows the name of a serialized type, and its hash counts it") {
  const Value written = schema_to_value(*schema_of<Basis>());
  const auto read = schema_from_value(written);
  CHECK(schema_hash(*read) == schema_hash(*schema_of<Basis>()));
  CHECK(type_in_words(read->find("basis")->type) == "acme.RadialBasis");
  CHECK(type_in_words(read->find("more")->type) == "list of acme.RadialBasis");
  Value renamed = written;
  renamed.at_position({});
  for (Value& field : renamed.find("fields")->items())
    if (field.at("name") == Value("basis")) field.find("type")->find("struct")->set("name", "acme.Other");
  CHECK(schema_hash(*schema_from_value(renamed)) != schema_hash(*read));
}

TEST_CASE("the recipe of a definition is its lowering with the time") {
  struct Scale {
    double factor = 1.0;
    static void describe(Schema<Scale>& s) { s.field("factor", &Scale::factor).greater_than(0); }
    std::shared_ptr<PipelineLayer> build(const LayerBuildContext&) const { return nullptr; }
  };
  const auto known = ComponentRegistry().with_program([](Registration& r) { r.add<Scale>("Scale"); });
  const AnyLayer layer = Scale{.factor = 3};
  Value recipe = definition_recipe(known, layer, kTime);
  CHECK(recipe == Value::map({{"type", "Scale"},
                              {"version", "1"},
                              {"params", Value::map({{"factor", 3.0}})},
                              {"timestamp", kTime}}));
  CHECK(definition_from_recipe(known, ComponentKind::layer, recipe) == layer);
  recipe.set("params", Value::map({{"factor", -3.0}}));
  CHECK_THROWS_AS(definition_from_recipe(known, ComponentKind::layer, recipe), Error);
}

TEST_CASE("a compiled pipeline has a recipe that holds its scenario") {
  struct ConstantLR {
    double factor = 1.0;
    std::int64_t total_iters = 0;
    static void describe(Schema<ConstantLR>& s) {
      s.field("factor", &ConstantLR::factor);
      s.field("total_iters", &ConstantLR::total_iters);
    }
    std::shared_ptr<Scheduler> build(const SchedulerBuildContext&) const { return nullptr; }
  };
  struct Loader {
    static void describe(Schema<Loader>&) {}
    std::shared_ptr<LoaderBackend> build(const LoaderBuildContext&) const { return nullptr; }
  };
  // What the defaults of a scenario name.
  const auto known = ComponentRegistry().with_program([](Registration& r) {
    r.add_target<Adam>("torch.optim.adam:Adam", {.injected = {"params"}});
    r.add_target<ConstantLR>("torch.optim.lr_scheduler:ConstantLR", {.injected = {"optimizer"}});
    r.add<Loader>("torch");
  });
  Diagnostics problems;
  const Value scenario =
      check_value(*schema_of<ScenarioSpec>(), Value::map({{"name", "digits"}}), {}, problems);
  const Recipe recipe =
      create_model_spec(known, "nexuml.pipeline.CompiledPipeline", {{"scenario", scenario}});
  CHECK(recipe.to_value().at("scenario").at("name") == Value("digits"));
  CHECK(create_model_spec_from_json(known, recipe.to_json(), "pipeline.json") == recipe);
  CHECK_THAT(refusal([&] {
               create_model_spec(known, "nexuml.pipeline.CompiledPipeline",
                                 {{"scenario", Value::map({{"nmae", 1}, {"training", 3}})}});
             }),
             Contains("E741") && Contains("scenario.nmae") && Contains("scenario.training"));
  CHECK_THAT(refusal([&] {
               create_model_spec(known, "nexuml.pipeline.CompiledPipeline", {{"scenario", "digits"}});
             }),
             Contains("E741") && Contains("a scenario expected"));
  CHECK_THAT(refusal([&] { create_model_spec(known, "nexuml.pipeline.CompiledPipeline"); }),
             Contains("'scenario' is missing"));
}
