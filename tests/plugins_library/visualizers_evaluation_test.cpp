#include <ATen/CPUGeneratorImpl.h>
#include <ATen/ops/cdist.h>
#include <ATen/ops/randn.h>
#include <nexuml/evaluation.h>

#include <limits>

#include "plugins_library/source_support.h"

using namespace library_tests;
using Catch::Contains;
using nexuml::Value;

namespace {

std::shared_ptr<nexuml::EvalAlgorithm> algorithm(const std::string& type, const Value& params,
                                                 nexuml::EvalBuildContext context) {
  context.name = type;
  return nexuml::AnyEvalAlgorithm(
             shipped_registry().definition({nexuml::ComponentKind::eval_algorithm, type, "1"}, params))
      ->build(context);
}

at::Tensor classes(std::int64_t count, std::int64_t rows) {
  return at::arange(rows, at::kLong).remainder(count);
}

// Points around as many corners as there are classes.
at::Tensor blobs(const at::Tensor& labels, std::int64_t dims) {
  const auto generator = at::detail::createCPUGenerator(3);
  const at::Tensor corners = at::randn({10, dims}, generator, at::kFloat) * 20;
  return corners.index_select(0, labels) + at::randn({labels.size(0), dims}, generator, at::kFloat);
}

bool is_png(const std::filesystem::path& path) {
  nexuml::Diagnostics problems;
  return nexuml::read_text_file(path.string(), problems).starts_with("\x89PNG");
}

std::string text_in(const std::filesystem::path& path) {
  nexuml::Diagnostics problems;
  return nexuml::read_text_file(path.string(), problems);
}

}  // namespace

TEST_CASE("a class histogram counts training and test apart") {
  const TemporaryFolder folder;
  const auto histogram = algorithm("class_histogram", Value::map(),
                                   {.label_key = "kind", .class_names = {{"kind", {"ant", "bee", "cat"}}}});
  const at::Tensor train = at::tensor({0, 0, 0, 1}, at::kLong), test = at::tensor({1, 1}, at::kLong);
  const nexuml::TensorDict x, train_labels{{"kind", train}}, test_labels{{"kind", test}};
  histogram->fit_batch({.x = x, .y = &train_labels, .size = 4});
  histogram->fit_end();
  histogram->eval_batch({.x = x, .y = &test_labels, .size = 2});
  histogram->eval_end();
  const auto results = histogram->results();
  CHECK(results.at("n_classes") == 3);
  CHECK(results.at("train_samples") == 4);
  CHECK(results.at("test_samples") == 2);
  CHECK(results.at("imbalance_ratio") == 3);
  histogram->write_artifacts(folder.path());
  CHECK(is_png(folder.path() / "class_histogram.png"));
  CHECK_THAT(text_in(folder.path() / "class_histogram.csv"),
             Contains("ant,3,0,0.75,0\nbee,1,2,0.25,1\ncat,0,0,0,0\n"));
}

TEST_CASE("a class histogram takes the label that there is, and counts every label of a multi-hot one") {
  const auto histogram =
      algorithm("class_histogram", Value::map(), {.label_key = "class", .num_classes = {{"tags", 2}}});
  const at::Tensor labels = at::tensor({1.0, 1.0, 0.0, 1.0}).reshape({2, 2});
  const nexuml::TensorDict x, y{{"tags", labels}};
  histogram->eval_batch({.x = x, .y = &y, .size = 2});
  histogram->eval_end();
  CHECK(histogram->results().at("n_classes") == 2);
  CHECK(histogram->results().at("imbalance_ratio") == 2);
}

TEST_CASE("every projection keeps well separated classes apart") {
  const std::string method = GENERATE(as<std::string>{}, "tsne", "umap", "pca");
  CAPTURE(method);
  const TemporaryFolder folder;
  const auto latent = algorithm("latent_visualizer", Value::map({{"method", method}}),
                                {.feature_key = "z", .label_key = "kind", .num_classes = {{"kind", 3}}});
  const at::Tensor labels = classes(3, 90);
  const nexuml::TensorDict x{{"z", blobs(labels, 2)}}, y{{"kind", labels}};
  latent->fit_batch({.x = x, .y = &y, .size = 90});
  latent->eval_batch({.x = x, .y = &y, .size = 90});
  latent->eval_end();
  CHECK(latent->results().at("n_projected_samples") == 180);
  latent->write_artifacts(folder.path());
  CHECK(is_png(folder.path() / ("latent_" + method + ".png")));
  CHECK(text_in(folder.path() / ("latent_" + method + ".svg")).starts_with("<?xml"));

  const auto table =
      open("csv", Value::map({{"path", (folder.path() / ("latent_" + method + ".csv")).string()},
                              {"features", Value::list({"x", "y"})},
                              {"label", "class"}}));
  const nexuml::Batch points = all_rows(*table);
  at::Tensor distances = at::cdist(points.x.get("features"), points.x.get("features"));
  distances.fill_diagonal_(1e9);
  const at::Tensor nearest = points.y->get("label").index_select(0, distances.argmin(1));
  CHECK(nearest.eq(points.y->get("label")).to(at::kDouble).mean().item<double>() > 0.97);
}

