// The documents of tests/data/cases that were made after real failure reports, as far as reading goes; what a
// scenario makes of them is tested with the scenarios.
#include <chrono>

#include "documents.h"

using namespace nexuml;
using namespace nexuml::testing;

namespace {

std::string case_path(const std::string& name) {
  return std::string(NEXUML_TEST_DATA "/cases/") + name;
}

std::string case_text(const std::string& name) {
  Diagnostics problems;
  std::string text = read_text_file(case_path(name), problems);
  INFO(problems.to_text());
  REQUIRE(problems.empty());
  return text;
}

Value case_value(const std::string& name) {
  return read_yaml(case_text(name));
}
Diagnostic case_refusal(const std::string& name) {
  return refused_yaml(case_text(name));
}

}  // namespace

TEST_CASE("every way to write a small number is a number, and text in quotes is not") {
  const Value plain = case_value("Y01-sci-notation/plain.yaml");
  CHECK(plain.at("training").at("lr") == Value(0.001));
  const Value& kwargs = plain.at("training").at("optimizer").at("kwargs");
  CHECK(kwargs.at("lr") == Value(0.001));
  CHECK(kwargs.at("weight_decay") == Value(0.0005));
  CHECK(kwargs.at("eps") == Value(1e-08));
  CHECK(plain.at("training").at("scheduler").at("kwargs").at("factor") == Value(1.0));
  const Value lr = case_value("Y01-sci-notation/quoted.yaml").at("training").at("lr");
  CHECK(lr == Value("1e-3"));
  CHECK(lr.quoted());
}

TEST_CASE("on and no are text, as values and as keys") {
  CHECK(case_value("Y03-on-off-no/name_no.yaml").at("name") == Value("no"));
  CHECK(case_value("Y03-on-off-no/key_on.yaml").at("data").at("input_shapes").find("on") != nullptr);
  CHECK(case_value("Y03-on-off-no/bool_on.yaml").at("data").at("loader").at("shuffle_train") == Value("on"));
}

TEST_CASE("the same key twice is refused with its path and both places") {
  const std::pair<const char*, const char*> cases[] = {{"dup_scalar", "training.lr"},
                                                       {"dup_stage", "pipeline.stages.Encoder"},
                                                       {"dup_quoted", "training.max_epochs"}};
  for (const auto& [file, path] : cases) {
    const Diagnostic problem = case_refusal("Y05-duplicate-keys/" + std::string(file) + ".yaml");
    CHECK(problem.code == "E704");
    CHECK(problem.where.key_path == path);
    CHECK_THAT(problem.message,
               Catch::Contains(path) && Catch::Contains("first at") && Catch::Contains("again at"));
  }
}

TEST_CASE("alias bombs, deep nesting and loops are refused in a moment, honest anchors work") {
  const auto start = std::chrono::steady_clock::now();
  CHECK_THAT(case_refusal("Y07-alias-bomb/bomb.yaml").message, Catch::Contains("alias"));
  CHECK_THAT(case_refusal("Y07-alias-bomb/deep.yaml").message, Catch::Contains("depth"));
  CHECK_THAT(case_refusal("Y07-alias-bomb/self_reference.yaml").message, Catch::Contains("loop"));
  CHECK(std::chrono::steady_clock::now() - start < std::chrono::seconds(1));
  const Value value = case_value("Y07-alias-bomb/anchors_ok.yaml");
  const Value& decoder = value.at("pipeline").at("stages").at("Decoder").items()[0];
  CHECK(decoder.at("component").at("params").at("hidden_dims") == Value(std::vector{24, 24}));
}

TEST_CASE("a tab is named at its place, blanks at line ends change nothing") {
  for (const auto& [file, at] : {std::pair{"tab_indent", "76:1"}, {"tab_mixed", "116:3"}}) {
    const Diagnostic problem = case_refusal("Y09-tabs-trailing-space/" + std::string(file) + ".yaml");
    CHECK_THAT(problem.message, Catch::Contains("tab"));
    CHECK(place(problem) == at);
  }
  CHECK(case_value("Y09-tabs-trailing-space/trailing.yaml") == case_value("base.yaml"));
}

TEST_CASE("a missing key, an empty one and the text null are three things") {
  CHECK(case_value("Y11-null-vs-missing/missing.yaml").at("training").find("max_epochs") == nullptr);
  CHECK(case_value("Y11-null-vs-missing/null_required.yaml").at("training").at("max_epochs").is_null());
  CHECK(case_value("Y11-null-vs-missing/null_allowed.yaml").at("data").at("num_classes").is_null());
  CHECK(case_value("Y11-null-vs-missing/null_text.yaml").at("name") == Value("null"));
}

TEST_CASE("times and dates are text, also after writing and reading again") {
  const Value value = case_value("Y13-sexagesimal-dates/strings.yaml");
  CHECK(value.at("name") == Value("12:30:45"));
  CHECK(value.at("logging").at("experiment_name") == Value("2026-01-31"));
  CHECK(value.at("logging").at("run_name") == Value("1:20"));
  CHECK(read_yaml(write_yaml(value)) == value);
  CHECK(case_value("Y13-sexagesimal-dates/int_field.yaml").at("training").at("max_epochs") == Value("1:30"));
}
