#include <catch2/catch.hpp>
#include <map>

#include "cli/run_host.h"

using namespace nexuml;
using namespace nexuml::test;

namespace {

struct Report {
  HostRun run;
  // "subject: check" -> status, and its message.
  std::map<std::string, std::string> status, message;

  std::string status_of(const std::string& subject, const std::string& check) const {
    for (const auto& [name, value] : status)
      if (name.starts_with(subject + ": " + check)) return value;
    return "not there";
  }
  std::string message_of(const std::string& subject, const std::string& check) const {
    for (const auto& [name, value] : message)
      if (name.starts_with(subject + ": " + check)) return value;
    return "not there";
  }
};

Report validate(const TestTree& tree, const std::string& path, std::vector<std::string> more = {}) {
  std::vector<std::string> arguments{"validate", path, "--json"};
  arguments.insert(arguments.end(), more.begin(), more.end());
  Report report{.run = run_host(tree, arguments), .status = {}, .message = {}};
  const Value document = report.run.json();
  if (const Value* checks = document.find("checks")) {
    for (const Value& check : checks->items()) {
      const std::string name = check.at("subject").as_string() + ": " + check.at("check").as_string();
      report.status[name] = check.at("status").as_string();
      report.message[name] = check.at("message").as_string();
    }
  }
  return report;
}

}  // namespace

TEST_CASE("a library that keeps every contract passes, each of its components by name") {
  TestTree tree;
  const Report report = validate(tree, TestTree::fixture_root("contract_kept"));
  INFO(report.run.all());
  CHECK(report.run.exit_code == 0);
  CHECK(report.status_of("test.contract_kept", "opens") == "passed");
  CHECK(report.status_of("layer/kept_dense@1", "made from samples") == "passed");
  CHECK(report.status_of("layer/kept_dense@1", "restored from its own lowering") == "passed");
  CHECK(report.status_of("layer/kept_dense@1", "infers, builds and runs on [8] float32") == "passed");
  CHECK(report.status_of("layer/kept_dense@1", "gives the same on one thread and on two") == "passed");
  CHECK(report.status_of("data_source/kept_ramp@1", "its rows stack") == "passed");
  CHECK(report.status_of("eval_algorithm/kept_count@1", "runs over a batch") == "passed");
  CHECK(report.status_of("loader_backend/kept_in_order@1", "an epoch gives every row once") == "passed");
  CHECK(report.status_of("data_source/kept_ramp@1", "has the shapes that it declares") == "passed");
  for (const char* subject : {"layer/kept_dense@1", "data_source/kept_ramp@1", "eval_algorithm/kept_count@1",
                              "loader_backend/kept_in_order@1"}) {
    INFO(subject);
    CHECK(report.status_of(subject, "refuses wrong parameters by their names") == "passed");
  }
}

TEST_CASE(
    "each broken contract is one failed check, a crash is one line, and the others are tried all the same") {
  TestTree tree;
  const Report report = validate(tree, TestTree::fixture_root("contract_broken"));
  INFO(report.run.all());
  CHECK(report.run.exit_code == 3);
  CHECK(report.status_of("layer/infers_wrong@1", "gives what it inferred") == "failed");
  CHECK_THAT(report.message_of("layer/infers_wrong@1", "gives what it inferred"),
             Catch::Contains("inferred as [3] float32, it is [8] float32"));
  CHECK(report.status_of("layer/own_chance@1", "gives the same on one thread") == "failed");
  CHECK(report.status_of("layer/crashes@1", "keeps its contract") == "crashed");
  CHECK_THAT(report.message_of("layer/crashes@1", "keeps its contract"), Catch::Contains("SIGSEGV"));
  CHECK(report.status_of("layer/refuses_defaults@1", "made from its defaults") == "failed");
  CHECK_THAT(report.message_of("layer/refuses_defaults@1", "made from"), Catch::Contains("a size is needed"));
  CHECK(report.status_of("data_source/restless@1", "its rows stack") == "failed");
  CHECK(report.status_of("data_source/needs_file@1", "opens") == "skipped");
  CHECK(report.status_of("layer/needs_data@1", "made from samples") == "skipped");
  CHECK_THAT(report.message_of("layer/needs_data@1", "made from samples"), Catch::Contains("E872"));
  CHECK(report.status_of("loader_backend/skipping@1", "an epoch gives every row once") == "failed");
}

TEST_CASE("a definition that is not what it was after writing and reading is named with its field") {
  TestTree tree;
  const Report report = validate(tree, TestTree::fixture_root("contract_broken"));
  INFO(report.run.all());
  CHECK(report.status_of("layer/forgets@1", "restored from its own lowering") == "failed");
  CHECK_THAT(report.message_of("layer/forgets@1", "restored from its own lowering"),
             Catch::Contains("share was written as 50") && Catch::Contains("it is 5000"));
}

