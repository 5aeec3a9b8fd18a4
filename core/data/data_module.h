// DataModule: the data of one scenario, opened, split, and ready to be walked.
//
//     DataModule data(scenario.data, 64, options, advice);
//     std::unique_ptr<DataLoader> loader = data.make_loader(Split::train);
//     for (loader->start_epoch(0); std::optional<Batch> batch = loader->next();) ...
#pragma once

#include <nexuml/data.h>
#include <nexuml/diagnostic.h>
#include <nexuml/export.h>
#include <nexuml/registry.h>
#include <nexuml/scenario.h>

#include <cstdint>
#include <filesystem>
#include <memory>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "data/split.h"

namespace nexuml {

enum class Split { train, val, test, predict };
NEXUML_EXPORT std::string_view to_string(Split split) noexcept;

struct DataModuleOptions {
  const ComponentRegistry* registry = nullptr;  // for the names of data sources in messages
  std::filesystem::path data_root;
  std::uint64_t seed = 0;
  bool pin_memory = false;
  std::stop_token stop;
};

class NEXUML_EXPORT DataModule {
 public:
  // Opens every source and decides the splits. Throws Error E83x; `advice` receives warnings.
  DataModule(const DataSpec& spec, std::int64_t batch_size, DataModuleOptions options, Diagnostics& advice);

  // For data that was opened and split elsewhere; sources and split rules of `spec` are not looked at.
  DataModule(const DataSpec& spec, std::int64_t batch_size, std::shared_ptr<const Dataset> dataset,
             Splits splits, DataModuleOptions options);

  const Dataset& dataset() const noexcept { return *dataset_; }
  const std::vector<std::int64_t>& rows(Split split) const noexcept;
  // The training split is shuffled and weighted as the scenario says; the others keep their order.
  std::unique_ptr<DataLoader> make_loader(Split split) const;
  // As `make_loader`, in the order of `rows` and with every row once.
  std::unique_ptr<DataLoader> make_ordered_loader(Split split) const;

  // What the opened data holds: for the compiler.
  DataDeclaration declaration() const;
  std::int64_t batch_size() const noexcept { return batch_size_; }
  bool drop_last() const noexcept { return spec_.loader.drop_last; }

 private:
  void open_sources(Diagnostics& advice);
  void build_backend();
  void check_input_shapes() const;
  std::vector<double> sampling_weights(Diagnostics& advice) const;
  LoaderRequest request(Split split) const;
  std::unique_ptr<DataLoader> create(const LoaderRequest& request) const;

  DataSpec spec_;
  std::int64_t batch_size_;
  DataModuleOptions options_;
  std::shared_ptr<const Dataset> dataset_;
  std::shared_ptr<LoaderBackend> backend_;
  Splits splits_;
  std::vector<std::int64_t> all_rows_;
  std::vector<double> weights_;
};

}  // namespace nexuml
