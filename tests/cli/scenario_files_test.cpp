// Scenario files as an operator meets them: accepted with the right values, or refused with one clear
// message.
#include <catch2/catch.hpp>
#include <filesystem>

#include "cli/run_host.h"

using namespace nexuml;
using namespace nexuml::test;

namespace {

namespace fs = std::filesystem;

const std::string kData = NEXUML_TEST_DATA;

Value read_json(const std::string& path) {
  Diagnostics problems;
  Value value = parse_json(read_bytes(path), path, problems);
  REQUIRE_FALSE(problems.has_errors());
  return value;
}

Value read_yaml(const std::string& text) {
  Diagnostics problems;
  Value value = parse_yaml(text, "stdout", problems);
  INFO(problems.to_text());
  REQUIRE_FALSE(problems.has_errors());
  return value;
}

// The value at `pipeline.stages.Decoder[0].component`.
const Value* at_path(const Value& root, const std::string& path) {
  const Value* value = &root;
  for (std::size_t begin = 0; value && begin < path.size();) {
    if (path[begin] == '[') {
      const std::size_t end = path.find(']', begin);
      const std::size_t index = std::stoul(path.substr(begin + 1, end - begin - 1));
      value = value->is_list() && index < value->size() ? &value->items()[index] : nullptr;
      begin = end + 1;
    } else {
      begin += path[begin] == '.' ? 1 : 0;
      const std::size_t end = std::min(path.find_first_of(".[", begin), path.size());
      value = value->find(path.substr(begin, end - begin));
      begin = end;
    }
  }
  return value;
}

void expect_refusal(const HostRun& run, const Value& expected) {
  CHECK(run.exit_code == 1);
  if (const Value* words = expected.find("must_mention"))
    for (const Value& word : words->items()) CHECK_THAT(run.err, Catch::Contains(word.as_string()));
  CHECK_THAT(run.err, Catch::Contains(": error E"));
  CHECK_THAT(run.err, !Catch::Contains("terminate") && !Catch::Contains("frame #"));
}

void expect_acceptance(const HostRun& run, const Value& expected) {
  INFO(run.err);
  REQUIRE(run.exit_code == 0);
  const Value scenario = read_yaml(run.out);
  if (const Value* values = expected.find("values"))
    for (const auto& [path, value, position] : values->entries()) {
      INFO(path);
      const Value* found = at_path(scenario, path);
      REQUIRE(found != nullptr);
      CHECK(*found == value);
    }
}

// Runs `resolve` on every file of a folder that its expected.json speaks of.
void run_case(const std::string& folder) {
  TestTree tree;
  const Value expected = read_json(kData + "/cases/" + folder + "/expected.json");
  for (const auto& [file, verdict, position] : expected.entries()) {
    INFO(folder << "/" << file);
    const HostRun run = run_host(tree, {"resolve", kData + "/cases/" + folder + "/" + file});
    if (verdict.at("verdict") == Value("accept"))
      expect_acceptance(run, verdict);
    else
      expect_refusal(run, verdict);
  }
}

std::string base_scenario() {
  return read_bytes(kData + "/cases/base.yaml");
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const std::size_t at = text.find(from);
  REQUIRE(at != std::string::npos);
  return text.replace(at, from.size(), to);
}

struct BadFile {
  const char* what;
  std::string text;
  const char* code;
  const char* place;  // line:column in the file
};

}  // namespace

TEST_CASE("numbers, texts and booleans of YAML 1.2 are what a reader of the file expects") {
  for (const char* folder :
       {"Y01-sci-notation", "Y03-on-off-no", "Y11-null-vs-missing", "Y13-sexagesimal-dates"})
    run_case(folder);
}

TEST_CASE("duplicate keys, tabs and documents that explode are refused with their place") {
  for (const char* folder : {"Y05-duplicate-keys", "Y07-alias-bomb", "Y09-tabs-trailing-space"})
    run_case(folder);
}

TEST_CASE(
    "a misspelt component is refused with the near name, another kind and another version are told apart") {
  run_case("R05-unknown-near-names");
}

