// Schema: one description of a plain struct, and everything that follows from it.
//
//     struct ScaledRelu {
//       double scale = 1.0;
//
//       static void describe(nexuml::Schema<ScaledRelu>& s) {
//         s.summary("ReLU followed by a constant factor.");
//         s.field("scale", &ScaledRelu::scale).doc("Factor applied after the ReLU.").greater_than(0);
//       }
//     };
//
//     Diagnostics problems;
//     std::optional<ScaledRelu> layer = nexuml::read<ScaledRelu>(value, {}, problems);
//     Value written = nexuml::write(*layer);
//
// The struct stays an aggregate: no base class, no macro per field. Its default member initialisers are the
// defaults. Fields may be: bool, integers, double, std::string, enums with EnumText, std::optional,
// std::vector, std::map and OrderedMap with text keys, std::array, std::tuple, std::variant, other described
// structs, definitions (definition.h), and Value for any JSON-safe value. A field of any other type does not
// compile.
//
// Reading is strict: no text to number, no boolean to integer; an integer is accepted for a double. All
// problems of a document are reported at once, each with its key path and position. [any thread]
#pragma once

#include <nexuml/diagnostic.h>
#include <nexuml/ordered_map.h>
#include <nexuml/schema_node.h>
#include <nexuml/value.h>

#include <algorithm>
#include <array>
#include <concepts>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <tuple>
#include <type_traits>
#include <typeinfo>
#include <utility>
#include <variant>
#include <vector>

