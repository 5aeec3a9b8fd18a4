#include "optimizers/line_search.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace nexuml_torch {

namespace {

constexpr double sufficient_decrease = 1e-4;  // c1
constexpr double curvature = 0.9;             // c2

// Where the cubic through two points with their slopes is lowest, kept between `least` and `most`; the middle
// where that cubic has no minimum. (Nocedal and Wright, equation 3.59.)
double cubic_minimum(const LinePoint& one, const LinePoint& other, double least, double most) {
  const LinePoint &left = one.step <= other.step ? one : other, &right = one.step <= other.step ? other : one;
  const double d1 = left.slope + right.slope - 3 * (left.loss - right.loss) / (left.step - right.step);
  const double square = d1 * d1 - left.slope * right.slope;
  if (!(square >= 0)) return (least + most) / 2;
  const double d2 = std::sqrt(square);
  const double lowest =
      right.step - (right.step - left.step) * ((right.slope + d2 - d1) / (right.slope - left.slope + 2 * d2));
  return std::min(std::max(lowest, least), most);
}

bool decreases_too_little(const LineSearch& search, const LinePoint& point) {
  return point.loss > search.start.loss + sufficient_decrease * point.step * search.start.slope;
}
bool is_flat_enough(const LineSearch& search, const LinePoint& point) {
  return std::abs(point.slope) <= -curvature * search.start.slope;
}

// Two points around one that satisfies the conditions.
struct Bracket {
  LinePoint low, high;  // by their loss
  double from() const { return std::min(low.step, high.step); }
  double to() const { return std::max(low.step, high.step); }
};

Bracket bracket_of(LinePoint one, LinePoint other) {
  if (one.loss <= other.loss) return {std::move(one), std::move(other)};
  return {std::move(other), std::move(one)};
}

// The next trial inside the bracket. One that lies close to an end is tried once; the second time it is moved
// a tenth of the bracket away from that end.
double next_trial(const Bracket& bracket, bool& was_close) {
  const double from = bracket.from(), to = bracket.to();
  const double trial = cubic_minimum(bracket.low, bracket.high, from, to);
  const double margin = 0.1 * (to - from);
  const bool close = std::min(to - trial, trial - from) < margin;
  if (!close || !(was_close || trial >= to || trial <= from)) {
    was_close = close;
    return trial;
  }
  was_close = false;
  return std::abs(trial - to) < std::abs(trial - from) ? to - margin : from + margin;
}

LinePoint zoom(const LineSearch& search, Bracket bracket, std::int64_t done, std::int64_t& evaluations) {
  bool was_close = false;
  for (; done < search.max_evaluations; ++done) {
    if ((bracket.to() - bracket.from()) * search.direction_size < search.tolerance_change) break;
    LinePoint found = search.evaluate(next_trial(bracket, was_close));
    ++evaluations;
    if (decreases_too_little(search, found) || found.loss >= bracket.low.loss) {
      bracket = bracket_of(std::move(bracket.low), std::move(found));
      continue;
    }
    if (is_flat_enough(search, found)) return found;
    if (found.slope * (bracket.high.step - bracket.low.step) >= 0) bracket.high = bracket.low;
    bracket.low = std::move(found);
  }
  return bracket.low;
}

}  // namespace

LinePoint strong_wolfe(const LineSearch& search, double step, std::int64_t& evaluations) {
  LinePoint before = search.start;
  LinePoint found = search.evaluate(step);
  ++evaluations;
  for (std::int64_t done = 0; done < search.max_evaluations; ++done) {
    if (decreases_too_little(search, found) || (done > 1 && found.loss >= before.loss))
      return zoom(search, bracket_of(std::move(before), std::move(found)), done, evaluations);
    if (is_flat_enough(search, found)) return found;
    if (found.slope >= 0)
      return zoom(search, bracket_of(std::move(before), std::move(found)), done, evaluations);
    const double least = found.step + 0.01 * (found.step - before.step), most = found.step * 10;
    const double next = cubic_minimum(before, found, least, most);
    before = std::exchange(found, search.evaluate(next));
    ++evaluations;
  }
  return bracket_of(search.start, std::move(found)).low;
}

}  // namespace nexuml_torch
