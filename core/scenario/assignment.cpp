#include "scenario/assignment.h"

#include <fmt/format.h>

#include <charconv>
#include <utility>

#include "value/scalar.h"

namespace nexuml {
namespace {

constexpr std::string_view blanks = " \t\r\n";

// Reads a.b[0]."c.d" up to the equals sign.
class PathReader {
 public:
  explicit PathReader(std::string_view text) : text_(text) {}

  // Empty after a problem; `problem` and `at` then say what and where.
  std::vector<PathPart> read() {
    std::vector<PathPart> path;
    do {
      if (!read_key(path)) return {};
      while (peek() == '[')
        if (!read_index(path)) return {};
    } while (take('.'));
    if (take('=')) return path;
    fail(at_ == text_.size() ? "a path and a value are expected, there is no '='"
                             : fmt::format("'.', '[' or '=' expected, found '{}'", text_[at_]));
    return {};
  }
  std::size_t offset() const { return at_; }
  const std::string& problem() const { return problem_; }

 private:
  char peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }
  bool take(char c) {
    if (peek() != c) return false;
    ++at_;
    return true;
  }
  bool fail(std::string problem) {
    problem_ = std::move(problem);
    return false;
  }

  bool read_key(std::vector<PathPart>& path) {
    const std::size_t start = at_;
    std::string key;
    if (take('"')) {
      const std::size_t end = text_.find('"', at_);
      if (end == std::string_view::npos) return fail("a quoted key does not end");
      key = text_.substr(at_, end - at_);
      at_ = end + 1;
    } else {
      const std::size_t end = std::min(text_.find_first_of(".[]=\"", at_), text_.size());
      key = text_.substr(at_, end - at_);
      at_ = end;
      if (key.empty()) return fail("a key is missing in the path");
      if (blanks.find(key.front()) != std::string_view::npos ||
          blanks.find(key.back()) != std::string_view::npos) {
        at_ = start;
        return fail("blanks around a key are not allowed");
      }
    }
    path.push_back({std::move(key), start});
    return true;
  }

  bool read_index(std::vector<PathPart>& path) {
    const std::size_t start = at_++;
    std::size_t index = 0;
    const char* end = text_.data() + text_.size();
    const auto [stop, status] = std::from_chars(text_.data() + at_, end, index);
    if (status != std::errc() || stop == end || *stop != ']')
      return fail("an index is a number from 0 in brackets, such as [0]");
    at_ = static_cast<std::size_t>(stop - text_.data()) + 1;
    path.push_back({index, start});
    return true;
  }

  std::string_view text_;
  std::size_t at_ = 0;
  std::string problem_;
};

AssignedValue read_plain(std::string_view text, const Position& at) {
  AssignedValue value{.parsed = {}, .text = std::string(text), .plain = true, .problem = {}};
  ResolvedScalar scalar = resolve_plain_scalar(text);
  if (scalar.problem != ScalarProblem::none) {
    const ScalarProblemText words = explain(scalar.problem, text);
    value.problem = Diagnostic{words.code, Severity::error, words.message, Where(at), words.hint};
  }
  value.parsed = std::move(scalar.value.at_position(at));
  return value;
}

// Blanks in front keep the columns those of the whole text.
AssignedValue read_flow(std::string_view text, const Position& at) {
  Diagnostics found;
  AssignedValue value;
  value.parsed = parse_yaml(std::string(at.column - 1, ' ').append(text), *at.file, found);
  if (found.has_errors()) {
    Diagnostic problem = found.entries().front();
    problem.code = "E720";
    problem.message = "the value cannot be read: " + problem.message;
    value.problem = std::move(problem);
  }
  return value;
}

bool may_be_flow(std::string_view text) {
  return !text.empty() && std::string_view("[{\"'").find(text.front()) != std::string_view::npos;
}

}  // namespace

std::optional<Value> AssignedValue::as(const TypeNode& type, Diagnostics& problems) const {
  const bool fits = !problem && (parsed.is_null() || outline_fits(type, parsed));
  if (plain && !fits && type.kind != TypeNode::Kind::any && outline_fits(type, Value(text)))
    return Value(text);
  if (!problem) return parsed;
  problems.add(*problem);
  return std::nullopt;
}

std::string Assignment::path_up_to(std::size_t parts) const {
  std::string text;
  for (std::size_t i = 0; i < parts; ++i) {
    if (const std::size_t* index = path[i].index())
      text += fmt::format("[{}]", *index);
    else
      text += (text.empty() ? "" : ".") + *path[i].key();
  }
  return text;
}

std::optional<Assignment> parse_assignment(std::string_view option, std::string_view text,
                                           Diagnostics& problems) {
  PathReader reader(text);
  Assignment assignment;
  assignment.path = reader.read();
  const std::size_t equals = text.find('=');
  const std::size_t path_end = assignment.path.empty() ? std::min(equals, text.size()) : reader.offset() - 1;
  assignment.path_text = text.substr(0, path_end);
  assignment.file = std::make_shared<const std::string>(fmt::format("{} {}", option, assignment.path_text));
  if (assignment.path.empty()) {
    const Position at{assignment.file, 1, static_cast<std::uint32_t>(reader.offset() + 1)};
    problems.error("E720", reader.problem(), Where(at)).hint = fmt::format("write {} a.b[0].c=value", option);
    return std::nullopt;
  }
  std::string_view value = text.substr(reader.offset());
  const std::size_t start = std::min(value.find_first_not_of(blanks), value.size());
  assignment.value_at = {assignment.file, 1, static_cast<std::uint32_t>(reader.offset() + start + 1)};
  value = value.substr(start, value.find_last_not_of(blanks) + 1 - start);
  assignment.value =
      may_be_flow(value) ? read_flow(value, assignment.value_at) : read_plain(value, assignment.value_at);
  return assignment;
}

}  // namespace nexuml
