#include <ATen/ops/scalar_tensor.h>
#include <nexuml/value.h>
#include <nexuml/weighted_means.h>

#include <catch2/catch.hpp>

namespace nexuml {

TEST_CASE("an epoch value is the mean over samples, however they fall into batches") {
  Diagnostics problems;
  const std::string path = NEXUML_TEST_DATA "/cases/T05-uneven-batch-mean/streams.json";
  const Value streams = parse_json(read_text_file(path, problems), path, problems);
  REQUIRE(!problems.has_errors());
  for (const Value& stream : streams.items()) {
    WeightedMeans means;
    for (const Value& batch : stream.at("batches").items())
      means.add("loss", at::scalar_tensor(batch.at("mean").as_number(), at::kFloat),
                batch.at("size").as_integer());
    CHECK(means.means().at("loss") == Approx(stream.at("epoch").as_number()).epsilon(1e-6));
  }
}

TEST_CASE("means go on with the same bits after their state was saved and loaded") {
  WeightedMeans whole, first;
  const auto value = [](int i) { return at::scalar_tensor(0.1 * i, at::kFloat); };
  for (int i = 0; i < 5; ++i) whole.add("loss", value(i), i + 1);
  for (int i = 0; i < 2; ++i) first.add("loss", value(i), i + 1);
  WeightedMeans second;
  second.load_state(first.state());
  for (int i = 2; i < 5; ++i) second.add("loss", value(i), i + 1);
  CHECK(second.means().at("loss") == whole.means().at("loss"));
}

}  // namespace nexuml
