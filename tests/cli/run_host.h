// Runs nexuml-run as a process and gives what it wrote and returned.
#pragma once

#include <nexuml/value.h>
#include <sys/wait.h>

#include <cstdlib>
#include <string>
#include <vector>

#include "discovery/test_tree.h"

namespace nexuml::test {

struct HostRun {
  int exit_code = -1;  // 128 + signal for a process that was killed
  std::string out, err;

  Value json() const {
    Diagnostics problems;
    return parse_json(out, "stdout", problems);
  }
  std::string all() const { return out + err; }
};

inline std::string quoted(const std::string& text) {
  std::string result = "'";
  for (const char c : text) result += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return result + "'";
}

// `environment` is set for this process alone, like XDG_CONFIG_HOME=...; the user's configuration is never
// seen. `program` is nexuml-run, or a copy of it.
inline HostRun run_host(const TestTree& tree, const std::vector<std::string>& arguments,
                        const std::vector<std::string>& environment = {},
                        const std::string& program = NEXUML_RUN_PATH) {
  std::string command = "cd " + quoted(tree.path()) +
                        " && env -u NEXUML_COMPONENT_PATH -u NEXUML_ADD_COMPONENT_PATH " +
                        "XDG_CONFIG_HOME=" + quoted(tree.path("config"));
  for (const auto& variable : environment) command += " " + quoted(variable);
  command += " " + quoted(program);
  for (const auto& argument : arguments) command += " " + quoted(argument);
  const std::string out = tree.path(".stdout"), err = tree.path(".stderr");
  const int status =
      std::system((command + " >" + quoted(out) + " 2>" + quoted(err) + " </dev/null").c_str());
  return {WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status), read_bytes(out), read_bytes(err)};
}

}  // namespace nexuml::test
