// Components under the names that shipped scenarios use, and short ways to check a document. Nothing builds.
#pragma once

#include <nexuml/registry.h>

#include <catch2/catch.hpp>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>

#include "scenario/document.h"
#include "scenario/overrides.h"

namespace scenario_fixtures {

using namespace nexuml;

struct LinearEncoder {
  std::optional<std::vector<std::int64_t>> hidden_dims;
  std::int64_t output_dim = 8;
  std::string activation = "torch.nn.ReLU";
  bool last_activation = false;
  bool bias = true;

  static void describe(Schema<LinearEncoder>& s) {
    s.field("hidden_dims", &LinearEncoder::hidden_dims).at_least(1);
    s.field("output_dim", &LinearEncoder::output_dim).at_least(1);
    s.field("activation", &LinearEncoder::activation).target(TargetKind::module);
    s.field("last_activation", &LinearEncoder::last_activation);
    s.field("bias", &LinearEncoder::bias);
  }
  std::shared_ptr<PipelineLayer> build(const LayerBuildContext&) const { return nullptr; }
};

struct ReconstructionLoss {
  bool norm_pix_loss = false;
  bool match_min_length = false;
  std::optional<std::int64_t> patch_size;
  bool use_mask_loss = false;
  bool inverse_mask = true;
  std::int64_t num_tokens = 0;

  static void describe(Schema<ReconstructionLoss>& s) {
    s.field("norm_pix_loss", &ReconstructionLoss::norm_pix_loss);
    s.field("match_min_length", &ReconstructionLoss::match_min_length);
    s.field("patch_size", &ReconstructionLoss::patch_size);
    s.field("use_mask_loss", &ReconstructionLoss::use_mask_loss);
    s.field("inverse_mask", &ReconstructionLoss::inverse_mask);
    s.field("num_tokens", &ReconstructionLoss::num_tokens);
  }
  std::shared_ptr<PipelineLayer> build(const LayerBuildContext&) const { return nullptr; }
};

// The shape of NnModule, whose building lives in the runtime.
struct ModuleLayer {
  std::string factory;
  Value args = Value::list();
  Value kwargs = Value::map();

  static void describe(Schema<ModuleLayer>& s) {
    s.field("factory", &ModuleLayer::factory).required();
    s.field("args", &ModuleLayer::args);
    s.field("kwargs", &ModuleLayer::kwargs);
    s.factory_of(TargetKind::module);
  }
  std::shared_ptr<PipelineLayer> build(const LayerBuildContext&) const { return nullptr; }
};

struct Wrapper {  // a definition inside a definition
  AnyLayer inner;

  static void describe(Schema<Wrapper>& s) { s.field("inner", &Wrapper::inner).required(); }
  std::shared_ptr<PipelineLayer> build(const LayerBuildContext&) const { return nullptr; }
};

struct Synthetic {
  std::vector<std::int64_t> feature_shape{128};
  std::int64_t num_samples = 1000;
  std::string noise_type = "gaussian";
  std::optional<std::int64_t> num_clusters;
  std::vector<Value> targets;
  std::int64_t seed = 42;
  std::string feature_key = "features";

  static void describe(Schema<Synthetic>& s) {
    s.field("feature_shape", &Synthetic::feature_shape).at_least(1);
    s.field("num_samples", &Synthetic::num_samples).at_least(1);
    s.field("noise_type", &Synthetic::noise_type);
    s.field("num_clusters", &Synthetic::num_clusters);
    s.field("targets", &Synthetic::targets);
    s.field("seed", &Synthetic::seed);
    s.field("feature_key", &Synthetic::feature_key);
    s.check([](const Synthetic& source, RuleProblems& problems) {
      if (source.num_clusters.value_or(1) > source.num_samples)
        problems.add("num_clusters", "more clusters than samples");
    });
  }
  std::shared_ptr<Dataset> build(const DataContext&) const { return nullptr; }
};

struct TorchLoader {
  static void describe(Schema<TorchLoader>& s) { s.summary("Loads from memory."); }
  std::shared_ptr<LoaderBackend> build(const LoaderBuildContext&) const { return nullptr; }
};

struct Report {
  std::string title = "report";

  static void describe(Schema<Report>& s) { s.field("title", &Report::title); }
  std::shared_ptr<EvalAlgorithm> build(const EvalBuildContext&) const { return nullptr; }
};

struct Relu {
  bool inplace = false;

  static void describe(Schema<Relu>& s) { s.field("inplace", &Relu::inplace); }
  std::shared_ptr<TensorModule> build(const ModuleBuildContext&) const { return nullptr; }
};

struct Adam {
  double lr = 1e-3;
  std::array<double, 2> betas{0.9, 0.999};
  double eps = 1e-8;
  double weight_decay = 0;

  static void describe(Schema<Adam>& s) {
    s.field("lr", &Adam::lr).at_least(0);
    s.field("betas", &Adam::betas);
    s.field("eps", &Adam::eps);
    s.field("weight_decay", &Adam::weight_decay);
  }
  std::shared_ptr<Optimizer> build(const OptimizerBuildContext&) const { return nullptr; }
};

struct Rateless {
  std::string mode = "fast";

