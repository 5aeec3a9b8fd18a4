// What the argument structs of module targets share: sizes given once or per dimension, and the two arguments that
// Python's constructors have and a scenario cannot use.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>

#include <nexuml/schema.h>
#include <nexuml/shape.h>
#include <nexuml/value.h>
#include <torch/expanding_array.h>
#include <torch/types.h>

namespace nexuml::torch_targets {

// `3`, or one size for each of N spatial dimensions: `[3, 5]`.
template <std::size_t N>
using Sizes = std::variant<std::int64_t, std::array<std::int64_t, N>>;

template <std::size_t N>
std::array<std::int64_t, N> each(const Sizes<N>& sizes) {
  if (const auto* list = std::get_if<std::array<std::int64_t, N>>(&sizes)) return *list;
  std::array<std::int64_t, N> result;
  result.fill(std::get<std::int64_t>(sizes));
  return result;
}

template <std::size_t N>
torch::ExpandingArray<N> expanding(const Sizes<N>& sizes) {
  return torch::ExpandingArray<N>(each<N>(sizes));
}

// `device` and `dtype` are part of Python's signatures; where a module lives and in which precision is the trainer's.
template <class T>
void describe_placement(Schema<T>& s) {
  s.field("device", &T::device).doc("Must stay null: the trainer places modules.");
  s.field("dtype", &T::dtype).doc("Must stay null: training.precision decides.");
  s.check([](const T& arguments, RuleProblems& problems) {
    if (arguments.device) problems.add("device", "a scenario cannot place a module: set training.accelerator");
    if (arguments.dtype) problems.add("dtype", "a scenario cannot set a module's dtype: set training.precision");
  });
}

// Fails with E807 when the input has not `rank` dimensions besides the batch.
void require_rank(const TensorSpec& input, std::size_t rank, const char* module, const char* dimensions);
// Fails with E807 when dimension `index` of the input is known and differs.
void require_size(const TensorSpec& input, std::size_t index, std::int64_t size, const char* module,
                  const char* argument);
void require_floating(const TensorSpec& input, const char* module);

// Where a dimension counted over the whole tensor, batch included, lies in the shape without the batch. Negative counts
// from the end. Fails with E807 when it is out of range or the batch itself.
std::size_t sample_dimension(const TensorSpec& input, std::int64_t dim, const char* module);

[[noreturn]] void shapes_do_not_meet(const std::string& message, const std::string& hint = {});

// floor or ceil((size + 2 padding - dilation (kernel - 1) - 1) / stride) + 1, as torch computes it; fails with E807
// where nothing is left.
std::int64_t window_count(std::int64_t size, std::int64_t kernel, std::int64_t stride, std::int64_t padding,
                          std::int64_t dilation, bool ceil_mode, const char* module);

}  // namespace nexuml::torch_targets
