// Autoencoders of spectrograms: all machines of DCASE task 2, one of its machines with a decision, and
// AudioSet.
#pragma once

#include <nexuml/scenario.h>

#include <cstdint>
#include <string>

namespace nexuml_library {

struct DcaseConvAe {
  std::string data_root = "DCASET2";
  std::int64_t sample_rate = 16000;
  std::int64_t clip_num_samples = 160000;
  std::int64_t n_mels = 128;
  std::int64_t n_fft = 1024;
  std::int64_t hop_length = 512;
  std::int64_t latent_dim = 64;
  std::int64_t max_epochs = 25;
  std::int64_t batch_size = 16;
  std::int64_t num_workers = 4;

  static void describe(nexuml::Schema<DcaseConvAe>& s);
};
nexuml::ScenarioSpec dcase_conv_ae(const DcaseConvAe& parameters, const nexuml::ScenarioContext& context);

struct DcaseConvCvae {
  std::string data_root = "DCASET2";
  std::int64_t sample_rate = 16000;
  std::int64_t clip_num_samples = 160000;
  std::int64_t n_mels = 128;
  std::int64_t n_fft = 1024;
  std::int64_t hop_length = 512;
  std::int64_t hidden_dim = 128;
  std::int64_t latent_dim = 32;
  double beta = 0.001;
  std::int64_t max_epochs = 25;
  std::int64_t batch_size = 16;
  std::int64_t num_workers = 4;

  static void describe(nexuml::Schema<DcaseConvCvae>& s);
};
nexuml::ScenarioSpec dcase_conv_cvae(const DcaseConvCvae& parameters, const nexuml::ScenarioContext& context);

struct ConvAeToyCarEmu {
  std::string data_root = "DCASET2";
  std::int64_t sample_rate = 16000;
  std::int64_t clip_num_samples = 160000;
  std::int64_t n_mels = 128;
  std::int64_t n_fft = 1024;
  std::int64_t hop_length = 512;
  std::int64_t latent_dim = 64;
  std::int64_t max_epochs = 25;
  std::int64_t batch_size = 32;
  std::int64_t num_workers = 4;

  static void describe(nexuml::Schema<ConvAeToyCarEmu>& s);
};
nexuml::ScenarioSpec conv_ae_toycaremu(const ConvAeToyCarEmu& parameters,
                                       const nexuml::ScenarioContext& context);

struct LinearAeToyCarEmu {
  std::string data_root = "DCASET2";
  std::int64_t sample_rate = 16000;
  std::int64_t clip_num_samples = 160000;
  std::int64_t n_mels = 128;
  std::int64_t n_fft = 1024;
  std::int64_t hop_length = 512;
  std::int64_t latent_dim = 8;
  std::int64_t max_epochs = 25;
  std::int64_t batch_size = 64;
  std::int64_t num_workers = 4;

  static void describe(nexuml::Schema<LinearAeToyCarEmu>& s);
};
nexuml::ScenarioSpec linear_ae_toycaremu(const LinearAeToyCarEmu& parameters,
                                         const nexuml::ScenarioContext& context);

struct AudiosetConvAe {
  std::string data_root = "audioset_hf/full";
  std::int64_t sample_rate = 16000;
  double len_seconds = 10;
  std::int64_t n_mels = 128;
  std::int64_t n_fft = 1024;
  std::int64_t hop_length = 512;
  std::int64_t latent_dim = 64;
  std::int64_t num_classes = 527;
  std::int64_t max_epochs = 10;
  std::int64_t batch_size = 128;
  std::int64_t num_workers = 4;

  static void describe(nexuml::Schema<AudiosetConvAe>& s);
};
nexuml::ScenarioSpec audioset_conv_ae_clshead(const AudiosetConvAe& parameters,
                                              const nexuml::ScenarioContext& context);

}  // namespace nexuml_library
