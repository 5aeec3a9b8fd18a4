// Short ways to read a document that must be good, or one that must be refused.
#pragma once

#include <nexuml/value.h>

#include <catch2/catch.hpp>

template <>
struct Catch::StringMaker<nexuml::Value> {
  static std::string convert(const nexuml::Value& value) { return nexuml::canonical_json(value); }
};

namespace nexuml::testing {

inline Value good(Value value, const Diagnostics& problems) {
  INFO(problems.to_text());
  REQUIRE(problems.empty());
  return value;
}

inline Value read_yaml(std::string_view text) {
  Diagnostics problems;
  Value value = parse_yaml(text, "test.yaml", problems);
  return good(std::move(value), problems);
}

inline Value read_json(std::string_view text) {
  Diagnostics problems;
  Value value = parse_json(text, "test.json", problems);
  return good(std::move(value), problems);
}

inline Diagnostics all_refusals(Value (*parse)(std::string_view, const std::string&, Diagnostics&,
                                               const DocumentLimits&),
                                std::string_view text, const DocumentLimits& limits = {}) {
  Diagnostics problems;
  const Value value = parse(text, "test", problems, limits);
  INFO(text.substr(0, 200));
  REQUIRE(problems.has_errors());
  CHECK(value.is_null());
  return problems;
}

inline Diagnostic refused_yaml(std::string_view text, const DocumentLimits& limits = {}) {
  const Diagnostics problems = all_refusals(parse_yaml, text, limits);
  INFO(problems.to_text());
  REQUIRE(problems.size() == 1);
  return problems.entries().front();
}

inline Diagnostic refused_json(std::string_view text, const DocumentLimits& limits = {}) {
  const Diagnostics problems = all_refusals(parse_json, text, limits);
  INFO(problems.to_text());
  REQUIRE(problems.size() == 1);
  return problems.entries().front();
}

// `line:column` of a diagnostic or a value.
inline std::string place(const Diagnostic& diagnostic) {
  return std::to_string(diagnostic.where.line) + ':' + std::to_string(diagnostic.where.column);
}
inline std::string place(const Position& position) {
  return std::to_string(position.line) + ':' + std::to_string(position.column);
}

inline std::string repeated(std::string_view text, std::size_t times) {
  std::string out;
  for (std::size_t i = 0; i < times; ++i) out += text;
  return out;
}

}  // namespace nexuml::testing