  static void describe(Schema<Rateless>& s) { s.field("mode", &Rateless::mode); }
  std::shared_ptr<Optimizer> build(const OptimizerBuildContext&) const { return nullptr; }
};

struct ConstantLR {
  double factor = 1.0 / 3;
  std::int64_t total_iters = 5;

  static void describe(Schema<ConstantLR>& s) {
    s.field("factor", &ConstantLR::factor);
    s.field("total_iters", &ConstantLR::total_iters);
  }
  std::shared_ptr<Scheduler> build(const SchedulerBuildContext&) const { return nullptr; }
};

inline const ComponentRegistry& registry() {
  static const ComponentRegistry instance = ComponentRegistry().with_program([](Registration& r) {
    r.add<LinearEncoder>("LinearEncoder");
    r.add<ReconstructionLoss>("ReconstructionLoss");
    r.add<ModuleLayer>("NnModule");
    r.add<Wrapper>("Wrapper");
    r.add<Synthetic>("synthetic");
    r.add<TorchLoader>("torch");
    r.add<Report>("report");
    r.add_target<Relu>("torch.nn:ReLU");
    r.add_target<Adam>("torch.optim:Adam", {.aliases = {"torch.optim.adam:Adam"}, .injected = {"params"}});
    r.add_target<Rateless>("acme.optim:Rateless", {.injected = {"params"}});
    r.add_target<ConstantLR>("torch.optim.lr_scheduler:ConstantLR", {.injected = {"optimizer"}});
  });
  return instance;
}

// Knows every name and nothing about it.
class AnyNames final : public Names {
 public:
  std::shared_ptr<const StructNode> definition_schema(const Identity&, const Where&, const Where&,
                                                      Diagnostics&) const override {
    return nullptr;
  }
  std::shared_ptr<const TargetNode> target(TargetKind, const std::string&, const Where&,
                                           Diagnostics&) const override {
    return nullptr;
  }
};

// What a manifest carries of the registered components: no rules over several fields.
class DeclaredNames final : public Names {
 public:
  std::shared_ptr<const StructNode> definition_schema(const Identity& identity, const Where& type_at,
                                                      const Where& version_at,
                                                      Diagnostics& problems) const override {
    const auto schema = registry().definition_schema(identity, type_at, version_at, problems);
    return schema ? schema_from_value(schema_to_value(*schema)) : nullptr;
  }
  std::shared_ptr<const TargetNode> target(TargetKind kind, const std::string& spelling, const Where& at,
                                           Diagnostics& problems) const override {
    return registry().target(kind, spelling, at, problems);
  }
};

inline std::string data_path(const std::string& name) {
  return std::string(NEXUML_TEST_DATA) + "/" + name;
}

inline std::string text_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  REQUIRE(file.good());
  return {std::istreambuf_iterator<char>(file), {}};
}

inline const std::string& base_text() {
  static const std::string text = text_of(data_path("cases/base.yaml"));
  return text;
}

// The base scenario with the first `from` replaced.
inline std::string base_with(std::string_view from, std::string_view to) {
  std::string text = base_text();
  const std::size_t at = text.find(from);
  REQUIRE(at != std::string::npos);
  return text.replace(at, from.size(), to);
}

struct Checked {
  Value value;
  Diagnostics problems;
};

inline Checked check_text(std::string_view text, const ScenarioCheck& options = {.names = &registry()}) {
  Checked checked;
  Value document = parse_yaml(text, "case.yaml", checked.problems);
  if (!checked.problems.has_errors())
    checked.value = check_scenario(std::move(document), options, checked.problems);
  return checked;
}

inline Value good(std::string_view text) {
  Checked checked = check_text(text);
  INFO(checked.problems.to_text());
  REQUIRE(checked.problems.empty());
  return checked.value;
}

inline Diagnostic only_problem(std::string_view text) {
  const Checked checked = check_text(text);
  INFO(checked.problems.to_text());
  REQUIRE(checked.problems.size() == 1);
  return checked.problems.entries().front();
}

inline std::string place(const Diagnostic& problem) {
  return problem.where.file + ":" + std::to_string(problem.where.line) + ":" +
         std::to_string(problem.where.column);
}

// The value at `a.b[0].c`, or a failure.
inline const Value& value_at(const Value& root, std::string_view path) {
  const Value* at = &root;
  while (!path.empty()) {
    INFO("left of the path: " << path);
    if (path.front() == '[') {
      const std::size_t end = path.find(']');
      at = &at->items().at(std::stoul(std::string(path.substr(1, end - 1))));
      path.remove_prefix(end + 1);
    } else {
      if (path.front() == '.') path.remove_prefix(1);
      const std::size_t end = std::min(path.find_first_of(".["), path.size());
      at = at->find(path.substr(0, end));
      path.remove_prefix(end);
    }
    REQUIRE(at);
  }
  return *at;
}

}  // namespace scenario_fixtures

template <>
struct Catch::StringMaker<nexuml::Value> {
  static std::string convert(const nexuml::Value& value) { return nexuml::canonical_json(value); }
};
