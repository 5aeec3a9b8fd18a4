// Fields that take a list of keys, `all` or `none`.
#pragma once

#include <fmt/format.h>
#include <nexuml/schema.h>

#include <string>
#include <variant>
#include <vector>

namespace nexuml {

inline void check_key_choice(const std::string& field,
                             const std::variant<std::vector<std::string>, std::string>& choice,
                             RuleProblems& problems) {
  const std::string* word = std::get_if<std::string>(&choice);
  if (!word || *word == "all" || *word == "none") return;
  problems.add(field, fmt::format("a list of keys, all or none expected, got text '{}'", *word)).hint =
      fmt::format("write a list: [{}]", *word);
}

}  // namespace nexuml
