#include <catch2/catch.hpp>
#include <thread>

#include "schema/fake_components.h"

using namespace nexuml;
using fake::Scale;

namespace {

StagedRegistration staged(const std::function<void(Registration&)>& block) {
  StagedRegistration result;
  Registration registration(result);
  block(registration);
  return result;
}

Origin origin(std::string library) {
  return {std::move(library), "1.0.0", "/libs/lib.so", ""};
}

}  // namespace

TEST_CASE("one identity from two types is a conflict that names both origins and nothing is overwritten") {
  Diagnostics problems;
  const auto first = ComponentRegistry().with(staged([](Registration& r) { r.add<Scale>("Scale"); }),
                                              origin("org.one"), problems);
  REQUIRE(problems.empty());
  const auto second = first.with(staged([](Registration& r) {
                                   r.add<fake::Wrapper>("Wrapper");
                                   r.add<fake::other::Scale>("Scale");
                                 }),
                                 origin("org.two"), problems);
  REQUIRE(problems.size() == 1);
  const Diagnostic& problem = problems.entries()[0];
  CHECK(problem.code == "E501");
  for (const char* part : {"layer/Scale@1", "org.one", "org.two", "component_registry_test.cpp"})
    CHECK(problem.message.find(part) != std::string::npos);
  CHECK(second.definitions().size() == 1);
  CHECK(second.find({ComponentKind::layer, "Wrapper", "1"}) == nullptr);
  CHECK(second.find({ComponentKind::layer, "Scale", "1"})->origin.library == "org.one");
}

TEST_CASE("one type under two identities is a conflict") {
  Diagnostics problems;
  (void)ComponentRegistry().with(staged([](Registration& r) {
                                   r.add<Scale>("Scale");
                                   r.add<Scale>("Scale", "2");
                                 }),
                                 origin("org.one"), problems);
  REQUIRE(problems.size() == 1);
  CHECK(problems.entries()[0].message.find("layer/Scale@1 and as layer/Scale@2") != std::string::npos);
}

TEST_CASE("two versions of one name stand side by side and lookup is exact") {
  const auto registry = ComponentRegistry().with_program([](Registration& r) {
    r.add<Scale>("Scale", "1");
    r.add<fake::other::Scale>("Scale", "2");
  });
  CHECK(registry.layer("Scale", {}, "1").get_if<Scale>() != nullptr);
  CHECK(registry.layer("Scale", {}, "2").get_if<fake::other::Scale>() != nullptr);
  CHECK_THROWS_AS(registry.layer("Scale", {}, "3"), Error);
}

TEST_CASE("a miss says near names, other kinds, other versions and removed components") {
  const auto registry = fake::registry();
  const auto message = [&](ComponentKind kind, const std::string& name, const std::string& version) {
    Diagnostics problems;
    CHECK(registry.definition_schema({kind, name, version}, {}, {}, problems) == nullptr);
    REQUIRE(problems.size() == 1);
    return problems.entries()[0];
  };
  CHECK(message(ComponentKind::layer, "Scael", "1").hint.find("did you mean Scale") != std::string::npos);
  CHECK(message(ComponentKind::layer, "scale", "1").code == "E730");
  CHECK(message(ComponentKind::layer, "lib.layers:Scale", "1").hint.find("registered name: Scale") !=
        std::string::npos);
  CHECK(message(ComponentKind::layer, "source", "1").code == "E731");
  CHECK(message(ComponentKind::layer, "source", "1").message.find("source is a data_source") !=
        std::string::npos);
  CHECK(message(ComponentKind::layer, "Scale", "7").code == "E732");
  const auto removed = message(ComponentKind::layer, "Dropout", "1");
  CHECK(removed.code == "E735");
  CHECK(removed.hint.find("torch.nn:Dropout") != std::string::npos);
  CHECK(removed.hint.find("NnModule") != std::string::npos);
}

TEST_CASE("a definition made by identity equals the typed one and is validated at once") {
  const auto registry = fake::registry();
  CHECK(registry.layer("Scale", {{"factor", 2}}) == AnyLayer(Scale{.factor = 2}));
  CHECK_THROWS_AS(registry.layer("Scale", {{"factor", -2}}), Error);
  CHECK_THROWS_AS(registry.layer("Scale", {{"faktor", 2}}), Error);
}

