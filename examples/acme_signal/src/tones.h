// Tones: sine waves of one frequency a class, with noise. Made in memory from the seed.
#pragma once

#include <nexuml/definition.h>

#include <cstdint>
#include <memory>

namespace acme {

struct Tones {
  std::int64_t num_samples = 600;
  std::int64_t length = 64;
  std::int64_t num_classes = 4;
  double noise = 0.3;

  static void describe(nexuml::Schema<Tones>& s);
  nexuml::DataDeclaration declare() const;
  std::shared_ptr<nexuml::Dataset> build(const nexuml::DataContext& context) const;
};

}  // namespace acme
