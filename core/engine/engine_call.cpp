#include "engine/engine_call.h"

#include <cstdio>

namespace nexuml {

std::optional<std::string> EngineCall::text(std::string_view option) const {
  const Value* value = call_.options->find(option);
  return value ? std::optional(value->as_string()) : std::nullopt;
}

std::vector<std::string> EngineCall::texts(std::string_view option) const {
  std::vector<std::string> texts;
  if (const Value* value = call_.options->find(option))
    for (const Value& item : value->items()) texts.push_back(item.as_string());
  return texts;
}

std::optional<std::int64_t> EngineCall::integer(std::string_view option) const {
  const Value* value = call_.options->find(option);
  return value ? std::optional(value->as_integer()) : std::nullopt;
}

bool EngineCall::flag(std::string_view option) const {
  const Value* value = call_.options->find(option);
  return value && value->as_boolean();
}

bool EngineCall::talks() const {
  const std::string level = text("log_level").value_or("info");
  return level != "warning" && level != "error" && level != "off";
}

void EngineCall::print(const std::string& text) const {
  if (json()) return;
  std::fwrite(text.data(), 1, text.size(), stdout);
  std::fflush(stdout);
}

}  // namespace nexuml
