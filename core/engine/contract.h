// The contract of one registered component, tried out: what `validate` asks for each of a library.
#pragma once

#include <nexuml/definition.h>
#include <nexuml/registry.h>
#include <nexuml/value.h>

#include <functional>
#include <string>
#include <vector>

namespace nexuml {

enum class CheckStatus { passed, failed, skipped };

struct CheckResult {
  std::string name;  // "restored from its own lowering"
  CheckStatus status = CheckStatus::passed;
  std::string message;  // what was expected against what was found; why it was skipped
};

// Collects the checks of one component. An exception of the component is a failed check, never an end.
class ContractReport {
 public:
  // `body` returns what is wrong, or nothing.
  void check(const std::string& name, const std::function<std::string()>& body);
  void add(CheckResult result) { results_.push_back(std::move(result)); }
  void skip(const std::string& name, std::string why) { add({name, CheckStatus::skipped, std::move(why)}); }

  bool failed() const noexcept;
  Value to_value() const;  // [{check, status, message}]

 private:
  std::vector<CheckResult> results_;
};

// The words of whatever was thrown, without LibTorch's backtrace. Call it inside a handler.
std::string words_of_exception();

// A small value that the schema accepts; what a type leaves open is as small as it can be. Throws Error E872
// where none can be made up, such as the path of a file.
Value sample_value(const TypeNode& type);
// Parameters with which a component can be made: its defaults, and samples for what has none.
Value sample_params(const StructNode& schema);

// Made from its defaults, restored from its lowering, refused with each parameter of a wrong kind. Returns
// the definition, empty where it cannot be made.
Definition check_definition_contract(const Identity& identity, const ComponentRegistry& registry,
                                     ContractReport& report);

void check_layer_contract(const Definition& definition, const ComponentRegistry& registry,
                          ContractReport& report);
void check_data_source_contract(const Definition& definition, ContractReport& report);
void check_eval_algorithm_contract(const Definition& definition, const ComponentRegistry& registry,
                                   ContractReport& report);
void check_loader_contract(const Definition& definition, ContractReport& report);

}  // namespace nexuml