namespace nexuml {

template <class T>
class Schema;
class Definition;

template <class T>
concept Described = std::is_aggregate_v<T> && requires(Schema<T>& schema) {
  T::describe(schema);
};

// Texts of an enum that is used as a field:
//     template <> struct nexuml::EnumText<Pooling> {
//       static constexpr std::pair<Pooling, const char*> names[] = {{Pooling::mean, "mean"},
//                                                                   {Pooling::max, "max"}};
//     };
template <class E>
struct EnumText;

// Turns the definitions inside a struct into {type, version, params}; the registry implements it.
class NEXUML_EXPORT Lowering {
 public:
  virtual ~Lowering();
  virtual Value lower(const Definition& definition) const = 0;
};

// The way back; the registry implements it. `component` is normalised.
class NEXUML_EXPORT Restoring {
 public:
  virtual ~Restoring();
  virtual Definition restore(ComponentKind kind, const Value& component) const = 0;
};

template <class T>
struct FieldTraits;

namespace detail {

// Counts the fields of an aggregate: the most initialisers that its braces take.
struct AnyField {
  template <class T>
  operator T&() const& noexcept;
  template <class T>
  operator T&() const&& noexcept;
};
template <class T, class... Fields>
consteval std::size_t arity() {
  if constexpr (requires { T{Fields{}..., AnyField{}}; })
    return arity<T, Fields..., AnyField>();
  else
    return sizeof...(Fields);
}

template <class T>
struct TypedSchema {
  struct Accessor {
    std::function<Value(const T&, const Lowering*)> get;
    std::function<void(T&, const Value&, const Restoring*)> set;
  };
  std::shared_ptr<const StructNode> node;
  std::vector<Accessor> accessors;  // one per field of `node`
};

NEXUML_EXPORT void check_arity(const StructNode& node, std::size_t arity);
// Makes `args` a list and `kwargs` a map of any values.
NEXUML_EXPORT void set_factory(StructNode& node, TargetKind kind);
NEXUML_EXPORT std::string type_name(const std::type_info& type);

template <Described T>
const TypedSchema<T>& typed_schema();

}  // namespace detail

// ---- what a field may be

template <class T>
struct FieldTraits {
  static_assert(
      Described<T>,
      "This field type is not portable: use bool, an integer, double, std::string, an enum with EnumText, "
      "std::optional, std::vector, a text-keyed map, std::array, std::tuple, std::variant, a definition, "
      "nexuml::Value, or a struct with a describe function. Tensors, modules, pointers and callables cannot "
      "be part of a definition.");
  static TypeNode node() {
    TypeNode type{.kind = TypeNode::Kind::structure};
    type.structure = detail::typed_schema<T>().node;
    return type;
  }
  static Value encode(const T& value, const Lowering* lowering) {
    const auto& schema = detail::typed_schema<T>();
    Value::Map entries;
    entries.reserve(schema.accessors.size());
    for (std::size_t i = 0; i < schema.accessors.size(); ++i) {
      const FieldNode& field = schema.node->fields[i];
      Value encoded = schema.accessors[i].get(value, lowering);
      if (field.written_when_set && encoded == field.default_value) continue;
      // An empty definition stands for the recorded default.
      if (encoded.is_null() && field.type.kind == TypeNode::Kind::definition) encoded = field.default_value;
      entries.push_back({field.name, std::move(encoded), {}});
    }
    return Value(std::move(entries));
  }
  static T decode(const Value& value, const Restoring* restoring) {
    const auto& schema = detail::typed_schema<T>();
    T result{};
    for (std::size_t i = 0; i < schema.accessors.size(); ++i)
      if (const Value* entry = value.find(schema.node->fields[i].name))
        schema.accessors[i].set(result, *entry, restoring);
    return result;
  }
};

template <>
struct FieldTraits<bool> {
  static TypeNode node() { return {.kind = TypeNode::Kind::boolean}; }
  static Value encode(bool value, const Lowering*) { return value; }
  static bool decode(const Value& value, const Restoring*) { return value.as_boolean(); }
};

template <std::integral I>
struct FieldTraits<I> {
  static TypeNode node() {
    TypeNode type{.kind = TypeNode::Kind::integer};
    if constexpr (std::unsigned_integral<I>) type.constraints.at_least = 0;
    if constexpr (sizeof(I) < sizeof(std::int64_t)) {
      type.constraints.at_least = static_cast<double>(std::numeric_limits<I>::min());
      type.constraints.at_most = static_cast<double>(std::numeric_limits<I>::max());
    }
    return type;
  }
  static Value encode(I value, const Lowering*) { return value; }
  static I decode(const Value& value, const Restoring*) { return static_cast<I>(value.as_integer()); }
};

template <std::floating_point F>
struct FieldTraits<F> {
  static TypeNode node() { return {.kind = TypeNode::Kind::number}; }
  static Value encode(F value, const Lowering*) { return static_cast<double>(value); }
  static F decode(const Value& value, const Restoring*) { return static_cast<F>(value.as_number()); }
};

template <>
struct FieldTraits<std::string> {
  static TypeNode node() { return {.kind = TypeNode::Kind::string}; }
  static Value encode(const std::string& value, const Lowering*) { return value; }
  static std::string decode(const Value& value, const Restoring*) { return value.as_string(); }
};

template <>
struct FieldTraits<Value> {
  static TypeNode node() { return {.kind = TypeNode::Kind::any}; }
  static Value encode(const Value& value, const Lowering*) { return value; }
  static Value decode(const Value& value, const Restoring*) { return value; }
};

template <class E>
requires std::is_enum_v<E>
struct FieldTraits<E> {
  static TypeNode node() {
    TypeNode type{.kind = TypeNode::Kind::choice};
    for (const auto& [value, text] : EnumText<E>::names) type.choices.emplace_back(text);
    return type;
  }
  static Value encode(E value, const Lowering*) {
    for (const auto& [candidate, text] : EnumText<E>::names)
      if (candidate == value) return text;
    throw std::logic_error("an enum value without text");
  }
  static E decode(const Value& value, const Restoring*) {
    for (const auto& [candidate, text] : EnumText<E>::names)
      if (value.as_string() == text) return candidate;
    throw std::logic_error("an unknown choice passed the check");
  }
};

template <class T>
struct FieldTraits<std::optional<T>> {
  static TypeNode node() { return {.kind = TypeNode::Kind::optional, .of = {FieldTraits<T>::node()}}; }
  static Value encode(const std::optional<T>& value, const Lowering* lowering) {
    return value ? FieldTraits<T>::encode(*value, lowering) : Value();
  }
  static std::optional<T> decode(const Value& value, const Restoring* restoring) {
    if (value.is_null()) return std::nullopt;
    return FieldTraits<T>::decode(value, restoring);
  }
};

template <class T>
struct FieldTraits<std::vector<T>> {
  static TypeNode node() { return {.kind = TypeNode::Kind::list, .of = {FieldTraits<T>::node()}}; }
  static Value encode(const std::vector<T>& values, const Lowering* lowering) {
    Value::List items;
    items.reserve(values.size());
    for (const auto& value : values) items.push_back(FieldTraits<T>::encode(value, lowering));
    return Value(std::move(items));
  }
  static std::vector<T> decode(const Value& value, const Restoring* restoring) {
    std::vector<T> result;
    result.reserve(value.size());
    for (const Value& item : value.items()) result.push_back(FieldTraits<T>::decode(item, restoring));
    return result;
  }
};

namespace detail {
template <class Map, class T>
struct MapTraits {
  static TypeNode node() { return {.kind = TypeNode::Kind::map, .of = {FieldTraits<T>::node()}}; }
  static Value encode(const Map& values, const Lowering* lowering) {
    Value::Map entries;
    for (const auto& [key, value] : values)
      entries.push_back({key, FieldTraits<T>::encode(value, lowering), {}});
    return Value(std::move(entries));
  }
  static Map decode(const Value& value, const Restoring* restoring) {
    Map result;
    for (const auto& entry : value.entries())
      result[entry.key] = FieldTraits<T>::decode(entry.value, restoring);
    return result;
  }
};
}  // namespace detail

template <class T>
struct FieldTraits<OrderedMap<T>> : detail::MapTraits<OrderedMap<T>, T> {};
template <class T>
struct FieldTraits<std::map<std::string, T>> : detail::MapTraits<std::map<std::string, T>, T> {};

namespace detail {
template <class Tuple, class... Ts>
struct TupleTraits {
  static TypeNode node() { return {.kind = TypeNode::Kind::tuple, .of = {FieldTraits<Ts>::node()...}}; }
  static Value encode(const Tuple& values, const Lowering* lowering) {
    return std::apply(
        [&](const auto&... value) {
          return Value(
              Value::List{FieldTraits<std::remove_cvref_t<decltype(value)>>::encode(value, lowering)...});
        },
        values);
  }
  static Tuple decode(const Value& value, const Restoring* restoring) {
    return [&]<std::size_t... I>(std::index_sequence<I...>) {
      return Tuple{FieldTraits<std::tuple_element_t<I, Tuple>>::decode(value.items()[I], restoring)...};
    }
    (std::index_sequence_for<Ts...>{});
  }
};
template <class Array, class T, std::size_t... I>
auto array_traits(std::index_sequence<I...>) -> TupleTraits<Array, std::enable_if_t<(I >= 0), T>...>;
}  // namespace detail

template <class... Ts>
struct FieldTraits<std::tuple<Ts...>> : detail::TupleTraits<std::tuple<Ts...>, Ts...> {};
template <class A, class B>
struct FieldTraits<std::pair<A, B>> : detail::TupleTraits<std::pair<A, B>, A, B> {};
template <class T, std::size_t N>
struct FieldTraits<std::array<T, N>>
    : decltype(detail::array_traits<std::array<T, N>, T>(std::make_index_sequence<N>{})) {};

template <class... Ts>
struct FieldTraits<std::variant<Ts...>> {
  using Variant = std::variant<Ts...>;
  static TypeNode node() { return {.kind = TypeNode::Kind::one_of, .of = {FieldTraits<Ts>::node()...}}; }
  static Value encode(const Variant& value, const Lowering* lowering) {
    return std::visit(
        [&](const auto& held) {
          return FieldTraits<std::remove_cvref_t<decltype(held)>>::encode(held, lowering);
        },
        value);
  }
  static Variant decode(const Value& value, const Restoring* restoring) {
    std::optional<Variant> result;
    (void)((outline_fits(FieldTraits<Ts>::node(), value) &&
            (result.emplace(FieldTraits<Ts>::decode(value, restoring)), true)) ||
           ...);
    if (!result) throw std::logic_error("a value that fits no alternative passed the check");
    return *std::move(result);
  }
};

// ---- the description

// Fluent options of one field. A bound on a list, map or optional applies to its elements; sizes to itself.
class NEXUML_EXPORT Field {
 public:
  explicit Field(FieldNode& node) : node_(node) {}

