#include <fmt/format.h>
#include <nexuml/layer_context.h>
#include <nexuml/module.h>
#include <nexuml/nn_module.h>

#include "runtime/nn_module_rules.h"
#include "runtime/torch_module_adapter.h"

namespace nexuml {
namespace {

void require_one_tensor(const NnModule& module, const LayerInferContext& context) {
  if (const auto problem =
          keys_problem(module, context.keys_in.size(), context.keys_out.size(), !context.label_keys.empty()))
    throw Error("E808", *problem, Where::in_layer(context.layer), keys_problem_hint);
}

std::shared_ptr<const TargetModelOf<TargetKind::module>> target_of(const NnModule& module,
                                                                   const LayerInferContext& context) {
  if (!context.targets)
    throw Error("E733", fmt::format("no targets are known, '{}' is needed", module.factory),
                Where::in_layer(context.layer), "pass a registry that has loaded the library of the target");
  return context.targets->make<TargetKind::module>(module.factory, module.args, module.kwargs);
}

}  // namespace

std::optional<std::string> keys_problem(const NnModule& module, std::size_t inputs, std::size_t outputs,
                                        bool has_label) {
  if (inputs == 1 && outputs == 1 && !has_label) return std::nullopt;
  const std::string found = inputs == 1 && outputs == 1
                                ? std::string("a label key was given")
                                : fmt::format("found {} inputs and {} outputs", inputs, outputs);
  return fmt::format("NnModule '{}' takes exactly one input key, one output key and no label; {}",
                     module.factory, found);
}

std::optional<Shapes> NnModule::infer(const LayerInferContext& context) const {
  require_one_tensor(*this, context);
  const auto spec = target_of(*this, context)->infer(context.input());
  if (!spec) return std::nullopt;
  return context.single_output(*spec);
}

std::shared_ptr<PipelineLayer> NnModule::build(const LayerBuildContext& context) const {
  require_one_tensor(*this, context);
  auto module = target_of(*this, context)
                    ->build({.layer = context.layer, .targets = context.targets, .stop = context.stop});
  if (!module || !module->module())
    throw Error("E822", fmt::format("the target '{}' built nothing", factory),
                Where::in_layer(context.layer));
  return std::make_shared<TorchModuleAdapter>(context, std::move(module));
}

}  // namespace nexuml
