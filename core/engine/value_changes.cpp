#include "engine/value_changes.h"

#include <fmt/format.h>

namespace nexuml {

namespace {

void list_changes(const Value& before, const Value& now, const std::string& path,
                  std::vector<std::string>& changes) {
  if (before == now) return;
  const auto below = [&](const std::string& part) { return path.empty() ? part : path + "." + part; };
  if (before.is_map() && now.is_map()) {
    for (const auto& entry : now.entries()) {
      const Value* old = before.find(entry.key);
      list_changes(old ? *old : Value(), entry.value, below(entry.key), changes);
    }
    for (const auto& entry : before.entries())
      if (!now.find(entry.key)) list_changes(entry.value, Value(), below(entry.key), changes);
  } else if (before.is_list() && now.is_list() && before.size() == now.size()) {
    for (std::size_t i = 0; i < now.size(); ++i)
      list_changes(before.items()[i], now.items()[i], fmt::format("{}[{}]", path, i), changes);
  } else {
    changes.push_back(
        fmt::format("{}: {}, now {}", path, describe_for_message(before), describe_for_message(now)));
  }
}

}  // namespace

std::vector<std::string> value_changes(const Value& before, const Value& now) {
  std::vector<std::string> changes;
  list_changes(before, now, "", changes);
  return changes;
}

}  // namespace nexuml
