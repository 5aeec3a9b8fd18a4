// Definition: an immutable, cheaply copied value that holds one component of any registered type.
//
//     struct ScaledRelu {
//       double scale = 1.0;
//       static void describe(nexuml::Schema<ScaledRelu>& s);
//       nexuml::Shapes infer(const nexuml::LayerInferContext&) const;  // optional
//       // This makes it a layer.
//       std::shared_ptr<nexuml::PipelineLayer> build(const nexuml::LayerBuildContext&) const;
//     };
//     AnyLayer layer = ScaledRelu{.scale = 2.0};
//
// What a struct *is* follows from what its `build` returns:
//     build(const LayerBuildContext&) const -> std::shared_ptr<PipelineLayer>      a layer
//     build(const DataContext&) const       -> std::shared_ptr<Dataset>            a data source
//     build(const EvalBuildContext&) const  -> std::shared_ptr<EvalAlgorithm>      an evaluation algorithm
//     build(const LoaderBuildContext&) const -> std::shared_ptr<LoaderBackend>     a loader backend
//
// Wrapping validates by the rules of reading: `AnyLayer(LinearEncoder{.output_dim = -1})` throws Error.
// Changing the struct afterwards changes nothing. Equality is type and lowered parameters; downcasts compare
// type tags, never RTTI. This header knows no tensor: a scenario written in code includes no LibTorch header.
// [any thread]
#pragma once

#include <nexuml/identity.h>
#include <nexuml/schema.h>
#include <nexuml/shape.h>

#include <concepts>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>

namespace nexuml {

class PipelineLayer;
class Dataset;
class EvalAlgorithm;
class LoaderBackend;
struct LayerInferContext;
struct LayerBuildContext;
struct DataContext;
struct EvalBuildContext;
struct LoaderBuildContext;
struct DataDeclaration;

// Words for "T is a layer" and so on.
template <class T>
concept LayerType = Described<T> && requires(const T& value, const LayerBuildContext& context) {
  { value.build(context) } -> std::same_as<std::shared_ptr<PipelineLayer>>;
};
template <class T>
concept DataSourceType = Described<T> && requires(const T& value, const DataContext& context) {
  { value.build(context) } -> std::same_as<std::shared_ptr<Dataset>>;
};
template <class T>
concept EvalAlgorithmType = Described<T> && requires(const T& value, const EvalBuildContext& context) {
  { value.build(context) } -> std::same_as<std::shared_ptr<EvalAlgorithm>>;
};
template <class T>
concept LoaderBackendType = Described<T> && requires(const T& value, const LoaderBuildContext& context) {
  { value.build(context) } -> std::same_as<std::shared_ptr<LoaderBackend>>;
};
template <class T>
concept DefinitionType = LayerType<T> || DataSourceType<T> || EvalAlgorithmType<T> || LoaderBackendType<T>;

// The erased side. One class per kind, so that each room asks only for what it builds.
class NEXUML_EXPORT DefinitionModel {
 public:
  virtual ~DefinitionModel();
  virtual ComponentKind kind() const noexcept = 0;
  virtual TypeTag tag() const noexcept = 0;
  virtual const void* value() const noexcept = 0;
  virtual const StructNode& schema() const = 0;
  virtual Value params(const Lowering* lowering) const = 0;
};
class NEXUML_EXPORT LayerModel : public DefinitionModel {
 public:
  ~LayerModel() override;
  // Nothing when the definition has no `infer`: its shapes are found by building it.
  virtual std::optional<Shapes> infer(const LayerInferContext& context) const = 0;
  virtual std::shared_ptr<PipelineLayer> build(const LayerBuildContext& context) const = 0;
  // `static constexpr bool post_train_fit = true;` in the struct: the layer is fitted after training.
  virtual bool post_train_fit() const noexcept = 0;
};
class NEXUML_EXPORT DataSourceModel : public DefinitionModel {
 public:
  ~DataSourceModel() override;
  // `declare() const`: keys, shapes, labels and counts without opening data.
  virtual std::optional<DataDeclaration> declare() const = 0;
  virtual std::shared_ptr<Dataset> build(const DataContext& context) const = 0;
};
class NEXUML_EXPORT EvalAlgorithmModel : public DefinitionModel {
 public:
  ~EvalAlgorithmModel() override;
  virtual std::shared_ptr<EvalAlgorithm> build(const EvalBuildContext& context) const = 0;
};
class NEXUML_EXPORT LoaderBackendModel : public DefinitionModel {
 public:
  ~LoaderBackendModel() override;
  virtual std::shared_ptr<LoaderBackend> build(const LoaderBuildContext& context) const = 0;
};

// What a data source can say without opening its data. Absent parts are checked before the first step
// instead.
struct DataDeclaration {
  OrderedMap<TensorSpec> features;
  OrderedMap<TensorSpec> labels;
  OrderedMap<std::int64_t> num_classes;  // by label key
  std::optional<std::int64_t> num_samples;
  bool complete = true;  // false: the source may give more keys than are listed
};

class NEXUML_EXPORT Definition {
 public:
  Definition() = default;  // empty
  explicit Definition(std::shared_ptr<const DefinitionModel> model) : model_(std::move(model)) {}

