#include "scenario/readable_part.h"

#include <charconv>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace nexuml {
namespace {

using Step = std::variant<std::string_view, std::size_t>;

// `a.b[0].c` as its steps.
std::vector<Step> steps_of(std::string_view path) {
  std::vector<Step> steps;
  while (!path.empty()) {
    if (path.front() == '[') {
      std::size_t index = 0;
      std::from_chars(path.data() + 1, path.data() + path.size(), index);
      steps.emplace_back(index);
      path.remove_prefix(std::min(path.find(']'), path.size() - 1) + 1);
    } else {
      const std::size_t end = std::min(path.find_first_of(".["), path.size());
      steps.emplace_back(path.substr(0, end));
      path.remove_prefix(end);
    }
    if (path.starts_with('.')) path.remove_prefix(1);
  }
  return steps;
}

const Value* child(const Value& parent, const Step& step) {
  if (const auto* key = std::get_if<std::string_view>(&step))
    return parent.is_map() ? parent.find(*key) : nullptr;
  const std::size_t index = std::get<std::size_t>(step);
  return parent.is_list() && index < parent.size() ? &parent.items()[index] : nullptr;
}
Value* child(Value& parent, const Step& step) {
  return const_cast<Value*>(child(std::as_const(parent), step));
}

// A component or a factory: half of one means something else.
bool is_one_piece(const Value& value) {
  return value.is_map() && (value.find("type") || value.find("factory"));
}

Value stand_in_component(const Identity& identity) {
  return Value::map({{"type", identity.name}, {"version", identity.version}, {"params", Value::map()}});
}

// `pipeline.stages.Encoder[3].component.params.size`. A mistyped field of the layer itself leaves its keys in
// doubt, so it is only passed over where they are all there.
bool mend_layer(Value& document, const std::vector<Step>& steps, const std::string& code,
                const Identity& stand_in) {
  Value* layer = &document;
  for (std::size_t i = 0; i < 4 && layer; ++i) layer = i < steps.size() ? child(*layer, steps[i]) : nullptr;
  if (!layer || !layer->is_map() || steps.size() < 5) return false;
  const auto* field = std::get_if<std::string_view>(&steps[4]);
  if (!field) return false;
  if (*field != "component") {
    if (code != "E710" || !layer->find("keys_in") || !layer->find("keys_out")) return false;
    layer->erase(*field);
  }
  layer->set("component", stand_in_component(stand_in));
  return true;
}

// How many steps lead to the smallest entry around the mistake that can be left out; 0 for none.
std::size_t removable_steps(const Value& original, const std::vector<Step>& steps) {
  const Value* at = &original;
  std::size_t count = 0;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const auto* name = std::get_if<std::string_view>(&steps[i]);
    const Value* next = child(*at, steps[i]);
    if (!name || !next || (i > 0 && is_one_piece(*at) && *name != "kwargs")) break;
    at = next;
    count = i + 1;
  }
  return count;
}

bool leave_out(const Value& original, Value& document, const std::vector<Step>& steps) {
  const std::size_t count = removable_steps(original, steps);
  if (count == 0) return false;
  Value* map = &document;
  for (std::size_t i = 0; i + 1 < count && map; ++i) map = child(*map, steps[i]);
  if (map) map->erase(std::get<std::string_view>(steps[count - 1]));  // else it went with what held it
  return true;
}

bool mend(const Value& original, Value& document, const Diagnostic& mistake, const Identity& stand_in) {
  const auto steps = steps_of(mistake.where.key_path);
  if (steps.empty()) return false;
  if (steps.front() == Step("pipeline")) return mend_layer(document, steps, mistake.code, stand_in);
  return steps.front() != Step("name") && leave_out(original, document, steps);
}

}  // namespace

std::optional<Value> readable_part(const Value& original, const Diagnostics& mistakes,
                                   const Identity& stand_in) {
  if (!original.is_map()) return std::nullopt;
  Value document = original;
  for (const Diagnostic& mistake : mistakes)
    if (mistake.severity == Severity::error && !mend(original, document, mistake, stand_in))
      return std::nullopt;
  return document;
}

}  // namespace nexuml
