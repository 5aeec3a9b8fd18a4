// The gamma distribution with location 0.
#pragma once

#include <optional>
#include <span>

namespace nexuml_library {

struct GammaFit {
  double shape = 1, scale = 1;

  double quantile(double probability) const;  // infinite at 1
};

// Maximum likelihood for positive values: log k - digamma(k) = log(mean) - mean(log), scale = mean / k,
// solved by Newton's method from the start of Minka (Estimating a Gamma distribution, 2002). Nothing for
// values without spread.
std::optional<GammaFit> fit_gamma(std::span<const double> values);

}  // namespace nexuml_library
