#include "layers/lmbe.h"

#include <nexuml/layer.h>
#include <torch/nn/module.h>

#include <limits>
#include <string>
#include <vector>

#include "layers/mel_filters.h"
#include "layers/shape_rules.h"

namespace nexuml_library {

namespace {

constexpr double decibel_floor = 1e-10;                                   // of torchaudio
constexpr double librosa_floor = std::numeric_limits<double>::epsilon();  // of the librosa form
constexpr double smallest_deviation = 1e-6;

std::string pad_mode_text(LmbePadMode mode) {
  for (const auto& [value, text] : nexuml::EnumText<LmbePadMode>::names)
    if (value == mode) return text;
  return {};
}

at::Tensor filters_of(const LMBE& definition) {
  // Half the sample rate as torchaudio rounds it; librosa puts bin k at k * rate / n_fft.
  const double nyquist = definition.use_librosa
                             ? static_cast<double>(definition.sample_rate * (definition.n_fft / 2)) /
                                   static_cast<double>(definition.n_fft)
                             : static_cast<double>(definition.sample_rate / 2);
  return mel_filters(
      {.frequencies = definition.n_fft / 2 + 1,
       .nyquist = nyquist,
       .lowest = static_cast<double>(definition.fmin),
       .highest = static_cast<double>(definition.fmax),
       .filters = definition.n_mels,
       .scale = definition.mel_scale == LmbeMelScale::slaney ? MelScale::slaney : MelScale::htk});
}

class LmbeRuntime final : public nexuml::PipelineLayer {
 public:
  LmbeRuntime(const nexuml::LayerBuildContext& context, const LMBE& definition)
      : PipelineLayer(context),
        definition_(definition),
        window_(at::hann_window(definition.win_length.value_or(definition.n_fft), at::kFloat)),
        filters_(filters_of(definition)) {
    if (definition.use_librosa) return;  // NexuML keeps no state in this form
    // The names of torchaudio's MelSpectrogram.
    auto mel_spectrogram = register_module("mel_spectrogram", std::make_shared<torch::nn::Module>());
    window_ = mel_spectrogram->register_module("spectrogram", std::make_shared<torch::nn::Module>())
                  ->register_buffer("window", window_);
    filters_ = mel_spectrogram->register_module("mel_scale", std::make_shared<torch::nn::Module>())
                   ->register_buffer("fb", filters_);
  }

  // [batch, ..., time] -> [batch, ..., mels, frames]; [batch, time] gets one channel.
  at::Tensor forward_tensor(const at::Tensor& input, const at::Tensor&) override {
    const at::Tensor waves = input.reshape({-1, input.size(-1)});
    const at::Tensor energies = decibels(mel_energies(waves));
    std::vector<std::int64_t> sizes = input.dim() == 2 ? std::vector<std::int64_t>{input.size(0), 1}
                                                       : input.sizes().slice(0, input.dim() - 1).vec();
    sizes.insert(sizes.end(), {energies.size(1), energies.size(2)});
    return definition_.normalize ? normalized(energies.view(sizes)) : energies.view(sizes);
  }

 private:
  // [waves, time] -> [waves, mels, frames]
  at::Tensor mel_energies(const at::Tensor& waves) const {
    const at::Tensor window = window_.to(waves.device());
    const std::string padding = definition_.use_librosa ? "constant" : pad_mode_text(definition_.pad_mode);
    const at::Tensor spectrum =
        at::stft(waves, definition_.n_fft, definition_.hop_length, window.size(0), window, /*center=*/true,
                 padding, /*normalized=*/false, /*onesided=*/true, /*return_complex=*/true);
    return at::matmul(filters_.to(waves.device()).t(), magnitudes(spectrum));
  }

  // |X|^power. The square needs no root, and so no gradient of a root at zero.
  at::Tensor magnitudes(const at::Tensor& spectrum) const {
    if (definition_.power == 2) {
      const at::Tensor parts = at::view_as_real(spectrum);
      const at::Tensor real = parts.select(-1, 0), imaginary = parts.select(-1, 1);
      return at::addcmul(real * real, imaginary, imaginary);
    }
    const at::Tensor magnitude = spectrum.abs();
    return definition_.power == 1 ? magnitude : magnitude.pow(definition_.power);
  }

