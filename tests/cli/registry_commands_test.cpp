#include <catch2/catch.hpp>

#include "cli/run_host.h"

using namespace nexuml;
using namespace nexuml::test;

namespace {

const std::string good = TestTree::fixture_root("good");

}  // namespace

TEST_CASE("every command has help, and commands for the build have none") {
  TestTree tree;
  const HostRun help = run_host(tree, {"--help"});
  CHECK(help.exit_code == 0);
  CHECK_THAT(help.out, Catch::Contains("registry") && Catch::Contains("train") && !Catch::Contains("__"));
  for (const char* command : {"resolve", "registry", "backend", "library", "inspect", "doctor", "train"}) {
    CHECK(run_host(tree, {command, "--help"}).exit_code == 0);
  }
}

TEST_CASE("a bad command line is exit 2 and one message on stderr") {
  TestTree tree;
  const std::vector<std::vector<std::string>> bad{{},
                                                  {"no-such-command"},
                                                  {"registry"},
                                                  {"registry", "list", "colours"},
                                                  {"train"},
                                                  {"registry", "list", "--no-such-option"},
                                                  {"doctor", "--threads", "0"},
                                                  {"registry", "list", "--root", "/no/such/root"}};
  for (const auto& arguments : bad) {
    const HostRun run = run_host(tree, arguments);
    INFO(run.all());
    CHECK(run.exit_code == 2);
    CHECK_FALSE(run.err.empty());
  }
}

TEST_CASE("a command that does not exist is named with the near one, also inside a group") {
  TestTree tree;
  CHECK(run_host(tree, {"trian"}).err == "there is no command 'trian'; did you mean train?\n");
  CHECK(run_host(tree, {"registry", "lst"}).err == "there is no command 'lst'; did you mean list?\n");
  CHECK(run_host(tree, {"checkpoints-of-mine"})
            .err.starts_with("there is no command 'checkpoints-of-mine'; there are: "));
}

TEST_CASE("registry list shows what manifests declare, as a table and as one JSON document") {
  TestTree tree;
  const HostRun table = run_host(tree, {"registry", "list", "layers", "--root", good});
  CHECK(table.exit_code == 0);
  CHECK_THAT(table.out, Catch::Contains("gain") && Catch::Contains("test.good") && !Catch::Contains("ramp"));

  const Value json = run_host(tree, {"--json", "registry", "list", "--root", good}).json();
  for (const char* kind : {"layers", "data", "eval", "loaders", "scenarios", "targets"})
    CHECK(json.find(kind));
  CHECK(json.at("diagnostics").size() == 0);
  bool found = false;
  for (const Value& entry : json.at("layers").items()) {
    if (entry.at("name") == Value("gain")) {
      found = true;
      CHECK(entry.at("version") == Value("1"));
      CHECK(entry.at("library") == Value("test.good"));
      CHECK(entry.at("state") == Value("declared"));
    }
  }
  CHECK(found);
}

TEST_CASE("folders that give their entries in another order give the same bytes") {
  TestTree tree;
  for (const char* name : {"good", "alpha", "beta", "needs_good", "good_1_10", "no_entry"})
    tree.copy_fixture(name, std::string("root/") + name);
  fs::create_directory_symlink("alpha", tree.path("root/zeta"));
  fs::copy(tree.path("root/good/test.good/libtest_good.so"), tree.path("root/bare.so"));
  const std::string preload = "LD_PRELOAD=" NEXUML_SHUFFLED_FOLDERS;
  for (const auto& arguments : std::vector<std::vector<std::string>>{{"registry", "list", "--json"},
                                                                     {"doctor", "--no-probe", "--json"},
                                                                     {"inspect", "gain", "--json"}}) {
    auto with_root = arguments;
    with_root.insert(with_root.end(), {"--root", "root"});
    const HostRun plain = run_host(tree, with_root);
    for (int seed = 0; seed < 8; ++seed) {
      const HostRun run = run_host(tree, with_root,
                                   {preload, "NEXUML_TEST_SHUFFLE=" + std::to_string(seed),
                                    "ASAN_OPTIONS=verify_asan_link_order=0:detect_leaks=0"});
      INFO(arguments.front() << " with seed " << seed << '\n' << run.all());
      CHECK(run.err.find("cannot be preloaded") == std::string::npos);
      CHECK(run.out == plain.out);
    }
  }
}

