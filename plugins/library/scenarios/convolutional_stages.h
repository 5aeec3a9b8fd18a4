// Stages that the convolutional autoencoders share, on spectrograms of sound and on synthetic images.
#pragma once

#include <nexuml/scenario.h>

#include <cstdint>
#include <vector>

namespace nexuml_library {

// waveform -> spectrogram, normalised over the clip.
nexuml::LayerSpec log_mel_layer(std::int64_t sample_rate, std::int64_t n_mels, std::int64_t n_fft,
                                std::int64_t hop_length);
// Frames of a clip of `num_samples`.
constexpr std::int64_t frames_of(std::int64_t num_samples, std::int64_t hop_length) {
  return num_samples / hop_length + 1;
}

inline const std::vector<std::int64_t> usual_channels{16, 32, 64};

// Encoder (spectrogram -> latent) and decoder (latent -> reconstructed, of `image`).
void add_convolutional_autoencoder(nexuml::ScenarioSpec& scenario, std::int64_t latent_dim,
                                   const std::vector<std::int64_t>& image);
// The same with a Gaussian latent between, whose divergence is a loss.
void add_variational_autoencoder(nexuml::ScenarioSpec& scenario, std::int64_t hidden_dim,
                                 std::int64_t latent_dim, double beta,
                                 const std::vector<std::int64_t>& image);
// Reconstruction loss and anomaly score.
void add_reconstruction_losses(nexuml::ScenarioSpec& scenario);

}  // namespace nexuml_library
