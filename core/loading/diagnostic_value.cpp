#include "loading/diagnostic_value.h"

namespace nexuml {
namespace {

struct TextPart {
  const char* key;
  std::string Where::*part;
};
constexpr TextPart text_parts[] = {{"file", &Where::file},
                                   {"key_path", &Where::key_path},
                                   {"library", &Where::library},
                                   {"layer", &Where::layer}};

std::string text_in(const Value& map, std::string_view key) {
  const Value* value = map.find(key);
  return value && value->is_string() ? value->as_string() : std::string();
}

std::uint32_t number_in(const Value& map, std::string_view key) {
  const Value* value = map.find(key);
  return value && value->is_integer() ? static_cast<std::uint32_t>(value->as_integer()) : 0;
}

Severity severity_named(std::string_view text) {
  for (const Severity severity : {Severity::note, Severity::warning})
    if (to_string(severity) == text) return severity;
  return Severity::error;
}

}  // namespace

Value to_value(const Diagnostic& diagnostic) {
  Value where = Value::map();
  for (const auto& [key, part] : text_parts)
    if (!(diagnostic.where.*part).empty()) where.set(key, diagnostic.where.*part);
  if (diagnostic.where.line != 0) {
    where.set("line", diagnostic.where.line);
    where.set("column", diagnostic.where.column);
  }
  return Value::map({{"code", diagnostic.code},
                     {"severity", to_string(diagnostic.severity)},
                     {"message", diagnostic.message},
                     {"where", std::move(where)},
                     {"hint", diagnostic.hint}});
}

Value to_value(const Diagnostics& diagnostics) {
  Value list = Value::list();
  for (const auto& entry : diagnostics) list.push_back(to_value(entry));
  return list;
}

Diagnostic diagnostic_from_value(const Value& value) {
  Diagnostic diagnostic{text_in(value, "code"),
                        severity_named(text_in(value, "severity")),
                        text_in(value, "message"),
                        {},
                        text_in(value, "hint")};
  if (const Value* where = value.find("where")) {
    for (const auto& [key, part] : text_parts) diagnostic.where.*part = text_in(*where, key);
    diagnostic.where.line = number_in(*where, "line");
    diagnostic.where.column = number_in(*where, "column");
  }
  return diagnostic;
}

}  // namespace nexuml
