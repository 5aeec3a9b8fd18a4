#include "scenario.h"

#include "class_share.h"
#include "in_order.h"
#include "moving_average.h"
#include "tones.h"

namespace acme {

void TonesParameters::describe(nexuml::Schema<TonesParameters>& s) {
  s.summary("Tells tones apart: smoothing, a soft limit, two linear layers.");
  s.field("classes", &TonesParameters::classes).doc("How many tones there are.").at_least(2);
  s.field("epochs", &TonesParameters::epochs).at_least(1);
}

nexuml::ScenarioSpec tones_scenario(const TonesParameters& parameters,
                                    const nexuml::ScenarioContext& context) {
  using nexuml::Keys;
  const Tones tones{.num_classes = parameters.classes};

  nexuml::ScenarioSpec scenario{.name = "acme-tones-from-code"};
  scenario.pipeline.stages["Signal"] = {
      {.component = MovingAverage{.window = 5}, .keys_in = Keys{"features"}, .keys_out = {"smooth"}},
      {.component = nexuml::nn_module("acme.modules:SoftClip", tones.length, nexuml::Keyword{"limit", 2.0}),
       .keys_in = Keys{"smooth"},
       .keys_out = {"clipped"}},
      {.component = nexuml::nn_module("torch.nn:Linear", tones.length, 32),
       .keys_in = Keys{"clipped"},
       .keys_out = {"hidden"}},
      {.component = nexuml::nn_module("torch.nn:ReLU"), .keys_in = Keys{"hidden"}, .keys_out = {"active"}},
      {.component = nexuml::nn_module("torch.nn:Linear", 32, parameters.classes),
       .keys_in = Keys{"active"},
       .keys_out = {"logits"}}};
  // A layer of another library, by its identity.
  scenario.pipeline.stages["Loss"] = {{.component = context.layer("ClassificationLoss"),
                                       .keys_in = Keys{"logits"},
                                       .keys_out = {"loss"},
                                       .label_key = "tone"}};
  scenario.data.source = tones;
  scenario.data.loader.backend = InOrder{};
  scenario.training.loss_keys = {{"loss", 1.0}};
  scenario.training.lr = 0.01;
  scenario.training.max_epochs = parameters.epochs;
  scenario.evaluation.algorithms = {{.algorithm = ClassShare{}}};
  return scenario;
}

}  // namespace acme
