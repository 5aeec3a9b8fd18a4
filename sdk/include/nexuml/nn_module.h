// NnModule: any one-tensor-in, one-tensor-out module of the target table as a layer.
//
//     LayerSpec{.component = nn_module("torch.nn:Linear", 128, 64), .keys_in = Keys{"x"}, .keys_out = {"z"}};
//     nn_module("torch.nn:Dropout", Keyword{"p", 0.1})
//
// It stores the target's name and JSON-safe constructor values, and builds from these and nothing else. Its
// parameters are named `stages.<Stage>.<NN>_NnModule.module.<parameter>`.
#pragma once

#include <nexuml/definition.h>

#include <concepts>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>

namespace nexuml {

struct NnModule {
  std::string factory;
  Value args = Value::list();
  Value kwargs = Value::map();

  NEXUML_EXPORT static void describe(Schema<NnModule>& s);
  NEXUML_EXPORT static TypeTag nexuml_type_tag() noexcept;
  NEXUML_EXPORT std::optional<Shapes> infer(const LayerInferContext& context) const;
  NEXUML_EXPORT std::shared_ptr<PipelineLayer> build(const LayerBuildContext& context) const;
};

// A keyword argument of `nn_module`.
struct Keyword {
  std::string name;
  Value value;
};

namespace detail {
inline void add_argument(NnModule& module, Keyword keyword) {
  module.kwargs.set(std::move(keyword.name), std::move(keyword.value));
}
inline void add_argument(NnModule& module, Value value) {
  module.args.push_back(std::move(value));
}

template <class T>
concept ModuleArgument = std::constructible_from<Value, T> || std::same_as<std::remove_cvref_t<T>, Keyword>;
}  // namespace detail

// Positional values first, then keywords.
template <class... Arguments>
AnyLayer nn_module(std::string factory, Arguments&&... arguments) {
  NnModule module{.factory = std::move(factory)};
  if constexpr ((detail::ModuleArgument<Arguments> && ...))
    (detail::add_argument(module, std::forward<Arguments>(arguments)), ...);
  else
    static_assert(sizeof...(Arguments) == 0,
                  "nn_module takes JSON-safe values and Keyword{name, value} after the target's name.");
  return module;
}

// A live module or a callable cannot be written down: name its target instead.
template <class First, class... Rest>
requires(!std::constructible_from<std::string, First>) AnyLayer nn_module(First&&, Rest&&...) {
  static_assert(
      !std::same_as<First, First>,
      "nn_module takes the name of a registered target, such as \"torch.nn:Linear\", followed by its "
      "constructor values. A live module, a lambda or a function cannot be part of a definition.");
  return {};
}

}  // namespace nexuml