  bool has_value() const noexcept { return model_ != nullptr; }
  ComponentKind kind() const { return model().kind(); }
  TypeTag tag() const { return model().tag(); }
  // Every field with its value. Definitions inside are lowered by `lowering`, or refused without one.
  Value params(const Lowering* lowering = nullptr) const { return model().params(lowering); }
  const DefinitionModel& model() const;  // throws std::logic_error when empty

  // Null when the value is of another type. Types of another library are always "another type".
  template <class T>
  const T* get_if() const noexcept {
    return model_ && model_->tag() == type_tag<T>() ? static_cast<const T*>(model_->value()) : nullptr;
  }

  friend NEXUML_EXPORT bool operator==(const Definition& left, const Definition& right);

 private:
  std::shared_ptr<const DefinitionModel> model_;
};

namespace detail {

// A member of that name which cannot be called as the interface does would be passed over without a word.
template <class T>
concept NamesInfer = requires {
  &T::infer;
};
template <class T>
concept NamesDeclare = requires {
  &T::declare;
};

[[noreturn]] NEXUML_EXPORT void throw_invalid_definition(const StructNode& schema, Diagnostics problems);

template <class T, class Base, ComponentKind K>
class TypedDefinition : public Base {
 public:
  explicit TypedDefinition(T value) : value_(std::move(value)) {
    Diagnostics problems;
    validate(value_, problems);
    if (problems.has_errors()) throw_invalid_definition(*schema_of<T>(), std::move(problems));
  }
  ComponentKind kind() const noexcept override { return K; }
  TypeTag tag() const noexcept override { return type_tag<T>(); }
  const void* value() const noexcept override { return &value_; }
  const StructNode& schema() const override { return *schema_of<T>(); }
  Value params(const Lowering* lowering) const override { return write(value_, lowering); }