TEST_CASE(
    "a latent plot keeps a fair, seeded choice where there are too many samples, in memory or in a file") {
  const TemporaryFolder folder;
  const auto points = [&](const std::string& backend) {
    const auto latent =
        algorithm("latent_visualizer",
                  Value::map({{"method", "pca"}, {"max_samples", 20}, {"storage_backend", backend}}),
                  {.feature_key = "z", .run_folder = folder.path(), .seed = 5});
    const nexuml::TensorDict x{{"z", blobs(classes(4, 200), 3)}};
    latent->eval_batch({.x = x, .size = 200});
    latent->eval_end();
    CHECK(latent->results().at("n_projected_samples") == 20);
    latent->write_artifacts(folder.path());
    return text_in(folder.path() / "latent_pca.csv");
  };
  CHECK(points("memory") == points("memmap"));
}

TEST_CASE("a reconstruction is drawn as images or as curves, and its error is told") {
  const nexuml::Shape shape =
      GENERATE(as<nexuml::Shape>{}, nexuml::Shape{1, 8, 8}, nexuml::Shape{3, 8, 8}, nexuml::Shape{16});
  const TemporaryFolder folder;
  const auto plot =
      algorithm("reconstruction_visualizer",
                Value::map({{"reconstructed_key", "out"}, {"label_keys", Value::list({"digit"})}}),
                {.feature_key = "in"});
  std::vector<std::int64_t> sizes = shape;
  sizes.insert(sizes.begin(), 10);
  const at::Tensor original = at::rand(sizes, at::detail::createCPUGenerator(1), at::kFloat);
  const nexuml::TensorDict x{{"in", original}, {"out", original + 0.5}}, y{{"digit", at::arange(10)}};
  plot->eval_batch({.x = x, .y = &y, .size = 10});
  plot->eval_end();
  CHECK(plot->results().at("reconstruction_mse_sample") == Approx(0.25));
  plot->write_artifacts(folder.path());
  CHECK(is_png(folder.path() / "reconstruction.png"));
}

TEST_CASE("a reconstruction in patches is joined before it is compared") {
  const auto plot =
      algorithm("reconstruction_visualizer", Value::map({{"reconstructed_key", "out"}, {"patch_size", 2}}),
                {.feature_key = "in"});
  const at::Tensor image = at::arange(16, at::kFloat).reshape({1, 1, 4, 4});
  // [rows, 2, columns, 2] -> [rows * columns, 4]
  const at::Tensor patches = image.reshape({1, 2, 2, 2, 2}).permute({0, 1, 3, 2, 4}).reshape({1, 4, 4});
  const nexuml::TensorDict x{{"in", image}, {"out", patches}};
  plot->eval_batch({.x = x, .size = 1});
  CHECK(plot->results().at("reconstruction_mse_sample") == 0);
}

TEST_CASE("a reconstruction without a feature key, or of another size, is refused") {
  CHECK_THROWS_WITH(algorithm("reconstruction_visualizer", Value::map({{"reconstructed_key", "out"}}), {}),
                    Contains("feature_key"));
  const auto plot = algorithm("reconstruction_visualizer", Value::map({{"reconstructed_key", "out"}}),
                              {.feature_key = "in"});
  const nexuml::TensorDict x{{"in", at::zeros({1, 4})}, {"out", at::zeros({1, 5})}};
  CHECK_THROWS_WITH(plot->eval_batch({.x = x, .size = 1}), Contains("'out' is [5]") && Contains("[4]"));
}

TEST_CASE("anomaly scores are drawn for all samples and for each group") {
  const TemporaryFolder folder;
  const auto plot = algorithm("anomaly_visualizer", Value::map({{"group_keys", Value::list({"machine"})}}),
                              {.label_key = "anomaly"});
  const nexuml::TensorDict x{{"anomaly_score", at::arange(6, at::kFloat)}};
  const nexuml::TensorDict y{{"anomaly", at::tensor({0.0, 0.0, 0.0, 1.0, 1.0, 2.0})}};
  const std::vector<std::string> machines{"fan", "fan", "pump", "fan", "pump", "pump"};
  plot->eval_batch({.x = x, .y = &y, .metadata = {{"machine", machines}}, .size = 6});
  CHECK(plot->results().at("n_plotted_samples") == 5);
  plot->write_artifacts(folder.path());
  CHECK(is_png(folder.path() / "anomaly_scores.png"));
  CHECK(is_png(folder.path() / "anomaly_scores_machine_fan.png"));
  CHECK(is_png(folder.path() / "anomaly_scores_machine_pump.png"));
}

