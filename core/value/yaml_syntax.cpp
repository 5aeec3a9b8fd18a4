#include "value/yaml_syntax.h"

#include <fmt/format.h>

namespace nexuml {

Place MarkPlaces::place(const yaml_mark_t& mark) {
  const auto line = static_cast<std::uint32_t>(mark.line + 1);
  if (text_.ascii) return {line, static_cast<std::uint32_t>(mark.column + 1)};
  const std::size_t line_start = mark.index - mark.column;
  if (line_start != line_start_) {
    line_offset_ = offset_of(line_start);
    line_start_ = line_start;
  }
  return {line, static_cast<std::uint32_t>(offset_of(mark.index) - line_offset_ + 1)};
}

std::size_t MarkPlaces::offset_of(std::size_t character) {
  if (character < character_) {
    // Back to the start of the current line where that is enough.
    const bool same_line = character >= line_start_ && line_start_ <= character_;
    character_ = same_line ? line_start_ : 0;
    offset_ = same_line ? line_offset_ : 0;
  }
  const std::string_view body = text_.body;
  for (; character_ < character && offset_ < body.size(); ++character_) {
    do {
      ++offset_;
    } while (offset_ < body.size() && (static_cast<unsigned char>(body[offset_]) & 0xC0) == 0x80);
  }
  return offset_;
}

namespace {

struct SyntaxAdvice {
  std::string_view problem;  // libyaml's words, or their beginning
  std::string_view message;
  std::string_view hint;
  bool at_context = false;  // the place to look at is where the construct starts
};

constexpr SyntaxAdvice syntax_advice[] = {
    {"mapping values are not allowed in this context",
     "unexpected ':'; a value cannot be followed by a key here",
     "check the indentation of this line, or put quotes around a text that contains ': '"},
    {"could not find expected ':'", "a key is expected here, but no ':' follows it",
     "write `key: value`, or check the indentation", true},
    {"did not find expected ',' or ']'", "the list that starts here is not closed: ',' or ']' expected",
     "close it with ']'", true},
    {"did not find expected ',' or '}'", "the map that starts here is not closed: ',' or '}' expected",
     "close it with '}'", true},
    {"did not find expected key", "a key of the map, at the indentation of the others, is expected here",
     "check the indentation of this line and the quotes of the line above"},
    {"did not find expected '-' indicator", "'- ' is expected here: a list cannot go on with anything else",
     "check the indentation of this line"},
    {"block sequence entries are not allowed in this context", "'- ' cannot start a list here",
     "start the list on a line of its own"},
    {"block mapping keys are not allowed", "'? ' cannot start a key here",
     "start the key on a line of its own"},
    {"mapping keys are not allowed in this context", "a key cannot start here",
     "start the key on a line of its own"},
    {"found unknown escape character", "unknown escape after '\\' in a text in double quotes",
     "write '\\\\' for a backslash, or use single quotes"},
    {"found unexpected document indicator",
     "the text in quotes that starts here does not end before '---' or '...'", "close the quotes", true},
    {"found undefined tag handle", "the tag prefix is not declared", "remove the tag"},
    {"found incompatible YAML document", "this YAML version is not known", "remove the %YAML line"},
    {"did not find expected <document start>", "the document ended before this line; nothing may follow it",
     "remove the line above that ends it ('...' or a directive), or this text"},
    {"did not find expected node content", "a value is expected here",
     "remove the stray sign, or write null"},
    {"did not find expected alphabetic or numeric character", "a name is expected after '&' or '*'",
     "put quotes around a text that begins with '&' or '*'"},
};

// A tab where only spaces may stand, next to the place where libyaml gave up.
std::size_t find_offending_tab(std::string_view body, std::size_t at) {
  if (at < body.size() && body[at] == '\t') return at;
  if (at > body.size() || body.empty()) return std::string_view::npos;
  const std::size_t before = at == 0 ? std::string_view::npos : body.rfind('\n', at - 1);
  const std::size_t line_start = before == std::string_view::npos ? 0 : before + 1;
  const std::size_t indentation_end = body.find_first_not_of(" \t", line_start);
  const std::size_t tab = body.find('\t', line_start);
  return tab != std::string_view::npos && tab < indentation_end && tab <= at ? tab : std::string_view::npos;
}

std::size_t offset_of_place(std::string_view body, const yaml_mark_t& mark) {
  std::size_t at = 0;
  for (std::size_t character = 0; character < mark.index && at < body.size(); ++character) {
    at += std::max(1u, decode_utf8(body, at).size);
  }
  return at;
}

}  // namespace

void report_yaml_error(const yaml_parser_t& parser, const CheckedText& text,
                       const std::shared_ptr<const std::string>& file, Diagnostics& problems) {
  const std::string_view problem = parser.problem == nullptr ? "not readable" : parser.problem;
  const std::string_view context = parser.context == nullptr ? "" : parser.context;
  const auto report = [&](std::size_t offset, std::string message, std::string_view hint) {
    const Place place = place_at(text.body, offset);
    problems.error("E703", std::move(message), Position{file, place.line, place.column}).hint = hint;
  };
  if (parser.error == YAML_READER_ERROR) {
    const Place place = place_at(text.body, parser.problem_offset);
    problems.error("E702", std::string(problem), Position{file, place.line, place.column});
    return;
  }
  const std::size_t problem_at = offset_of_place(text.body, parser.problem_mark);
  const std::size_t context_at =
      context.empty() ? problem_at : offset_of_place(text.body, parser.context_mark);
  const std::size_t tab = find_offending_tab(text.body, problem_at);
  if (tab != std::string_view::npos) {
    return report(tab, "a tab stands where only spaces may: in the indentation or before a value",
                  "use spaces");
  }
  if (context == "while scanning a quoted scalar" && problem == "found unexpected end of stream") {
    return report(context_at, "unterminated quote: the text that starts here never ends", "close the quotes");
  }
  for (const SyntaxAdvice& advice : syntax_advice) {
    if (problem != advice.problem) continue;
    return report(advice.at_context ? context_at : problem_at, std::string(advice.message), advice.hint);
  }
  if (problem == "found character that cannot start any token") {
    const Character character = decode_utf8(text.body, problem_at);
    const std::string_view sign = text.body.substr(std::min(problem_at, text.body.size()), character.size);
    return report(problem_at, fmt::format("a value cannot start with '{}'", shown(sign)),
                  "put the text in quotes");
  }
  report(problem_at, fmt::format("not valid YAML: {}{}{}", context, context.empty() ? "" : ", ", problem),
         "check this line and the one above");
}

}  // namespace nexuml
