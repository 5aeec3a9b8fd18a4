// Identities: the exact names under which definitions are found.
//
//     Identity{ComponentKind::layer, "LinearEncoder", "1"}      // layer/LinearEncoder@1
//
// Lookup is exact: no ranges, no aliases. A target (`torch.nn:Linear`) is not a component and has no
// identity.
#pragma once

#include <nexuml/export.h>

#include <compare>
#include <optional>
#include <string>
#include <string_view>

namespace nexuml {

enum class ComponentKind { layer, data_source, eval_algorithm, loader_backend };

enum class TargetKind {
  module,
  optimizer,
  scheduler,
  loss,
  weight_schedule,
  hook,
  callback,
  strategy,
  writer,
  decision_rule,
  function,
  value
};

NEXUML_EXPORT std::string_view to_string(ComponentKind kind) noexcept;
NEXUML_EXPORT std::string_view to_string(TargetKind kind) noexcept;
NEXUML_EXPORT std::optional<ComponentKind> component_kind(std::string_view text) noexcept;
NEXUML_EXPORT std::optional<TargetKind> target_kind(std::string_view text) noexcept;

struct Identity {
  ComponentKind kind = ComponentKind::layer;
  std::string name;
  std::string version = "1";

  auto operator<=>(const Identity&) const = default;
};

// `layer/LinearEncoder@1`
NEXUML_EXPORT std::string to_string(const Identity& identity);

// The address of one object per C++ type and library; see Definition. Two libraries that both have a `struct
// MyLayer` have two tags. Types of the SDK carry one exported tag (a static member `nexuml_type_tag()`).
struct TypeTagObject {};
using TypeTag = const TypeTagObject*;

namespace detail {
template <class T>
inline TypeTagObject type_tag_object{};
}

template <class T>
TypeTag type_tag() noexcept {
  if constexpr (requires { T::nexuml_type_tag(); })
    return T::nexuml_type_tag();
  else
    return &detail::type_tag_object<T>;
}

}  // namespace nexuml