TEST_CASE("blanks at the ends of lines change nothing") {
  TestTree tree;
  const HostRun clean = run_host(tree, {"resolve", kData + "/cases/base.yaml"});
  const HostRun trailing =
      run_host(tree, {"resolve", kData + "/cases/Y09-tabs-trailing-space/trailing.yaml"});
  REQUIRE(clean.exit_code == 0);
  CHECK(clean.out == trailing.out);
}

TEST_CASE("every kind of broken scenario file is one clear error with its place, exit 1, and no run folder") {
  const std::string base = base_scenario();
  const std::vector<BadFile> files{
      {"an empty file", "", "E707", ""},
      {"an unterminated quote", "name: \"x\n", "E703", "1:7"},
      {"a control character", "name: x\x01\n", "E702", "1:8"},
      {"invalid UTF-8", "name: \xff\xfe\n", "E702", "1:7"},
      {"two documents", "name: a\n---\nname: b\n", "E706", "2:1"},
      {"an unknown field", replaced(base, "  lr: 0.001\n  acc", "  lrr: 0.001\n  acc"), "E710", ""},
      {"a version without quotes", replaced(base, "version: '1'", "version: 1"), "E712", ""},
      {"NaN", replaced(base, "  lr: 0.001\n  acc", "  lr: .nan\n  acc"), "E716", ""},
      {"a batch size of zero", replaced(base, "batch_size: 16", "batch_size: 0"), "E713", ""},
      {"a wrong type", replaced(base, "max_epochs: 2", "max_epochs: two"), "E712", ""},
      {"a loss that nothing produces", replaced(base, "    reconstruction_loss: 1.0", "    recon: 1.0"),
       "E804", ""},
      {"an unknown target", replaced(base, "torch.optim.adam:Adam", "torch.optim.adam:Adan"), "E733", ""},
      {"a removed component", replaced(base, "type: LinearEncoder", "type: Dropout"), "E735", ""}};
  for (const BadFile& file : files) {
    TestTree tree;
    tree.write("scenario.yaml", file.text);
    const HostRun run = run_host(tree, {"train", "scenario.yaml", "--run-dir", "run"});
    INFO(file.what << "\n" << run.err);
    CHECK(run.exit_code == 1);
    CHECK_THAT(run.err, Catch::Contains(std::string("error ") + file.code));
    if (*file.place) CHECK_THAT(run.err, Catch::Contains(std::string("scenario.yaml:") + file.place));
    CHECK_FALSE(fs::exists(tree.path("run")));
  }
}

TEST_CASE("a missing file, a folder and an unknown scenario are told apart") {
  TestTree tree;
  fs::create_directory(tree.path("folder.yaml"));
  CHECK_THAT(run_host(tree, {"check", "nowhere.yaml"}).err, Catch::Contains("does not exist"));
  CHECK_THAT(run_host(tree, {"check", "folder.yaml"}).err, Catch::Contains("directory"));
  const HostRun unknown = run_host(tree, {"train", "digits-clasifier"});
  CHECK(unknown.exit_code == 1);
  CHECK_THAT(unknown.err, Catch::Contains("digits-classifier"));
}

TEST_CASE("overrides are typed, take list indices, null and component parameters, and name the nearest key") {
  TestTree tree;
  tree.write("s.yaml", base_scenario());
  const HostRun run = run_host(
      tree, {"resolve", "s.yaml", "-O", "training.max_epochs=7", "-O", "data.num_classes=null", "-O",
             "pipeline.stages.Encoder[0].component.params.hidden_dims=[48, 24]", "-O", "name=other"});
  INFO(run.err);
  REQUIRE(run.exit_code == 0);
  const Value scenario = read_yaml(run.out);
  CHECK(*at_path(scenario, "training.max_epochs") == Value(7));
  CHECK(*at_path(scenario, "name") == Value("other"));
  CHECK(*at_path(scenario, "pipeline.stages.Encoder[0].component.params.hidden_dims") ==
        Value(std::vector{48, 24}));

  const HostRun misspelt = run_host(tree, {"resolve", "s.yaml", "-O", "training.max_epoch=7"});
  CHECK(misspelt.exit_code == 1);
  CHECK_THAT(misspelt.err, Catch::Contains("E721") && Catch::Contains("max_epochs"));
  const HostRun mistyped = run_host(tree, {"resolve", "s.yaml", "-O", "training.max_epochs=many"});
  CHECK(mistyped.exit_code == 1);
  CHECK_THAT(mistyped.err, Catch::Contains("E712") && Catch::Contains("training.max_epochs"));
}

