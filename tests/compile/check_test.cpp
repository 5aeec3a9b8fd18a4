#include <fmt/format.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "compile/fake_layers.h"

using namespace nexuml;

namespace {

// Names of layers and modules; those of optimizers and callbacks belong to libraries that are not here.
class ModelNames final : public Names {
 public:
  explicit ModelNames(const ComponentRegistry& registry) : registry_(registry) {}
  std::shared_ptr<const StructNode> definition_schema(const Identity& identity, const Where& type_at,
                                                      const Where& version_at,
                                                      Diagnostics& problems) const override {
    return registry_.definition_schema(identity, type_at, version_at, problems);
  }
  std::shared_ptr<const TargetNode> target(TargetKind kind, const std::string& spelling, const Where& at,
                                           Diagnostics& problems) const override {
    return kind == TargetKind::module ? registry_.target(kind, spelling, at, problems) : nullptr;
  }

 private:
  const ComponentRegistry& registry_;
};

struct Document {
  Value tree;
  ScenarioSpec scenario;
};

Document read_document(const std::string& text) {
  const ComponentRegistry registry = fake::registry();
  const ModelNames names(registry);
  Diagnostics problems;
  Document document{parse_yaml(text, "scenario.yaml", problems), {}};
  const auto scenario = read<ScenarioSpec>(document.tree, {&names, &registry, ""}, problems);
  INFO(problems.to_text());
  REQUIRE(scenario);
  document.scenario = *scenario;
  return document;
}

// `6:17 E801 Encoder/00_Dense: message | hint`
std::string in_one_line(const Diagnostic& problem) {
  std::string text = fmt::format("{}:{} {}", problem.where.line, problem.where.column, problem.code);
  if (!problem.where.layer.empty()) text += " " + problem.where.layer;
  text += ": " + problem.message;
  if (!problem.hint.empty()) text += " | " + problem.hint;
  return text;
}

std::string file_text(const std::filesystem::path& path) {
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

std::string check_text(const std::string& yaml) {
  const Document document = read_document(yaml);
  std::string text;
  for (const Diagnostic& problem :
       check(CompileInput(document.scenario, &document.tree), {.registry = fake::registry()}))
    if (problem.severity != Severity::note) text += in_one_line(problem) + "\n";
  return text;
}

}  // namespace

TEST_CASE("each mistake in a scenario file is named with its place, its layer and the near name") {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(NEXUML_TEST_DATA "/check"))
    if (entry.path().extension() == ".yaml") files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  REQUIRE(files.size() >= 19);
  for (std::filesystem::path file : files) {
    CAPTURE(file.filename());
    const std::string found = check_text(file_text(file));
    file.replace_extension(".expected");
    if (std::getenv("NEXUML_TEST_UPDATE")) std::ofstream(file) << found;
    CHECK(found == file_text(file));
  }
}

TEST_CASE("a scenario with ten mistakes reports ten") {
  const std::string found = check_text(file_text(NEXUML_TEST_DATA "/check/ten_mistakes.yaml"));
  CHECK(std::count(found.begin(), found.end(), '\n') == 10);
}

TEST_CASE("a scenario made in code is checked by key path and for names that no library has") {
  auto scenario =
      fake::scenario({fake::layer(fake::Dense{.size = 4}, {"features"}, {"latent"}),
                      fake::layer(fake::Dense{.activation = "fake.nn:Duble"}, {"latent"}, {"out"}),
                      fake::layer(nn_module("fake.nn:Linear", 4), {"latent"}, {"small"})});
  const Diagnostics problems = check(scenario, {.registry = fake::registry()});
  INFO(problems.to_text());
  CHECK(fake::codes(problems) == "E733 E734");
  CHECK(problems.entries()[0].where.key_path == "pipeline.stages.Main[1].component.params.activation");
  CHECK(problems.entries()[0].where.layer == "Main/01_Dense");
}

TEST_CASE("what the data does not declare is advice until the data is open") {
  auto scenario = fake::scenario({fake::layer(fake::Dense{}, {"waveform"}, {"latent"})});
  scenario.data.source = AnyDataSource(fake::Source{.complete = false});
  CHECK(fake::codes(check(scenario, {.registry = fake::registry()}), false) == "W816");
  DataDeclaration opened;
  opened.features["features"] = {.shape = {6}};
  CHECK(fake::codes(check(CompileInput(scenario, nullptr, opened), {.registry = fake::registry()})) ==
        "E801");
}

TEST_CASE("a layer without infer is named in a note and leaves what follows unknown") {
  auto scenario = fake::scenario({fake::layer(fake::Opaque{}, {"features"}, {"latent"}),
                                  fake::layer(nn_module("fake.nn:Linear", 99, 4), {"latent"}, {"out"})});
  CHECK(fake::codes(check(scenario, {.registry = fake::registry()}), false) == "W815");
}

TEST_CASE("unknown sizes of the data reach as far as they have to") {
  auto scenario = fake::scenario({fake::layer(fake::Dense{.size = 3}, {"features"}, {"latent"})});
  scenario.data.source.reset();
  scenario.data.input_shapes["features"] = {unknown_size, 6};
  CHECK(check(scenario, {.registry = fake::registry()}).empty());
  const auto pipeline = compile(scenario, {.registry = fake::registry()});
  CHECK(to_string(*pipeline->specs().find("latent")) == "[?, 3] float32");
}
