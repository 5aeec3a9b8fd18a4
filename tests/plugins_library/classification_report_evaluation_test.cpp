#include <nexuml/evaluation.h>

#include "plugins_library/source_support.h"

using namespace library_tests;
using Catch::Contains;
using nexuml::Value;

namespace {

std::shared_ptr<nexuml::EvalAlgorithm> make_report(nexuml::EvalBuildContext context) {
  context.name = "classification_report";
  return nexuml::AnyEvalAlgorithm(
             shipped_registry().definition(
                 {nexuml::ComponentKind::eval_algorithm, "classification_report", "1"}, Value::map()))
      ->build(context);
}

at::Tensor numbers(const std::vector<std::int64_t>& values) {
  return at::tensor(at::ArrayRef<std::int64_t>(values), at::kLong);
}
std::vector<std::int64_t> integers(const Value& list) {
  std::vector<std::int64_t> result;
  for (const Value& item : list.items()) result.push_back(item.as_integer());
  return result;
}

void feed(nexuml::EvalAlgorithm& report, const at::Tensor& output, const at::Tensor& labels) {
  const nexuml::TensorDict x{{"class_logits", output}};
  const nexuml::TensorDict y{{"label", labels}};
  report.eval_batch({.x = x, .y = &y, .size = labels.size(0)});
}

Value read_json(const std::filesystem::path& path) {
  nexuml::Diagnostics problems;
  Value value = nexuml::parse_json(nexuml::read_text_file(path.string(), problems), path.string(), problems);
  REQUIRE_FALSE(problems.has_errors());
  return value;
}

}  // namespace

TEST_CASE("macro F1 runs over the classes that occur, however many are declared") {
  const auto cases = read_json(std::string(NEXUML_TEST_DATA) + "/cases/E05-f1-zero-division/cases.json");
  for (const Value& one : cases.items()) {
    const auto report = make_report({.num_classes = {{"label", one.at("K").as_integer()}}});
    feed(*report, numbers(integers(one.at("pred"))), numbers(integers(one.at("true"))));
    CHECK(report->results().at("f1_macro") == Approx(one.at("f1_macro_present").as_number()));
    CHECK(report->results().at("accuracy") == Approx(one.at("accuracy").as_number()));
  }
}

TEST_CASE("a class that is neither labelled nor predicted has no scores in the report") {
  const TemporaryFolder folder;
  const auto report = make_report({.class_names = {{"label", {"ant", "bee, large", "cat"}}}});
  feed(*report, at::tensor({3.0, 1.0, 0.0, 0.0, 2.0, 1.0}).reshape({2, 3}), numbers({0, 0}));
  feed(*report, at::tensor({0.0, 5.0, 1.0}).reshape({1, 3}), numbers({1}));
  report->eval_end();
  report->write_artifacts(folder.path());

  const Value written = read_json(folder.path() / "classification_report.json");
  CHECK(written.at("samples") == Value(3));
  CHECK(written.at("accuracy").as_number() == Approx(2.0 / 3));
  const Value& classes = written.at("classes");
  CHECK(classes.items()[0].at("recall").as_number() == 0.5);
  CHECK(classes.items()[1].at("precision").as_number() == 0.5);
  CHECK(classes.items()[2].at("f1").is_null());
  CHECK(written.at("confusion_matrix") ==
        Value::list({Value::list({1, 1, 0}), Value::list({0, 1, 0}), Value::list({0, 0, 0})}));

  nexuml::Diagnostics problems;
  const std::string scores =
      nexuml::read_text_file((folder.path() / "classification_report.csv").string(), problems);
  CHECK_THAT(scores, Contains("class,precision,recall,f1,support,predicted\n"));
  CHECK_THAT(scores, Contains("\"bee, large\",0.5,1,"));
  CHECK_THAT(scores, Contains("cat,,,,0,0\n"));
  const std::string matrix =
      nexuml::read_text_file((folder.path() / "confusion_matrix.csv").string(), problems);
  CHECK_THAT(matrix, Contains("label,ant,\"bee, large\",cat\nant,1,1,0\n"));
}

TEST_CASE("a label beyond the classes is named, not counted") {
  const auto report = make_report({.num_classes = {{"label", 2}}});
  CHECK_THROWS_WITH(feed(*report, numbers({0}), numbers({7})), Contains("7") && Contains("2 classes"));
}

TEST_CASE("a report without labels says which keys there are") {
  const auto report = make_report({.label_key = "label"});
  const nexuml::TensorDict x{{"class_logits", at::zeros({1, 3})}};
  CHECK_THROWS_WITH(report->eval_batch({.x = x, .size = 1}), Contains("E851") && Contains("'label'"));
  CHECK_THROWS_WITH(make_report({}), Contains("E851") && Contains("label_key"));
}

TEST_CASE("logits of the only class that there is predict it") {
  const auto report = make_report({.class_names = {{"label", {"only"}}}});
  feed(*report, at::tensor({0.25, -3.0}).reshape({2, 1}), numbers({0, 0}));
  report->eval_end();
  CHECK(report->results().at("accuracy") == 1);
}
