// Targets: the C++ form of an importable path such as `torch.nn:Linear`.
//
//     struct Scale {                                      // the arguments, in positional order
//       double factor = 1.0;
//       static void describe(nexuml::Schema<Scale>& s) { s.field("factor", &Scale::factor); }
//       std::shared_ptr<nexuml::TensorModule> build(const nexuml::ModuleBuildContext&) const;
//     };
//     registry.add_target<Scale>("acme.modules:Scale");
//
// A target is an entry of a closed table, found by name and never by symbol lookup: a file can only call what
// a loaded library registered, for the kind that it was registered for. What kind a target is follows from
// what `build` returns.
#pragma once

#include <nexuml/identity.h>
#include <nexuml/schema.h>
#include <nexuml/shape.h>

#include <concepts>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace nexuml {

class TensorModule;    // module.h: one tensor in, one tensor out
class Optimizer;       // training.h
class Scheduler;       // training.h
class Callback;        // training.h
class LossFunction;    // training.h
class WeightSchedule;  // training.h
class TrainingHook;    // training.h
class DecisionRule;    // evaluation.h
class DatasetWriter;   // data.h
class Strategy;        // training.h
class Function;        // function.h

struct ModuleBuildContext;
struct OptimizerBuildContext;
struct SchedulerBuildContext;
struct CallbackBuildContext;
struct LossBuildContext;
struct WeightScheduleBuildContext;
struct HookBuildContext;
struct DecisionRuleBuildContext;
struct WriterBuildContext;
struct StrategyBuildContext;
struct FunctionBuildContext;

// What a target of each kind builds, and from what.
template <TargetKind K>
struct TargetContract;
template <>
struct TargetContract<TargetKind::module> {
  using Product = TensorModule;
  using Context = ModuleBuildContext;
};
template <>
struct TargetContract<TargetKind::optimizer> {
  using Product = Optimizer;
  using Context = OptimizerBuildContext;
};
template <>
struct TargetContract<TargetKind::scheduler> {
  using Product = Scheduler;
  using Context = SchedulerBuildContext;
};
template <>
struct TargetContract<TargetKind::callback> {
  using Product = Callback;
  using Context = CallbackBuildContext;
};
template <>
struct TargetContract<TargetKind::loss> {
  using Product = LossFunction;
  using Context = LossBuildContext;
};
template <>
struct TargetContract<TargetKind::weight_schedule> {
  using Product = WeightSchedule;
  using Context = WeightScheduleBuildContext;
};
template <>
struct TargetContract<TargetKind::hook> {
  using Product = TrainingHook;
  using Context = HookBuildContext;
};
template <>
struct TargetContract<TargetKind::decision_rule> {
  using Product = DecisionRule;
  using Context = DecisionRuleBuildContext;
};
template <>
struct TargetContract<TargetKind::writer> {
  using Product = DatasetWriter;
  using Context = WriterBuildContext;
};
template <>
struct TargetContract<TargetKind::strategy> {
  using Product = Strategy;
  using Context = StrategyBuildContext;
};
template <>
struct TargetContract<TargetKind::function> {
  using Product = Function;
  using Context = FunctionBuildContext;
};

template <class T, TargetKind K>
concept TargetTypeOf = Described<T> &&
    requires(const T& value, const typename TargetContract<K>::Context& context) {
  { value.build(context) } -> std::same_as<std::shared_ptr<typename TargetContract<K>::Product>>;
};

// The arguments of one target, checked and typed; made by the registry.
class NEXUML_EXPORT TargetModel {
 public:
  virtual ~TargetModel();
  virtual TargetKind kind() const noexcept = 0;
  virtual TypeTag tag() const noexcept = 0;
  virtual const void* value() const noexcept = 0;
  virtual Value arguments() const = 0;
  // Modules: the output for one input, where the target has `infer(const TensorSpec&) const`. Throws Error
  // E807 when the shapes cannot meet.
  virtual std::optional<TensorSpec> infer(const TensorSpec& input) const = 0;
};

template <TargetKind K>
class TargetModelOf : public TargetModel {
 public:
  using Contract = TargetContract<K>;
  TargetKind kind() const noexcept final { return K; }
  virtual std::shared_ptr<typename Contract::Product> build(
      const typename Contract::Context& context) const = 0;
};

// A target with arguments, as recipes and specs hold it: {factory, args, kwargs}.
class NEXUML_EXPORT Targets {
 public:
  virtual ~Targets();
  // Checks the arguments and decodes them. Throws Error E733, E734 or E736.
  virtual std::shared_ptr<const TargetModel> make(TargetKind kind, const std::string& spelling,
                                                  const Value& args, const Value& kwargs) const = 0;

  template <TargetKind K>
  std::shared_ptr<const TargetModelOf<K>> make(const std::string& spelling, const Value& args = Value::list(),
                                               const Value& kwargs = Value::map()) const {
    return std::static_pointer_cast<const TargetModelOf<K>>(make(K, spelling, args, kwargs));
  }
};

namespace detail {

template <class T, TargetKind K>
class TypedTarget final : public TargetModelOf<K> {
 public:
  explicit TypedTarget(T value) : value_(std::move(value)) {}
  TypeTag tag() const noexcept override { return type_tag<T>(); }
  const void* value() const noexcept override { return &value_; }
  Value arguments() const override { return write(value_); }
  std::optional<TensorSpec> infer(const TensorSpec& input) const override {
    if constexpr (requires { value_.infer(input); })
      return value_.infer(input);
    else
      return std::nullopt;
  }
  std::shared_ptr<typename TargetContract<K>::Product> build(
      const typename TargetContract<K>::Context& context) const override {
    return value_.build(context);
  }

 private:
  const T value_;
};

template <class T, TargetKind... Ks>
consteval std::optional<TargetKind> first_target_kind() {
  std::optional<TargetKind> found;
  (void)((TargetTypeOf<T, Ks> && (found = Ks, true)) || ...);
  return found;
}

template <class T>
consteval TargetKind target_kind_of() {
  constexpr auto kind = first_target_kind<T, TargetKind::module, TargetKind::optimizer, TargetKind::scheduler,
                                          TargetKind::callback, TargetKind::loss, TargetKind::weight_schedule,
                                          TargetKind::hook, TargetKind::decision_rule, TargetKind::writer,
                                          TargetKind::strategy, TargetKind::function>();
  static_assert(
      kind.has_value(),
      "This type is no target: it needs a describe function and a build function that takes the build "
      "context of a target kind and returns a std::shared_ptr to that kind's class.");
  return *kind;
}

}  // namespace detail
}  // namespace nexuml
