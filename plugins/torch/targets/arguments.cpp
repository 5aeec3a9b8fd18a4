#include "targets/arguments.h"

#include <fmt/format.h>

#include <nexuml/diagnostic.h>

namespace nexuml::torch_targets {

void shapes_do_not_meet(const std::string& message, const std::string& hint) {
  throw Error("E807", message, {}, hint);
}

void require_rank(const TensorSpec& input, std::size_t rank, const char* module, const char* dimensions) {
  if (input.shape.size() != rank)
    shapes_do_not_meet(fmt::format("{} needs an input of [batch, {}], found [batch, ...] with {}", module, dimensions,
                                   to_string(input.shape)));
}

void require_size(const TensorSpec& input, std::size_t index, std::int64_t size, const char* module,
                  const char* argument) {
  const std::int64_t found = input.shape.at(index);
  if (found != unknown_size && found != size)
    shapes_do_not_meet(fmt::format("{} was given {}={}, its input has {} there: {}", module, argument, size, found,
                                   to_string(input.shape)),
                       fmt::format("set {} to {}", argument, found));
}

void require_floating(const TensorSpec& input, const char* module) {
  if (!is_floating(input.dtype))
    shapes_do_not_meet(fmt::format("{} needs floating-point input, found {}", module, to_string(input.dtype)));
}

std::size_t sample_dimension(const TensorSpec& input, std::int64_t dim, const char* module) {
  const auto rank = static_cast<std::int64_t>(input.shape.size()) + 1;
  const std::int64_t counted = dim < 0 ? dim + rank : dim;
  if (counted <= 0 || counted >= rank)
    shapes_do_not_meet(fmt::format("{} works on dimension {}, its input [batch, ...] has {} dimensions", module, dim,
                                   rank),
                       counted == 0 ? "dimension 0 is the batch; samples must not be mixed" : "");
  return static_cast<std::size_t>(counted - 1);
}

std::int64_t window_count(std::int64_t size, std::int64_t kernel, std::int64_t stride, std::int64_t padding,
                          std::int64_t dilation, bool ceil_mode, const char* module) {
  if (size == unknown_size) return unknown_size;
  const std::int64_t reach = dilation * (kernel - 1) + 1;
  const std::int64_t span = size + 2 * padding - reach;
  if (span < 0)
    shapes_do_not_meet(fmt::format("{}: a window of {} does not fit into {} with padding {}", module, reach, size,
                                   padding));
  std::int64_t count = (span + (ceil_mode ? stride - 1 : 0)) / stride + 1;
  // A window may not start in the right padding.
  if (ceil_mode && (count - 1) * stride >= size + padding) --count;
  return count;
}

}  // namespace nexuml::torch_targets
