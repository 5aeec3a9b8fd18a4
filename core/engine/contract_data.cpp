// What data sources, evaluation algorithms and loader backends owe.
#include <fmt/format.h>
#include <nexuml/data.h>
#include <nexuml/evaluation.h>

#include <algorithm>
#include <filesystem>
#include <numeric>

#include "engine/contract.h"
#include "engine/sample_spec.h"

namespace nexuml {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t small_rows = 10, small_batch = 4;

std::string difference_between(const TensorDict& one, const TensorDict& two, const char* what) {
  if (one.keys() != two.keys()) return fmt::format("{} gives other keys", what);
  for (const auto& [key, tensor] : one)
    if (!at::equal(tensor, two.get(key))) return fmt::format("{} gives another {}", what, key);
  return {};
}

Batch rows_from(const Dataset& dataset, std::int64_t first, std::int64_t rows) {
  std::vector<std::int64_t> indices(static_cast<std::size_t>(rows));
  std::iota(indices.begin(), indices.end(), first);
  return dataset.gather(indices);
}

// Empty where each tensor of `batch` starts with the dimension of its rows.
std::string check_rows(const Batch& batch, std::int64_t rows) {
  for (const TensorDict* part : {&batch.x, batch.y ? &*batch.y : nullptr}) {
    if (!part) continue;
    for (const auto& [key, tensor] : *part)
      if (tensor.dim() == 0 || tensor.size(0) != rows)
        return fmt::format("{} of {} rows has the shape {}: the first dimension must be the rows", key, rows,
                           to_string(Shape(tensor.sizes().begin(), tensor.sizes().end())));
  }
  return {};
}

std::string difference_to_row(const TensorDict& together, const TensorDict& alone, std::int64_t row) {
  if (together.keys() != alone.keys()) return fmt::format("row {} alone gives other keys", row);
  for (const auto& [key, tensor] : alone)
    if (!at::equal(tensor, together.get(key).narrow(0, row, 1)))
      return fmt::format("row {} of {} alone differs from the same row in a batch", row, key);
  return {};
}

// Rows of one shape, one under the other.
std::string check_stacking(const Dataset& dataset) {
  const std::int64_t rows = std::min<std::int64_t>(dataset.size(), 3);
  const Batch together = rows_from(dataset, 0, rows);
  if (std::string wrong = check_rows(together, rows); !wrong.empty()) return wrong;
  for (std::int64_t row = 0; row < rows; ++row) {
    const Batch alone = rows_from(dataset, row, 1);
    if (alone.y.has_value() != together.y.has_value())
      return fmt::format("row {} alone has {} labels", row, alone.y ? "" : "no");
    std::string wrong = check_rows(alone, 1);
    if (wrong.empty()) wrong = difference_to_row(together.x, alone.x, row);
    if (wrong.empty() && alone.y) wrong = difference_to_row(*together.y, *alone.y, row);
    if (!wrong.empty()) return wrong;
  }
  const Batch again = rows_from(dataset, 0, rows);
  std::string wrong = difference_between(together.x, again.x, "reading the same rows again");
  if (wrong.empty() && together.y && again.y)
    wrong = difference_between(*together.y, *again.y, "reading the same rows again");
  return wrong;
}

// Empty where the rows have what `who` says of them.
std::string check_promises(const OrderedMap<TensorSpec>& promised, const TensorDict* rows,
                           std::string_view who) {
  for (const auto& [key, spec] : promised) {
    const at::Tensor* tensor = rows ? rows->find(key) : nullptr;
    if (!tensor) return fmt::format("{} names {}, the rows do not have it", who, key);
    const TensorSpec found = spec_of_sample(*tensor);
    if (!keeps(spec, found))
      return fmt::format("{} gives {} as {}, the rows have {}", who, key, to_string(spec), to_string(found));
  }
  return {};
}

std::string check_specs(const Dataset& dataset, const DataSourceModel& source) {
  const Batch batch = rows_from(dataset, 0, 1);
  const TensorDict* labels = batch.y ? &*batch.y : nullptr;
  std::string wrong = check_promises(dataset.features(), &batch.x, "features()");
  if (wrong.empty()) wrong = check_promises(dataset.labels(), labels, "labels()");
  const auto declared = source.declare();
  if (!declared || !wrong.empty()) return wrong;
  wrong = check_promises(declared->features, &batch.x, "declare()");
  if (wrong.empty()) wrong = check_promises(declared->labels, labels, "declare()");
  if (wrong.empty() && declared->num_samples && *declared->num_samples != dataset.size())
    wrong =
        fmt::format("declare() tells {} samples, the data has {}", *declared->num_samples, dataset.size());
  return wrong;
}

// Ten rows of eight features, and a label.
std::shared_ptr<TensorDataset> small_dataset() {
  TensorDict x, y;
  x.set("features", at::arange(small_rows * 8, at::kFloat).view({small_rows, 8}) / 80);
  y.set("label", at::arange(small_rows).remainder(2));
  return std::make_shared<TensorDataset>(std::move(x), std::move(y));
}

std::string check_epoch(const LoaderBackend& backend) {
  LoaderRequest request{.dataset = small_dataset(), .split = "train", .batch_size = small_batch};
  for (std::int64_t row = 0; row < small_rows; ++row) request.indices.push_back(row);
  const auto loader = backend.create_loader(request);
  if (!loader) return "create_loader returned none";
  std::vector<int> seen(small_rows, 0);
  std::int64_t batches = 0;
  loader->start_epoch(0);
  while (const auto batch = loader->next()) {
    if (++batches > small_rows) return "the epoch has no end";
    const at::Tensor* rows = batch->x.find("sample_index");
    if (!rows) return "a batch lacks sample_index, the rows that it holds";
    for (std::int64_t at = 0; at < rows->numel(); ++at) {
      const auto row = (*rows)[at].item<std::int64_t>();
      if (row < 0 || row >= small_rows)
        return fmt::format("sample_index names row {} of {}", row, small_rows);
      ++seen[static_cast<std::size_t>(row)];
    }
  }
  for (std::size_t row = 0; row < seen.size(); ++row)
    if (seen[row] != 1) return fmt::format("an epoch gave row {} {} times", row, seen[row]);
  if (loader->num_batches() != batches)
    return fmt::format("num_batches() tells {}, an epoch has {}", loader->num_batches(), batches);
  return {};
}

}  // namespace