  Field& doc(std::string text);
  Field& required();  // no default: must be written
  Field& greater_than(double bound);
  Field& at_least(double bound);
  Field& less_than(double bound);
  Field& at_most(double bound);
  Field& min_size(std::size_t size);
  Field& max_size(std::size_t size);
  Field& one_of(std::vector<std::string> choices);  // turns a text into a choice
  Field& target(TargetKind kind);                   // turns a text into the name of a target
  Field& default_value(Value value);                // what documents get where it is missing
  Field& written_when_set();                        // a field that NexuML 0.2.1 lacks

 private:
  FieldNode& node_;
};

// What a rule over several fields reports to.
class NEXUML_EXPORT RuleProblems {
 public:
  RuleProblems(const Value& value, std::string key_path, Diagnostics& problems)
      : value_(value), key_path_(std::move(key_path)), problems_(problems) {}
  // `field` may be empty: the struct as a whole.
  Diagnostic& add(const std::string& field, std::string message);

 private:
  const Value& value_;
  std::string key_path_;
  Diagnostics& problems_;
};

template <class T>
class Schema {
 public:
  Schema& summary(std::string text) {
    node_->summary = std::move(text);
    return *this;
  }

  template <class M>
  Field field(std::string name, M T::*member) {
    node_->fields.push_back({.name = std::move(name), .doc = {}, .type = FieldTraits<M>::node()});
    FieldNode& node = node_->fields.back();
    accessors_.push_back({[member](const T& value, const Lowering* lowering) {
                            return FieldTraits<M>::encode(value.*member, lowering);
                          },
                          [member](T& value, const Value& entry, const Restoring* restoring) {
                            value.*member = FieldTraits<M>::decode(entry, restoring);
                          }});
    return Field(node);
  }

