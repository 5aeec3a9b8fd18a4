// A line search for the strong Wolfe conditions: how far to go along a direction, from trial points.
// Source: Nocedal and Wright, Numerical Optimization, algorithms 3.5 and 3.6, with the safeguards of minFunc
// (Schmidt, 2005) that torch.optim.LBFGS takes too.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <functional>

namespace nexuml_torch {

// The loss at `step` times the direction away from the start.
struct LinePoint {
  double step = 0, loss = 0;
  at::Tensor gradient;  // of all parameters, one after another
  double slope = 0;     // of the loss along the direction
};

struct LineSearch {
  std::function<LinePoint(double step)> evaluate;
  LinePoint start;                    // step 0; its slope is negative
  double direction_size = 0;          // largest absolute entry of the direction
  double tolerance_change = 1e-9;     // brackets below it are not cut further
  std::int64_t max_evaluations = 25;  // after the first
};

// The point to go to, from a first trial at `step`. Evaluates at least once; counts in `evaluations`.
LinePoint strong_wolfe(const LineSearch& search, double step, std::int64_t& evaluations);

}  // namespace nexuml_torch
