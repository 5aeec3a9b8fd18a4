// Audio files: WAV, FLAC, AIFF and what else libsndfile reads.
//
//     AudioInfo info = inspect_audio(path);                      // the header alone
//     at::Tensor wave = read_audio(path, {.sample_rate = 16000, .num_samples = 160000});   // [1, 160000]
//
// Whole numbers become v / 2^(bits - 1); floating samples stay as they are, also beyond 1.
#pragma once

#include <torch/types.h>

#include <cstdint>
#include <filesystem>
#include <optional>

namespace nexuml_library {

struct AudioInfo {
  std::int64_t frames = 0;
  std::int64_t sample_rate = 0;  // Hz
  std::int64_t channels = 0;
  bool cut_off = false;  // the header announces more frames
};

// Throws nexuml::Error E831 for a file that is no readable audio, or whose rate is below 1 kHz or above 1
// MHz.
AudioInfo inspect_audio(const std::filesystem::path& path);

struct AudioShape {
  std::int64_t sample_rate = 16000;         // Hz; others are resampled
  std::optional<std::int64_t> num_samples;  // cut or filled with zeros at the end; null: as long as the file
  bool mono = true;                         // the mean of the channels
};

// float32 [channels, samples]. Throws as above, and E831 for samples that are not finite.
at::Tensor read_audio(const std::filesystem::path& path, const AudioShape& shape);

// The same into a row of a batch, float32 [num_samples] or [channels, num_samples], contiguous;
// `shape.num_samples` has to be given. Samples of the rate and with the channels that are wanted are read in
// place.
void read_audio_into(const std::filesystem::path& path, const AudioShape& shape, const at::Tensor& row);

// Windowed-sinc resampling with the filter of torchaudio (width 6, roll-off 0.99, Hann). [channels, samples]
at::Tensor resample(const at::Tensor& wave, std::int64_t from_rate, std::int64_t to_rate);

}  // namespace nexuml_library
