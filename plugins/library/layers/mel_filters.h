// Triangular filters on the mel scale.
#pragma once

#include <torch/types.h>

#include <cstdint>

namespace nexuml_library {

enum class MelScale { slaney, htk };

struct MelFilterOptions {
  std::int64_t frequencies = 513;     // of the one-sided spectrum, from 0 to nyquist
  double nyquist = 8000;              // Hz
  double lowest = 0, highest = 8000;  // Hz
  std::int64_t filters = 128;
  MelScale scale = MelScale::slaney;  // the Slaney scale also divides each filter by its width
};

// [frequencies, filters], float32.
//   Slaney: mel = f / (200/3) below 1 kHz, 15 + ln(f/1000) / (ln 6.4 / 27) above; weight 2 / (f_{i+2} - f_i)
//   HTK:    mel = 2595 log10(1 + f/700)
at::Tensor mel_filters(const MelFilterOptions& options);

}  // namespace nexuml_library
