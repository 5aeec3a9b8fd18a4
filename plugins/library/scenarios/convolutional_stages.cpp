#include "scenarios/convolutional_stages.h"

#include "layers/anomaly_score.h"
#include "layers/convolutional_decoder.h"
#include "layers/convolutional_encoder.h"
#include "layers/lmbe.h"
#include "layers/reconstruction_loss.h"
#include "layers/variational_latent.h"

namespace nexuml_library {

using nexuml::Keys;
using nexuml::LayerSpec;

namespace {

using MetaKeys = nexuml::OrderedMap<std::string>;

LayerSpec convolutional_encoder(std::int64_t output_dim, const std::string& output) {
  return {.component = ConvolutionalEncoder{.output_dim = output_dim, .channel_schedule = usual_channels},
          .keys_in = Keys{"spectrogram"},
          .keys_out = {output},
          .meta_out = MetaKeys{{"decoder_shape", "decoder_shape"}}};
}

LayerSpec convolutional_decoder(const std::vector<std::int64_t>& image) {
  return {.component = ConvolutionalDecoder{.output_shape = image, .channel_schedule = usual_channels},
          .keys_in = Keys{"latent"},
          .keys_out = {"reconstructed"},
          .meta_in = MetaKeys{{"decoder_shape", "decoder_shape"}}};
}

}  // namespace

LayerSpec log_mel_layer(std::int64_t sample_rate, std::int64_t n_mels, std::int64_t n_fft,
                        std::int64_t hop_length) {
  return {.component = LMBE{.sample_rate = sample_rate,
                            .n_mels = n_mels,
                            .n_fft = n_fft,
                            .hop_length = hop_length,
                            .fmax = sample_rate / 2,
                            .normalize = true},
          .keys_in = Keys{"waveform"},
          .keys_out = {"spectrogram"}};
}

void add_convolutional_autoencoder(nexuml::ScenarioSpec& scenario, std::int64_t latent_dim,
                                   const std::vector<std::int64_t>& image) {
  scenario.pipeline.stages["Encoder"] = {convolutional_encoder(latent_dim, "latent")};
  scenario.pipeline.stages["Decoder"] = {convolutional_decoder(image)};
}

void add_variational_autoencoder(nexuml::ScenarioSpec& scenario, std::int64_t hidden_dim,
                                 std::int64_t latent_dim, double beta,
                                 const std::vector<std::int64_t>& image) {
  scenario.pipeline.stages["Encoder"] = {
      convolutional_encoder(hidden_dim, "encoded"),
      LayerSpec{.component = VariationalLatent{.latent_dim = latent_dim, .beta = beta},
                .keys_in = Keys{"encoded"},
                .keys_out = {"latent", "latent_mu", "latent_logvar", "kl_loss"}}};
  scenario.pipeline.stages["Decoder"] = {convolutional_decoder(image)};
}

void add_reconstruction_losses(nexuml::ScenarioSpec& scenario) {
  scenario.pipeline.stages["Loss"] = {LayerSpec{.component = ReconstructionLoss{},
                                                .keys_in = Keys{"spectrogram", "reconstructed"},
                                                .keys_out = {"reconstruction_loss"}},
                                      LayerSpec{.component = AnomalyScore{},
                                                .keys_in = Keys{"spectrogram", "reconstructed"},
                                                .keys_out = {"anomaly_score"}}};
  scenario.training.loss_keys["reconstruction_loss"] = 1.0;
}

}  // namespace nexuml_library
