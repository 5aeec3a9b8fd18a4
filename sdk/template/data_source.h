// @TYPE@: a data source.
#pragma once

#include <nexuml/definition.h>

#include <cstdint>
#include <memory>

namespace @NAMESPACE@ {

struct @TYPE@ {
  std::int64_t num_samples = 128;
  std::int64_t size = 16;

  static void describe(nexuml::Schema<@TYPE@>& s);
  nexuml::DataDeclaration declare() const;
  std::shared_ptr<nexuml::Dataset> build(const nexuml::DataContext& context) const;
};

}  // namespace @NAMESPACE@
