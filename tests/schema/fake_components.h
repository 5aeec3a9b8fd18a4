// Components of a program under test. Nothing here builds: building is the runtime's part.
#pragma once

#include <nexuml/registry.h>

namespace fake {

enum class Pooling { mean, max };
}  // namespace fake

template <>
struct nexuml::EnumText<fake::Pooling> {
  static constexpr std::pair<fake::Pooling, const char*> names[] = {{fake::Pooling::mean, "mean"},
                                                                    {fake::Pooling::max, "max"}};
};

namespace fake {

using namespace nexuml;

struct Scale {
  double factor = 1.0;
  std::vector<std::int64_t> dims{8, 4};
  std::optional<std::string> label;
  Pooling pooling = Pooling::mean;

  static void describe(Schema<Scale>& s) {
    s.summary("Multiplies by a constant.");
    s.field("factor", &Scale::factor).doc("The constant.").greater_than(0);
    s.field("dims", &Scale::dims).at_least(1).min_size(1);
    s.field("label", &Scale::label);
    s.field("pooling", &Scale::pooling);
    s.check([](const Scale& scale, RuleProblems& problems) {
      if (scale.pooling == Pooling::max && scale.dims.size() > 2)
        problems.add("dims", "max takes at most two dims");
    });
  }
  std::shared_ptr<PipelineLayer> build(const LayerBuildContext&) const { return nullptr; }
};

// The same name in another namespace is another type.
namespace other {
struct Scale {
  double factor = 1.0;

  static void describe(Schema<Scale>& s) { s.field("factor", &Scale::factor); }
  std::shared_ptr<PipelineLayer> build(const LayerBuildContext&) const { return nullptr; }
};
}  // namespace other

struct Wrapper {  // a definition inside a definition
  AnyLayer inner;
  std::int64_t times = 2;

  static void describe(Schema<Wrapper>& s) {
    s.field("inner", &Wrapper::inner).required();
    s.field("times", &Wrapper::times).at_least(1);
  }
  std::shared_ptr<PipelineLayer> build(const LayerBuildContext&) const { return nullptr; }
};

struct Source {
  std::string root = ".";

  static void describe(Schema<Source>& s) { s.field("root", &Source::root).min_size(1); }
  std::shared_ptr<Dataset> build(const DataContext&) const { return nullptr; }
};

struct LinearArguments {
  std::int64_t in_features = 0;
  std::int64_t out_features = 0;
  bool bias = true;

  static void describe(Schema<LinearArguments>& s) {
    s.field("in_features", &LinearArguments::in_features).required().at_least(1);
    s.field("out_features", &LinearArguments::out_features).required().at_least(1);
    s.field("bias", &LinearArguments::bias);
  }
  std::shared_ptr<TensorModule> build(const ModuleBuildContext&) const { return nullptr; }
};

struct SgdArguments {
  double lr = 1e-3;

  static void describe(Schema<SgdArguments>& s) { s.field("lr", &SgdArguments::lr).at_least(0); }
  std::shared_ptr<Optimizer> build(const OptimizerBuildContext&) const { return nullptr; }
};

inline ComponentRegistry registry() {
  return ComponentRegistry().with_program([](Registration& r) {
    r.add<Scale>("Scale");
    r.add<Scale>("Scale");  // again: nothing happens
    r.add<Wrapper>("Wrapper");
    r.add<Source>("source");
    r.add_target<LinearArguments>("torch.nn:Linear", {.aliases = {"torch.nn.modules.linear:Linear"}});
    r.add_target<SgdArguments>("torch.optim:SGD",
                               {.aliases = {"torch.optim.sgd:SGD"}, .injected = {"params"}});
  });
}

}  // namespace fake