TEST_CASE(
    "the resolved files of NexuML 0.2.1 are written back equal in meaning or name what is not there yet") {
  TestTree tree;
  for (const auto& entry : fs::directory_iterator(kData + "/scenarios")) {
    if (entry.path().extension() != ".yaml") continue;
    INFO(entry.path().filename().string());
    const HostRun run = run_host(tree, {"resolve", entry.path().string()});
    if (run.exit_code == 0) {
      CHECK(read_yaml(run.out) == read_yaml(read_bytes(entry.path().string())));
    } else {
      CHECK(run.exit_code == 1);
      CHECK_THAT(run.err,
                 Catch::Contains(entry.path().filename().string() + ":") && Catch::Contains("error E7"));
    }
  }
}

TEST_CASE("build opens no data where its shapes are declared") {
  TestTree tree;
  const std::string digits = std::string(NEXUML_SOURCE_ROOT) + "/examples/scenarios/digits-classifier.yaml";
  const HostRun run =
      run_host(tree, {"build", digits, "-O",
                      "data.datasets[0].source.params={path: nowhere.csv, label: label, label_key: digit}",
                      "-O", "data.input_shapes.features=[64]"});
  INFO(run.all());
  CHECK(run.exit_code == 0);
  CHECK_THAT(run.out, Catch::Contains("5 layers"));
}

namespace {

// `6:17 E801` of every error that `check` told with --json.
std::vector<std::string> places_and_codes(const HostRun& run) {
  std::vector<std::string> told;
  const Value answer = run.json();
  for (const Value& problem : answer.at("diagnostics").items())
    if (problem.at("severity") == Value("error"))
      told.push_back(std::to_string(problem.at("where").at("line").as_integer()) + ":" +
                     std::to_string(problem.at("where").at("column").as_integer()) + " " +
                     problem.at("code").as_string());
  return told;
}

}  // namespace

TEST_CASE("mistakes of reading hide no mistakes of the graph") {
  TestTree tree;
  const HostRun run = run_host(tree, {"check", kData + "/mistakes/of_every_stage.yaml", "--json"});
  CHECK(run.exit_code == 1);
  CHECK(places_and_codes(run) ==
        std::vector<std::string>{"5:82 E710", "6:17 E801", "8:25 E730", "12:110 E733", "15:7 E710",
                                 "16:18 E807", "19:125 E717", "24:27 E801", "27:3 E710", "28:15 E804",
                                 "29:53 E734", "30:88 E812", "33:26 E811"});
  CHECK_THAT(run.out, Catch::Contains("Encoder/00_LinearEncoder") && !Catch::Contains("UnreadLayer"));
}

TEST_CASE("check does not say that it found no problem where it warned") {
  TestTree tree;
  const std::string with_unused = tree.write(
      "more.yaml",
      replaced(base_scenario(), "    Loss:\n",
               "    Spare:\n    - component: {type: LinearEncoder, version: '1', params: {hidden_dims: [], "
               "output_dim: 2}}\n      keys_in: [latent]\n      keys_out: [spare]\n    Loss:\n"));
  const HostRun warned = run_host(tree, {"check", with_unused});
  INFO(warned.all());
  CHECK(warned.exit_code == 0);
  CHECK_THAT(warned.err, Catch::Contains("W814"));
  CHECK_THAT(warned.out, Catch::Contains("no error found") && !Catch::Contains("no problem found"));
}

TEST_CASE("check looks at every file that it was given, also behind one that has mistakes") {
  TestTree tree;
  const std::string bad =
      tree.write("bad.yaml", replaced(base_scenario(), "keys_in: [latent]", "keys_in: [laten]"));
  const std::string good = tree.write("good.yaml", base_scenario());
  const HostRun run = run_host(tree, {"check", bad, good, bad});
  CHECK(run.exit_code == 1);
  CHECK_THAT(run.err, Catch::Contains("did you mean latent?"));
  CHECK_THAT(run.out, Catch::Contains(good + ": 3 layers in 3 stages, no problem found"));
}
