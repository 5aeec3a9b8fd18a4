#include "data/data_module.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include "data/guard.h"
#include "data/joined_dataset.h"
#include "data/merged_labels.h"

namespace nexuml {

namespace {

Where at_key(std::string key_path) {
  Where where;
  where.key_path = std::move(key_path);
  return where;
}

// `data.source` goes before `data.datasets`, as in the original.
struct Source {
  DatasetSpec spec;
  std::string key_path;
};
std::vector<Source> listed_sources(const DataSpec& spec) {
  std::vector<Source> sources;
  if (spec.source && spec.source->has_value())
    sources.push_back({DatasetSpec{.source = *spec.source}, "data.source"});
  for (std::size_t i = 0; i < spec.datasets.size(); ++i)
    sources.push_back({spec.datasets[i], fmt::format("data.datasets[{}]", i)});
  return sources;
}

std::string source_name(const AnyDataSource& source, const ComponentRegistry* registry) {
  const auto identity = registry ? registry->identity_of(source) : std::nullopt;
  return identity ? identity->name : source->schema().name;
}

std::shared_ptr<const Dataset> open(const Source& source, const std::string& name,
                                    const DataContext& context) {
  std::shared_ptr<const Dataset> dataset =
      guarded("E831", fmt::format("the data source '{}'", name), at_key(source.key_path),
              [&] { return source.spec.source->build(context); });
  if (!dataset)
    throw Error("E831", fmt::format("the data source '{}' built no dataset", name), at_key(source.key_path));
  if (dataset->size() == 0)
    throw Error("E831", fmt::format("the data source '{}' has no samples; at least one is needed", name),
                at_key(source.key_path),
                fmt::format("relative paths are read from {}", context.data_root.string()));
  return dataset;
}

bool same_shape(const std::vector<std::int64_t>& declared, const Shape& found) {
  return std::equal(declared.begin(), declared.end(), found.begin(), found.end(), [](auto left, auto right) {
    return left == right || left == unknown_size || right == unknown_size;
  });
}

std::vector<std::string> feature_names(const OrderedMap<TensorSpec>& specs) {
  std::vector<std::string> names;
  for (const auto& [key, spec] : specs) names.push_back(key);
  return names;
}

}  // namespace

std::string_view to_string(Split split) noexcept {
  switch (split) {
    case Split::train:
      return "train";
    case Split::val:
      return "val";
    case Split::test:
      return "test";
    case Split::predict:
      return "predict";
  }
  return "";
}

DataModule::DataModule(const DataSpec& spec, std::int64_t batch_size, DataModuleOptions options,
                       Diagnostics& advice)
    : spec_(spec), batch_size_(batch_size), options_(std::move(options)) {
  if (batch_size_ <= 0)
    throw Error("E836", fmt::format("a batch size of {}; it has to be at least 1", batch_size_),
                at_key("training.batch_size"));
  open_sources(advice);
  check_input_shapes();
  build_backend();
  if (spec_.loader.weighted_sampling) weights_ = sampling_weights(advice);
}

DataModule::DataModule(const DataSpec& spec, std::int64_t batch_size, std::shared_ptr<const Dataset> dataset,
                       Splits splits, DataModuleOptions options)
    : spec_(spec),
      batch_size_(batch_size),
      options_(std::move(options)),
      dataset_(std::move(dataset)),
      splits_(std::move(splits)),
      all_rows_(static_cast<std::size_t>(dataset_->size())) {
  std::iota(all_rows_.begin(), all_rows_.end(), std::int64_t{0});
  build_backend();
  Diagnostics unheard;
  if (spec_.loader.weighted_sampling) weights_ = sampling_weights(unheard);
}

void DataModule::build_backend() {
  backend_ = spec_.loader.backend.has_value()
                 ? guarded("E837", "the loader backend", at_key("data.loader.backend"),
                           [&] { return spec_.loader.backend->build(LoaderBuildContext{options_.stop}); })
                 : make_torch_loader_backend();
}

void DataModule::open_sources(Diagnostics& advice) {
  const std::vector<Source> sources = listed_sources(spec_);
  if (sources.empty())
    throw Error("E831", "the scenario has no data: neither data.source nor data.datasets is given",
                at_key("data"));
  const DataContext context{.data_root = options_.data_root,
                            .feature_key = spec_.feature_key,
                            .seed = options_.seed,
                            .stop = options_.stop,
                            .advice = &advice};

  std::vector<JoinedDataset::Part> parts;
  std::map<std::string, int> uses;
  std::int64_t first_row = 0;
  for (const Source& source : sources) {
    std::string name = source_name(source.spec.source, options_.registry);
    if (const int earlier = uses[name]++) name += fmt::format("#{}", earlier);
    auto dataset = open(source, name, context);

    if (source.spec.max_samples == 0)
      throw Error("E831", "max_samples is 0: no sample is left", at_key(source.key_path + ".max_samples"),
                  "give the number of samples to take, or leave it out to take all");
    std::vector<std::int64_t> local;
    if (source.spec.max_samples && *source.spec.max_samples < dataset->size()) {
      local = random_subset(dataset->size(), *source.spec.max_samples);
    } else {
      local.resize(static_cast<std::size_t>(dataset->size()));
      std::iota(local.begin(), local.end(), std::int64_t{0});
    }
    const std::vector<std::string> all_splits = dataset->splits();
    std::vector<std::string> assigned;
    if (!all_splits.empty())
      for (const std::int64_t row : local) assigned.push_back(all_splits.at(static_cast<std::size_t>(row)));
    for (std::int64_t& row : local) row += first_row;
    append_split(splits_, local, assigned, source.spec.split_type,
                 {spec_.train_split, spec_.val_split, spec_.test_split}, source.key_path);
    all_rows_.insert(all_rows_.end(), local.begin(), local.end());
    first_row += dataset->size();
    parts.push_back({std::move(name), std::move(dataset)});
  }
  const bool merges = spec_.merge_labels && !spec_.merge_labels->empty();
  dataset_ = parts.size() == 1 && !merges ? parts.front().dataset
                                          : std::make_shared<const JoinedDataset>(std::move(parts));
  if (merges) dataset_ = merge_labels(dataset_, merge_rules(*spec_.merge_labels));
}

// Declared shapes are promises: data that breaks one is refused instead of being read differently.
void DataModule::check_input_shapes() const {
  Diagnostics problems;
  const OrderedMap<TensorSpec> features = dataset_->features();
  for (const auto& [key, shape] : spec_.input_shapes) {
    const Where where = at_key("data.input_shapes." + key);
    const TensorSpec* found = features.find(key);
    if (!found)
      problems
          .error("E832",
                 fmt::format("data.input_shapes names '{}', which the data does not give; it gives {}", key,
                             fmt::join(feature_names(features), ", ")),
                 where)
          .hint = did_you_mean(key, feature_names(features));
    else if (!same_shape(shape, found->shape))
      problems
          .error("E832",
                 fmt::format("'{}' is declared as {}, and the data gives {}", key, to_string(shape),
                             to_string(found->shape)),
                 where)
          .hint = "correct data.input_shapes, or leave the key out: shapes are then taken from the data";
  }
  if (problems.has_errors()) throw Error(std::move(problems));
}

// Each training row weighs 1 / (rows of its class + 1e-6), by the first label.
std::vector<double> DataModule::sampling_weights(Diagnostics& advice) const {
  const OrderedMap<TensorSpec> labels = dataset_->labels();
  const Where where = at_key("data.loader.weighted_sampling");
  const auto decline = [&](const std::string& reason) {
    advice.warning("W838", "weighted_sampling has no effect: " + reason, where);
    return std::vector<double>{};
  };
  if (labels.empty()) return decline("the data has no labels");
  const auto& [label, spec] = *labels.begin();
  if (element_count(spec.shape) != 1) return decline(fmt::format("label '{}' is no class number", label));

  constexpr std::size_t rows_at_once = 4096;
  std::vector<double> classes;
  const std::span<const std::int64_t> rows(splits_.train);
  for (std::size_t begin = 0; begin < rows.size(); begin += rows_at_once) {
    const Batch batch = dataset_->gather(rows.subspan(begin, std::min(rows_at_once, rows.size() - begin)));
    const at::Tensor values = batch.y->get(label).flatten().to(at::kDouble).contiguous();
    classes.insert(classes.end(), values.const_data_ptr<double>(),
                   values.const_data_ptr<double>() + values.numel());
  }
  std::map<double, double> counts;
  for (const double value : classes) {
    if (value != std::floor(value))
      return decline(fmt::format("label '{}' holds {}, no whole number", label, value));
    ++counts[value];
  }
  for (double& value : classes) value = 1.0 / (counts[value] + 1e-6);
  return classes;
}

const std::vector<std::int64_t>& DataModule::rows(Split split) const noexcept {
  switch (split) {
    case Split::train:
      return splits_.train;
    case Split::val:
      return splits_.val;
    case Split::test:
      return splits_.test;
    case Split::predict:
      break;
  }
  return all_rows_;
}

LoaderRequest DataModule::request(Split split) const {
  return {.dataset = dataset_,
          .indices = rows(split),
          .split = std::string(to_string(split)),
          .batch_size = batch_size_,
          .pin_memory = options_.pin_memory,
          .seed = options_.seed,
          .num_workers = spec_.loader.num_workers,
          .prefetch_factor = spec_.loader.prefetch_factor.value_or(2),
          .persistent_workers = spec_.loader.persistent_workers,
          .stop = options_.stop};
}

std::unique_ptr<DataLoader> DataModule::create(const LoaderRequest& request) const {
  return guarded("E837", "the loader backend", at_key("data.loader"),
                 [&] { return backend_->create_loader(request); });
}

std::unique_ptr<DataLoader> DataModule::make_loader(Split split) const {
  LoaderRequest wanted = request(split);
  if (split == Split::train) {
    wanted.weights = weights_;
    wanted.shuffle = spec_.loader.shuffle_train;
    wanted.drop_last = spec_.loader.drop_last;
  }
  return create(wanted);
}

std::unique_ptr<DataLoader> DataModule::make_ordered_loader(Split split) const {
  return create(request(split));
}

DataDeclaration DataModule::declaration() const {
  return {.features = dataset_->features(),
          .labels = dataset_->labels(),
          .num_classes = dataset_->num_classes(),
          .num_samples = dataset_->size()};
}

}  // namespace nexuml
