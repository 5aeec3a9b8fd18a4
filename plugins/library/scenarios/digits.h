// Scenarios on the handwritten digits that come with this project: 1,797 images of 8x8 pixels as a CSV.
#pragma once

#include <nexuml/scenario.h>

#include <cstdint>
#include <string>
#include <vector>

namespace nexuml_library {

struct DigitsClassifierParameters {
  std::string path = "examples/data/digits/digits.csv";
  std::vector<std::int64_t> hidden_dims = {256};
  std::int64_t latent_dim = 64;
  std::int64_t max_epochs = 30;
  std::int64_t batch_size = 64;

  static void describe(nexuml::Schema<DigitsClassifierParameters>& s);
};
nexuml::ScenarioSpec digits_classifier(const DigitsClassifierParameters& parameters,
                                       const nexuml::ScenarioContext& context);

}  // namespace nexuml_library
