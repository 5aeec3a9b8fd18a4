#include "scenarios/digits.h"

#include "data/csv_source.h"
#include "evaluation/classification_report.h"
#include "layers/classification_loss.h"
#include "layers/classification_metrics.h"
#include "layers/latent_head.h"
#include "layers/linear_encoder.h"

namespace nexuml_library {

using nexuml::Keys;
using nexuml::LayerSpec;

namespace {

constexpr double pixel_scale = 1.0 / 16;  // pixels are 0 (paper) to 16 (ink)

nexuml::DatasetSpec digits_data(const std::string& path, nexuml::Shape shape) {
  return {.source = CsvSource{.path = path,
                              .features = {"pixel_0..pixel_63"},
                              .label = "label",
                              .classes = {"0", "1", "2", "3", "4", "5", "6", "7", "8", "9"},
                              .scale = pixel_scale,
                              .shape = std::move(shape),
                              .label_key = "digit"},
          .modality = "image"};
}

std::vector<LayerSpec> digit_losses() {
  return {LayerSpec{.component = ClassificationLoss{},
                    .keys_in = Keys{"class_logits"},
                    .keys_out = {"classification_loss"},
                    .label_key = "digit"},
          LayerSpec{.component = ClassificationMetrics{.metrics = {{"accuracy"}}},
                    .keys_in = Keys{"class_logits"},
                    .keys_out = {"accuracy"},
                    .label_key = "digit"}};
}

}  // namespace

void DigitsClassifierParameters::describe(nexuml::Schema<DigitsClassifierParameters>& s) {
  s.summary("Handwritten digits, classified by a small network.");
  s.field("path", &DigitsClassifierParameters::path).doc("The CSV of the digits; relative to the data root.");
  s.field("hidden_dims", &DigitsClassifierParameters::hidden_dims).doc("Widths of the encoder.").at_least(1);
  s.field("latent_dim", &DigitsClassifierParameters::latent_dim).doc("Size of the latent.").at_least(1);
  s.field("max_epochs", &DigitsClassifierParameters::max_epochs).doc("Epochs of training.").at_least(1);
  s.field("batch_size", &DigitsClassifierParameters::batch_size).doc("Samples a step.").at_least(1);
}

nexuml::ScenarioSpec digits_classifier(const DigitsClassifierParameters& parameters,
                                       const nexuml::ScenarioContext&) {
  nexuml::ScenarioSpec scenario{.name = "digits-classifier"};
  scenario.pipeline.stages["Noise"] = {LayerSpec{.component = nexuml::nn_module("torch.nn:Dropout", 0.1),
                                                 .keys_in = Keys{"features"},
                                                 .keys_out = {"noisy"}}};
  scenario.pipeline.stages["Encoder"] = {LayerSpec{
      .component = LinearEncoder{.hidden_dims = parameters.hidden_dims, .output_dim = parameters.latent_dim},
      .keys_in = Keys{"noisy"},
      .keys_out = {"latent"}}};
  scenario.pipeline.stages["Head"] = {LayerSpec{.component = LatentClassificationHead{.hidden_dims = {{64}}},
                                                .keys_in = Keys{"latent"},
                                                .keys_out = {"class_logits"}}};
  scenario.pipeline.stages["Loss"] = digit_losses();
  scenario.training.loss_keys = {{"classification_loss", 1.0}};
  scenario.training.metric_keys = {"accuracy"};
  scenario.training.max_epochs = parameters.max_epochs;
  scenario.training.batch_size = parameters.batch_size;
  scenario.data.datasets = {digits_data(parameters.path, {64})};
  scenario.data.num_classes = 10;
  scenario.evaluation = {
      .metrics = {"accuracy", "f1"},
      .algorithms = {
          {.algorithm = ClassificationReport{}, .feature_key = "class_logits", .label_key = "digit"}}};
  return scenario;
}

}  // namespace nexuml_library
