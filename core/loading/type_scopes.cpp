#include "loading/type_scopes.h"

#include <fmt/format.h>

#include <boost/core/demangle.hpp>
#include <string_view>
#include <typeinfo>

namespace nexuml {
namespace {

// The first template argument in `nexuml::Registration::add<acme::Gain>(...)::{lambda...}`: what the SDK's
// functions leave with the registry was made inside them. Nothing where something else was left there.
std::string registered_type(const std::type_info& made_in, std::string_view function) {
  const std::string name = boost::core::demangle(made_in.name());
  const auto at = name.find(function);
  if (at == std::string::npos) return {};
  const auto begin = at + function.size();
  int depth = 0;
  for (auto end = begin; end < name.size(); ++end) {
    if (name[end] == '<' || name[end] == '(') ++depth;
    if (depth == 0 && (name[end] == '>' || name[end] == ','))
      return name.substr(begin, name.find_last_not_of(' ', end - 1) + 1 - begin);
    if (name[end] == '>' || name[end] == ')') --depth;
  }
  return {};
}

// A template's arguments may lie in namespaces that the template does not.
bool lies_in_namespace(const std::string& type) {
  return type.substr(0, type.find('<')).find("::") != std::string::npos;
}

}  // namespace

std::vector<std::string> types_without_namespace(const ComponentRegistry& registry,
                                                 const std::string& library) {
  std::vector<std::string> found;
  const auto look_at = [&](const Origin& origin, const std::string& name, const std::string& type) {
    if (origin.library == library && !type.empty() && !lies_in_namespace(type))
      found.push_back(fmt::format("{} ({})", name, type));
  };
  for (const auto* entry : registry.definitions())
    look_at(entry->origin, to_string(entry->entry.identity),
            registered_type(entry->entry.restore.target_type(), "Registration::add<"));
  for (const auto* entry : registry.targets())
    look_at(entry->origin, entry->entry.node->path,
            registered_type(entry->entry.make.target_type(), "Registration::add_target<"));
  return found;
}

}  // namespace nexuml
