#include "evaluate/evaluation_run.h"

#include <ATen/ops/index_select.h>
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "data/guard.h"
#include "track/text_files.h"

namespace nexuml {

namespace {

Where at_algorithm(std::string key_path) {
  Where where;
  where.key_path = std::move(key_path);
  return where;
}

AxisKeySpec axis_of(const std::variant<AxisKeySpec, std::string>& axis) {
  if (const auto* spec = std::get_if<AxisKeySpec>(&axis)) return *spec;
  return AxisKeySpec{.key = std::get<std::string>(axis)};
}

}  // namespace

EvaluationRun::EvaluationRun(const EvaluationSpec& spec, const EvalBuildContext& shared,
                             const ComponentRegistry& registry)
    : run_folder_(shared.run_folder), test_result_metrics_(spec.test_result_metrics) {
  std::map<std::string, int> uses;
  for (std::size_t i = 0; i < spec.algorithms.size(); ++i) {
    const EvalAlgorithmSpec& wanted = spec.algorithms[i];
    if (!wanted.enabled) continue;
    const auto identity = registry.identity_of(wanted.algorithm);
    EvalBuildContext context = shared;
    context.name = wanted.name.value_or(identity ? identity->name : wanted.algorithm->schema().name);
    if (const int earlier = uses[context.name]++) context.name += fmt::format("#{}", earlier);
    context.feature_key = wanted.feature_key;
    context.label_key = wanted.label_key;
    for (const auto& axis : wanted.axis_keys) context.axis_keys.push_back(axis_of(axis));
    const std::string key_path = fmt::format("evaluation.algorithms[{}]", i);
    auto algorithm = guarded("E850", fmt::format("building the evaluation algorithm '{}'", context.name),
                             at_algorithm(key_path), [&] { return wanted.algorithm->build(context); });
    if (!algorithm)
      throw Error("E850", fmt::format("the evaluation algorithm '{}' built nothing", context.name),
                  at_algorithm(key_path));
    entries_.push_back({context.name, key_path, std::move(algorithm)});
  }
}

template <class Call>
void EvaluationRun::for_each(Call&& call) {
  for (Entry& entry : entries_) {
    if (entry.failed) continue;
    try {
      guarded("E850", fmt::format("the evaluation algorithm '{}'", entry.name), at_algorithm(entry.key_path),
              [&] { call(entry); });
    } catch (const Error& error) {
      entry.failed = true;
      failures_.append(error.diagnostics());
    }
  }
}

bool EvaluationRun::needs_fit() const {
  return std::any_of(entries_.begin(), entries_.end(),
                     [](const Entry& entry) { return !entry.failed && entry.algorithm->needs_fit(); });
}

void EvaluationRun::fit_batch(const EvalBatch& batch) {
  for_each([&](Entry& entry) {
    if (entry.algorithm->needs_fit()) entry.algorithm->fit_batch(batch);
  });
}

void EvaluationRun::fit_end() {
  for_each([&](Entry& entry) {
    if (entry.algorithm->needs_fit()) entry.algorithm->fit_end();
  });
}

void EvaluationRun::eval_batch(const EvalBatch& batch) {
  if (metrics_) metrics_->add(batch);
  for_each([&](Entry& entry) { entry.algorithm->eval_batch(batch); });
}

OrderedMap<double> EvaluationRun::finish() {
  for_each([](Entry& entry) { entry.algorithm->eval_end(); });
  OrderedMap<double> numbers;
  if (metrics_)
    for (const auto& [metric, value] : metrics_->results()) {
      numbers["eval/" + metric] = value;
      if (mirrored({}, metric)) numbers["test/" + metric] = value;
    }
  for_each([&](Entry& entry) {
    if (!run_folder_.empty()) {
      const std::filesystem::path folder = run_folder_ / "evaluation" / folder_name(entry.name);
      std::filesystem::create_directories(folder);
      entry.algorithm->write_artifacts(folder);
    }
    for (const auto& [key, value] : entry.algorithm->results()) {
      numbers[fmt::format("eval/{}/{}", entry.name, key)] = value;
      if (mirrored(entry.name, key)) numbers[fmt::format("test/{}/{}", entry.name, key)] = value;
    }
  });
  return numbers;
}

// "all", "none", or a list whose entries name a key or prefix/key.
bool EvaluationRun::mirrored(const std::string& name, const std::string& key) const {
  if (const auto* word = std::get_if<std::string>(&test_result_metrics_)) return *word == "all";
  const Keys& wanted = std::get<Keys>(test_result_metrics_);
  return std::any_of(wanted.begin(), wanted.end(),
                     [&](const std::string& entry) { return entry == key || entry == name + "/" + key; });
}

OrderedMap<MetadataColumn> metadata_rows(const OrderedMap<MetadataColumn>& columns,
                                         const at::Tensor& sample_index) {
  const at::Tensor rows = sample_index.cpu().contiguous();
  OrderedMap<MetadataColumn> selected;
  for (const auto& [name, column] : columns) {
    if (const auto* numbers = std::get_if<at::Tensor>(&column)) {
      selected.append(name, numbers->index_select(0, rows));
      continue;
    }
    const auto& texts = std::get<std::vector<std::string>>(column);
    std::vector<std::string> wanted;
    const auto* row = rows.const_data_ptr<std::int64_t>();
    for (std::int64_t i = 0; i < rows.numel(); ++i)
      wanted.push_back(texts.at(static_cast<std::size_t>(row[i])));
    selected.append(name, std::move(wanted));
  }
  return selected;
}

}  // namespace nexuml