  at::Tensor decibels(const at::Tensor& energies) const {
    if (definition_.use_librosa)
      return energies.clamp_min(librosa_floor).log10() * (20.0 / static_cast<double>(definition_.power));
    if (!definition_.to_db) return energies;
    return energies.clamp_min(decibel_floor).log10() * (definition_.power == 2 ? 10.0 : 20.0);
  }

  // Each sample to mean 0 and deviation 1. Taken from its first number on, so that rounding of the mean makes
  // no noise of a constant, such as silence.
  static at::Tensor normalized(const at::Tensor& energies) {
    const at::Tensor flat = energies.flatten(1);
    const at::Tensor rest = flat - flat.narrow(1, 0, 1);
    const at::Tensor deviation = rest.std(1, true, true).clamp_min(smallest_deviation);
    return ((rest - rest.mean(1, true)) / deviation).view_as(energies);
  }

  const LMBE definition_;
  at::Tensor window_;   // [win_length]
  at::Tensor filters_;  // [frequencies, mels]
};

}  // namespace

void LMBE::describe(nexuml::Schema<LMBE>& s) {
  s.summary("Log mel band energies of audio.");
  s.field("sample_rate", &LMBE::sample_rate).doc("Samples per second.").at_least(1);
  s.field("n_mels", &LMBE::n_mels).doc("Mel bands.").at_least(1);
  s.field("n_fft", &LMBE::n_fft).doc("Length of the Fourier transform, in samples.").at_least(1);
  s.field("hop_length", &LMBE::hop_length).doc("Samples from frame to frame.").at_least(1);
  s.field("win_length", &LMBE::win_length).doc("Length of the window, in samples; null: n_fft.").at_least(1);
  s.field("power", &LMBE::power).doc("Exponent of the magnitude: 1 for amplitude, 2 for power.").at_least(1);
  s.field("fmin", &LMBE::fmin).doc("Lowest frequency, in Hz.").at_least(0);
  s.field("fmax", &LMBE::fmax).doc("Highest frequency, in Hz.").at_least(1);
  s.field("mel_scale", &LMBE::mel_scale)
      .doc("slaney: linear below 1 kHz, filters of unit area; htk: logarithmic, filters of unit height.");
  s.field("pad_mode", &LMBE::pad_mode).doc("How the ends of the signal are padded.");
  s.field("use_librosa", &LMBE::use_librosa)
      .doc("The numbers of NexuML's librosa form: zero padding, always logarithmic, floor 2.2e-16.");
  s.field("to_db", &LMBE::to_db).doc("Whether energies are given in decibels.");
  s.field("normalize", &LMBE::normalize).doc("Whether each sample is scaled to mean 0 and deviation 1.");
  s.check([](const LMBE& value, nexuml::RuleProblems& problems) {
    if (value.fmin > value.fmax) problems.add("fmin", "fmin must not exceed fmax");
    if (value.win_length.value_or(value.n_fft) > value.n_fft)
      problems.add("win_length", "win_length must not exceed n_fft");
  });
}

nexuml::Shapes LMBE::infer(const nexuml::LayerInferContext& context) const {
  check_key_counts(context, 1, 1);
  nexuml::Shape shape = context.input().shape;
  if (shape.empty()) context.fail("audio needs a time dimension, found one number per sample");
  const std::int64_t time = shape.back();
  if (time != nexuml::unknown_size && !use_librosa && pad_mode == LmbePadMode::reflect && n_fft / 2 >= time)
    context.fail("reflect padding needs more than n_fft / 2 = " + std::to_string(n_fft / 2) +
                 " samples, found " + std::to_string(time));
  shape.pop_back();
  if (shape.empty()) shape.push_back(1);
  // Centred frames cover the padded signal, which is n_fft / 2 longer at both ends.
  const std::int64_t frames =
      time == nexuml::unknown_size ? time : (time + 2 * (n_fft / 2) - n_fft) / hop_length + 1;
  shape.insert(shape.end(), {n_mels, frames});
  return context.single_output({.shape = shape, .dtype = nexuml::DType::float32});
}

std::shared_ptr<nexuml::PipelineLayer> LMBE::build(const nexuml::LayerBuildContext& context) const {
  return std::make_shared<LmbeRuntime>(context, *this);
}

}  // namespace nexuml_library
