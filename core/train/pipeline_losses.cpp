#include "train/pipeline_losses.h"

#include <fmt/format.h>

namespace nexuml {

PipelineLosses::PipelineLosses(OrderedMap<double> weights, const CompiledPipeline& pipeline)
    : weights_(std::move(weights)) {
  std::vector<std::string> made;
  for (const auto& [key, spec] : pipeline.specs()) made.push_back(key);
  Diagnostics problems;
  for (const auto& [key, weight] : weights_) {
    if (pipeline.specs().contains(key)) continue;
    Where where;
    where.key_path = "training.loss_keys." + key;
    problems.error("E841", fmt::format("no layer produces the loss key '{}'", key), where).hint =
        did_you_mean(key, made);
  }
  if (problems.has_errors()) throw Error(std::move(problems));
}

LossTerms PipelineLosses::operator()(const TensorDict& x) const {
  LossTerms losses;
  losses.terms.reserve(weights_.size());
  for (const auto& [key, weight] : weights_) {
    const at::Tensor* value = x.find(key);
    if (!value) continue;
    const at::Tensor mean = value->dim() == 0 ? *value : value->mean();
    const at::Tensor weighted = weight == 1.0 ? mean : mean * weight;
    losses.total = losses.total.defined() ? losses.total + weighted : weighted;
    losses.terms.emplace_back(key, mean);
  }
  return losses;
}

}  // namespace nexuml
