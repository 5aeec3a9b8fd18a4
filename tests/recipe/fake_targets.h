// Targets of a program under test: a model, an optimizer, schedulers, and one that holds others. Nothing here
// builds.
#pragma once

#include <nexuml/recipe.h>
#include <nexuml/type_serializer.h>

#include <map>
#include <stdexcept>

namespace recipes {

// A class with a rule of its own, so no described struct.
class RadialBasis {
 public:
  RadialBasis() = default;
  RadialBasis(std::string kind, double cutoff) : kind_(std::move(kind)), cutoff_(cutoff) {
    if (cutoff_ <= 0) throw std::invalid_argument("the cutoff has to be above 0");
  }
  const std::string& kind() const { return kind_; }
  double cutoff() const { return cutoff_; }
  bool operator==(const RadialBasis&) const = default;

 private:
  std::string kind_ = "bessel";
  double cutoff_ = 6.0;
};

}  // namespace recipes

template <>
struct nexuml::TypeSerializer<recipes::RadialBasis> {
  static constexpr const char* name = "acme.RadialBasis";
  static Value to_value(const recipes::RadialBasis& basis) {
    return Value::map({{"kind", basis.kind()}, {"cutoff", basis.cutoff()}});
  }
  static recipes::RadialBasis from_value(const Value& value) {
    const Value* kind = value.find("kind");
    const Value* cutoff = value.find("cutoff");
    if (!kind || !kind->is_string() || !cutoff || !cutoff->is_number() || value.size() != 2)
      throw std::invalid_argument("kind and cutoff expected");
    return {kind->as_string(), cutoff->as_number()};
  }
};

namespace recipes {

using namespace nexuml;
using Module = TargetCall<TargetKind::module>;

struct Linear {
  std::int64_t in_features = 0;
  std::int64_t out_features = 0;
  bool bias = true;

  static void describe(Schema<Linear>& s) {
    s.field("in_features", &Linear::in_features).required().at_least(1);
    s.field("out_features", &Linear::out_features).required().at_least(1);
    s.field("bias", &Linear::bias);
  }
  std::shared_ptr<TensorModule> build(const ModuleBuildContext&) const { return nullptr; }
};

struct Dropout {
  double p = 0.5;
  bool inplace = false;

  static void describe(Schema<Dropout>& s) {
    s.field("p", &Dropout::p).at_least(0).at_most(1);
    s.field("inplace", &Dropout::inplace);
    s.check([](const Dropout& dropout, RuleProblems& problems) {
      if (dropout.inplace && dropout.p == 0) problems.add("inplace", "nothing to do in place");
    });
  }
  std::shared_ptr<TensorModule> build(const ModuleBuildContext&) const { return nullptr; }
};

// Every place where a target can stand.
struct Holder {
  std::optional<Module> head;
  std::vector<std::variant<Module, double>> members;
  std::map<std::string, Module> named;
  std::pair<Module, double> weighted{{"acme.nn:Dropout"}, 1.0};
  std::vector<std::vector<Module>> grid;
  Value extra = Value::map();

  static void describe(Schema<Holder>& s) {
    s.field("head", &Holder::head);
    s.field("members", &Holder::members);
    s.field("named", &Holder::named);
    s.field("weighted", &Holder::weighted);
    s.field("grid", &Holder::grid);
    s.field("extra", &Holder::extra);
  }
  std::shared_ptr<TensorModule> build(const ModuleBuildContext&) const { return nullptr; }
};

struct Basis {
  RadialBasis basis;
  std::vector<RadialBasis> more;
  std::map<std::string, RadialBasis> named;
  std::optional<RadialBasis> maybe;
  std::variant<double, RadialBasis> either = 1.0;
  std::optional<Module> inner;

  static void describe(Schema<Basis>& s) {
    s.field("basis", &Basis::basis);
    s.field("more", &Basis::more);
    s.field("named", &Basis::named);
    s.field("maybe", &Basis::maybe);
    s.field("either", &Basis::either);
    s.field("inner", &Basis::inner);
  }
  std::shared_ptr<TensorModule> build(const ModuleBuildContext&) const { return nullptr; }
};

struct Adam {
  double lr = 1e-3;
  std::pair<double, double> betas{0.9, 0.999};

  static void describe(Schema<Adam>& s) {
    s.field("lr", &Adam::lr).at_least(0);
    s.field("betas", &Adam::betas);
  }
  std::shared_ptr<Optimizer> build(const OptimizerBuildContext&) const { return nullptr; }
};

struct CosineAnnealingLR {
  std::int64_t T_max = 0;
  double eta_min = 0;

  static void describe(Schema<CosineAnnealingLR>& s) {
    s.field("T_max", &CosineAnnealingLR::T_max).required().at_least(1);
    s.field("eta_min", &CosineAnnealingLR::eta_min);
  }
  std::shared_ptr<Scheduler> build(const SchedulerBuildContext&) const { return nullptr; }
};

inline ComponentRegistry registry() {
  return ComponentRegistry().with_program([](Registration& r) {
    register_type_serializer<RadialBasis>(r);
    r.add_target<Linear>("acme.nn:Linear", {.aliases = {"acme.nn.modules.linear:Linear"}});
    r.add_target<Dropout>("acme.nn:Dropout");
    r.add_target<Holder>("acme.nn:Holder");
    r.add_target<Basis>("acme.nn:Basis");
    r.add_target<Adam>("acme.optim:Adam", {.injected = {"params"}});
    r.add_target<CosineAnnealingLR>("acme.optim:CosineAnnealingLR", {.injected = {"optimizer"}});
  });
}

// The text of what `work` throws.
template <class Work>
std::string refusal(Work&& work) {
  try {
    work();
  } catch (const Error& error) {
    return error.diagnostics().to_text();
  }
  return {};
}

}  // namespace recipes
