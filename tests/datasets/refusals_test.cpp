// What data refuses, by its code.
#include <ATen/ops/zeros.h>

#include <catch2/catch.hpp>
#include <stdexcept>

#include "data/data_module.h"

namespace nexuml {
namespace {

struct FourRows {
  std::int64_t unused = 0;

  static void describe(Schema<FourRows>& s) { s.field("unused", &FourRows::unused); }
  std::shared_ptr<Dataset> build(const DataContext& context) const {
    return std::make_shared<TensorDataset>(TensorDict{{context.feature_key, at::zeros({4, 1})}});
  }
};

struct FailingLoader {
  std::int64_t unused = 0;

  static void describe(Schema<FailingLoader>& s) { s.field("unused", &FailingLoader::unused); }
  std::shared_ptr<LoaderBackend> build(const LoaderBuildContext&) const {
    throw std::runtime_error("no shared memory is left");
  }
};

}  // namespace

TEST_CASE("a loader backend that throws is named, with its own words") {
  DataSpec spec;
  spec.source = FourRows{};
  spec.loader.backend = FailingLoader{};
  Diagnostics advice;
  CHECK_THROWS_WITH(DataModule(spec, 2, {}, advice),
                    Catch::Contains("E837") && Catch::Contains("no shared memory is left"));
}

}  // namespace nexuml
