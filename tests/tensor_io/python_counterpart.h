// Python with its own torch, safetensors and numpy, as the counterpart of a test.
#pragma once

#include <fmt/format.h>
#include <nexuml/value.h>

#include <catch2/catch.hpp>
#include <cstdlib>
#include <string>

#include "checkpoint/small_checkpoint.h"

namespace nexuml::test {

// Runs a script of tests/tensor_io; false where it fails.
inline bool run_script(const std::string& script, const std::string& arguments, const std::string& log = {}) {
  const char* python = std::getenv("NEXUML_TEST_PYTHON");
  if (!python) return false;
  Diagnostics problems;
  const std::string place = std::string(NEXUML_BUILD_ROOT) + "/etc/nexuml/libtorch.json";
  const Value libtorch = parse_json(bytes_of_file(place), place, problems);
  const std::string folder = std::string(NEXUML_SOURCE_ROOT) + "/tests/tensor_io";
  const std::string command =
      fmt::format("PYTHONDONTWRITEBYTECODE=1 '{}' {}/with_torch.py '{}' {}/{} {}", python, folder,
                  libtorch.at("library_dir").as_string(), folder, script, arguments);
  return std::system((command + (log.empty() ? "" : " >'" + log + "' 2>&1")).c_str()) == 0;
}

// Says by name what is missing where the comparison is skipped.
inline bool python_is_there() {
  static const bool there = [] {
    const ScratchFolder folder;
    const std::string log = folder.path / "log";
    const bool works = run_script("has_packages.py", "", log);
    if (!works)
      WARN("skipped, no Python with torch, safetensors and numpy (NEXUML_TEST_PYTHON): " +
           bytes_of_file(log));
    return works;
  }();
  return there;
}

}  // namespace nexuml::test
