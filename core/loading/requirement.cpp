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

namespace {

// Depth first along the requirements; what a library needs stands before it.
class OpeningOrder {
 public:
  OpeningOrder(const Catalog& catalog, Diagnostics& problems) : catalog_(catalog), problems_(problems) {}

  bool add(const DeclaredLibrary& library) {
    if (std::ranges::find(order_, &library) != order_.end()) return true;
    way_.push_back(&library);
    const bool met = std::ranges::all_of(library.requirements, [&](const std::string& requirement) {
      return add_needed(library, requirement);
    });
    way_.pop_back();
    if (met) order_.push_back(&library);
    return met;
  }
  std::vector<const DeclaredLibrary*> take() { return std::move(order_); }

 private:
  bool add_needed(const DeclaredLibrary& library, const std::string& requirement) {
    const std::string id = requirement.substr(0, requirement.find(' '));
    const auto* needed = catalog_.library(id);
    if (!needed) {
      return fail(library, "E503",
                  fmt::format("it requires the library {}, which was not found", requirement),
                  "install it, or name its root with --root");
    }
    if (const auto start = std::ranges::find(way_, needed); start != way_.end()) {
      std::string circle;
      for (auto one = start; one != way_.end(); ++one) circle += (*one)->origin.library + " requires ";
      return fail(library, "E504", "libraries require each other in a circle: " + circle + id,
                  "remove one of the requirements");
    }
    if (!version_meets(needed->origin.version, std::string_view(requirement).substr(id.size()))) {
      return fail(library, "E505",
                  fmt::format("it requires {}, found version {} at {}", requirement, needed->origin.version,
                              needed->origin.path),
                  "install a version that meets the rule; --use id=version selects one of several");
    }
    if (!needed->usable()) {
      return fail(library, "E503",
                  fmt::format("it requires {}, which is {}: {}", requirement, to_string(needed->state),
                              needed->reason),
                  "`nexuml-run doctor` tells more about that library");
    }
    return add(*needed);
  }
  bool fail(const DeclaredLibrary& library, const char* code, std::string message, std::string hint) {
    problems_.error(code, std::move(message), Where::in_library(library.origin.library, library.origin.path))
        .hint = std::move(hint);
    return false;
  }

  const Catalog& catalog_;
  Diagnostics& problems_;
  std::vector<const DeclaredLibrary*> way_;  // from the library that was asked for to the present one
  std::vector<const DeclaredLibrary*> order_;
};

}  // namespace

std::vector<const DeclaredLibrary*> opening_order(const DeclaredLibrary& library, const Catalog& catalog,
                                                  Diagnostics& problems) {
  OpeningOrder order(catalog, problems);
  return order.add(library) ? order.take() : std::vector<const DeclaredLibrary*>{};
}

}  // namespace nexuml