TEST_CASE("a layer whose numbers follow the number of threads fails, though its weights are equal") {
  TestTree tree;
  const Report report = validate(tree, TestTree::fixture_root("contract_broken"));
  INFO(report.run.all());
  CHECK(report.status_of("layer/counts_threads@1", "gives the same on one thread and on two") == "failed");
  CHECK_THAT(report.message_of("layer/counts_threads@1", "gives the same on one thread"),
             Catch::Contains("differs between one thread and two"));
}

TEST_CASE("a layer that is fitted after training has to say so, and one that builds nothing fails") {
  TestTree tree;
  const Report report = validate(tree, TestTree::fixture_root("contract_broken"));
  INFO(report.run.all());
  CHECK(report.status_of("layer/fitted_in_silence@1", "says when it is fitted") == "failed");
  CHECK_THAT(report.message_of("layer/fitted_in_silence@1", "says when it is fitted"),
             Catch::Contains("static constexpr bool post_train_fit = true;"));
  CHECK(report.status_of("layer/counts_threads@1", "says when it is fitted") == "passed");
  CHECK(report.status_of("layer/builds_nothing@1", "infers, builds and runs") == "failed");
  CHECK_THAT(report.message_of("layer/builds_nothing@1", "infers, builds and runs"),
             Catch::Contains("build returned no layer"));
}

TEST_CASE("rows that are not what their data source says fail with both shapes") {
  TestTree tree;
  const Report report = validate(tree, TestTree::fixture_root("contract_broken"));
  INFO(report.run.all());
  const auto check = [&](const std::string& source, const std::string& name, const std::string& words) {
    INFO(source);
    CHECK(report.status_of("data_source/" + source + "@1", name) == (words.empty() ? "passed" : "failed"));
    CHECK_THAT(report.message_of("data_source/" + source + "@1", name), Catch::Contains(words));
  };
  const std::string shapes = "has the shapes that it declares", stacking = "its rows stack";
  check("features_of_three", stacking, "");
  check("features_of_three", shapes, "features() gives features as [3] float32, the rows have [2] float32");
  check("labels_of_four", shapes, "labels() gives label as [4] float32, the rows have [3] float32");
  check("declares_three", shapes, "declare() gives features as [3] float32, the rows have [2] float32");
  check("rows_of_two", shapes, "");  // an unknown size is any size
  check("rows_of_two", stacking, "");
  check("one_row_more", stacking,
        "features of 3 rows has the shape [4, 2]: the first dimension must be the rows");
  check("labels_without_rows", stacking,
        "label of 3 rows has the shape []: the first dimension must be the rows");
}

TEST_CASE("a library is validated by its folder, its manifest and its file alike") {
  TestTree tree;
  tree.copy_fixture("contract_kept", "root");
  for (const char* path :
       {"root", "root/test.contract_kept", "root/test.contract_kept/libtest_contract_kept.so",
        "root/test.contract_kept/test_contract_kept.nexuml.json"}) {
    INFO(path);
    CHECK(validate(tree, tree.path(path)).status_of("test.contract_kept", "opens") == "passed");
  }
  const HostRun nothing = run_host(tree, {"validate", "config"});
  CHECK(nothing.exit_code == 1);
  CHECK_THAT(nothing.err, Catch::Contains("E101"));
}

TEST_CASE("a library that cannot be opened is told with its code, and nothing else of it is tried") {
  TestTree tree;
  const Report crash = validate(tree, TestTree::fixture_root("abort_in_static_init"));
  CHECK(crash.run.exit_code == 3);
  CHECK(crash.status_of("test.abort_in_static_init", "opens") == "crashed");
  tree.copy_fixture("good", "root");
  const std::string library = "root/test.good/libtest_good.so";
  tree.write(library, read_bytes(tree.path(library)).substr(0, 3000));
  const Report cut_off = validate(tree, tree.path("root"));
  CHECK(cut_off.run.exit_code == 3);
  CHECK_THAT(cut_off.message_of("test.good", "its file"), Catch::Contains("E202"));
  const Report needy = validate(tree, TestTree::fixture_root("needs_missing"));
  CHECK_THAT(needy.message_of("test.needs_missing", "its file"), Catch::Contains("E503"));
}

TEST_CASE("types outside every namespace are refused by name, those in a namespace of any kind are not") {
  TestTree tree;
  const Report loose = validate(tree, TestTree::fixture_root("no_namespace"));
  INFO(loose.run.all());
  CHECK(loose.run.exit_code == 3);
  CHECK(loose.status_of("test.no_namespace", "opens") == "passed");
  CHECK(loose.status_of("test.no_namespace", "its types lie in namespaces") == "failed");
  CHECK_THAT(loose.run.out,
             Catch::Contains("E507: the type of layer/loose@1 (Loose) lies in no namespace") &&
                 Catch::Contains("layer/loose_template@1 (LooseTemplate<settled::Settled>) lies in no") &&
                 !Catch::Contains("settled@1 (") && !Catch::Contains("anonymous@1 ("));
  const Report kept = validate(tree, TestTree::fixture_root("contract_kept"));
  CHECK(kept.status_of("test.contract_kept", "its types lie in namespaces") == "passed");
}

