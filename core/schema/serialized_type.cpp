// Types with a serializer of their own, as schema nodes.
#include <fmt/format.h>
#include <nexuml/type_serializer.h>

namespace nexuml::detail {

TypeNode serialized_type(std::string type_name, std::function<void(const Value&)> decode) {
  auto structure = std::make_shared<StructNode>();
  structure->name = std::move(type_name);
  structure->rules = [name = structure->name, decode = std::move(decode)](
                         const Value& value, const std::string& key_path, Diagnostics& problems) {
    const auto refuse = [&](const std::string& reason, const std::string& hint) {
      problems
          .error("E744", fmt::format("{} is no {}: {}", describe_for_message(value), name, reason),
                 Where(value.position(), key_path))
          .hint = hint;
    };
    try {
      decode(value);
    } catch (const Error& failure) {
      for (const Diagnostic& problem : failure.diagnostics()) refuse(problem.message, problem.hint);
    } catch (const std::exception& failure) {
      refuse(failure.what(), {});
    } catch (...) {
      refuse("its serializer threw something that is no std::exception", {});
    }
  };
  TypeNode type{.kind = TypeNode::Kind::any};
  type.structure = std::move(structure);
  return type;
}

}  // namespace nexuml::detail
