// The text of an override, taken apart: a path and a value.
#pragma once

#include <nexuml/schema_node.h>
#include <nexuml/value.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace nexuml {

struct PathPart {
  std::variant<std::string, std::size_t> step;  // a key, or an index of a list
  std::size_t offset = 0;                       // in the text of the assignment

  const std::string* key() const { return std::get_if<std::string>(&step); }
  const std::size_t* index() const { return std::get_if<std::size_t>(&step); }
};

// What stands behind the equals sign. Only the place it goes to says whether a plain scalar is text.
struct AssignedValue {
  Value parsed;      // null where `problem` is set
  std::string text;  // of a plain scalar
  bool plain = false;
  std::optional<Diagnostic> problem;

  // `parsed`, or the text where only text fits `type`; nothing after `problem` was reported.
  std::optional<Value> as(const TypeNode& type, Diagnostics& problems) const;
};

struct Assignment {
  std::vector<PathPart> path;
  std::string path_text;  // a.b[0].c
  AssignedValue value;
  Position value_at;
  std::shared_ptr<const std::string> file;  // "-O a.b[0].c"

  Position position(const PathPart& part) const {
    return {file, 1, static_cast<std::uint32_t>(part.offset + 1)};
  }
  // a.b[0] for the first `parts` parts.
  std::string path_up_to(std::size_t parts) const;
};

// `option` is "-O" or "-P". Nothing after a problem E720.
std::optional<Assignment> parse_assignment(std::string_view option, std::string_view text,
                                           Diagnostics& problems);

}  // namespace nexuml
