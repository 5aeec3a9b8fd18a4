#include "loading/libtorch.h"

#include <fmt/format.h>
#include <nexuml/value.h>

#include <filesystem>
#include <fstream>
#include <regex>

#include "discovery/abi.h"

namespace nexuml {
namespace {

namespace fs = std::filesystem;

bool holds_libtorch(const fs::path& folder) {
  std::error_code ignored;
  return fs::is_regular_file(folder / "libtorch_cpu.so", ignored);
}

// `folder` is LibTorch's lib folder, or a LibTorch, or a place with a torch folder in it.
std::string library_dir_in(const fs::path& folder) {
  for (const fs::path& candidate :
       {folder, folder / "lib", folder / "torch" / "lib", folder / "libtorch" / "lib"}) {
    if (holds_libtorch(candidate)) return candidate.string();
  }
  return {};
}

// The wheel tells its version in version.py, the archive in build-version.
std::string version_of(const fs::path& library_dir) {
  static const std::regex number("([0-9]+\\.[0-9]+\\.[0-9]+)");
  for (const char* name : {"version.py", "build-version"}) {
    std::ifstream file(library_dir.parent_path() / name);
    for (std::string line; std::getline(file, line);) {
      std::smatch found;
      if ((line.starts_with("__version__") || name[0] == 'b') && std::regex_search(line, found, number))
        return found[1];
    }
  }
  return {};
}

std::optional<LibTorchPlace> from_file(const std::string& path, const std::string& prefix,
                                       Diagnostics& problems) {
  const std::string text = read_text_file(path, problems);
  const Value document = problems.has_errors() ? Value() : parse_json(text, path, problems);
  const Value* dir = document.find("library_dir");
  const Value* version = document.find("version");
  if (!dir || !dir->is_string()) {
    problems.error("E408", "expected {\"library_dir\": \"/path\", \"version\": \"2.15.0\"}",
                   Where::in_file(path));
    return std::nullopt;
  }
  const fs::path folder = fs::path(prefix) / dir->as_string();  // a relative one belongs to the prefix
  if (!holds_libtorch(folder)) {
    problems
        .error("E408", "there is no libtorch_cpu.so in " + folder.string() + ", which this file names",
               Where::in_file(path))
        .hint = "set NEXUML_LIBTORCH to a LibTorch, or correct the file";
    return std::nullopt;
  }
  return LibTorchPlace{folder.string(),
                       version && version->is_string() ? version->as_string() : version_of(folder), path};
}

}  // namespace

std::optional<LibTorchPlace> find_libtorch(const Environment& environment, Diagnostics& problems) {
  if (const std::string named = environment.variable("NEXUML_LIBTORCH"); !named.empty()) {
    const std::string dir = library_dir_in(named);
    if (!dir.empty()) return LibTorchPlace{dir, version_of(dir), "NEXUML_LIBTORCH"};
    problems
        .error("E408", "NEXUML_LIBTORCH names no LibTorch: there is no libtorch_cpu.so in it",
               Where::in_file(named))
        .hint = "name a LibTorch folder, or the torch folder of a Python installation";
    return std::nullopt;
  }
  const std::string file = environment.host_prefix + "/etc/nexuml/libtorch.json";
  std::error_code ignored;
  if (fs::exists(file, ignored)) return from_file(file, environment.host_prefix, problems);
  if (const std::string dir = library_dir_in(environment.host_prefix + "/lib/nexuml/libtorch");
      !dir.empty()) {
    return LibTorchPlace{dir, version_of(dir), environment.host_prefix + "/lib/nexuml/libtorch"};
  }
  problems
      .error("E408", "no LibTorch was found: looked at NEXUML_LIBTORCH, " + file + " and " +
                         environment.host_prefix + "/lib/nexuml/libtorch")
      .hint = "set NEXUML_LIBTORCH to a LibTorch folder, or to the torch folder of a Python installation";
  return std::nullopt;
}

bool check_libtorch_version(const LibTorchPlace& place, Diagnostics& problems) {
  const auto built_for = host_abi().part("torch-");
  if (place.version.empty() || built_for.empty() || major_minor(place.version) == major_minor(built_for))
    return true;
  problems
      .error("E303",
             fmt::format("this host was built for LibTorch {}, found {} (from {})", built_for, place.version,
                         place.source),
             Where::in_file(place.library_dir))
      .hint = "set NEXUML_LIBTORCH to a LibTorch " + std::string(major_minor(built_for));
  return false;
}

}  // namespace nexuml