 protected:
  const T value_;
};

template <class T>
class TypedLayer final : public TypedDefinition<T, LayerModel, ComponentKind::layer> {
 public:
  using TypedDefinition<T, LayerModel, ComponentKind::layer>::TypedDefinition;
  std::optional<Shapes> infer(const LayerInferContext& context) const override {
    if constexpr (requires { this->value_.infer(context); }) {
      return this->value_.infer(context);
    } else {
      static_assert(!NamesInfer<T>,
                    "`infer` of this layer would never be called: it has to be `nexuml::Shapes infer(const "
                    "nexuml::LayerInferContext&) const`.");
      return std::nullopt;
    }
  }
  std::shared_ptr<PipelineLayer> build(const LayerBuildContext& context) const override {
    return this->value_.build(context);
  }
  bool post_train_fit() const noexcept override {
    if constexpr (requires { T::post_train_fit; })
      return T::post_train_fit;
    else
      return false;
  }
};
template <class T>
class TypedDataSource final : public TypedDefinition<T, DataSourceModel, ComponentKind::data_source> {
 public:
  using TypedDefinition<T, DataSourceModel, ComponentKind::data_source>::TypedDefinition;
  std::optional<DataDeclaration> declare() const override {
    if constexpr (requires { this->value_.declare(); }) {
      return this->value_.declare();
    } else {
      static_assert(!NamesDeclare<T>,
                    "`declare` of this data source would never be called: it has to be "
                    "`nexuml::DataDeclaration declare() const`.");
      return std::nullopt;
    }
  }
  std::shared_ptr<Dataset> build(const DataContext& context) const override {
    return this->value_.build(context);
  }
};
template <class T>
class TypedEvalAlgorithm final
    : public TypedDefinition<T, EvalAlgorithmModel, ComponentKind::eval_algorithm> {
 public:
  using TypedDefinition<T, EvalAlgorithmModel, ComponentKind::eval_algorithm>::TypedDefinition;
  std::shared_ptr<EvalAlgorithm> build(const EvalBuildContext& context) const override {
    return this->value_.build(context);
  }
};
template <class T>
class TypedLoaderBackend final
    : public TypedDefinition<T, LoaderBackendModel, ComponentKind::loader_backend> {
 public:
  using TypedDefinition<T, LoaderBackendModel, ComponentKind::loader_backend>::TypedDefinition;
  std::shared_ptr<LoaderBackend> build(const LoaderBuildContext& context) const override {
    return this->value_.build(context);
  }
};

template <class T>
constexpr ComponentKind kind_of() {
  static_assert(
      Described<T>,
      "This type is no definition: it needs `static void describe(nexuml::Schema<T>&)`, and has to be "
      "a plain struct without constructors, private members and virtual functions.");
  static_assert(!Described<T> || DefinitionType<T>,
                "This type is no definition: it needs a describe function and a build function that is "
                "const, takes the "
                "build context of its kind and returns a std::shared_ptr to the runtime class of that kind.");
  static_assert(
      int(LayerType<T>) + int(DataSourceType<T>) + int(EvalAlgorithmType<T>) + int(LoaderBackendType<T>) < 2,
      "This type has build functions of two kinds; a definition is of one kind.");
  if constexpr (LayerType<T>)
    return ComponentKind::layer;
  else if constexpr (DataSourceType<T>)
    return ComponentKind::data_source;
  else if constexpr (EvalAlgorithmType<T>)
    return ComponentKind::eval_algorithm;
  else
    return ComponentKind::loader_backend;
}

template <class T>
std::shared_ptr<const DefinitionModel> make_model(T value) {
  constexpr ComponentKind kind = kind_of<T>();
  if constexpr (kind == ComponentKind::layer)
    return std::make_shared<const TypedLayer<T>>(std::move(value));
  else if constexpr (kind == ComponentKind::data_source)
    return std::make_shared<const TypedDataSource<T>>(std::move(value));
  else if constexpr (kind == ComponentKind::eval_algorithm)
    return std::make_shared<const TypedEvalAlgorithm<T>>(std::move(value));
  else
    return std::make_shared<const TypedLoaderBackend<T>>(std::move(value));
}

template <ComponentKind K>
struct ModelOf;
template <>
struct ModelOf<ComponentKind::layer> {
  using type = LayerModel;
};
template <>
struct ModelOf<ComponentKind::data_source> {
  using type = DataSourceModel;
};
template <>
struct ModelOf<ComponentKind::eval_algorithm> {
  using type = EvalAlgorithmModel;
};
template <>
struct ModelOf<ComponentKind::loader_backend> {
  using type = LoaderBackendModel;
};

NEXUML_EXPORT void require_kind(const Definition& definition, ComponentKind kind);

}  // namespace detail

// A definition of one kind; what specs hold.
template <ComponentKind K>
class DefinitionOf : public Definition {
 public:
  DefinitionOf() = default;
  // From a definition made by identity; throws std::logic_error when it is of another kind.
  DefinitionOf(Definition definition) : Definition(std::move(definition)) {
    if (has_value()) detail::require_kind(*this, K);
  }
  template <class T>
  requires(!std::derived_from<T, Definition> && !std::same_as<T, detail::AnyField>) DefinitionOf(T value)
      : Definition(detail::make_model(std::move(value))) {
    static_assert(detail::kind_of<T>() == K,
                  "This definition is of another kind than the place it is put in.");
  }
  const typename detail::ModelOf<K>::type& operator*() const {
    return static_cast<const typename detail::ModelOf<K>::type&>(model());
  }
  const typename detail::ModelOf<K>::type* operator->() const { return &**this; }
};

using AnyLayer = DefinitionOf<ComponentKind::layer>;
using AnyDataSource = DefinitionOf<ComponentKind::data_source>;
using AnyEvalAlgorithm = DefinitionOf<ComponentKind::eval_algorithm>;
using AnyLoaderBackend = DefinitionOf<ComponentKind::loader_backend>;

template <ComponentKind K>
struct FieldTraits<DefinitionOf<K>> {
  static TypeNode node() { return {.kind = TypeNode::Kind::definition, .definition_kind = K}; }
  static Value encode(const DefinitionOf<K>& value, const Lowering* lowering) {
    if (!value.has_value()) return {};
    if (!lowering) return Value::map({{"type", ""}, {"version", ""}, {"params", value.params(nullptr)}});
    return lowering->lower(value);
  }
  static DefinitionOf<K> decode(const Value& value, const Restoring* restoring) {
    if (!restoring || value.is_null()) return {};
    return restoring->restore(K, value);
  }
};

}  // namespace nexuml
