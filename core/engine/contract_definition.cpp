// What every definition owes: made from defaults, written and read back, refused in words that name the
// mistake.
#include <fmt/format.h>

#include <algorithm>

#include "engine/contract.h"

namespace nexuml {
namespace {

// A value of another kind than the type takes; nothing for a type that takes any.
std::optional<Value> wrong_value(const TypeNode& type) {
  using Kind = TypeNode::Kind;
  switch (type.kind) {
    case Kind::any:
      return std::nullopt;
    case Kind::one_of:
      return std::nullopt;  // an alternative may take anything
    case Kind::optional:
      return wrong_value(type.of.front());
    case Kind::boolean:
    case Kind::integer:
    case Kind::number:
    case Kind::list:
    case Kind::tuple:
      return Value("wrong on purpose");
    default:
      return Value(true);
  }
}

bool names(const Diagnostics& problems, const std::string& field) {
  return std::ranges::any_of(problems, [&](const Diagnostic& entry) {
    return entry.where.key_path.find(field) != std::string::npos ||
           entry.message.find(field) != std::string::npos;
  });
}

// Empty when the component refuses these parameters in words that hold `field`.
std::string refusal(const Identity& identity, const ComponentRegistry& registry, const Value& params,
                    const std::string& field) {
  try {
    (void)registry.definition(identity, params);
  } catch (const Error& error) {
    if (names(error.diagnostics(), field)) return {};
    return fmt::format("{} was refused, but no word names it: {}", field,
                       error.diagnostics().entries().front().message);
  } catch (...) {
    return fmt::format("{} was refused with an exception in place of a diagnostic: {}", field,
                       words_of_exception());
  }
  return fmt::format("a wrong {} was accepted", field);
}

std::string check_refusals(const Identity& identity, const ComponentRegistry& registry,
                           const StructNode& schema, const Value& params) {
  const std::string unknown = "no_such_parameter";
  Value with_unknown = params;
  with_unknown.set(unknown, 1);
  if (std::string wrong = refusal(identity, registry, with_unknown, unknown); !wrong.empty()) return wrong;
  for (const auto& field : schema.fields) {
    const auto value = wrong_value(field.type);
    if (!value) continue;
    Value changed = params;
    changed.set(field.name, *value);
    if (std::string wrong = refusal(identity, registry, changed, field.name); !wrong.empty()) return wrong;
  }
  return {};
}

// The first field that two lowerings do not have in common, and what it is in each.
std::string first_difference(const Value& written, const Value& restored) {
  for (const auto& entry : written.at("params").entries()) {
    const Value* other = restored.at("params").find(entry.key);
    if (other && *other == entry.value) continue;
    return fmt::format("{} was written as {}, and after reading it is {}", entry.key,
                       write_json(entry.value, {.indent = -1}),
                       other ? write_json(*other, {.indent = -1}) : "missing");
  }
  return {};
}

std::string check_lowering(const Definition& definition, const ComponentRegistry& registry) {
  const Value lowered = registry.lower(definition);
  Diagnostics problems;
  const Value text = parse_json(write_json(lowered), "lowering", problems);
  if (problems.has_errors()) return "its lowering is no JSON: " + problems.entries().front().message;
  const Definition restored = registry.definition(
      {definition.kind(), text.at("type").as_string(), text.at("version").as_string()}, text.at("params"));
  if (std::string differs = first_difference(lowered, registry.lower(restored)); !differs.empty())
    return differs;
  return restored == definition ? std::string() : "the definition that was read is of another type";
}

}  // namespace

Definition check_definition_contract(const Identity& identity, const ComponentRegistry& registry,
                                     ContractReport& report) {
  const auto* found = registry.find(identity);
  if (!found) {
    report.add({"registered", CheckStatus::failed, to_string(identity) + " was declared and not registered"});
    return {};
  }
  const StructNode& schema = *found->entry.schema;
  const bool all_defaults = std::ranges::none_of(schema.fields, &FieldNode::required);
  const std::string name =
      all_defaults ? "made from its defaults" : "made from samples of what has no default";
  Value params;
  try {
    params = sample_params(schema);
  } catch (const Error& error) {
    const Diagnostic& reason = error.diagnostics().entries().front();
    report.skip(name, fmt::format("{}: {}; record a golden case of it", reason.code, reason.message));
    return {};
  }
  Definition definition;
  try {
    definition = registry.definition(identity, params);
    report.add({name});
  } catch (...) {
    // What has no default may hang together in ways that no schema tells.
    if (all_defaults)
      report.add({name, CheckStatus::failed, words_of_exception()});
    else
      report.skip(name, words_of_exception() + "; record a golden case of it");
    return {};
  }
  report.check("restored from its own lowering", [&] { return check_lowering(definition, registry); });
  report.check("refuses wrong parameters by their names",
               [&] { return check_refusals(identity, registry, schema, params); });
  return definition;
}

}  // namespace nexuml
