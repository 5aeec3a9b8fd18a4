// TorchLoader: the loader backend `torch`. Batches are gathered from the dataset, by worker threads with
// prefetch where `num_workers` of the loader is above 0.
#pragma once

#include <nexuml/definition.h>

#include <memory>

namespace nexuml_library {

// Shape: batches of [batch, ...] of what the samples hold.
struct TorchLoader {
  static void describe(nexuml::Schema<TorchLoader>& s);
  std::shared_ptr<nexuml::LoaderBackend> build(const nexuml::LoaderBuildContext& context) const;
};

}  // namespace nexuml_library
