#include "scenarios/synthetic_linear.h"

#include "data/synthetic.h"
#include "data/torch_loader.h"
#include "evaluation/reconstruction_visualizer.h"
#include "layers/classification_loss.h"
#include "layers/classification_metrics.h"
#include "layers/latent_head.h"
#include "layers/linear_encoder.h"
#include "layers/reconstruction_loss.h"
#include "layers/regression_loss.h"
#include "scenarios/class_evaluation.h"

namespace nexuml_library {

using nexuml::Keys;
using nexuml::LayerSpec;
using nexuml::ScenarioSpec;

namespace {

// The evaluation of the original reads this label, which synthetic data does not have; the histogram and the
// latent plot then take the label that there is.
constexpr const char* evaluated_label = "class";

template <class Parameters>
void describe_size(nexuml::Schema<Parameters>& s) {
  s.field("feature_dim", &Parameters::feature_dim).doc("Numbers a sample.").at_least(1);
  s.field("latent_dim", &Parameters::latent_dim).doc("Size of the latent.").at_least(1);
}
template <class Parameters>
void describe_run(nexuml::Schema<Parameters>& s) {
  s.field("num_samples", &Parameters::num_samples).doc("Samples in all splits.").at_least(1);
  s.field("max_epochs", &Parameters::max_epochs).doc("Epochs of training.").at_least(1);
  s.field("batch_size", &Parameters::batch_size).doc("Samples a step.").at_least(1);
  s.field("seed", &Parameters::seed).doc("Seed of the data.").at_least(0);
}

// An autoencoder of the features, its loss, and data without labels.
template <class Parameters>
ScenarioSpec autoencoder(std::string name, const Parameters& parameters) {
  ScenarioSpec scenario{.name = std::move(name)};
  scenario.pipeline.stages["Encoder"] = {
      LayerSpec{.component = LinearEncoder{.hidden_dims = {{64, 32}}, .output_dim = parameters.latent_dim},
                .keys_in = Keys{"features"},
                .keys_out = {"latent"}}};
  scenario.pipeline.stages["Decoder"] = {
      LayerSpec{.component = LinearEncoder{.hidden_dims = {{32, 64}}, .output_dim = parameters.feature_dim},
                .keys_in = Keys{"latent"},
                .keys_out = {"reconstructed"}}};
  scenario.training.loss_keys = {{"reconstruction_loss", 1.0}};
  scenario.training.max_epochs = parameters.max_epochs;
  scenario.training.batch_size = parameters.batch_size;
  scenario.data.loader.backend = TorchLoader{};
  scenario.data.input_shapes = {{"features", {parameters.feature_dim}}};
  return scenario;
}

template <class Parameters>
Synthetic synthetic_data(const Parameters& parameters) {
  return {.feature_shape = {parameters.feature_dim},
          .num_samples = parameters.num_samples,
          .seed = parameters.seed};
}

LayerSpec reconstruction_loss() {
  return {.component = ReconstructionLoss{},
          .keys_in = Keys{"features", "reconstructed"},
          .keys_out = {"reconstruction_loss"}};
}

// A head beside the decoder: its layer, its loss, and the label it learns.
void add_head(ScenarioSpec& scenario, LayerSpec head, std::vector<LayerSpec> losses) {
  scenario.training.loss_keys[losses.front().keys_out.front()] = 1.0;
  scenario.pipeline.stages["Heads"] = {std::move(head)};
  losses.insert(losses.begin(), reconstruction_loss());
  scenario.pipeline.stages["Loss"] = std::move(losses);
}

void set_data(ScenarioSpec& scenario, Synthetic data, const SyntheticTarget& target) {
  scenario.data.targets = {
      {.type = nexuml::FieldTraits<SyntheticTarget::Type>::encode(target.type, nullptr).as_string(),
       .key = target.key,
       .num_classes = target.num_classes,
       .num_outputs = target.num_outputs}};
  scenario.data.num_classes = target.num_classes;
  data.targets = {target};
  scenario.data.datasets = {{.source = std::move(data)}};
}

}  // namespace

void SyntheticReconstruction::describe(nexuml::Schema<SyntheticReconstruction>& s) {
  s.summary("Linear autoencoder of synthetic features.");
  describe_size(s);
  describe_run(s);
}

ScenarioSpec synthetic_reconstruction(const SyntheticReconstruction& parameters,
                                      const nexuml::ScenarioContext&) {
  ScenarioSpec scenario = autoencoder("synthetic_linear_ae_reconstruction", parameters);
  scenario.pipeline.stages["Encoder"][0].meta_out =
      nexuml::OrderedMap<std::string>{{"output_dim", "latent_dim"}};
  scenario.pipeline.stages["Loss"] = {reconstruction_loss()};
  scenario.data.datasets = {{.source = synthetic_data(parameters)}};
  scenario.evaluation = {
      .metrics = {"mse", "mae"},
      .algorithms = {{.algorithm = ReconstructionVisualizer{.reconstructed_key = "reconstructed"},
                      .feature_key = "features"}},
      .test_result_metrics = Keys{"mse", "mae"}};
  return scenario;
}

void SyntheticMulticlass::describe(nexuml::Schema<SyntheticMulticlass>& s) {
  s.summary("Linear autoencoder with a classifier, on synthetic clusters.");
  describe_size(s);
  s.field("num_classes", &SyntheticMulticlass::num_classes).doc("Clusters, each a class.").at_least(2);
  describe_run(s);
}

ScenarioSpec synthetic_multiclass(const SyntheticMulticlass& parameters, const nexuml::ScenarioContext&) {
  ScenarioSpec scenario = autoencoder("synthetic_linear_ae_multiclass", parameters);
  add_head(scenario,
           {.component = LatentClassificationHead{}, .keys_in = Keys{"latent"}, .keys_out = {"class_logits"}},
           {LayerSpec{.component = ClassificationLoss{},
                      .keys_in = Keys{"class_logits"},
                      .keys_out = {"classification_loss"},
                      .label_key = "class_labels"},
            LayerSpec{.component = ClassificationMetrics{.metrics = {{"accuracy", "f1"}}},
                      .keys_in = Keys{"class_logits"},
                      .keys_out = {"accuracy", "f1"},
                      .label_key = "class_labels"}});
  Synthetic data = synthetic_data(parameters);
  data.num_clusters = parameters.num_classes;
  set_data(scenario, std::move(data),
           {.type = SyntheticTarget::Type::multiclass,
            .key = "class_labels",
            .num_classes = parameters.num_classes});
  scenario.evaluation = class_evaluation("latent", evaluated_label);
  return scenario;
}

void SyntheticMultilabel::describe(nexuml::Schema<SyntheticMultilabel>& s) {
  s.summary("Linear autoencoder with a classifier of several labels at once, on synthetic features.");
  describe_size(s);
  s.field("num_classes", &SyntheticMultilabel::num_classes).doc("Labels that a sample may have.").at_least(1);
  describe_run(s);
}

ScenarioSpec synthetic_multilabel(const SyntheticMultilabel& parameters, const nexuml::ScenarioContext&) {
  ScenarioSpec scenario = autoencoder("synthetic_linear_ae_multilabel", parameters);
  add_head(
      scenario,
      {.component = LatentClassificationHead{}, .keys_in = Keys{"latent"}, .keys_out = {"multilabel_logits"}},
      {LayerSpec{.component = ClassificationLoss{.loss_type = ClassificationLossType::bce},
                 .keys_in = Keys{"multilabel_logits"},
                 .keys_out = {"multilabel_loss"},
                 .label_key = "multilabel_targets"}});
  set_data(scenario, synthetic_data(parameters),
           {.type = SyntheticTarget::Type::multilabel,
            .key = "multilabel_targets",
            .num_classes = parameters.num_classes});
  scenario.evaluation = class_evaluation("latent", evaluated_label);
  return scenario;
}

void SyntheticRegression::describe(nexuml::Schema<SyntheticRegression>& s) {
  s.summary("Linear autoencoder with a regression head, on synthetic features.");
  describe_size(s);
  s.field("num_outputs", &SyntheticRegression::num_outputs).doc("Numbers to predict.").at_least(1);
  describe_run(s);
}

ScenarioSpec synthetic_regression(const SyntheticRegression& parameters, const nexuml::ScenarioContext&) {
  ScenarioSpec scenario = autoencoder("synthetic_linear_ae_regression", parameters);
  add_head(scenario,
           {.component = LatentRegressionHead{.num_outputs = parameters.num_outputs},
            .keys_in = Keys{"latent"},
            .keys_out = {"regression_predictions"}},
           {LayerSpec{.component = RegressionLoss{},
                      .keys_in = Keys{"regression_predictions"},
                      .keys_out = {"regression_loss"},
                      .label_key = "regression_targets"}});
  set_data(scenario, synthetic_data(parameters),
           {.type = SyntheticTarget::Type::regression,
            .key = "regression_targets",
            .num_outputs = parameters.num_outputs});
  scenario.evaluation = {.metrics = {"mse", "mae", "r2"}};
  return scenario;
}

}  // namespace nexuml_library
