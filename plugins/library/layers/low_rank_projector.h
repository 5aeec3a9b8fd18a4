// LowRankProjector: a linear map through a narrow middle.
//
//     LayerSpec{.component = LowRankProjector{.target_dim = 512, .rank = 16}, .keys_in = {"embedding"},
//               .keys_out = {"projected"}};
#pragma once

#include <nexuml/definition.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

namespace nexuml_library {

// Shape: [batch, ..., features] -> [batch, ..., target_dim]
// Formula: B act(A x) + b with A of rank rows
struct LowRankProjector {
  std::int64_t target_dim = 0;
  std::int64_t rank = 64;
  bool bias = true;
  std::optional<std::string> activation = std::nullopt;

  static void describe(nexuml::Schema<LowRankProjector>& s);
  nexuml::Shapes infer(const nexuml::LayerInferContext& context) const;
  std::shared_ptr<nexuml::PipelineLayer> build(const nexuml::LayerBuildContext& context) const;
};

}  // namespace nexuml_library
