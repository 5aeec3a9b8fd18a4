#include "registry/catalog.h"

#include <catch2/catch.hpp>

using namespace nexuml;

namespace {

DeclaredLibrary library(const std::string& id, std::vector<DeclaredDefinition> definitions,
                        EntryState state = EntryState::declared) {
  DeclaredLibrary result;
  result.origin = {id, "1.0", "/lib/" + id + ".so", {}};
  result.state = state;
  result.reason = state == EntryState::declared ? "" : "a reason";
  result.definitions = std::move(definitions);
  return result;
}

DeclaredDefinition layer(const std::string& name, const std::string& version = "1") {
  return {{ComponentKind::layer, name, version}, {}, {}};
}

std::string miss(const Catalog& catalog, const Identity& identity) {
  Diagnostics problems;
  CHECK_FALSE(catalog.provider(identity, {}, {}, problems));
  REQUIRE(problems.size() == 1);
  return problems.entries()[0].code + ": " + problems.entries()[0].message + " | " +
         problems.entries()[0].hint;
}

}  // namespace

TEST_CASE(
    "a miss in the catalog tells near names, the other version, the other kind, and what was searched") {
  const Catalog catalog(
      {library("a", {layer("LinearEncoder"), {{ComponentKind::data_source, "synthetic", "1"}, {}, {}}}),
       library("b", {}, EntryState::broken)},
      {}, 1);
  CHECK_THAT(miss(catalog, {ComponentKind::layer, "LinearEncodr", "1"}),
             Catch::StartsWith("E730") && Catch::Contains("did you mean LinearEncoder") &&
                 Catch::Contains("3 libraries were searched, 2 could not be read"));
  CHECK_THAT(miss(catalog, {ComponentKind::layer, "LinearEncoder", "2"}),
             Catch::StartsWith("E732") && Catch::Contains("LinearEncoder exists in version 1"));
  CHECK_THAT(
      miss(catalog, {ComponentKind::layer, "synthetic", "1"}),
      Catch::StartsWith("E731") && Catch::Contains("synthetic is a data_source, a layer is needed here"));
}

TEST_CASE("an entry of a library that cannot be used is explained by the library's reason") {
  for (const EntryState state :
       {EntryState::shadowed, EntryState::disabled, EntryState::incompatible, EntryState::broken}) {
    const Catalog catalog({library("a", {layer("Alone")}, state)}, {}, 0);
    CHECK_THAT(miss(catalog, {ComponentKind::layer, "Alone", "1"}),
               Catch::Contains(std::string(to_string(state)) + ": a reason") && Catch::Contains("/lib/a.so"));
  }
}

TEST_CASE("a usable library provides what a broken or shadowed one declares too") {
  const Catalog catalog({library("a", {layer("Shared")}, EntryState::broken), library("b", {layer("Shared")}),
                         library("c", {layer("Shared")}, EntryState::shadowed)},
                        {}, 0);
  Diagnostics problems;
  const auto* provider = catalog.provider({ComponentKind::layer, "Shared", "1"}, {}, {}, problems);
  REQUIRE(provider);
  CHECK(provider->origin.library == "b");
  CHECK(catalog.diagnostics().empty());
}

TEST_CASE("a conflict is advice for all and an error for who asks") {
  const Catalog catalog({library("a", {layer("Twice")}), library("b", {layer("Twice"), layer("Once")})}, {},
                        0);
  REQUIRE(catalog.diagnostics().size() == 1);
  CHECK(catalog.diagnostics().entries()[0].severity == Severity::warning);
  CHECK_THAT(miss(catalog, {ComponentKind::layer, "Twice", "1"}),
             Catch::StartsWith("E501") && Catch::Contains("NEXUML_COMPONENT_DISABLE=b"));
  Diagnostics problems;
  CHECK(catalog.provider({ComponentKind::layer, "Once", "1"}, {}, {}, problems));
}

TEST_CASE("targets are found by path, dotted spelling and alias, and only as what they are") {
  DeclaredLibrary torch = library("torch", {});
  torch.targets = {{TargetKind::module, "torch.nn:Linear", {"torch.nn.modules.linear:Linear"}, {}}};
  auto arguments = std::make_shared<StructNode>();
  torch.read_schemas = [arguments](Diagnostics&) {
    DeclaredSchemas schemas;
    schemas.targets["torch.nn:Linear"] = std::make_shared<const TargetNode>(
        TargetNode{TargetKind::module, "torch.nn:Linear", {}, arguments, {}});
    return schemas;
  };
  const Catalog catalog({torch}, {}, 0);
  Diagnostics problems;
  for (const char* spelling : {"torch.nn:Linear", "torch.nn.Linear", "torch.nn.modules.linear:Linear"}) {
    CHECK(catalog.target(TargetKind::module, spelling, {}, problems));
    CHECK(catalog.target_provider(spelling));
  }
  CHECK(problems.empty());
  CHECK_FALSE(catalog.target(TargetKind::optimizer, "torch.nn:Linear", {}, problems));
  CHECK(problems.entries().back().code == "E736");
  CHECK_FALSE(catalog.target(TargetKind::module, "torch.nn:Liner", {}, problems));
  CHECK(problems.entries().back().code == "E733");
  CHECK_THAT(problems.entries().back().hint, Catch::Contains("torch.nn:Linear"));
}

TEST_CASE("schemas are read once, when a file is checked") {
  int reads = 0;
  DeclaredLibrary one = library("a", {layer("Alone")});
  one.read_schemas = [&reads](Diagnostics&) {
    ++reads;
    DeclaredSchemas schemas;
    schemas.definitions[{ComponentKind::layer, "Alone", "1"}] = std::make_shared<StructNode>();
    return schemas;
  };
  const Catalog catalog({one}, {}, 0);
  CHECK(catalog.definitions().size() == 1);
  CHECK(reads == 0);
  Diagnostics problems;
  CHECK(catalog.definition_schema({ComponentKind::layer, "Alone", "1"}, {}, {}, problems));
  CHECK(catalog.definition_schema({ComponentKind::layer, "Alone", "1"}, {}, {}, problems));
  CHECK(reads == 1);
}

TEST_CASE("a scenario that nobody has is told with near names") {
  DeclaredLibrary one = library("a", {});
  one.scenarios = {{"digits-classifier", {}, {}, {}}};
  const Catalog catalog({one}, {}, 0);
  Diagnostics problems;
  CHECK_FALSE(catalog.scenario("digits-clasifier", problems));
  CHECK_THAT(problems.to_text(),
             Catch::Contains("E730") && Catch::Contains("did you mean digits-classifier"));
}
