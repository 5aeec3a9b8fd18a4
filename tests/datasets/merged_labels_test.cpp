#include "data/merged_labels.h"

#include <ATen/ops/arange.h>
#include <ATen/ops/tensor.h>

#include <catch2/catch.hpp>
#include <cmath>

#include "data/data_module.h"
#include "data/joined_dataset.h"

namespace nexuml {
namespace {

using Texts = std::vector<std::string>;

std::shared_ptr<const Dataset> machines() {
  TensorDict x{{"features", at::arange(4, at::kFloat).unsqueeze(1)}};
  TensorDict y{{"y_true", at::tensor(std::vector<std::int64_t>{0, 1, 0, 0}, at::kLong)}};
  return std::make_shared<TensorDataset>(
      x, y,
      TensorDatasetInfo{
          .metadata = {{"machine", Texts{"pump", "fan", "fan", "pump"}},
                       {"target", Texts{"source", "target", "source", "source"}},
                       {"known", at::tensor(std::vector<double>{0, NAN, 10, 2}, at::kDouble)}}});
}

Value rule(const Texts& columns, bool logits = false) {
  return Value::map({{"columns", Value(columns)}, {"logits", logits}, {"include_dataset", false}});
}

std::shared_ptr<const Dataset> merged(const std::string& label, const Value& written) {
  OrderedMap<OrderedMap<Value>> rules;
  for (const auto& entry : written.entries()) rules[label][entry.key] = entry.value;
  return merge_labels(machines(), merge_rules(rules));
}

std::vector<std::int64_t> classes(const Dataset& dataset, const std::string& label) {
  const std::vector<std::int64_t> rows{0, 1, 2, 3};
  const at::Tensor values = dataset.gather(rows).y->get(label).to(at::kLong).contiguous();
  return {values.const_data_ptr<std::int64_t>(), values.const_data_ptr<std::int64_t>() + values.numel()};
}

std::string refused(const Value& written) {
  try {
    merged("class", written);
  } catch (const Error& error) {
    CHECK(error.diagnostics().entries().front().code == "E834");
    CHECK(error.diagnostics().entries().front().where.key_path == "data.merge_labels.class");
    return error.what();
  }
  FAIL("accepted");
  return {};
}

}  // namespace

TEST_CASE("columns are joined and their texts numbered in sorted order, as whole numbers") {
  const auto dataset = merged("class", rule({"machine", "target"}));
  CHECK(classes(*dataset, "class") == std::vector<std::int64_t>{2, 1, 0, 2});
  CHECK(dataset->class_names().at("class") == Texts{"fan_source", "fan_target", "pump_source"});
  CHECK(dataset->num_classes().at("class") == 3);
  CHECK(dataset->labels().at("class").dtype == DType::int64);
  CHECK(dataset->labels().begin()->first == "class");  // before the label of the data
  CHECK(dataset->labels().contains("y_true"));
}

TEST_CASE("labels serve as columns, and take the new meaning where they have the same name") {
  CHECK(classes(*merged("anomaly", rule({"y_true"})), "anomaly") == std::vector<std::int64_t>{0, 1, 0, 0});
  const auto replaced = merged("y_true", rule({"machine"}));
  CHECK(classes(*replaced, "y_true") == std::vector<std::int64_t>{1, 0, 0, 1});
  CHECK(replaced->labels().size() == 1);
}

TEST_CASE("a row without a value has the class -1, and texts are sorted as texts") {
  const auto dataset = merged("class", rule({"known"}));
  CHECK(dataset->class_names().at("class") == Texts{"0", "10", "2"});
  CHECK(classes(*dataset, "class") == std::vector<std::int64_t>{0, -1, 1, 2});
}

TEST_CASE("logits count the values of all columns in the order of their appearance") {
  const auto dataset = merged("class_logits", rule({"machine", "target"}, true));
  CHECK(dataset->class_names().at("class_logits") ==
        Texts{"machine_pump", "target_source", "machine_fan", "target_target"});
  CHECK(classes(*dataset, "class_logits") ==
        std::vector<std::int64_t>{1, 1, 0, 0, 0, 0, 1, 1, 0, 1, 1, 0, 1, 1, 0, 0});
  CHECK(dataset->labels().at("class_logits").dtype == DType::float32);
}

TEST_CASE("a rule that is wrong is refused with the columns that there are") {
  CHECK_THAT(refused(rule({"machin"})),
             Catch::Contains("machine, target, known, y_true") && Catch::Contains("machine"));
  CHECK_THAT(refused(Value::map({{"columns", Value(Texts{"machine"})}, {"logit", true}})),
             Catch::Contains("logit"));
  CHECK_THAT(refused(Value::map({{"columns", 3}})), Catch::Contains("list of names"));
  CHECK_THAT(refused(Value::map({{"logits", true}})), Catch::Contains("needs 'columns'"));
}

}  // namespace nexuml
