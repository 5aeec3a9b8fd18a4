#include "engine/engine_entry.h"

#include <ATen/Parallel.h>
#include <c10/util/Exception.h>
#include <fmt/format.h>

#include <array>

#include "engine/engine_call.h"

namespace nexuml {

namespace {

struct Command {
  std::string_view name;
  int (*run)(EngineCall&);
};

constexpr std::array commands{
    Command{"check", check_scenarios},
    Command{"build", build_scenarios},
    Command{"train", train},
    Command{"evaluate", evaluate},
    Command{"try", try_cases},
    Command{"checkpoint show", show_checkpoint},
    Command{"checkpoint verify", verify_checkpoints},
    Command{"checkpoint diff", diff_checkpoints},
    Command{"__contract", check_contract},
    Command{"recipe build", build_recipes},
};

int run_command(EngineCall& call) {
  for (const Command& command : commands)
    if (command.name == call.command()) {
      if (const auto threads = call.integer("threads")) at::set_num_threads(static_cast<int>(*threads));
      return command.run(call);
    }
  throw Error("E882", fmt::format("the engine knows no command '{}'", call.command()));
}

}  // namespace

}  // namespace nexuml

int nexuml_engine_main(const nexuml_engine_call* raw) {
  nexuml::EngineCall call(*raw);
  const auto unexpected = [&](const std::string& message) {
    call.diagnostics().error("E889", call.command() + " failed: " + message).hint =
        "this should have been noticed earlier; please report it with the scenario";
  };
  try {
    return nexuml::run_command(call);
  } catch (const nexuml::Error& error) {
    call.diagnostics().append(error.diagnostics());
  } catch (const c10::Error& error) {
    unexpected(error.what_without_backtrace());
  } catch (const std::exception& error) {
    unexpected(error.what());
  } catch (...) {
    unexpected("an exception that is not a std::exception");
  }
  return 1;
}
