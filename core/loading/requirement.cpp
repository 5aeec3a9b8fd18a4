#include "loading/requirement.h"

#include <fmt/format.h>

#include <algorithm>

#include "discovery/version_order.h"

namespace nexuml {

bool version_meets(std::string_view version, std::string_view rule) {
  while (true) {
    rule.remove_prefix(std::min(rule.find_first_not_of(' '), rule.size()));
    if (rule.empty()) return true;
    const std::string_view term = rule.substr(0, rule.find(' '));
    rule.remove_prefix(term.size());
    const auto digits = term.find_first_not_of("<>=");
    if (digits == std::string_view::npos) return false;
    const std::string_view operation = term.substr(0, digits), bound = term.substr(digits);
    const bool less = version_less(version, bound), greater = version_less(bound, version);
    const bool met = operation == ">="   ? !less
                     : operation == ">"  ? greater
                     : operation == "<"  ? less
                     : operation == "<=" ? !greater
                                         : !less && !greater;
    if (!met) return false;
  }
}

bool load_requirements(const DeclaredLibrary& library, const Catalog& catalog,
                       const std::function<bool(const DeclaredLibrary&)>& is_loading,
                       const std::function<bool(const DeclaredLibrary&)>& load, Diagnostics& problems) {
  const Where where = Where::in_library(library.origin.library, library.origin.path);
  for (const std::string_view requirement : library.requirements) {
    const std::string_view id = requirement.substr(0, requirement.find(' '));
    const std::string_view rule = requirement.substr(id.size());
    const auto* needed = catalog.library(id);
    if (!needed) {
      problems
          .error("E503", fmt::format("it requires the library {}, which was not found", requirement), where)
          .hint = "install it, or name its root with --root";
      return false;
    }
    if (!version_meets(needed->origin.version, rule)) {
      problems.error("E505",
                     fmt::format("it requires {}, found version {}", requirement, needed->origin.version),
                     where);
      return false;
    }
    if (is_loading(*needed)) {
      problems.error("E504", fmt::format("it requires {}, which requires it in turn", id), where);
      return false;
    }
    if (!load(*needed)) {
      problems.error("E503", fmt::format("it requires {}, which failed to load", requirement), where);
      return false;
    }
  }
  return true;
}

}  // namespace nexuml