TEST_CASE("broken libraries disturb no command, and doctor lists each") {
  TestTree tree;
  const std::string broken = test_data("broken_libraries");
  for (const auto& arguments : std::vector<std::vector<std::string>>{{"--help"},
                                                                     {"registry", "list"},
                                                                     {"library", "list"},
                                                                     {"backend", "list"},
                                                                     {"inspect", "gain", "--root", good}}) {
    auto with_root = arguments;
    with_root.insert(with_root.end(), {"--root", broken});
    const HostRun run = run_host(tree, with_root);
    INFO(run.all());
    CHECK(run.exit_code == 0);
  }
  const HostRun listed = run_host(tree, {"registry", "list", "--json", "--root", broken});
  std::size_t in_root = 0;
  const Value document = listed.json();
  for (const Value& entry : document.at("diagnostics").items()) {
    if (const Value* file = entry.at("where").find("file")) in_root += file->as_string().starts_with(broken);
  }
  CHECK(in_root == 10);
  const HostRun doctor = run_host(tree, {"doctor", "--root", broken});
  CHECK(doctor.exit_code == 3);
  for (const char* folder : {"array_manifest", "bom", "dupkey", "empty_manifest", "empty_so", "escape",
                             "future", "missing_so", "pe_so", "text_so"}) {
    CHECK_THAT(doctor.all(), Catch::Contains(std::string("/") + folder + "/"));
  }
  CHECK_THAT(doctor.all(), !Catch::Contains("dir_named"));
}

TEST_CASE("doctor starts with what belongs into a bug report") {
  TestTree tree;
  const HostRun run = run_host(tree, {"doctor", "--root", good});
  CHECK_THAT(run.out, Catch::Contains("abi") && Catch::Contains("x86_64-linux-gnu;libstdcxx-cxx11") &&
                          Catch::Contains("LibTorch") && Catch::Contains("test.good 1.0.0"));
}

TEST_CASE("roots are added once, listed and deleted") {
  TestTree tree;
  tree.copy_fixture("good", "my libraries/good");
  CHECK(run_host(tree, {"library", "add", "my libraries"}).exit_code == 0);
  CHECK(run_host(tree, {"library", "add", "./my libraries/"}).exit_code == 0);
  const std::string config = tree.path("config/nexuml/libraries.json");
  const std::string once = read_bytes(config);
  CHECK(once.find("my libraries") == once.rfind("my libraries"));
  CHECK_THAT(run_host(tree, {"library", "list"}).out,
             Catch::Contains(tree.path("my libraries")) && Catch::Contains("test.good"));
  CHECK_THAT(run_host(tree, {"registry", "list"}).out, Catch::Contains("gain"));
  CHECK_THAT(run_host(tree, {"registry", "list", "--builtin-only"}).out, !Catch::Contains("gain"));

  CHECK(run_host(tree, {"library", "delete", "elsewhere"}).exit_code == 1);
  CHECK(read_bytes(config) == once);
  fs::remove_all(tree.path("my libraries"));  // a root that is gone can still be deleted
  CHECK(run_host(tree, {"library", "delete", "my libraries"}).exit_code == 0);
  CHECK_THAT(run_host(tree, {"library", "list"}).out, !Catch::Contains("my libraries"));
}

TEST_CASE("adding a folder that is not there is exit 2 and writes nothing") {
  TestTree tree;
  CHECK(run_host(tree, {"library", "add", "missing"}).exit_code == 2);
  CHECK_FALSE(fs::exists(tree.path("config")));
}

TEST_CASE("a damaged configuration is never written over") {
  TestTree tree;
  tree.write("config/nexuml/libraries.json", "{\"roots\": [");
  CHECK(run_host(tree, {"library", "add", "."}).exit_code == 1);
  CHECK(read_bytes(tree.path("config/nexuml/libraries.json")) == "{\"roots\": [");
  CHECK(run_host(tree, {"registry", "list"}).exit_code == 0);
}

TEST_CASE("backends are listed by category, and an unknown one is refused") {
  TestTree tree;
  CHECK_THAT(run_host(tree, {"backend", "list"}).out,
             Catch::Contains("training") && Catch::Contains("local"));
  CHECK_THAT(run_host(tree, {"backend", "list", "training"}).out, !Catch::Contains("tracking"));
  CHECK(run_host(tree, {"backend", "list", "colours"}).exit_code == 2);
}

TEST_CASE("inspect shows fields, defaults and words of a component, and its JSON Schema") {
  TestTree tree;
  const HostRun run = run_host(tree, {"inspect", "layer/gain@1", "--root", good});
  CHECK(run.exit_code == 0);
  CHECK_THAT(run.out,
             Catch::Contains("number > 0") && Catch::Contains("The factor.") && Catch::Contains("\"plain\""));
  const HostRun schema = run_host(tree, {"inspect", "gain", "--schema", "--root", good});
  CHECK(schema.json().at("properties").at("factor").at("exclusiveMinimum") == Value(0.0));
  CHECK_THAT(run_host(tree, {"inspect", "good-demo", "--root", good}).out, Catch::Contains("factor"));
  CHECK_THAT(run_host(tree, {"inspect", "test.good", "--root", good}).out,
             Catch::Contains("provides layer/gain@1"));
  const HostRun unknown = run_host(tree, {"inspect", "gian", "--root", good});
  CHECK(unknown.exit_code == 1);
  CHECK_THAT(unknown.err, Catch::Contains("did you mean gain"));
}

