#include "data/data_module.h"

#include <ATen/ops/arange.h>
#include <ATen/ops/full.h>
#include <ATen/ops/ones.h>

#include <catch2/catch.hpp>

namespace nexuml {
namespace {

// Rows that count from `first`, labelled by parity.
struct Counting {
  std::int64_t num_samples = 20;
  std::int64_t first = 0;
  std::int64_t width = 1;
  std::vector<std::string> splits;

  static void describe(Schema<Counting>& s) {
    s.field("num_samples", &Counting::num_samples);
    s.field("first", &Counting::first);
    s.field("width", &Counting::width);
    s.field("splits", &Counting::splits);
  }
  std::shared_ptr<Dataset> build(const DataContext& context) const {
    const at::Tensor rows = at::arange(first, first + num_samples, at::kLong);
    TensorDict x{
        {context.feature_key, rows.to(at::kFloat).unsqueeze(1).expand({num_samples, width}).contiguous()}};
    TensorDict y{{"parity", rows.remainder(2)}};
    return std::make_shared<TensorDataset>(
        x, y, TensorDatasetInfo{.num_classes = {{"parity", 2}}, .splits = splits});
  }
};

DataModule module_of(const DataSpec& spec, Diagnostics& advice) {
  return DataModule(spec, 4, {}, advice);
}
DataModule module_of(const DataSpec& spec) {
  Diagnostics advice;
  return module_of(spec, advice);
}

std::string refusal(const DataSpec& spec, std::string_view code) {
  try {
    module_of(spec);
  } catch (const Error& error) {
    CHECK(error.diagnostics().entries().front().code == code);
    return error.what();
  }
  FAIL("accepted");
  return {};
}

}  // namespace

TEST_CASE("source and datasets are put end to end, source first") {
  DataSpec spec;
  spec.source = Counting{.num_samples = 3, .first = 100};
  spec.datasets = {{.source = Counting{.num_samples = 2, .first = 200}, .split_type = "test"}};
  const DataModule data = module_of(spec);
  const std::int64_t rows[] = {4, 0, 3};
  const Batch batch = data.dataset().gather(rows);
  const at::Tensor values = batch.x.get("features");
  CHECK(values[0].item<float>() == 201);
  CHECK(values[1].item<float>() == 100);
  CHECK(values[2].item<float>() == 200);
  CHECK(data.rows(Split::test).size() >= 2);
  CHECK(data.rows(Split::predict).size() == 5);
  const auto names = std::get<std::vector<std::string>>(data.dataset().metadata().at("dataset"));
  CHECK(names.front() != names.back());
}

TEST_CASE("datasets that do not fit together are refused with key and shapes") {
  DataSpec spec;
  spec.datasets = {{.source = Counting{}}, {.source = Counting{.width = 3}}};
  const std::string message = refusal(spec, "E834");
  CHECK(message.find("'features'") != std::string::npos);
  CHECK(message.find("[1] float32") != std::string::npos);
  CHECK(message.find("[3] float32") != std::string::npos);
}

TEST_CASE("a scenario without data and a source without samples are refused at their place") {
  CHECK(refusal({}, "E831").find("neither data.source nor data.datasets") != std::string::npos);
  DataSpec spec;
  spec.datasets = {{.source = Counting{.num_samples = 0}}};
  CHECK(refusal(spec, "E831").find("data.datasets[0]") != std::string::npos);
}

TEST_CASE("data that breaks a declared shape is refused instead of being read differently") {
  DataSpec spec;
  spec.source = Counting{.width = 2};
  spec.input_shapes = {{"features", {3}}};
  const std::string message = refusal(spec, "E832");
  CHECK(message.find("[3]") != std::string::npos);
  CHECK(message.find("[2]") != std::string::npos);
  spec.input_shapes = {{"feature", {2}}};
  CHECK(refusal(spec, "E832").find("did you mean features?") != std::string::npos);
}

TEST_CASE("max_samples takes a random subset, the same every time") {
  DataSpec spec;
  spec.datasets = {{.source = Counting{.num_samples = 100}, .max_samples = 30}};
  const DataModule data = module_of(spec);
  CHECK(data.rows(Split::predict).size() == 30);
  CHECK(data.rows(Split::train).size() == 21);
  CHECK(data.rows(Split::train) == module_of(spec).rows(Split::train));
}

TEST_CASE("max_samples of zero is refused at its place") {
  DataSpec spec;
  spec.datasets = {{.source = Counting{}, .max_samples = 0}};
  CHECK(refusal(spec, "E831").find("data.datasets[0].max_samples") != std::string::npos);
}

TEST_CASE("only the training loader is shuffled") {
  DataSpec spec;
  spec.source = Counting{.num_samples = 40};
  const DataModule data = module_of(spec);
  const auto first_epoch = [](DataLoader& loader) {
    std::vector<std::int64_t> rows;
    loader.start_epoch(0);
    while (const auto batch = loader.next()) {
      const at::Tensor index = batch->x.get("sample_index");
      for (std::int64_t i = 0; i < index.numel(); ++i) rows.push_back(index[i].item<std::int64_t>());
    }
    return rows;
  };
  CHECK(first_epoch(*data.make_loader(Split::val)) == data.rows(Split::val));
  CHECK(first_epoch(*data.make_loader(Split::test)) == data.rows(Split::test));
  CHECK(first_epoch(*data.make_loader(Split::train)) != data.rows(Split::train));
  CHECK(first_epoch(*data.make_ordered_loader(Split::train)) == data.rows(Split::train));
}

TEST_CASE("weighted sampling balances the classes of the first label") {
  DataSpec spec;
  std::vector<std::string> splits(100, "test");
  for (std::size_t row = 0; row < 44; row += 2) splits[row] = "train";  // 22 even rows
  splits[1] = splits[3] = "train";                                      // 2 odd rows
  spec.source = Counting{.num_samples = 100, .splits = splits};
  spec.loader.weighted_sampling = true;
  const DataModule data = module_of(spec);
  const auto loader = data.make_loader(Split::train);
  double odd = 0, all = 0;
  for (std::int64_t epoch = 0; epoch < 40; ++epoch) {
    loader->start_epoch(epoch);
    while (const auto batch = loader->next()) {
      odd += batch->y->get("parity").sum().item<double>();
      all += static_cast<double>(batch->batch_size());
    }
  }
  CHECK(odd / all == Approx(0.5).margin(0.06));
}

TEST_CASE("a batch size of zero is refused") {
  DataSpec spec;
  spec.source = Counting{};
  Diagnostics advice;
  CHECK_THROWS_WITH(DataModule(spec, 0, {}, advice),
                    Catch::Contains("E836") && Catch::Contains("at least 1"));
}

}  // namespace nexuml
