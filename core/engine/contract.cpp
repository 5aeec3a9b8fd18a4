// `__contract`: carries out the checks of one component, for `validate`, in the child that asked.
#include "engine/contract.h"

#include <c10/util/Exception.h>
#include <fmt/format.h>

#include <algorithm>

#include "engine/engine_call.h"

namespace nexuml {
namespace {

std::string_view name_of(CheckStatus status) {
  return status == CheckStatus::passed ? "passed" : status == CheckStatus::failed ? "failed" : "skipped";
}

}  // namespace

std::string words_of_exception() {
  try {
    throw;
  } catch (const Error& error) {
    const auto& entries = error.diagnostics().entries();
    if (entries.empty()) return error.what();
    const Diagnostic& first = entries.front();
    const bool says_where = first.message.find(first.where.key_path) != std::string::npos;
    return says_where ? first.message : fmt::format("{} (at {})", first.message, first.where.key_path);
  } catch (const c10::Error& error) {
    return error.what_without_backtrace();
  } catch (const std::exception& error) {
    return error.what();
  } catch (...) {
    return "an exception that is not a std::exception";
  }
}

void ContractReport::check(const std::string& name, const std::function<std::string()>& body) {
  std::string message;
  try {
    message = body();
  } catch (...) {
    message = words_of_exception();
  }
  add({name, message.empty() ? CheckStatus::passed : CheckStatus::failed, std::move(message)});
}

bool ContractReport::failed() const noexcept {
  return std::ranges::any_of(results_,
                             [](const CheckResult& one) { return one.status == CheckStatus::failed; });
}

Value ContractReport::to_value() const {
  Value list = Value::list();
  for (const auto& result : results_) {
    list.push_back(Value::map(
        {{"check", result.name}, {"status", name_of(result.status)}, {"message", result.message}}));
  }
  return list;
}

int check_contract(EngineCall& call) {
  const auto kind = component_kind(call.text("kind").value_or(""));
  const Identity identity{kind.value_or(ComponentKind::layer), call.text("name").value_or(""),
                          call.text("version").value_or("")};
  const ComponentRegistry& registry = call.loader().registry();
  ContractReport report;
  const Definition definition = check_definition_contract(identity, registry, report);
  if (definition.has_value()) {
    switch (identity.kind) {
      case ComponentKind::layer:
        check_layer_contract(definition, registry, report);
        break;
      case ComponentKind::data_source:
        check_data_source_contract(definition, report);
        break;
      case ComponentKind::eval_algorithm:
        check_eval_algorithm_contract(definition, registry, report);
        break;
      case ComponentKind::loader_backend:
        check_loader_contract(definition, report);
        break;
    }
  }
  call.answer().set("checks", report.to_value());
  return report.failed() ? 3 : 0;
}

}  // namespace nexuml
