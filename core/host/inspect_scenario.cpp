#include "host/inspect_scenario.h"

#include <fmt/format.h>
#include <nexuml/identity.h>
#include <nexuml/scenario.h>

#include "loading/scenario_source.h"

namespace nexuml {
namespace {

std::string text_of(const Value* value) {
  if (!value || value->is_null()) return "none";
  return value->is_string() ? value->as_string() : write_json(*value, {.indent = -1});
}

std::string component_text(const Value* component) {
  if (!component || !component->is_map()) return "none";
  const Value* params = component->find("params");
  const Value* factory = params ? params->find("factory") : nullptr;
  return text_of(component->find("type")) + (factory ? " " + text_of(factory) : "");
}

}  // namespace

bool is_scenario_file(const std::string& subject) {
  const bool identity = component_kind(subject.substr(0, subject.find('/'))).has_value();  // layer/gain@1
  return !identity && is_scenario_path(subject);
}

void inspect_scenario_file(Session& session, const std::string& path) {
  const Value document = open_scenario(session.loader(), {.source = path}, session.diagnostics());
  if (!document.is_map() || session.diagnostics().has_errors()) return;
  std::string text = fmt::format("scenario {}\n", text_of(document.find("name")));
  for (const auto& stage : document.at("pipeline").at("stages").entries()) {
    text += fmt::format("  {}\n", stage.key);
    for (const Value& layer : stage.value.items()) {
      text += fmt::format("    {}: {} -> {}\n", component_text(layer.find("component")),
                          text_of(layer.find("keys_in")), text_of(layer.find("keys_out")));
    }
  }
  const Value& training = document.at("training");
  text += fmt::format("  data: {}\n  losses: {}\n  epochs: {}\n",
                      component_text(document.at("data").find("source")), text_of(training.find("loss_keys")),
                      text_of(training.find("max_epochs")));
  session.print(text);
  session.answer().set("scenario", document);
}

}  // namespace nexuml