TEST_CASE("scores and latents that are not finite are left out of the plots, and counted") {
  const TemporaryFolder folder;
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const auto scores = algorithm("anomaly_visualizer", Value::map(), {.label_key = "anomaly"});
  const nexuml::TensorDict x{{"anomaly_score", at::tensor({1.0F, nan, 3.0F})}};
  const nexuml::TensorDict y{{"anomaly", at::tensor({0.0, 1.0, 1.0})}};
  scores->eval_batch({.x = x, .y = &y, .size = 3});
  scores->eval_end();
  CHECK(scores->results().at("n_plotted_samples") == 2);
  CHECK(scores->results().at("n_not_finite") == 1);
  scores->write_artifacts(folder.path());
  CHECK(is_png(folder.path() / "anomaly_scores.png"));

  const auto latent = algorithm("latent_visualizer", Value::map({{"method", "pca"}}),
                                {.feature_key = "z", .label_key = "kind", .num_classes = {{"kind", 3}}});
  const at::Tensor labels = classes(3, 30);
  at::Tensor points = blobs(labels, 4);
  points[5][2] = nan;
  const nexuml::TensorDict z{{"z", points}}, kinds{{"kind", labels}};
  latent->eval_batch({.x = z, .y = &kinds, .size = 30});
  latent->eval_end();
  CHECK(latent->results().at("n_projected_samples") == 29);
  CHECK(latent->results().at("n_not_finite") == 1);
  latent->write_artifacts(folder.path());
  CHECK_THAT(text_in(folder.path() / "latent_pca.csv"), !Contains("nan"));
}

TEST_CASE("plots of one class, of no label, of long names and of many classes are drawn") {
  const TemporaryFolder folder;
  const std::int64_t count = GENERATE(as<std::int64_t>{}, 1, 20, 100);
  std::vector<std::string> names;
  for (std::int64_t i = 0; i < count; ++i)
    names.push_back("a class with a name that is much longer than its bar, \xc3\xbc number " +
                    std::to_string(i));
  const auto histogram =
      algorithm("class_histogram", Value::map(), {.label_key = "kind", .class_names = {{"kind", names}}});
  const at::Tensor labels = classes(count, 200);
  const nexuml::TensorDict x, y{{"kind", labels}};
  histogram->eval_batch({.x = x, .y = &y, .size = 200});
  histogram->eval_end();
  histogram->write_artifacts(folder.path());
  CHECK(is_png(folder.path() / "class_histogram.png"));
  const auto latent = algorithm("latent_visualizer", Value::map({{"method", "pca"}}),
                                {.feature_key = "z", .label_key = "kind", .class_names = {{"kind", names}}});
  const nexuml::TensorDict z{{"z", at::randn({200, 3}, at::detail::createCPUGenerator(1), at::kFloat)}};
  latent->eval_batch({.x = z, .y = &y, .size = 200});
  latent->eval_end();
  latent->write_artifacts(folder.path());
  CHECK(is_png(folder.path() / "latent_pca.png"));
}

TEST_CASE("axis keys colour a latent plot once more, from the place that they name") {
  const TemporaryFolder folder;
  const auto latent = algorithm(
      "latent_visualizer", Value::map({{"method", "pca"}}),
      {.feature_key = "z",
       .axis_keys = {{.key = "machine", .source = "metadata"}, {.key = "machine id", .source = "y"}}});
  const nexuml::TensorDict x{{"z", blobs(classes(2, 8), 3)}}, y{{"machine id", classes(4, 8)}};
  const std::vector<std::string> machines{"fan", "fan", "pump", "fan", "pump", "pump", "fan", "pump"};
  latent->eval_batch({.x = x, .y = &y, .metadata = {{"machine", machines}}, .size = 8});
  latent->eval_end();
  latent->write_artifacts(folder.path());
  for (const char* file : {"latent_pca.png", "latent_pca_machine.png", "latent_pca_machine_id.png"}) {
    INFO(file);
    CHECK(is_png(folder.path() / file));
  }
  CHECK_THAT(text_in(folder.path() / "latent_pca.csv"),
             Contains("x,y,class,split,machine,machine id") && Contains(",test,pump,2"));
  const auto missing = algorithm("latent_visualizer", Value::map({{"method", "pca"}}),
                                 {.feature_key = "z", .axis_keys = {{.key = "site", .source = "metadata"}}});
  CHECK_THROWS_WITH(missing->eval_batch({.x = x, .metadata = {{"machine", machines}}, .size = 8}),
                    Contains("E851") && Contains("'site'") && Contains("machine"));
}

TEST_CASE("groups of anomaly scores are read where the axis keys say") {
  for (const std::string source : {"y", "metadata"}) {
    const TemporaryFolder folder;
    const auto plot =
        algorithm("anomaly_visualizer", Value::map({{"group_keys", Value::list({"machine"})}}),
                  {.label_key = "anomaly", .axis_keys = {{.key = "machine", .source = source}}});
    const nexuml::TensorDict x{{"anomaly_score", at::arange(2, at::kFloat)}};
    const nexuml::TensorDict y{{"anomaly", at::tensor({0.0, 1.0})},
                               {"machine", at::tensor({7, 7}, at::kLong)}};
    const std::vector<std::string> machines{"fan", "fan"};
    plot->eval_batch({.x = x, .y = &y, .metadata = {{"machine", machines}}, .size = 2});
    plot->write_artifacts(folder.path());
    CHECK(std::filesystem::exists(folder.path() / "anomaly_scores_machine_7.png") == (source == "y"));
    CHECK(std::filesystem::exists(folder.path() / "anomaly_scores_machine_fan.png") ==
          (source == "metadata"));
  }
}