TEST_CASE("lowering and restoring give the definition back, also inside another one") {
  const auto registry = fake::registry();
  const AnyLayer layer = fake::Wrapper{.inner = Scale{.factor = 3}, .times = 4};
  const Value lowered = registry.lower(layer);
  CHECK(lowered.at("type") == Value("Wrapper"));
  CHECK(lowered.at("params").at("inner").at("type") == Value("Scale"));
  Diagnostics problems;
  const TypeNode type{.kind = TypeNode::Kind::definition, .definition_kind = ComponentKind::layer};
  const Value normalised = check_value(type, lowered, {&registry, "c"}, problems);
  REQUIRE(problems.empty());
  CHECK(registry.restore(ComponentKind::layer, normalised) == layer);
}

TEST_CASE("reverse lookup follows the type and not its name") {
  const auto registry = fake::registry();
  CHECK(registry.identity_of(AnyLayer(Scale{})) == Identity{ComponentKind::layer, "Scale", "1"});
  CHECK_FALSE(registry.identity_of(AnyLayer(fake::other::Scale{})).has_value());
  CHECK_THROWS_WITH(registry.lower(AnyLayer(fake::other::Scale{})),
                    Catch::Contains("E506") && Catch::Contains("registered nowhere"));
}

TEST_CASE("listings are sorted by kind, name and version") {
  const auto registry = ComponentRegistry().with_program([](Registration& r) {
    r.add<fake::Source>("a");
    r.add<fake::Wrapper>("z");
    r.add<Scale>("b", "2");
    r.add<fake::other::Scale>("b", "1");
  });
  std::vector<std::string> names;
  for (const auto* entry : registry.definitions()) names.push_back(to_string(entry->entry.identity));
  CHECK(names == std::vector<std::string>{"layer/b@1", "layer/b@2", "layer/z@1", "data_source/a@1"});
}

TEST_CASE("a registry value stays valid and unchanged while more is registered") {
  const ComponentRegistry before = fake::registry();
  const auto size = before.definitions().size();
  std::vector<std::thread> readers;
  std::atomic<bool> right = true;
  for (int i = 0; i < 4; ++i)
    readers.emplace_back([&] {
      for (int k = 0; k < 200; ++k)
        if (before.definitions().size() != size || !before.find({ComponentKind::layer, "Scale", "1"}))
          right = false;
    });
  ComponentRegistry grown = before;
  for (int k = 0; k < 50; ++k)
    grown = grown.with_program([&](Registration& r) {
      r.add_scenario<NoParameters>("s" + std::to_string(k), [](const NoParameters&, const ScenarioContext&) {
        return ScenarioSpec{};
      });
    });
  for (auto& reader : readers) reader.join();
  CHECK(right);
  CHECK(grown.scenarios().size() == 50);
  CHECK(before.scenarios().empty());
}

TEST_CASE("a target is found under every spelling and only for its kind") {
  const auto registry = fake::registry();
  for (const char* spelling : {"torch.nn:Linear", "torch.nn.Linear", "torch.nn.modules.linear:Linear",
                               "torch.nn.modules.linear.Linear"})
    CHECK(registry.find_target(spelling) != nullptr);
  Diagnostics problems;
  CHECK(registry.target(TargetKind::optimizer, "torch.nn:Linear", {}, problems) == nullptr);
  CHECK(registry.target(TargetKind::module, "torch.nn:Liner", {}, problems) == nullptr);
  CHECK(registry.target(TargetKind::function, "os:system", {}, problems) == nullptr);
  REQUIRE(problems.size() == 3);
  CHECK(problems.entries()[0].code == "E736");
  CHECK(problems.entries()[1].hint.find("torch.nn:Linear") != std::string::npos);
  CHECK(problems.entries()[2].code == "E733");
}

