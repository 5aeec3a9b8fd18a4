#include "scenarios/sound_autoencoders.h"

#include <cmath>

#include "data/audioset.h"
#include "data/shard_loader.h"
#include "layers/classification_loss.h"
#include "layers/classification_metrics.h"
#include "layers/decision_rule_layer.h"
#include "layers/latent_head.h"
#include "layers/linear_encoder.h"
#include "scenarios/class_evaluation.h"
#include "scenarios/convolutional_stages.h"
#include "scenarios/dcase_machines.h"

namespace nexuml_library {

using nexuml::Keys;
using nexuml::LayerSpec;
using nexuml::ScenarioSpec;

namespace {

template <class Parameters>
void describe_sound(nexuml::Schema<Parameters>& s) {
  s.field("sample_rate", &Parameters::sample_rate).doc("In Hz; other clips are resampled.").at_least(1000);
  s.field("n_mels", &Parameters::n_mels).doc("Bands of the spectrogram.").at_least(1);
  s.field("n_fft", &Parameters::n_fft).doc("Samples of a frame.").at_least(2);
  s.field("hop_length", &Parameters::hop_length).doc("Samples between frames.").at_least(1);
  s.field("latent_dim", &Parameters::latent_dim).doc("Size of the latent.").at_least(1);
}
template <class Parameters>
void describe_sound_run(nexuml::Schema<Parameters>& s) {
  s.field("max_epochs", &Parameters::max_epochs).doc("Epochs of training.").at_least(1);
  s.field("batch_size", &Parameters::batch_size).doc("Samples a step.").at_least(1);
  s.field("num_workers", &Parameters::num_workers).doc("Threads that decode.").at_least(0);
}
template <class Parameters>
void describe_dcase(nexuml::Schema<Parameters>& s) {
  s.field("data_root", &Parameters::data_root).doc("Folder of the data sets; relative to the data root.");
  s.field("clip_num_samples", &Parameters::clip_num_samples).doc("Length of every clip.").at_least(1);
  describe_sound(s);
  describe_sound_run(s);
}

template <class Parameters>
std::vector<std::int64_t> spectrogram_of(const Parameters& parameters, std::int64_t num_samples) {
  return {1, parameters.n_mels, frames_of(num_samples, parameters.hop_length)};
}

template <class Parameters>
ScenarioSpec sound_scenario(std::string name, const Parameters& parameters) {
  ScenarioSpec scenario{.name = std::move(name)};
  scenario.pipeline.stages["Features"] = {
      log_mel_layer(parameters.sample_rate, parameters.n_mels, parameters.n_fft, parameters.hop_length)};
  scenario.training.max_epochs = parameters.max_epochs;
  return scenario;
}

template <class Parameters>
void set_machines(ScenarioSpec& scenario, const std::vector<DcaseMachines>& machines,
                  const Parameters& parameters) {
  set_dcase_data(scenario, machines,
                 {.data_root = parameters.data_root,
                  .sample_rate = parameters.sample_rate,
                  .clip_num_samples = parameters.clip_num_samples,
                  .batch_size = parameters.batch_size,
                  .num_workers = parameters.num_workers});
  scenario.evaluation = dcase_evaluation();
}

void add_decision(ScenarioSpec& scenario) {
  scenario.pipeline.stages["Loss"].push_back(
      {.component = DecisionRuleLayer{}, .keys_in = Keys{"anomaly_score"}, .keys_out = {"decision"}});
}

const std::vector<DcaseMachines>& toy_car_emu() {
  static const std::vector<DcaseMachines> machines{{"DCASE2026T2", DcaseDataType::dev, {"ToyCarEmu"}}};
  return machines;
}

}  // namespace

void DcaseConvAe::describe(nexuml::Schema<DcaseConvAe>& s) {
  s.summary("Convolutional autoencoder of the sound of all machines of DCASE task 2, 2020 to 2026.");
  describe_dcase(s);
}
ScenarioSpec dcase_conv_ae(const DcaseConvAe& parameters, const nexuml::ScenarioContext&) {
  ScenarioSpec scenario = sound_scenario("dcase_conv_ae", parameters);
  add_convolutional_autoencoder(scenario, parameters.latent_dim,
                                spectrogram_of(parameters, parameters.clip_num_samples));
  add_reconstruction_losses(scenario);
  set_machines(scenario, dcase_catalogue(), parameters);
  return scenario;
}

void DcaseConvCvae::describe(nexuml::Schema<DcaseConvCvae>& s) {
  s.summary("Variational autoencoder of the sound of all machines of DCASE task 2, 2020 to 2026.");
  describe_dcase(s);
  s.field("hidden_dim", &DcaseConvCvae::hidden_dim).doc("Size of what the encoder gives.").at_least(1);
  s.field("beta", &DcaseConvCvae::beta).doc("Weight of the divergence.").at_least(0);
}
ScenarioSpec dcase_conv_cvae(const DcaseConvCvae& parameters, const nexuml::ScenarioContext&) {
  ScenarioSpec scenario = sound_scenario("dcase_conv_cvae", parameters);
  add_variational_autoencoder(scenario, parameters.hidden_dim, parameters.latent_dim, parameters.beta,
                              spectrogram_of(parameters, parameters.clip_num_samples));
  add_reconstruction_losses(scenario);
  scenario.training.loss_keys["kl_loss"] = 1.0;
  set_machines(scenario, dcase_catalogue(), parameters);
  return scenario;
}

void ConvAeToyCarEmu::describe(nexuml::Schema<ConvAeToyCarEmu>& s) {
  s.summary("Convolutional autoencoder of one machine of DCASE 2026, with a threshold on its scores.");
  describe_dcase(s);
}
ScenarioSpec conv_ae_toycaremu(const ConvAeToyCarEmu& parameters, const nexuml::ScenarioContext&) {
  ScenarioSpec scenario = sound_scenario("conv_ae_toycaremu", parameters);
  add_convolutional_autoencoder(scenario, parameters.latent_dim,
                                spectrogram_of(parameters, parameters.clip_num_samples));
  add_reconstruction_losses(scenario);
  add_decision(scenario);
  set_machines(scenario, toy_car_emu(), parameters);
  return scenario;
}

void LinearAeToyCarEmu::describe(nexuml::Schema<LinearAeToyCarEmu>& s) {
  s.summary("Linear autoencoder of one machine of DCASE 2026, with a threshold on its scores.");
  describe_dcase(s);
}
ScenarioSpec linear_ae_toycaremu(const LinearAeToyCarEmu& parameters, const nexuml::ScenarioContext&) {
  ScenarioSpec scenario = sound_scenario("linear_ae_toycaremu", parameters);
  scenario.pipeline.stages["Encoder"] = {
      LayerSpec{.component = LinearEncoder{.hidden_dims = {{64, 32}}, .output_dim = parameters.latent_dim},
                .keys_in = Keys{"spectrogram"},
                .keys_out = {"latent"},
                .meta_out = nexuml::OrderedMap<std::string>{{"output_dim", "latent_dim"}}}};
  scenario.pipeline.stages["Decoder"] = {LayerSpec{
      .component = LinearEncoder{.hidden_dims = {{32, 64}},
                                 .output_dim = parameters.n_mels *
                                               frames_of(parameters.clip_num_samples, parameters.hop_length)},
      .keys_in = Keys{"latent"},
      .keys_out = {"reconstructed"}}};
  add_reconstruction_losses(scenario);
  add_decision(scenario);
  set_machines(scenario, toy_car_emu(), parameters);
  return scenario;
}

void AudiosetConvAe::describe(nexuml::Schema<AudiosetConvAe>& s) {
  s.summary("Convolutional autoencoder of AudioSet with a classifier on its latent.");
  s.field("data_root", &AudiosetConvAe::data_root)
      .doc("Folder of bal_train, eval and metadata; relative to the data root.");
  s.field("len_seconds", &AudiosetConvAe::len_seconds).doc("Length of every clip.").greater_than(0);
  describe_sound(s);
  s.field("num_classes", &AudiosetConvAe::num_classes).doc("Classes of the index.").at_least(2);
  describe_sound_run(s);
}

// The head stands before the losses that read it. The spectrogram of a clip has T / hop + 1 frames.
ScenarioSpec audioset_conv_ae_clshead(const AudiosetConvAe& parameters, const nexuml::ScenarioContext&) {
  const auto num_samples = std::llround(parameters.len_seconds * static_cast<double>(parameters.sample_rate));
  ScenarioSpec scenario = sound_scenario("audioset_conv_ae_clshead", parameters);
  add_convolutional_autoencoder(scenario, parameters.latent_dim, spectrogram_of(parameters, num_samples));
  scenario.pipeline.stages["Heads"] = {LayerSpec{
      .component = LatentClassificationHead{}, .keys_in = Keys{"latent"}, .keys_out = {"class_logits"}}};
  add_reconstruction_losses(scenario);
  std::vector<LayerSpec>& losses = scenario.pipeline.stages["Loss"];
  losses.push_back({.component = ClassificationLoss{},
                    .keys_in = Keys{"class_logits"},
                    .keys_out = {"classification_loss"},
                    .label_key = "class"});
  losses.push_back({.component = ClassificationMetrics{.metrics = {{"accuracy", "f1"}}},
                    .keys_in = Keys{"class_logits"},
                    .keys_out = {"accuracy", "f1"},
                    .label_key = "class"});
  scenario.training.loss_keys["classification_loss"] = 1.0;
  scenario.training.metric_keys = {"accuracy", "f1"};
  scenario.training.batch_size = parameters.batch_size;
  for (const bool train : {true, false})
    scenario.data.datasets.push_back(
        {.source = AudiosetDataset{.data_dir = parameters.data_root + (train ? "/bal_train" : "/eval"),
                                   .meta_dir = parameters.data_root + "/metadata",
                                   .perform_checks = false,
                                   .len_seconds = parameters.len_seconds,
                                   .sample_rate = parameters.sample_rate},
         .split_type = train ? "fit" : "test"});
  scenario.data.loader = {.backend = DaliLoader{},
                          .batch_size = parameters.batch_size,
                          .num_workers = parameters.num_workers,
                          .persistent_workers = true};
  scenario.data.input_shapes = {{"waveform", {num_samples}}};
  scenario.data.num_classes = parameters.num_classes;
  scenario.data.feature_key = "waveform";
  scenario.evaluation = class_evaluation("latent", "class");
  return scenario;
}

}  // namespace nexuml_library
