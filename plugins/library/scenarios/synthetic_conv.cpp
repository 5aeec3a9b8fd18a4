#include "scenarios/synthetic_conv.h"

#include "data/synthetic.h"
#include "data/torch_loader.h"
#include "scenarios/convolutional_stages.h"

namespace nexuml_library {

using nexuml::ScenarioSpec;

namespace {

constexpr const char* anomaly_label = "anomaly_label";

template <class Parameters>
void describe_images(nexuml::Schema<Parameters>& s) {
  s.field("image_size", &Parameters::image_size).doc("Height and width.").at_least(8);
}
template <class Parameters>
void describe_anomaly_run(nexuml::Schema<Parameters>& s) {
  s.field("num_samples", &Parameters::num_samples).doc("Samples in all splits.").at_least(1);
  s.field("positive_fraction", &Parameters::positive_fraction)
      .doc("Share of anomalous samples.")
      .at_least(0)
      .at_most(1);
  s.field("max_epochs", &Parameters::max_epochs).doc("Epochs of training.").at_least(1);
  s.field("batch_size", &Parameters::batch_size).doc("Samples a step.").at_least(1);
  s.field("seed", &Parameters::seed).doc("Seed of the data.").at_least(0);
}

template <class Parameters>
void set_anomaly_data(ScenarioSpec& scenario, const Parameters& parameters) {
  const std::vector<std::int64_t> image{1, parameters.image_size, parameters.image_size};
  const SyntheticTarget target{.type = SyntheticTarget::Type::anomaly,
                               .key = anomaly_label,
                               .positive_fraction = parameters.positive_fraction};
  scenario.data.targets = {
      {.type = "anomaly", .key = anomaly_label, .positive_fraction = parameters.positive_fraction}};
  scenario.data.datasets = {{.source = Synthetic{.feature_shape = image,
                                                 .num_samples = parameters.num_samples,
                                                 .targets = {target},
                                                 .seed = parameters.seed,
                                                 .feature_key = "spectrogram"}}};
  scenario.data.loader.backend = TorchLoader{};
  scenario.data.input_shapes = {{"spectrogram", image}};
  scenario.data.feature_key = "spectrogram";
  scenario.training.max_epochs = parameters.max_epochs;
  scenario.training.batch_size = parameters.batch_size;
}

}  // namespace

void SyntheticConvAnomaly::describe(nexuml::Schema<SyntheticConvAnomaly>& s) {
  s.summary("Convolutional autoencoder of synthetic images, some of them anomalous.");
  describe_images(s);
  s.field("latent_dim", &SyntheticConvAnomaly::latent_dim).doc("Size of the latent.").at_least(1);
  describe_anomaly_run(s);
}

ScenarioSpec synthetic_conv_anomaly(const SyntheticConvAnomaly& parameters, const nexuml::ScenarioContext&) {
  ScenarioSpec scenario{.name = "synthetic_conv_ae_anomaly"};
  add_convolutional_autoencoder(scenario, parameters.latent_dim,
                                {1, parameters.image_size, parameters.image_size});
  add_reconstruction_losses(scenario);
  set_anomaly_data(scenario, parameters);
  return scenario;
}

void SyntheticVariationalAnomaly::describe(nexuml::Schema<SyntheticVariationalAnomaly>& s) {
  s.summary("Variational convolutional autoencoder of synthetic images, some of them anomalous.");
  describe_images(s);
  s.field("hidden_dim", &SyntheticVariationalAnomaly::hidden_dim)
      .doc("Size of what the encoder gives.")
      .at_least(1);
  s.field("latent_dim", &SyntheticVariationalAnomaly::latent_dim).doc("Size of the latent.").at_least(1);
  s.field("beta", &SyntheticVariationalAnomaly::beta).doc("Weight of the divergence.").at_least(0);
  describe_anomaly_run(s);
}

ScenarioSpec synthetic_variational_anomaly(const SyntheticVariationalAnomaly& parameters,
                                           const nexuml::ScenarioContext&) {
  ScenarioSpec scenario{.name = "synthetic_conv_cvae_anomaly"};
  add_variational_autoencoder(scenario, parameters.hidden_dim, parameters.latent_dim, parameters.beta,
                              {1, parameters.image_size, parameters.image_size});
  add_reconstruction_losses(scenario);
  scenario.training.loss_keys["kl_loss"] = 1.0;
  set_anomaly_data(scenario, parameters);
  return scenario;
}

}  // namespace nexuml_library