void check_data_source_contract(const Definition& raw, ContractReport& report) {
  const AnyDataSource source(raw);
  std::shared_ptr<Dataset> dataset;
  try {
    dataset = source->build({.data_root = fs::temp_directory_path()});
  } catch (const Error& error) {
    // Files that are not here are no mistake of the library.
    report.skip("opens", error.diagnostics().entries().front().message + "; record a golden case of it");
    return;
  } catch (...) {
    report.add({"opens", CheckStatus::failed, words_of_exception()});
    return;
  }
  if (!dataset || dataset->size() < 1) {
    report.add({"opens", CheckStatus::failed, dataset ? "it has no rows" : "build returned no dataset"});
    return;
  }
  report.add({fmt::format("opens: {} rows", dataset->size())});
  report.check("its rows stack, alone and together", [&] { return check_stacking(*dataset); });
  report.check("has the shapes that it declares", [&] { return check_specs(*dataset, *source); });
}

void check_eval_algorithm_contract(const Definition& raw, const ComponentRegistry& registry,
                                   ContractReport& report) {
  const AnyEvalAlgorithm definition(raw);
  EvalBuildContext context{.name = "trial"};
  context.label_key = "label";
  context.num_classes["label"] = 2;
  context.targets = &registry;
  std::shared_ptr<EvalAlgorithm> algorithm;
  try {
    algorithm = definition->build(context);
  } catch (const Error& error) {
    report.skip("builds", error.diagnostics().entries().front().message + "; record a golden case of it");
    return;
  } catch (...) {
    report.add({"builds", CheckStatus::failed, words_of_exception()});
    return;
  }
  if (!algorithm) {
    report.add({"builds", CheckStatus::failed, "build returned no algorithm"});
    return;
  }
  report.add({"builds"});
  const auto dataset = small_dataset();
  const EvalBatch batch{.x = dataset->x(), .y = &*dataset->y(), .metadata = {}, .size = small_rows};
  const std::string name = "runs over a batch of features [8] with a label";
  try {
    if (algorithm->needs_fit()) {
      algorithm->fit_batch(batch);
      algorithm->fit_end();
    }
    algorithm->eval_batch(batch);
    algorithm->eval_end();
    (void)algorithm->results();
    report.add({name});
  } catch (const Error& error) {
    report.skip(name, error.diagnostics().entries().front().message + "; record a golden case of it");
  } catch (...) {
    report.add({name, CheckStatus::failed, words_of_exception()});
  }
}

void check_loader_contract(const Definition& raw, ContractReport& report) {
  const AnyLoaderBackend definition(raw);
  report.check("an epoch gives every row once", [&]() -> std::string {
    const auto backend = definition->build({});
    return backend ? check_epoch(*backend) : "build returned no backend";
  });
}

}  // namespace nexuml
