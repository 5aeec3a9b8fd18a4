// The loss of a scenario: the weighted sum of means of what the pipeline put under `training.loss_keys`.
#pragma once

#include <nexuml/export.h>
#include <nexuml/ordered_map.h>
#include <nexuml/pipeline.h>
#include <torch/types.h>

#include <string>
#include <utility>
#include <vector>

namespace nexuml {

struct LossTerms {
  std::vector<std::pair<std::string, at::Tensor>> terms;  // mean of each key that is there, not weighted
  at::Tensor total;                                       // undefined when no key is there
};

class NEXUML_EXPORT PipelineLosses {
 public:
  // Throws Error E841 for a key that no layer of the pipeline produces.
  PipelineLosses(OrderedMap<double> weights, const CompiledPipeline& pipeline);

  // A key may be absent while the layer that makes it is left out of the epoch.
  LossTerms operator()(const TensorDict& x) const;
  bool empty() const noexcept { return weights_.empty(); }

 private:
  OrderedMap<double> weights_;
};

}  // namespace nexuml
