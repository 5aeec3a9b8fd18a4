// What a user does wrong, or what goes wrong around a run, and the code of what he is told. Rooms test their
// messages themselves; this is the table of codes that a whole command gives.
#include <catch2/catch.hpp>

#include "cli/run_host.h"
#include "engine/engine_entry.h"
#include "loading/library_loader.h"

using namespace nexuml;
using namespace nexuml::test;

namespace {

const std::string case_folder = NEXUML_TEST_DATA "/cases/";
const std::string autoencoder = case_folder + "base.yaml";

using Words = std::vector<std::string>;

Words codes_of(const HostRun& run) {
  Words found;
  const Value document = run.json();
  const Value* list = document.find("diagnostics");
  if (!list) return {run.all()};
  for (const Value& entry : list->items()) found.push_back(entry.at("code").as_string());
  return found;
}

bool tells(const HostRun& run, const std::string& code) {
  const Words found = codes_of(run);
  return std::ranges::find(found, code) != found.end();
}

HostRun train(const TestTree& tree, Words more, const std::string& run_folder = "run") {
  Words arguments{"train", autoencoder, "--json", "--run-dir", run_folder, "-O", "training.max_epochs=1"};
  arguments.insert(arguments.end(), more.begin(), more.end());
  return run_host(tree, arguments);
}

void check_training(const std::string& code, int exit_code, Words overrides) {
  TestTree tree;
  Words more;
  for (const auto& text : overrides) more.insert(more.end(), {"-O", text});
  const HostRun run = train(tree, more);
  INFO(code << "\n" << run.all());
  CHECK(tells(run, code));
  CHECK(run.exit_code == exit_code);
}

}  // namespace

TEST_CASE("settings that a run cannot be made of are refused with their code") {
  check_training("E845", 1, {"training.scheduler.warmup=5x"});
  check_training("E839", 1, {"training.batch_size=1000", "data.loader.drop_last=true"});
  check_training("E856", 1, {"evaluation.metrics=[acuracy]"});
}

TEST_CASE("advice about a run is told, and the run goes on") {
  check_training("W838", 0, {"data.loader.weighted_sampling=true"});
  check_training("W849", 0, {"logging={tensorboard: {log_dir: /dev/null/logs}}"});
  check_training("W839", 0, {"data.train_split=0.85", "data.val_split=0.15", "data.test_split=0.0"});
}

TEST_CASE("weights that cannot be used are refused with their code") {
  TestTree tree;
  REQUIRE(train(tree, {}, "first").exit_code == 0);
  const std::string weights = tree.path("first/checkpoints/0/model.safetensors");
  const auto from = [&](const std::string& source, Words more = {}) {
    more.insert(more.begin(), {"-O", "checkpoint={source: '" + source + "'}"});
    return train(tree, more,
                 "run" + std::to_string(std::hash<std::string>()(source + std::to_string(more.size()))));
  };
  CHECK(tells(from(weights), "W765"));
  const HostRun cut_off = from(tree.write("cut.safetensors", read_bytes(weights).substr(0, 100)));
  INFO(cut_off.all());
  CHECK((tells(cut_off, "E751") || tells(cut_off, "E752")));
  CHECK(tells(from(tree.write("cut.pt", "PK\3\4 and no more")), "E756"));
  CHECK(tells(from(tree.write("page.safetensors", "<html>")), "E751"));
}

TEST_CASE("a run folder that cannot be continued or evaluated is refused with its code") {
  TestTree tree;
  REQUIRE(train(tree, {}, "run").exit_code == 0);
  CHECK(tells(train(tree, {}, "run"), "E887"));
  fs::create_directory(tree.path("empty"));
  CHECK(tells(run_host(tree, {"evaluate", "empty", "--json"}), "E888"));
  const HostRun other_threads = run_host(tree, {"train", "--resume", "run", "--json", "--threads", "2",
                                                "--run-dir", "again", "-O", "training.max_epochs=2"});
  INFO(other_threads.all());
  CHECK((tells(other_threads, "W764") || other_threads.exit_code == 0));
  CHECK(tells(other_threads, "W766"));
  std::string bytes = read_bytes(tree.path("run/checkpoints/0/model.safetensors"));
  bytes[bytes.size() - 2] = static_cast<char>(bytes[bytes.size() - 2] ^ 1);
  tree.write("run/checkpoints/0/model.safetensors", bytes);
  CHECK(tells(run_host(tree, {"evaluate", "run", "--json"}), "E763"));
  fs::remove_all(tree.path("run/checkpoints"));
  CHECK(tells(run_host(tree, {"evaluate", "run", "--json"}), "E764"));
}

