// Scalars as text: which plain YAML scalar means what, and how numbers are written.
#pragma once

#include <nexuml/value.h>

#include <string>
#include <string_view>

namespace nexuml {

enum class ScalarProblem { none, not_finite, integer_range, number_range };

struct ResolvedScalar {
  Value value;  // null where there is a problem
  ScalarProblem problem = ScalarProblem::none;
};

// The YAML 1.2 core schema (yaml.org/spec/1.2.2, section 10.3.2): what an unquoted scalar means.
ResolvedScalar resolve_plain_scalar(std::string_view text);

// Code, words and advice for a scalar that cannot be held.
struct ScalarProblemText {
  const char* code;
  std::string message;
  const char* hint;
};
ScalarProblemText explain(ScalarProblem problem, std::string_view text);

// True where every common reader (YAML 1.1 as PyYAML has it, YAML 1.2, ruamel) takes the unquoted scalar for
// text.
bool reads_as_text_everywhere(std::string_view text);

// The shortest text that reads back to the same bits, in the form of Python's repr: 0.001, 1e-08, 100000.0.
std::string number_to_text(double value);

}  // namespace nexuml
