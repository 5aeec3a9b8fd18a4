// The numbers of a training run, side by side: those that were recorded, and those of a replay.
#pragma once

#include <ATen/core/Tensor.h>
#include <nexuml/ordered_map.h>
#include <nexuml/tensor_io.h>
#include <nexuml/value.h>

#include <string>

namespace nexuml {

// A number, or the outputs of one key.
struct Figure {
  std::string kind;    // train_steps, val_epochs or final_test: which tolerance it has
  std::string series;  // what it is a later value of: "step loss"
  at::Tensor value;    // double
};

// By name, in the order of the run: "step 3, loss", "epoch 1, val/loss", "test/loss", "test output latent".
using Figures = OrderedMap<Figure>;

void add_number(Figures& figures, const std::string& kind, const std::string& place, const std::string& key,
                double value);
void add_output(Figures& figures, const std::string& key, const at::Tensor& value);

// What a reference records; `outputs` may be empty.
Figures recorded_figures(const Value& reference, const TensorMap& outputs);

// The largest difference relative to the largest expected value; 0 where both are equal, infinite where one
// is not finite or of another shape. Values below a thousandth count as one.
double relative_difference(const at::Tensor& found, const at::Tensor& expected);

}  // namespace nexuml