TEST_CASE("cases that try cannot run are refused with their code") {
  TestTree tree;
  CHECK(tells(run_host(tree, {"try", tree.write("other.json", "{\"format\": \"something\"}"), "--json"}),
              "E870"));
  tree.write("case.json", R"({"format": "nexuml-case/1", "case": "none", "kind": "metric_function",
                              "function": "no_such_function", "args": {}, "expected": 1})");
  const HostRun run = run_host(tree, {"try", tree.path("case.json"), "--json"});
  INFO(run.all());
  CHECK((tells(run, "E870") || tells(run, "E871") || run.out.find("no_such_function") != std::string::npos));
}

TEST_CASE("what the host itself is asked wrongly has a code") {
  TestTree tree;
  const auto code_of = [&](Words arguments) {
    arguments.push_back("--json");
    const Words found = codes_of(run_host(tree, arguments));
    return found.empty() ? std::string() : found.front();
  };
  CHECK(code_of({"registry", "list", "--use", "acme"}) == "E881");
  CHECK(code_of({"registry", "list", "--root", "/no/such/root"}) == "E105");
  CHECK(code_of({"library", "delete", "/never/added"}) == "E109");
  CHECK(code_of({"resolve", autoencoder, "-o", "/dev/null/inside/a.yaml"}) == "E108");
  tree.write("config/nexuml/libraries.json", "{\"roots\": [");
  CHECK(code_of({"registry", "list"}) == "W107");
  CHECK(code_of({"library", "add", "/tmp"}) == "E107");
}

TEST_CASE("a run that is interrupted says after which step, and what was kept") {
  TestTree tree;
  const std::string out = tree.path("out");
  const std::string command = "cd " + quoted(tree.path()) + " && timeout -s INT 4 " +
                              quoted(NEXUML_RUN_PATH) + " train " + quoted(autoencoder) +
                              " --run-dir run --max-epochs 1000000 --json >" + quoted(out) + " 2>/dev/null";
  (void)std::system(command.c_str());
  CHECK_THAT(read_bytes(out), Catch::Contains("W845"));
}

TEST_CASE("a command that fails for a reason of the system says so with E880") {
  TestTree tree;
  const std::string out = tree.path("out");
  // A process whose folder is gone cannot tell where a relative path leads.
  const std::string command = "cd " + quoted(tree.path()) + " && mkdir gone && cd gone && rmdir ../gone && " +
                              quoted(NEXUML_RUN_PATH) + " validate some/library --json >" + quoted(out) +
                              " 2>&1";
  CHECK(WEXITSTATUS(std::system(command.c_str())) == 1);
  CHECK_THAT(read_bytes(out), Catch::Contains("E880"));
}

TEST_CASE("the engine names a command that it does not know, and a failure that nobody foresaw") {
  TestTree tree;
  const Environment environment = process_environment();
  LibraryLoader loader(discover({.builtin_only = true}, environment), environment);
  Diagnostics problems;
  REQUIRE(loader.open_runtime(problems));
  const auto engine = loader.open_own("libnexuml-engine.so", problems);
  REQUIRE(engine);
  const auto engine_main = engine->get<int(const nexuml_engine_call*)>(NEXUML_ENGINE_ENTRY_SYMBOL);
  const auto call = [&](const char* command, const Value& options) {
    Diagnostics found;
    Value answer;
    const nexuml_engine_call asked{sizeof(nexuml_engine_call), command, &options, &loader, &found, &answer};
    CHECK(engine_main(&asked) == 1);
    return codes(found);
  };
  CHECK(call("no-such-command", Value::map()) == Words{"E882"});
  CHECK(call("check", Value::map({{"threads", "many"}})) == Words{"E889"});
}

TEST_CASE("a part of the product that is missing is named") {
  TestTree tree;
  LibraryLoader loader(discover({}, empty_environment(tree)), empty_environment(tree));
  Diagnostics problems;
  CHECK_FALSE(loader.open_own("libnexuml-engine.so", problems));
  CHECK(codes(problems) == Words{"E886"});
}
