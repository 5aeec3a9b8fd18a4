#include "layers/mel_filters.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace nexuml_library {

namespace {

constexpr double slaney_hertz_per_mel = 200.0 / 3.0;  // of the linear part
constexpr double slaney_break_hertz = 1000.0;
constexpr double slaney_break_mel = slaney_break_hertz / slaney_hertz_per_mel;

double slaney_log_step() {
  return std::log(6.4) / 27.0;
}

double mel_of(double hertz, MelScale scale) {
  if (scale == MelScale::htk) return 2595.0 * std::log10(1.0 + hertz / 700.0);
  if (hertz < slaney_break_hertz) return hertz / slaney_hertz_per_mel;
  return slaney_break_mel + std::log(hertz / slaney_break_hertz) / slaney_log_step();
}

double hertz_of(double mel, MelScale scale) {
  if (scale == MelScale::htk) return 700.0 * (std::pow(10.0, mel / 2595.0) - 1.0);
  if (mel < slaney_break_mel) return mel * slaney_hertz_per_mel;
  return slaney_break_hertz * std::exp(slaney_log_step() * (mel - slaney_break_mel));
}

// The corners of all filters: filter i rises from corner i to i + 1 and falls to i + 2.
std::vector<double> corners(const MelFilterOptions& options) {
  const double first = mel_of(options.lowest, options.scale);
  const double last = mel_of(options.highest, options.scale);
  std::vector<double> hertz(static_cast<std::size_t>(options.filters) + 2);
  for (std::size_t i = 0; i < hertz.size(); ++i)
    hertz[i] =
        hertz_of(first + (last - first) * static_cast<double>(i) / static_cast<double>(hertz.size() - 1),
                 options.scale);
  return hertz;
}

}  // namespace

at::Tensor mel_filters(const MelFilterOptions& options) {
  const std::vector<double> corner = corners(options);
  at::Tensor bank = at::zeros({options.frequencies, options.filters}, at::kFloat);
  auto weights = bank.accessor<float, 2>();
  for (std::int64_t f = 0; f < options.frequencies; ++f) {
    const double hertz = options.nyquist * static_cast<double>(f) /
                         static_cast<double>(std::max<std::int64_t>(options.frequencies - 1, 1));
    for (std::int64_t m = 0; m < options.filters; ++m) {
      const double low = corner[static_cast<std::size_t>(m)],
                   middle = corner[static_cast<std::size_t>(m) + 1],
                   high = corner[static_cast<std::size_t>(m) + 2];
      const double rise = (hertz - low) / (middle - low), fall = (high - hertz) / (high - middle);
      const double height = options.scale == MelScale::slaney ? 2.0 / (high - low) : 1.0;
      weights[f][m] = static_cast<float>(std::max(0.0, std::min(rise, fall)) * height);
    }
  }
  return bank;
}

}  // namespace nexuml_library
