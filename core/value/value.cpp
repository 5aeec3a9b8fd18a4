#include <fmt/format.h>
#include <nexuml/value.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <stdexcept>

#include "value/scalar.h"
#include "value/text.h"

namespace nexuml {
namespace {

// Positions of `entries` in the order of their keys.
std::vector<std::size_t> order_by_key(const Value::Map& entries) {
  std::vector<std::size_t> order(entries.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(),
            [&](std::size_t left, std::size_t right) { return entries[left].key < entries[right].key; });
  return order;
}

[[noreturn]] void throw_wrong_kind(Value::Kind expected, Value::Kind found) {
  throw std::logic_error(
      fmt::format("a Value of kind {} was read as {}", kind_name(found), kind_name(expected)));
}

bool equal_entries(const Value::Map& left, const Value::Map& right) {
  if (left.size() != right.size()) return false;
  std::size_t same_order = 0;
  while (same_order < left.size() && left[same_order].key == right[same_order].key) ++same_order;
  if (same_order == left.size()) {
    return std::equal(left.begin(), left.end(), right.begin(),
                      [](const Value::Entry& a, const Value::Entry& b) { return a.value == b.value; });
  }
  const auto left_order = order_by_key(left), right_order = order_by_key(right);
  for (std::size_t i = 0; i < left.size(); ++i) {
    const Value::Entry& a = left[left_order[i]];
    const Value::Entry& b = right[right_order[i]];
    if (a.key != b.key || !(a.value == b.value)) return false;
  }
  return true;
}

}  // namespace

Value::Value(double value) : data_(value) {
  if (!std::isfinite(value)) {
    throw Error("E716", fmt::format("finite number expected, got {}: not JSON-safe", value), {},
                "use a finite number, or null where nothing is meant");
  }
}

Value::Value(Map entries) {
  const auto order = order_by_key(entries);
  for (std::size_t i = 1; i < order.size(); ++i) {
    const Entry& entry = entries[order[i]];
    if (entry.key == entries[order[i - 1]].key) {
      throw Error("E704", fmt::format("key '{}' is given twice", shown(entry.key)), entry.key_position,
                  "keep one");
    }
  }
  data_ = std::move(entries);
}

Value Value::map(std::initializer_list<std::pair<std::string, Value>> entries) {
  Map built;
  built.reserve(entries.size());
  for (const auto& [key, value] : entries) built.push_back({key, value, {}});
  return Value(std::move(built));
}

std::int64_t Value::checked_integer(std::uint64_t value) {
  if (value > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())) {
    const ScalarProblemText problem = explain(ScalarProblem::integer_range, std::to_string(value));
    throw Error(problem.code, problem.message, {}, "use a smaller integer");
  }
  return static_cast<std::int64_t>(value);
}

bool Value::as_boolean() const {
  if (const bool* value = std::get_if<bool>(&data_)) return *value;
  throw_wrong_kind(Kind::boolean, kind());
}

std::int64_t Value::as_integer() const {
  if (const std::int64_t* value = std::get_if<std::int64_t>(&data_)) return *value;
  throw_wrong_kind(Kind::integer, kind());
}

double Value::as_number() const {
  if (const double* value = std::get_if<double>(&data_)) return *value;
  if (const std::int64_t* value = std::get_if<std::int64_t>(&data_)) return static_cast<double>(*value);
  throw_wrong_kind(Kind::number, kind());
}

const std::string& Value::as_string() const {
  if (const std::string* value = std::get_if<std::string>(&data_)) return *value;
  throw_wrong_kind(Kind::string, kind());
}

const Value::List& Value::items() const {
  if (const List* items = std::get_if<List>(&data_)) return *items;
  throw_wrong_kind(Kind::list, kind());
}

Value::List& Value::items() {
  return const_cast<List&>(std::as_const(*this).items());
}

const Value::Map& Value::entries() const {
  if (const Map* entries = std::get_if<Map>(&data_)) return *entries;
  throw_wrong_kind(Kind::map, kind());
}

Value::Map& Value::entries() {
  return const_cast<Map&>(std::as_const(*this).entries());
}

const Value* Value::find(std::string_view key) const noexcept {
  const Map* entries = std::get_if<Map>(&data_);
  if (entries == nullptr) return nullptr;
  const auto found =
      std::find_if(entries->begin(), entries->end(), [&](const Entry& entry) { return entry.key == key; });
  return found == entries->end() ? nullptr : &found->value;
}

Value* Value::find(std::string_view key) noexcept {
  return const_cast<Value*>(std::as_const(*this).find(key));
}

const Value& Value::at(std::string_view key) const {
  if (const Value* value = find(key)) return *value;
  throw std::out_of_range(fmt::format("no key '{}' in {}", shown(key), describe_for_message(*this)));
}

Value& Value::set(std::string key, Value value) {
  if (is_null()) data_ = Map();
  if (Value* existing = find(key)) return *existing = std::move(value);
  return entries().emplace_back(Entry{std::move(key), std::move(value), {}}).value;
}

bool Value::erase(std::string_view key) {
  Map* entries = std::get_if<Map>(&data_);
  return entries != nullptr &&
         std::erase_if(*entries, [&](const Entry& entry) { return entry.key == key; }) != 0;
}

std::size_t Value::size() const noexcept {
  if (const List* items = std::get_if<List>(&data_)) return items->size();
  if (const Map* entries = std::get_if<Map>(&data_)) return entries->size();
  return 0;
}

void Value::push_back(Value value) {
  if (is_null()) data_ = List();
  items().push_back(std::move(value));
}

bool operator==(const Value& left, const Value& right) {
  if (left.kind() != right.kind()) return false;
  if (left.is_map()) return equal_entries(left.entries(), right.entries());
  if (left.is_list()) return left.items() == right.items();
  switch (left.kind()) {
    case Value::Kind::boolean:
      return left.as_boolean() == right.as_boolean();
    case Value::Kind::integer:
      return left.as_integer() == right.as_integer();
    case Value::Kind::number:
      return left.as_number() == right.as_number();
    case Value::Kind::string:
      return left.as_string() == right.as_string();
    default:
      return true;
  }
}

std::string_view kind_name(Value::Kind kind) noexcept {
  switch (kind) {
    case Value::Kind::null:
      return "null";
    case Value::Kind::boolean:
      return "boolean";
    case Value::Kind::integer:
      return "integer";
    case Value::Kind::number:
      return "number";
    case Value::Kind::string:
      return "text";
    case Value::Kind::list:
      return "list";
    case Value::Kind::map:
      break;
  }
  return "map";
}

std::string describe_for_message(const Value& value) {
  switch (value.kind()) {
    case Value::Kind::null:
      return "null";
    case Value::Kind::boolean:
      return value.as_boolean() ? "boolean true" : "boolean false";
    case Value::Kind::integer:
      return fmt::format("integer {}", value.as_integer());
    case Value::Kind::number:
      return "number " + number_to_text(value.as_number());
    case Value::Kind::string:
      return fmt::format("text '{}'", shown(value.as_string()));
    case Value::Kind::list:
      return fmt::format("list of {}", value.size());
    case Value::Kind::map:
      break;
  }
  return fmt::format("map of {}", value.size());
}

}  // namespace nexuml
