// nexuml-run: the story of one run. What was typed names a command; the command answers; problems are told.
#include <fmt/format.h>

#include <cstdio>
#include <exception>
#include <map>
#include <string_view>

#include "host/command_line.h"
#include "host/commands.h"
#include "host/freed_memory.h"
#include "host/session.h"

namespace nexuml {
namespace {

using Command = int (*)(Session&);

std::map<std::string_view, Command> tensor_free_commands() {
  std::map<std::string_view, Command> commands{{"registry list", list_registry},
                                               {"backend list", list_backends},
                                               {"library add", add_root},
                                               {"library delete", delete_root},
                                               {"library list", list_libraries},
                                               {"inspect", inspect},
                                               {"resolve", resolve},
                                               {"new library", new_library},
                                               {"recipe check", check_recipes}};
#if !defined(_WIN32)  // what opens libraries in a child process, which is forked
  commands.insert({{"doctor", doctor},
                   {"validate", validate},
                   {"__manifest", write_library_manifest},
                   {"__probe", serve_probes}});
#endif
  return commands;
}

Command command_named(std::string_view name) {
  static const auto commands = tensor_free_commands();
  const auto found = commands.find(name);
  return found == commands.end() ? run_in_engine : found->second;
}

int run(Session& session) {
  try {
    return session.finish(command_named(session.invocation().command)(session));
  } catch (const BadCommandLine& bad) {
    session.diagnostics().append(bad.problems);
    return session.finish(2);
  } catch (const Error& failure) {
    session.diagnostics().append(failure.diagnostics());
  } catch (const std::exception& failure) {
    session.diagnostics().error("E880", fmt::format("the command failed: {}", failure.what()));
  }
  return session.finish(1);
}

}  // namespace
}  // namespace nexuml

int main(int argc, char** argv) {
  nexuml::keep_freed_memory();
  int exit_code = 0;
  const auto invocation = nexuml::parse_command_line(argc, argv, exit_code);
  if (!invocation) return exit_code;
  nexuml::Session session(*invocation);
  return nexuml::run(session);
}
