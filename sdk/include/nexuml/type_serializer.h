// Type serializers: how a type of your own stands in recipes and parameters.
//
//     class RadialBasis { ... };                                   // any class: it keeps its own rules
//
//     template <>
//     struct nexuml::TypeSerializer<RadialBasis> {
//       static constexpr const char* name = "acme.RadialBasis";    // module and name, as listings show it
//       static Value to_value(const RadialBasis& basis) { return Value::map({{"cutoff", basis.cutoff()}}); }
//       static RadialBasis from_value(const Value& value);         // throws for what it cannot accept
//     };
//     NEXUML_LIBRARY(registry) { nexuml::register_type_serializer<RadialBasis>(registry); ... }
//
// After that a RadialBasis is a field like any other: by itself, in lists, maps, tuples, optionals, structs
// and nested recipes. `from_value` gets what stood in a file: it has to check it. Both functions are total
// and free of side effects, and from_value(to_value(x)) is x. What from_value throws is reported with the
// name of the field.
//
// A struct of plain fields needs no serializer: describe it (schema.h), and its fields are checked one by
// one. Each type name has one owner: a second registration is refused, naming both. dtype, device and tensor
// are built in (tensor_serializers.h). [any thread]
#pragma once

#include <nexuml/registration.h>
#include <nexuml/schema.h>
#include <nexuml/value.h>

#include <concepts>
#include <functional>
#include <memory>
#include <string>

namespace nexuml {

template <class T>
struct TypeSerializer;

template <class T>
concept SerializedType = requires(const T& object, const Value& value) {
  { TypeSerializer<T>::name } -> std::convertible_to<std::string>;
  { TypeSerializer<T>::to_value(object) } -> std::same_as<Value>;
  { TypeSerializer<T>::from_value(value) } -> std::same_as<T>;
};

namespace detail {

// The type node of a serialized type: any value, with a schema that has no fields but the type's name and,
// inside the process that knows the type, a rule that tries `decode`.
NEXUML_EXPORT TypeNode serialized_type(std::string type_name, std::function<void(const Value&)> decode);

template <SerializedType T>
struct SerializedTraits {
  static TypeNode node() {
    return serialized_type(TypeSerializer<T>::name,
                           [](const Value& value) { (void)TypeSerializer<T>::from_value(value); });
  }
  static Value encode(const T& object, const Lowering*) { return TypeSerializer<T>::to_value(object); }
  static T decode(const Value& value, const Restoring*) { return TypeSerializer<T>::from_value(value); }
};

}  // namespace detail

template <SerializedType T>
struct FieldTraits<T> : detail::SerializedTraits<T> {};

// In NEXUML_LIBRARY, in the same transaction as the targets that use the type.
template <SerializedType T>
void register_type_serializer(Registration& registry,
                              std::source_location at = std::source_location::current()) {
  registry.add_type_serializer<T>(TypeSerializer<T>::name, &TypeSerializer<T>::to_value,
                                  &TypeSerializer<T>::from_value, at);
}

}  // namespace nexuml