  // A rule over several fields; runs after each field is right by itself.
  Schema& check(std::function<void(const T&, RuleProblems&)> rule) {
    rules_.push_back(std::move(rule));
    return *this;
  }
  // For structs with the fields factory, args and kwargs, after these.
  Schema& factory_of(TargetKind kind) {
    detail::set_factory(*node_, kind);
    return *this;
  }
  // Names the choice field with a single value that tells alternatives of a union apart.
  Schema& discriminator(std::string field) {
    node_->discriminator = std::move(field);
    return *this;
  }

  // Called by the runtime around `describe`.
  Schema() {
    node_->name = detail::type_name(typeid(T));
    node_->fields.reserve(detail::arity<T>() + 1);  // Field refers to elements
  }
  detail::TypedSchema<T> finish() &&;

 private:
  std::shared_ptr<StructNode> node_ = std::make_shared<StructNode>();
  std::vector<typename detail::TypedSchema<T>::Accessor> accessors_;
  std::vector<std::function<void(const T&, RuleProblems&)>> rules_;
};

template <class T>
detail::TypedSchema<T> Schema<T>::finish() && {
  detail::check_arity(*node_, detail::arity<T>());
  const T defaults{};
  for (std::size_t i = 0; i < accessors_.size(); ++i) {
    FieldNode& field = node_->fields[i];
    if (!field.required && field.default_value.is_null())
      field.default_value = accessors_[i].get(defaults, nullptr);
  }
  if (!rules_.empty())
    node_->rules = [rules = std::move(rules_)](const Value& value, const std::string& key_path,
                                               Diagnostics& problems) {
      const T decoded = FieldTraits<T>::decode(value, nullptr);
      RuleProblems reported(value, key_path, problems);
      for (const auto& rule : rules) rule(decoded, reported);
    };
  return {std::move(node_), std::move(accessors_)};
}

template <Described T>
const detail::TypedSchema<T>& detail::typed_schema() {
  static const TypedSchema<T> schema = [] {
    Schema<T> description;
    T::describe(description);
    return std::move(description).finish();
  }();
  return schema;
}

// ---- reading and writing

template <Described T>
std::shared_ptr<const StructNode> schema_of() {
  return detail::typed_schema<T>().node;
}

struct ReadOptions {
  const Names* names = nullptr;
  const Restoring* restoring = nullptr;
  std::string key_path;
};

// Nothing is returned when a problem of severity error was reported.
template <Described T>
std::optional<T> read(const Value& value, const ReadOptions& options, Diagnostics& problems) {
  Diagnostics found;
  Value normalised = check_value(*schema_of<T>(), value, {options.names, options.key_path}, found);
  const bool failed = found.has_errors();
  problems.append(found);
  if (failed) return std::nullopt;
  return FieldTraits<T>::decode(normalised, options.restoring);
}

// Every default is written out. `lowering` is needed when the struct holds definitions.
template <Described T>
Value write(const T& value, const Lowering* lowering = nullptr) {
  return FieldTraits<T>::encode(value, lowering);
}

// The rules of reading, applied to a value made in code.
template <Described T>
void validate(const T& value, Diagnostics& problems, const std::string& key_path = {}) {
  (void)check_value(*schema_of<T>(), write(value), {nullptr, key_path}, problems);
}

}  // namespace nexuml