TEST_CASE("what slows others down is advice: W602, W603, W605") {
  TestTree tree;
  const auto advice_of = [&](const std::string& folder) {
    return validate(tree, TestTree::fixture_root(folder)).run.all();
  };
  CHECK_THAT(advice_of("static_tls"), Catch::Contains("W602"));
  CHECK_THAT(advice_of("exports_more"), Catch::Contains("W603"));
  CHECK_THAT(advice_of("slow_to_open"), Catch::Contains("W605"));
}

TEST_CASE("symbols that this LibTorch does not have are named before the library is opened") {
  TestTree tree;
  const Report report = validate(tree, TestTree::fixture_root("other_libtorch"));
  INFO(report.run.all());
  CHECK_THAT(report.message_of("test.other_libtorch", "opens"),
             Catch::Contains("E303") && Catch::Contains("2 symbols") &&
                 Catch::Contains("c10::function_of_another_version(int)") &&
                 Catch::Contains("at::method_of_another_version(at::Tensor const&)"));
}

TEST_CASE("golden cases that give other numbers fail with E873") {
  TestTree tree;
  tree.write("cases/ramp.json", R"({"format": "nexuml-case/1", "case": "ramp", "kind": "data_source",
      "component": {"type": "kept_ramp", "version": "1", "params": {}}, "length": 7})");
  const Report report =
      validate(tree, TestTree::fixture_root("contract_kept"), {"--cases", tree.path("cases")});
  INFO(report.run.all());
  CHECK(report.run.exit_code == 3);
  CHECK_THAT(report.message_of("case ramp.json", "gives"), Catch::Contains("E873"));
}

TEST_CASE("golden cases that give the recorded numbers pass, and one other number fails") {
  TestTree tree;
  std::string numbers;
  for (float number = 0; number < 12; ++number)
    numbers.append(reinterpret_cast<const char*>(&number), sizeof number);
  const std::string header = R"({"out.features":{"dtype":"F32","shape":[6,2],"data_offsets":[0,48]}})";
  const auto size = static_cast<std::uint64_t>(header.size());
  const std::string head = std::string(reinterpret_cast<const char*>(&size), sizeof size) + header;
  const char* document = R"({"format": "nexuml-case/1", "case": "ramp", "kind": "data_source",
      "component": {"type": "kept_ramp", "version": "1", "params": {}}, "length": 6})";
  for (const char* name : {"right", "wrong"}) tree.write(std::string("cases/") + name + ".json", document);
  tree.write("cases/right.safetensors", head + numbers);
  numbers[7] = 0;  // the exponent of the second
  tree.write("cases/wrong.safetensors", head + numbers);
  const Report report =
      validate(tree, TestTree::fixture_root("contract_kept"), {"--cases", tree.path("cases")});
  INFO(report.run.all());
  CHECK(report.status_of("case right.json", "gives the recorded numbers") == "passed");
  CHECK(report.status_of("case wrong.json", "gives the recorded numbers") == "failed");
  CHECK_THAT(report.message_of("case wrong.json", "gives"), Catch::Contains("out.features"));
  CHECK(report.run.exit_code == 3);
}

TEST_CASE("cases that are not there are an error, not a run without cases") {
  TestTree tree;
  const HostRun run =
      run_host(tree, {"validate", TestTree::fixture_root("contract_kept"), "--cases", tree.path("nowhere")});
  CHECK(run.exit_code == 1);
  CHECK_THAT(run.err, Catch::Contains("E101") && Catch::Contains(tree.path("nowhere")));
}

TEST_CASE("the report is written as JUnit, and as text without what passed") {
  TestTree tree;
  const HostRun run = run_host(tree, {"validate", TestTree::fixture_root("contract_broken"), "--junit",
                                      "report.xml", "--only-failed"});
  CHECK(run.exit_code == 3);
  CHECK_THAT(run.out,
             Catch::Contains("CRASHED") && Catch::Contains("FAILED") && !Catch::Contains("\n  passed"));
  const std::string xml = read_bytes(tree.path("report.xml"));
  CHECK_THAT(xml, Catch::StartsWith("<?xml") && Catch::Contains("<testsuite name=\"layer/crashes@1\"") &&
                      Catch::Contains("<error message=\"E405") && Catch::Contains("<failure message=") &&
                      Catch::EndsWith("</testsuites>\n"));
}
