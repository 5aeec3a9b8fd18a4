#include <cxxabi.h>
#include <fmt/format.h>
#include <nexuml/schema.h>

#include <algorithm>
#include <cstdlib>
#include <stdexcept>

namespace nexuml {

Lowering::~Lowering() = default;
Restoring::~Restoring() = default;

namespace detail {

void check_arity(const StructNode& node, std::size_t arity) {
  if (node.fields.size() == arity) return;
  throw std::logic_error(fmt::format("{} has {} fields but describe names {}: every field must be described",
                                     node.name, arity, node.fields.size()));
}

void set_factory(StructNode& node, TargetKind kind) {
  node.factory_of = kind;
  for (FieldNode& field : node.fields) {
    if (field.name == "args") field.type = {.kind = TypeNode::Kind::list, .of = {TypeNode{}}};
    if (field.name == "kwargs") field.type = {.kind = TypeNode::Kind::map, .of = {TypeNode{}}};
  }
}

std::string type_name(const std::type_info& type) {
  int status = 0;
  char* demangled = abi::__cxa_demangle(type.name(), nullptr, nullptr, &status);
  std::string name = status == 0 ? demangled : type.name();
  std::free(demangled);
  name.erase(std::min(name.find('<'), name.size()));  // arguments of a template say nothing to a reader
  if (const auto scope = name.rfind("::"); scope != std::string::npos) name.erase(0, scope + 2);
  return name;
}

}  // namespace detail

namespace {

// Applies `change` to the types that a bound of the field speaks of: through optionals, lists, maps and
// unions.
template <class Change>
void for_each_leaf(TypeNode& type, const Change& change) {
  if (type.of.empty()) return change(type);
  for (TypeNode& element : type.of) for_each_leaf(element, change);
}

// A rule that fits no part of the field would be kept by nobody.
void require_fit(bool fits, const FieldNode& field, const char* rule, const char* kinds) {
  if (!fits)
    throw std::logic_error(fmt::format("'{}' has {}, which speaks of {}; it is {}", field.name, rule, kinds,
                                       type_in_words(field.type)));
}

void set_bound(FieldNode& field, std::optional<double> Constraints::*bound, double value) {
  bool fits = false;
  for_each_leaf(field.type, [&](TypeNode& type) {
    if (type.kind != TypeNode::Kind::integer && type.kind != TypeNode::Kind::number) return;
    type.constraints.*bound = value;
    fits = true;
  });
  require_fit(fits, field, "a bound", "numbers");
}

void retype_texts(FieldNode& field, const TypeNode& replacement) {
  bool fits = false;
  for_each_leaf(field.type, [&](TypeNode& type) {
    if (type.kind != TypeNode::Kind::string) return;
    type = replacement;
    fits = true;
  });
  require_fit(fits, field, "choices or a kind of target", "texts");
}

// Sizes speak of the outermost text, list or map: through optionals and unions only.
bool set_size(TypeNode& type, std::optional<std::size_t> Constraints::*bound, std::size_t size) {
  using Kind = TypeNode::Kind;
  if (type.kind == Kind::optional || type.kind == Kind::one_of) {
    bool fits = false;
    for (TypeNode& element : type.of) fits = set_size(element, bound, size) || fits;
    return fits;
  }
  if (type.kind != Kind::string && type.kind != Kind::list && type.kind != Kind::map) return false;
  type.constraints.*bound = size;
  return true;
}

}  // namespace

Field& Field::doc(std::string text) {
  node_.doc = std::move(text);
  return *this;
}
Field& Field::required() {
  node_.required = true;
  return *this;
}
Field& Field::greater_than(double bound) {
  set_bound(node_, &Constraints::greater_than, bound);
  return *this;
}
Field& Field::at_least(double bound) {
  set_bound(node_, &Constraints::at_least, bound);
  return *this;
}
Field& Field::less_than(double bound) {
  set_bound(node_, &Constraints::less_than, bound);
  return *this;
}
Field& Field::at_most(double bound) {
  set_bound(node_, &Constraints::at_most, bound);
  return *this;
}
Field& Field::min_size(std::size_t size) {
  require_fit(set_size(node_.type, &Constraints::min_size, size), node_, "a size", "texts, lists and maps");
  return *this;
}
Field& Field::max_size(std::size_t size) {
  require_fit(set_size(node_.type, &Constraints::max_size, size), node_, "a size", "texts, lists and maps");
  return *this;
}
Field& Field::one_of(std::vector<std::string> choices) {
  TypeNode choice{.kind = TypeNode::Kind::choice};
  choice.choices = std::move(choices);
  retype_texts(node_, choice);
  return *this;
}
Field& Field::target(TargetKind kind) {
  TypeNode name{.kind = TypeNode::Kind::target_name};
  name.target_kind = kind;
  retype_texts(node_, name);
  return *this;
}
Field& Field::default_value(Value value) {
  node_.default_value = std::move(value);
  return *this;
}
Field& Field::written_when_set() {
  node_.written_when_set = true;
  return *this;
}

Diagnostic& RuleProblems::add(const std::string& field, std::string message) {
  const Value* at = field.empty() ? &value_ : value_.find(field);
  std::string path = key_path_;
  if (!field.empty()) path += (path.empty() ? "" : ".") + field;
  const Position& position = at && at->position().known() ? at->position() : value_.position();
  return problems_.error("E717", std::move(message), Where(position, std::move(path)));
}

}  // namespace nexuml
