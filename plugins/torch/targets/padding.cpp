// Padding of the last one, two or three dimensions.
#include <torch/nn/modules/padding.h>

#include <fmt/format.h>

#include <nexuml/module.h>
#include <nexuml/registration.h>

#include "targets/arguments.h"
#include "targets/targets.h"

namespace nexuml::torch_targets {
namespace {

// One amount for every side, or two amounts a dimension, the last dimension first: [left, right, top, bottom].
template <std::size_t N>
using PadSizes = std::variant<std::int64_t, std::array<std::int64_t, 2 * N>>;

template <std::size_t N>
std::array<std::int64_t, 2 * N> each_side(const PadSizes<N>& padding) {
  if (const auto* list = std::get_if<std::array<std::int64_t, 2 * N>>(&padding)) return *list;
  std::array<std::int64_t, 2 * N> result;
  result.fill(std::get<std::int64_t>(padding));
  return result;
}

template <std::size_t N>
TensorSpec padded(const TensorSpec& input, const PadSizes<N>& padding, bool reflects) {
  if (input.shape.size() != N + 1 && input.shape.size() != N)
    shapes_do_not_meet(fmt::format("this padding needs [batch, channels] and {} more dimensions, found [batch, ...] "
                                   "with {}", N, to_string(input.shape)));
  const auto sides = each_side<N>(padding);
  TensorSpec output = input;
  for (std::size_t i = 0; i < N; ++i) {
    std::int64_t& size = output.shape[output.shape.size() - 1 - i];
    if (size == unknown_size) continue;
    if (reflects && (sides[2 * i] >= size || sides[2 * i + 1] >= size))
      shapes_do_not_meet(fmt::format("reflection by {} and {} needs a size beyond it, found {}", sides[2 * i],
                                     sides[2 * i + 1], size));
    size += sides[2 * i] + sides[2 * i + 1];
    if (size < 1) shapes_do_not_meet("the padding leaves nothing");
  }
  return output;
}

template <std::size_t N, class Holder, class Options, bool Reflects>
struct Pad {
  PadSizes<N> padding = std::int64_t{0};

  static void describe(Schema<Pad>& s) {
    s.field("padding", &Pad::padding).doc("One amount, or two a dimension with the last dimension first.").required();
  }
  std::optional<TensorSpec> infer(const TensorSpec& input) const { return padded<N>(input, padding, Reflects); }
  std::shared_ptr<TensorModule> build(const ModuleBuildContext&) const {
    return tensor_module(Holder(Options(torch::ExpandingArray<2 * N>(each_side<N>(padding)))));
  }
};

template <std::size_t N, class Holder, class Options>
struct ConstantPad {
  PadSizes<N> padding = std::int64_t{0};
  double value = 0;

  static void describe(Schema<ConstantPad>& s) {
    s.field("padding", &ConstantPad::padding)
        .doc("One amount, or two a dimension with the last dimension first.")
        .required();
    s.field("value", &ConstantPad::value).required();
  }
  std::optional<TensorSpec> infer(const TensorSpec& input) const { return padded<N>(input, padding, false); }
  std::shared_ptr<TensorModule> build(const ModuleBuildContext&) const {
    return tensor_module(Holder(Options(torch::ExpandingArray<2 * N>(each_side<N>(padding)), value)));
  }
};

template <class T>
void add_padding(Registration& registry, const std::string& name) {
  add_module<T>(registry, "padding", name);
}

}  // namespace

void register_padding_targets(Registration& registry) {
  using namespace torch::nn;
  add_padding<Pad<1, ReflectionPad1d, ReflectionPad1dOptions, true>>(registry, "ReflectionPad1d");
  add_padding<Pad<2, ReflectionPad2d, ReflectionPad2dOptions, true>>(registry, "ReflectionPad2d");
  add_padding<Pad<3, ReflectionPad3d, ReflectionPad3dOptions, true>>(registry, "ReflectionPad3d");
  add_padding<Pad<1, ReplicationPad1d, ReplicationPad1dOptions, false>>(registry, "ReplicationPad1d");
  add_padding<Pad<2, ReplicationPad2d, ReplicationPad2dOptions, false>>(registry, "ReplicationPad2d");
  add_padding<Pad<3, ReplicationPad3d, ReplicationPad3dOptions, false>>(registry, "ReplicationPad3d");
  add_padding<Pad<1, ZeroPad1d, ZeroPad1dOptions, false>>(registry, "ZeroPad1d");
  add_padding<Pad<2, ZeroPad2d, ZeroPad2dOptions, false>>(registry, "ZeroPad2d");
  add_padding<Pad<3, ZeroPad3d, ZeroPad3dOptions, false>>(registry, "ZeroPad3d");
  add_padding<ConstantPad<1, ConstantPad1d, ConstantPad1dOptions>>(registry, "ConstantPad1d");
  add_padding<ConstantPad<2, ConstantPad2d, ConstantPad2dOptions>>(registry, "ConstantPad2d");
  add_padding<ConstantPad<3, ConstantPad3d, ConstantPad3dOptions>>(registry, "ConstantPad3d");
}

}  // namespace nexuml::torch_targets
