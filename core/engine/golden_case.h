// Golden cases: recorded inputs and outputs of one component, in `NAME.json` beside `NAME.safetensors`.
#pragma once

#include <nexuml/registry.h>
#include <nexuml/tensor_dict.h>
#include <nexuml/tensor_io.h>
#include <nexuml/value.h>

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace nexuml {

// The steps of using a component, in order. A case may expect one of them to refuse.
enum class CasePhase { define, build, fit, forward };
std::string_view to_string(CasePhase phase) noexcept;

struct Tolerance {
  double relative = 1e-5, absolute = 1e-6;
};

struct GoldenCase {
  Value document;
  TensorMap tensors;
  std::string name, kind;
  Tolerance tolerance;
  std::optional<CasePhase> expected_refusal;

  const Value* find(std::string_view key) const;  // null where the entry is missing or null
  std::string text(std::string_view key, const std::string& otherwise = {}) const;
  std::vector<std::string> texts(std::string_view key) const;  // a list of text; a single text counts as one
  std::vector<std::int64_t> sizes(std::string_view key) const;
  const at::Tensor* tensor(const std::string& full_name) const { return tensors.find(full_name); }
  // The tensors whose names start with `prefix`, by the rest of their names.
  TensorDict tensors_of(std::string_view prefix) const;
  // What the case is about: component.type, or the function.
  std::string subject() const;
};

// Whether a document is a case of this format.
bool is_golden_case(const Value& document);
// Throws Error E870 for what is missing or malformed.
GoldenCase read_golden_case(Value document, const std::filesystem::path& file);

}  // namespace nexuml
