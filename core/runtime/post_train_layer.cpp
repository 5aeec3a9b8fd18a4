#include <ATen/ops/zeros.h>
#include <nexuml/diagnostic.h>
#include <nexuml/layer.h>

namespace nexuml {

PostTrainLayer::PostTrainLayer(const LayerBuildContext& context) : PipelineLayer(context) {
  register_buffer("fitted", at::zeros({}, at::kBool));
}

bool PostTrainLayer::fitted() const {
  return named_buffers(false)["fitted"].item<bool>();
}

void PostTrainLayer::forward(Batch& batch) {
  if (armed_) return collect_batch(batch);
  if (fitted()) return transform(batch);
  if (mode() == Mode::testing)
    throw Error("E824", "the layer was not fitted, so a test would say nothing about it",
                Where::in_layer(layer_name()), "run the fit after training, or load weights that hold it");
}

void PostTrainLayer::finish_fit() {
  finalize_fit();
  named_buffers(false)["fitted"].fill_(true);
  armed_ = false;
}

void PostTrainLayer::on_predict_end() {
  if (armed_) finish_fit();
}

}  // namespace nexuml
