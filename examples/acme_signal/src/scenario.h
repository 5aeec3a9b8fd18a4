// The scenario `acme-tones-from-code`.
#pragma once

#include <nexuml/scenario.h>

#include <cstdint>

namespace acme {

struct TonesParameters {
  std::int64_t classes = 4;
  std::int64_t epochs = 8;

  static void describe(nexuml::Schema<TonesParameters>& s);
};

nexuml::ScenarioSpec tones_scenario(const TonesParameters& parameters,
                                    const nexuml::ScenarioContext& context);

}  // namespace acme