TEST_CASE("target arguments are bound by position and by name") {
  const auto registry = fake::registry();
  const auto linear = registry.make(TargetKind::module, "torch.nn:Linear", Value(std::vector{8}),
                                    Value::map({{"out_features", 4}}));
  CHECK(linear->arguments() == Value::map({{"in_features", 8}, {"out_features", 4}, {"bias", true}}));
  const auto code = [&](Value args, Value kwargs) {
    try {
      (void)registry.make(TargetKind::module, "torch.nn:Linear", args, kwargs);
    } catch (const Error& error) {
      return error.diagnostics().entries()[0].code + " " + error.diagnostics().entries()[0].where.key_path;
    }
    return std::string("accepted");
  };
  CHECK(code(Value(std::vector{8}), Value::map()) == "E734 torch.nn:Linear");
  CHECK(code(Value(std::vector{8, 4, 1, 1}), Value::map()) == "E734 torch.nn:Linear.args");
  CHECK(code(Value(std::vector{8, 4}), Value::map({{"in_features", 8}})) ==
        "E734 torch.nn:Linear.kwargs.in_features");
  CHECK(code(Value(std::vector{8, 4}), Value::map({{"bais", true}})) == "E734 torch.nn:Linear.kwargs.bais");
  CHECK(code(Value(std::vector{8, 0}), Value::map()) == "E713 torch.nn:Linear.args[1]");
  CHECK(code(Value(std::vector{8, 4}), Value::map({{"bias", 1}})) == "E712 torch.nn:Linear.kwargs.bias");
}

TEST_CASE("an argument that is injected at build time cannot be written") {
  const auto registry = fake::registry();
  CHECK_THROWS_WITH(registry.make(TargetKind::optimizer, "torch.optim:SGD", Value::list(),
                                  Value::map({{"params", Value::list()}})),
                    Catch::Contains("passed when it is built"));
}

namespace {
struct DemoParameters {
  std::int64_t width = 8;
  static void describe(Schema<DemoParameters>& s) { s.field("width", &DemoParameters::width).at_least(1); }
};
struct Radius {
  double value = 0;
};
}  // namespace

TEST_CASE("a scenario function gets typed parameters and makes components of other libraries by identity") {
  const auto registry = fake::registry().with_program([](Registration& r) {
    r.add_scenario<DemoParameters>("demo", [](const DemoParameters& p, const ScenarioContext& context) {
      ScenarioSpec scenario{.name = "demo"};
      scenario.pipeline.stages["Encoder"] = {{.component = context.layer("Scale", {{"factor", p.width}})}};
      return scenario;
    });
  });
  const ScenarioSpec scenario = registry.scenario("demo", Value::map({{"width", 3}}));
  CHECK(scenario.pipeline.stages.at("Encoder")[0].component == AnyLayer(Scale{.factor = 3}));
  CHECK_THROWS_AS(registry.scenario("demo", Value::map({{"width", 0}})), Error);
  CHECK_THROWS_WITH(registry.scenario("dmo"), Catch::Contains("demo"));
}

TEST_CASE("a second owner of a serialised type is refused naming both") {
  const auto add = [](Registration& r) {
    r.add_type_serializer<Radius>(
        "acme.Radius", [](const Radius& radius) { return Value(radius.value); },
        [](const Value& value) { return Radius{value.as_number()}; });
  };
  Diagnostics problems;
  const auto registry = ComponentRegistry().with(staged(add), origin("org.one"), problems);
  REQUIRE(problems.empty());
  REQUIRE(registry.find_serializer("acme.Radius") != nullptr);
  (void)registry.with(staged(add), origin("org.two"), problems);
  REQUIRE(problems.size() == 1);
  CHECK(problems.entries()[0].message.find("org.one") != std::string::npos);
  CHECK(problems.entries()[0].message.find("org.two") != std::string::npos);
}

TEST_CASE("names that no document could hold are refused at registration") {
  for (const char* name : {"", "with blank", "line\nbreak"}) {
    Diagnostics problems;
    (void)ComponentRegistry().with(staged([&](Registration& r) { r.add<Scale>(name); }), origin("org.one"),
                                   problems);
    REQUIRE(problems.size() == 1);
    CHECK(problems.entries()[0].code == "E507");
  }
  Diagnostics problems;
  (void)ComponentRegistry().with(
      staged([](Registration& r) { r.add_target<fake::LinearArguments>("torch.nn.Linear"); }), origin("o"),
      problems);
  CHECK(problems.entries()[0].code == "E507");
}
