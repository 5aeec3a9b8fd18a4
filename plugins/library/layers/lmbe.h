// LMBE: log mel band energies of audio.
//
//     LayerSpec{.component = LMBE{.n_mels = 64, .n_fft = 512, .hop_length = 160, .win_length = 400},
//               .keys_in = {"waveform"}, .keys_out = {"spectrogram"}};
#pragma once

#include <nexuml/definition.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <utility>

namespace nexuml_library {

enum class LmbeMelScale { slaney, htk };
enum class LmbePadMode { constant, reflect, replicate, circular };

// Shape: [batch, time] -> [batch, 1, n_mels, frames], [batch, channels, time] -> [batch, channels,
//   n_mels, frames]; frames = time / hop_length + 1, rounded down
// Formula: 10 log10(max(M |STFT(x)|^2, 1e-10)) for power 2, 20 log10(...) for others; centred frames,
//   periodic Hann window
// Source: Slaney, Auditory Toolbox, 1998; Young et al., The HTK Book, 2006
struct LMBE {
  std::int64_t sample_rate = 16000;
  std::int64_t n_mels = 128;
  std::int64_t n_fft = 1024;
  std::int64_t hop_length = 512;
  std::optional<std::int64_t> win_length = std::nullopt;
  std::int64_t power = 2;
  std::int64_t fmin = 0;
  std::int64_t fmax = 8000;
  LmbeMelScale mel_scale = LmbeMelScale::slaney;
  LmbePadMode pad_mode = LmbePadMode::constant;
  bool use_librosa = false;
  bool to_db = true;
  bool normalize = false;

  static void describe(nexuml::Schema<LMBE>& s);
  nexuml::Shapes infer(const nexuml::LayerInferContext& context) const;
  std::shared_ptr<nexuml::PipelineLayer> build(const nexuml::LayerBuildContext& context) const;
};

}  // namespace nexuml_library

template <>
struct nexuml::EnumText<nexuml_library::LmbeMelScale> {
  using Type = nexuml_library::LmbeMelScale;
  static constexpr std::pair<Type, const char*> names[] = {{Type::slaney, "slaney"}, {Type::htk, "htk"}};
};
template <>
struct nexuml::EnumText<nexuml_library::LmbePadMode> {
  using Type = nexuml_library::LmbePadMode;
  static constexpr std::pair<Type, const char*> names[] = {{Type::constant, "constant"},
                                                           {Type::reflect, "reflect"},
                                                           {Type::replicate, "replicate"},
                                                           {Type::circular, "circular"}};
};
