#include <nexuml/tensor_io.h>

#include "plugins_library/source_support.h"

using namespace library_tests;
using nexuml::Value;

namespace {

struct GoldenData {
  Value description;
  nexuml::TensorMap tensors;
};

GoldenData golden_data(const std::string& name) {
  const std::string stem = std::string(NEXUML_TEST_DATA) + "/golden/data/" + name;
  nexuml::Diagnostics problems;
  GoldenData golden;
  golden.description = nexuml::parse_json(nexuml::read_text_file(stem + ".json", problems), name, problems);
  REQUIRE_FALSE(problems.has_errors());
  golden.tensors = nexuml::read_safetensors(stem + ".safetensors").tensors;
  return golden;
}

}  // namespace

TEST_CASE("synthetic data is bit-equal to that of NexuML with the same seed") {
  const std::string name = GENERATE(as<std::string>{}, "data_gaussian", "data_clusters_multiclass",
                                    "data_multilabel", "data_regression", "data_anomaly");
  CAPTURE(name);
  const GoldenData golden = golden_data(name);
  const Value& params = golden.description.at("component").at("params");
  const auto dataset = open("synthetic", params);
  const nexuml::Batch batch = all_rows(*dataset);
  const std::string feature_key = params.at("feature_key").as_string();

  CHECK(dataset->size() == golden.description.at("length").as_integer());
  CHECK(at::equal(batch.x.get(feature_key), golden.tensors.at("out." + feature_key)));
  CHECK(at::equal(batch.y->get("reconstruction_target"), batch.x.get(feature_key)));
  for (const Value& target : params.at("targets").items()) {
    const std::string& key = target.at("key").as_string();
    const at::Tensor& expected = golden.tensors.at("label." + key);
    CHECK(batch.y->get(key).scalar_type() == expected.scalar_type());
    if (name == "data_regression")  // a matrix product rounds as the processor likes
      CHECK(at::allclose(batch.y->get(key), expected, 1e-5, 1e-6));
    else
      CHECK(at::equal(batch.y->get(key), expected));
  }
}

TEST_CASE("what synthetic data declares is what it gives") {
  const std::string name = GENERATE(as<std::string>{}, "data_gaussian", "data_clusters_multiclass",
                                    "data_multilabel", "data_regression", "data_anomaly");
  CAPTURE(name);
  const Value params = golden_data(name).description.at("component").at("params");
  const auto declared = source("synthetic", params)->declare();
  const auto dataset = open("synthetic", params);
  REQUIRE(declared);
  CHECK(declared->complete);
  CHECK((declared->features == dataset->features()));
  CHECK((declared->labels == dataset->labels()));
  CHECK(declared->num_classes == dataset->num_classes());
  CHECK(declared->num_samples == dataset->size());
}

TEST_CASE("uniform noise lies in [-1, 1)") {
  const auto dataset = open("synthetic", Value::map({{"noise_type", "uniform"}, {"num_samples", 500}}));
  const at::Tensor features = all_rows(*dataset).x.get("features");
  CHECK(features.min().item<float>() >= -1);
  CHECK(features.max().item<float>() < 1);
  CHECK(features.mean().item<float>() == Approx(0).margin(0.02));
}

TEST_CASE("a multiclass target without clusters and classes is refused where it is written") {
  const Value target = Value::map({{"type", "multiclass"}, {"key", "label"}});
  CHECK_THROWS_WITH(source("synthetic", Value::map({{"targets", Value::list({target})}})),
                    Catch::Contains("label") && Catch::Contains("num_classes"));
}

TEST_CASE("two targets of synthetic data cannot have one key") {
  const Value target = Value::map({{"type", "anomaly"}, {"key", "label"}});
  CHECK_THROWS_WITH(source("synthetic", Value::map({{"targets", Value::list({target, target})}})),
                    Catch::Contains("'label' is taken"));
}
