// Small values that a schema accepts.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "engine/contract.h"

namespace nexuml {
namespace {

[[noreturn]] void no_sample(const std::string& what) {
  throw Error("E872", "no sample can be made up of " + what);
}

double sample_number(const Constraints& limits, double step) {
  double value = 1;
  if (limits.at_least) value = std::max(value, *limits.at_least);
  if (limits.greater_than) value = std::max(value, *limits.greater_than + step);
  if (limits.at_most) value = std::min(value, *limits.at_most);
  if (limits.less_than) value = std::min(value, *limits.less_than - step);
  return value;
}

// Names that the shipped torch targets hold.
std::string sample_target(TargetKind kind) {
  switch (kind) {
    case TargetKind::module:
      return "torch.nn:ReLU";
    case TargetKind::optimizer:
      return "torch.optim:Adam";
    case TargetKind::scheduler:
      return "torch.optim.lr_scheduler:ConstantLR";
    default:
      no_sample(fmt::format("a target of the kind {}", to_string(kind)));
  }
}

Value sample_definition(ComponentKind kind) {
  if (kind == ComponentKind::layer) {
    return Value::map(
        {{"type", "NnModule"}, {"version", "1"}, {"params", Value::map({{"factory", "torch.nn:ReLU"}})}});
  }
  if (kind == ComponentKind::loader_backend)
    return Value::map({{"type", "torch"}, {"version", "1"}, {"params", Value::map()}});
  no_sample(fmt::format("a definition of the kind {}", to_string(kind)));
}

}  // namespace

Value sample_value(const TypeNode& type) {
  using Kind = TypeNode::Kind;
  switch (type.kind) {
    case Kind::boolean:
      return Value(false);
    case Kind::integer:
      return Value(static_cast<std::int64_t>(std::ceil(sample_number(type.constraints, 1))));
    case Kind::number:
      return Value(sample_number(type.constraints, 0.5));
    case Kind::string:
      return Value(std::string(std::max<std::size_t>(type.constraints.min_size.value_or(1), 1), 'a'));
    case Kind::choice:
      return Value(type.choices.front());
    case Kind::list: {
      Value list = Value::list();
      for (std::size_t index = 0; index < type.constraints.min_size.value_or(1); ++index)
        list.push_back(sample_value(type.of.front()));
      return list;
    }
    case Kind::map:
      return type.constraints.min_size.value_or(0) == 0 ? Value::map()
                                                        : Value::map({{"a", sample_value(type.of.front())}});
    case Kind::tuple: {
      Value list = Value::list();
      for (const auto& part : type.of) list.push_back(sample_value(part));
      return list;
    }
    case Kind::structure:
      return sample_params(*type.structure);
    case Kind::definition:
      return sample_definition(type.definition_kind);
    case Kind::target_name:
      return Value(sample_target(type.target_kind));
    case Kind::one_of:
      return sample_value(type.of.front());
    case Kind::optional:
    case Kind::any:
      return {};
  }
  return {};
}

Value sample_params(const StructNode& schema) {
  Value params = Value::map();
  for (const auto& field : schema.fields)
    if (field.required) params.set(field.name, sample_value(field.type));
  return params;
}

}  // namespace nexuml
