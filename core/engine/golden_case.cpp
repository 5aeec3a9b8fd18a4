#include "engine/golden_case.h"

#include <fmt/format.h>

#include <array>

namespace nexuml {

namespace {

constexpr std::array<std::string_view, 4> phase_names{"define", "build", "fit", "forward"};
constexpr std::array<std::string_view, 2> formats{"nexuml-case/1", "nexuml-kit-fixture/1"};

[[noreturn]] void malformed(const std::filesystem::path& file, const std::string& message) {
  throw Error("E870", "the case cannot be used: " + message, Where::in_file(file.string()));
}

double number_or(const Value* map, std::string_view key, double otherwise) {
  const Value* found = map ? map->find(key) : nullptr;
  return found && found->is_number() ? found->as_number() : otherwise;
}

CasePhase phase_of(const Value& expected, const std::filesystem::path& file) {
  const Value* phase = expected.find("phase");
  for (std::size_t i = 0; phase && phase->is_string() && i < phase_names.size(); ++i)
    if (phase->as_string() == phase_names[i]) return static_cast<CasePhase>(i);
  malformed(file, "expect_error.phase must be define, build, fit or forward");
}

}  // namespace

std::string_view to_string(CasePhase phase) noexcept {
  return phase_names[static_cast<std::size_t>(phase)];
}

const Value* GoldenCase::find(std::string_view key) const {
  const Value* found = document.find(key);
  return found && !found->is_null() ? found : nullptr;
}

std::string GoldenCase::text(std::string_view key, const std::string& otherwise) const {
  const Value* found = find(key);
  return found && found->is_string() ? found->as_string() : otherwise;
}

std::vector<std::string> GoldenCase::texts(std::string_view key) const {
  std::vector<std::string> result;
  const Value* found = find(key);
  if (found && found->is_string()) result.push_back(found->as_string());
  if (found && found->is_list())
    for (const Value& item : found->items())
      if (item.is_string()) result.push_back(item.as_string());
  return result;
}

std::vector<std::int64_t> GoldenCase::sizes(std::string_view key) const {
  std::vector<std::int64_t> result;
  if (const Value* found = find(key); found && found->is_list())
    for (const Value& item : found->items())
      if (item.is_integer()) result.push_back(item.as_integer());
  return result;
}

TensorDict GoldenCase::tensors_of(std::string_view prefix) const {
  TensorDict result;
  for (const auto& [key, value] : tensors)
    if (key.starts_with(prefix)) result.set(key.substr(prefix.size()), value);
  return result;
}

std::string GoldenCase::subject() const {
  if (const Value* component = find("component"))
    if (const Value* type = component->find("type"); type && type->is_string()) return type->as_string();
  return text("function");
}

bool is_golden_case(const Value& document) {
  const Value* format = document.find("format");
  return format && format->is_string() && document.find("kind") &&
         std::ranges::find(formats, format->as_string()) != formats.end();
}

GoldenCase read_golden_case(Value document, const std::filesystem::path& file) {
  GoldenCase golden;
  golden.document = std::move(document);
  golden.kind = golden.text("kind");
  golden.name = golden.text("case", file.stem().string());
  const Value* tolerance = golden.find("tolerance");
  golden.tolerance = {number_or(tolerance, "rtol", 1e-5), number_or(tolerance, "atol", 1e-6)};
  if (const Value* expected = golden.find("expect_error"))
    golden.expected_refusal = phase_of(*expected, file);
  std::filesystem::path tensors = file;
  tensors.replace_extension(".safetensors");
  if (std::filesystem::exists(tensors))
    golden.tensors = read_safetensors(tensors.string()).tensors;
  else if (const Value* listed = golden.find("tensors"); listed && listed->size() > 0)
    malformed(file, fmt::format("it lists tensors, but {} does not exist", tensors.string()));
  return golden;
}

}  // namespace nexuml
