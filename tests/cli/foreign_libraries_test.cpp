// Two libraries that register one name, and one broken library among others: the commands with real libraries
// beside their manifests.
#include <catch2/catch.hpp>
#include <set>

#include "cli/run_host.h"

using namespace nexuml;
using namespace nexuml::test;

namespace {

const std::string base_scenario = std::string(NEXUML_TEST_DATA) + "/cases/base.yaml";
const std::string focal_scenario =
    std::string(NEXUML_TEST_DATA) + "/cases/R01-duplicate-identity/scenario.yaml";

// The reported case, its libraries built for this host.
void write_broken_libraries(const TestTree& tree) {
  fs::copy(test_data("broken_libraries"), tree.path("broken_libraries"), fs::copy_options::recursive);
  const std::string built_for = "x86_64-linux-gnu;libstdcxx-cxx11;torch-2.15.0;tbb-12";
  for (const auto& entry : fs::recursive_directory_iterator(tree.path("broken_libraries"))) {
    if (!entry.is_regular_file() || entry.path().extension() != ".json") continue;
    std::string text = read_bytes(entry.path());
    const auto at = text.find(built_for);
    if (at == std::string::npos) continue;
    std::ofstream(entry.path(), std::ios::binary) << text.replace(at, built_for.size(), host_abi().tag);
  }
}

// Two libraries with layer/focal_loss@1, one of them reached by a link, too; and one that has nothing to do
// with it.
void write_conflict(const TestTree& tree) {
  tree.copy_fixture("alpha", "root/alpha");
  tree.copy_fixture("beta", "root/beta");
  tree.copy_fixture("good", "root/good");
  fs::create_directory_symlink("alpha", tree.path("root/gamma_link"));
}

std::map<std::string, std::vector<std::string>> states_of_layers(const Value& listing) {
  std::map<std::string, std::vector<std::string>> states;
  for (const Value& entry : listing.at("layers").items())
    states[entry.at("name").as_string()].push_back(entry.at("state").as_string());
  return states;
}

}  // namespace

TEST_CASE("one identity in two libraries: both are named, neither wins, a link is no third library") {
  TestTree tree;
  write_conflict(tree);
  const HostRun listed = run_host(tree, {"registry", "list", "--json", "--root", "root"});
  REQUIRE(listed.exit_code == 0);
  const Value document = listed.json();
  auto states = states_of_layers(document);
  CHECK(states["focal_loss"] == std::vector<std::string>{"conflicting", "conflicting"});
  CHECK(states["beta_only"] == std::vector<std::string>{"declared"});
  CHECK(states["gain"] == std::vector<std::string>{"declared"});
  std::set<std::string> libraries;
  for (const Value& entry : document.at("layers").items()) libraries.insert(entry.at("path").as_string());
  CHECK(std::ranges::none_of(libraries,
                             [](const std::string& path) { return path.find("gamma") != path.npos; }));

  const HostRun inspected = run_host(tree, {"inspect", "focal_loss", "--root", "root"});
  CHECK_THAT(inspected.all(),
             Catch::Contains("org.example.alpha 1.0.0") && Catch::Contains("org.example.beta 2.1.0"));
}

TEST_CASE("a scenario that needs the disputed component fails with the conflict and both manifests") {
  TestTree tree;
  write_conflict(tree);
  for (const char* command : {"check", "resolve", "train"}) {
    const HostRun run = run_host(tree, {command, focal_scenario, "--root", "root"});
    INFO(run.all());
    CHECK(run.exit_code == 1);
    CHECK_THAT(run.err,
               Catch::Contains("E501") && Catch::Contains("layer/focal_loss") &&
                   Catch::Contains("org.example.alpha 1.0.0") && Catch::Contains("org.example.beta 2.1.0") &&
                   Catch::Contains("test_alpha.nexuml.json") && Catch::Contains("test_beta.nexuml.json"));
    CHECK_THAT(run.err, !Catch::Contains("E730"));
  }
}

TEST_CASE("a conflict that nobody asks for disturbs no run, and each library alone works") {
  TestTree tree;
  write_conflict(tree);
  CHECK(run_host(tree, {"check", base_scenario, "--root", "root"}).exit_code == 0);
  CHECK(run_host(tree, {"inspect", "beta_only", "--root", "root"}).exit_code == 0);
  const HostRun alone = run_host(tree, {"resolve", focal_scenario, "--root", "root"},
                                 {"NEXUML_COMPONENT_DISABLE=org.example.beta"});
  INFO(alone.all());
  CHECK(alone.exit_code == 0);
}

TEST_CASE("with broken libraries beside good ones every command works") {
  TestTree tree;
  tree.copy_fixture("good", "root/good");
  const std::string broken = test_data("broken_libraries");
  CHECK(run_host(tree, {"library", "add", broken}).exit_code == 0);
  for (const auto& arguments : std::vector<std::vector<std::string>>{
           {"--help"},
           {"registry", "list"},
           {"library", "list"},
           {"resolve", base_scenario},
           {"check", base_scenario},
           {"train", base_scenario, "--run-dir", "run", "--max-epochs", "1"},
           {"inspect", "gain", "--root", "root"},
           {"library", "delete", broken}}) {
    const HostRun run = run_host(tree, arguments);
    INFO(run.all());
    CHECK(run.exit_code == 0);
  }
}

TEST_CASE("doctor says one thing of each broken library, with its code, and opens the good one") {
  TestTree tree;
  tree.copy_fixture("good", "root/good");
  write_broken_libraries(tree);
  const HostRun run = run_host(tree, {"doctor", "--json", "--root", "broken_libraries", "--root", "root"});
  CHECK(run.exit_code == 3);
  const Value document = run.json();
  std::map<std::string, std::string> codes_of;
  for (const Value& entry : document.at("diagnostics").items()) {
    const Value* file = entry.at("where").find("file");
    if (!file || file->as_string().find("broken_libraries/") == std::string::npos) continue;
    const fs::path inner = fs::path(file->as_string()).lexically_relative("broken_libraries");
    codes_of[inner.begin()->string()] += entry.at("code").as_string();
  }
  CHECK(codes_of == std::map<std::string, std::string>{{"array_manifest", "E102"},
                                                       {"bom", "E101"},
                                                       {"dupkey", "E102"},
                                                       {"empty_manifest", "E102"},
                                                       {"empty_so", "E201"},
                                                       {"escape", "E104"},
                                                       {"future", "E103"},
                                                       {"missing_so", "E101"},
                                                       {"pe_so", "E201"},
                                                       {"text_so", "E201"}});
  bool good_opens = false;
  for (const Value& entry : document.at("libraries").items())
    good_opens |= entry.at("id") == Value("test.good") && entry.at("opens") == Value(true);
  CHECK(good_opens);
}
