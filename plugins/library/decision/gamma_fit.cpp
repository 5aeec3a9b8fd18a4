#include "decision/gamma_fit.h"

#include <boost/math/special_functions/digamma.hpp>
#include <boost/math/special_functions/gamma.hpp>
#include <boost/math/special_functions/trigamma.hpp>
#include <cmath>
#include <limits>

namespace nexuml_library {

double GammaFit::quantile(double probability) const {
  if (probability >= 1) return std::numeric_limits<double>::infinity();
  return scale * boost::math::gamma_p_inv(shape, probability);
}

std::optional<GammaFit> fit_gamma(std::span<const double> values) {
  double mean = 0, mean_log = 0;
  for (const double value : values) {
    mean += value;
    mean_log += std::log(value);
  }
  mean /= static_cast<double>(values.size());
  mean_log /= static_cast<double>(values.size());
  const double spread = std::log(mean) - mean_log;  // positive unless all values are equal
  if (!(spread > std::numeric_limits<double>::epsilon())) return std::nullopt;
  double shape = (3 - spread + std::sqrt((spread - 3) * (spread - 3) + 24 * spread)) / (12 * spread);
  for (int step = 0; step < 100; ++step) {
    const double error = std::log(shape) - boost::math::digamma(shape) - spread;
    const double next = shape - error / (1 / shape - boost::math::trigamma(shape));
    const double change = std::abs(next - shape);
    shape = next > 0 ? next : shape / 2;
    if (change < 1e-14 * shape) break;
  }
  return GammaFit{shape, mean / shape};
}

}  // namespace nexuml_library