TEST_CASE(
    "inspect tells of a library that aborts when it is opened what its manifest says, opening nothing") {
  TestTree tree;
  tree.copy_fixture("abort_in_static_init", "root");
  tree.write("root/test.abort_in_static_init/test_abort_in_static_init.nexuml-schemas.json",
             R"({"manifest_version": 1, "definitions": [{"kind": "layer", "name": "abort_in_static_init",
                 "version": "1", "schema": {"name": "Aborts", "summary": "Aborts.", "fields":
                 [{"name": "size", "type": {"kind": "integer"}, "default": 8}]}}]})");
  for (const char* subject :
       {"abort_in_static_init", "layer/abort_in_static_init@1", "layer", "test.abort_in_static_init"}) {
    const HostRun run = run_host(tree, {"inspect", subject, "--json", "--root", "root"});
    INFO(subject << "\n" << run.all());
    CHECK(run.exit_code == 0);
    CHECK(run.json().at("diagnostics").size() == 0);
  }
  const HostRun text = run_host(tree, {"inspect", "abort_in_static_init", "--root", "root"});
  CHECK(text.exit_code == 0);
  CHECK_THAT(text.out, Catch::Contains("from test.abort_in_static_init 1.0.0") && Catch::Contains("size"));
}

TEST_CASE("inspect --json gives the ABI of the library, and type, default and words of each field") {
  TestTree tree;
  const Value gain = run_host(tree, {"inspect", "gain", "--json", "--root", good}).json().at("layer/gain@1");
  CHECK_THAT(gain.at("abi").as_string(), Catch::Contains("-linux-gnu") && Catch::Contains("libstdcxx"));
  CHECK(gain.at("library") == Value("test.good"));
  REQUIRE(gain.at("fields").size() == 2);
  const Value& factor = gain.at("fields").items()[0];
  CHECK(factor.at("name") == Value("factor"));
  CHECK(factor.at("type") == Value("number > 0"));
  CHECK(factor.at("default") == Value(1.0));
  CHECK(factor.at("required") == Value(false));
  CHECK(factor.at("doc") == Value("The factor."));
  const Value& mode = gain.at("fields").items()[1];
  CHECK(mode.at("default") == Value("plain"));
  CHECK(!mode.find("doc"));
  const Value library = run_host(tree, {"inspect", "test.good", "--json", "--root", good}).json();
  CHECK(library.at("libraries").items().at(0).at("abi") == gain.at("abi"));
}

TEST_CASE("inspect shows shadowed copies beside the one that is used, and all components of a kind") {
  TestTree tree;
  const std::vector<std::string> roots{"--root", good, "--root", TestTree::fixture_root("good_1_10")};
  const auto inspect = [&](std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), "inspect");
    arguments.insert(arguments.end(), roots.begin(), roots.end());
    return run_host(tree, arguments);
  };
  const HostRun text = inspect({"gain"});
  CHECK_THAT(text.out, Catch::Contains("from test.good 1.0.0") && Catch::Contains("from test.good 1.10.0") &&
                           Catch::Contains("state shadowed: test.good 1.0.0 at"));
  const Value entry = inspect({"gain", "--json"}).json().at("layer/gain@1");
  CHECK(entry.at("version") == Value("1.0.0"));
  REQUIRE(entry.at("other_copies").size() == 1);
  CHECK(entry.at("other_copies").items()[0].at("version") == Value("1.10.0"));
  CHECK(entry.at("other_copies").items()[0].at("state") == Value("shadowed"));

  const HostRun kind = run_host(tree, {"inspect", "data", "--builtin-only"});
  CHECK_THAT(kind.out, Catch::Contains("data_source/synthetic@1") && Catch::Contains("num_samples"));
  CHECK_THAT(kind.out, !Catch::Contains("layer/"));
}

TEST_CASE("a conflict is shown by registry list with both libraries and their places") {
  TestTree tree;
  const HostRun run = run_host(tree, {"registry", "list", "--root", TestTree::fixture_root("alpha"), "--root",
                                      TestTree::fixture_root("beta")});
  CHECK(run.exit_code == 0);
  CHECK_THAT(run.all(), Catch::Contains("layer/focal_loss@1") && Catch::Contains("org.example.alpha 1.0.0") &&
                            Catch::Contains("org.example.beta 2.1.0") && Catch::Contains("conflicting"));
}
