#include "discovery/search.h"

#include <fmt/format.h>
#include <nexuml/value.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "discovery/system.h"

namespace nexuml {
namespace {

namespace fs = std::filesystem;

constexpr const char* variable_names[] = {
    "NEXUML_PREFIX_PATH",       "NEXUML_COMPONENT_PATH", "NEXUML_ADD_COMPONENT_PATH",
    "NEXUML_COMPONENT_DISABLE", "XDG_CONFIG_HOME",       "HOME",
    "NEXUML_LIBTORCH"};

// `~` and `~/x` with the home folder; other paths unchanged.
std::string with_home(const std::string& path, const Environment& environment) {
  const std::string home = environment.variable("HOME");
  if (home.empty() || !path.starts_with('~') || (path.size() > 1 && path[1] != '/')) return path;
  return home + path.substr(1);
}

void add_entry_points(std::vector<SearchPlace>& places, const std::string& prefix, bool expected) {
  places.push_back({SearchPlace::Kind::entry_points, prefix + "/share/nexuml/entry_points.d",
                    "entry points of " + prefix, expected});
}

}  // namespace

std::string Environment::variable(std::string_view name) const {
  const auto found = variables.find(name);
  return found == variables.end() ? std::string() : found->second;
}

std::string Environment::library_config_path() const {
  if (const std::string config = variable("XDG_CONFIG_HOME"); !config.empty())
    return config + "/nexuml/libraries.json";
  if (const std::string home = variable("HOME"); !home.empty())
    return home + "/.config/nexuml/libraries.json";
  return {};
}

Environment process_environment() {
  Environment environment;
  const OwnPlace own = own_place();
  if (!own.library.empty()) {
    std::error_code ignored;
    const fs::path folder = fs::canonical(own.library, ignored).parent_path();
    // Windows has its shared libraries beside its programs.
    const fs::path libraries = folder.filename() == "bin" ? folder.parent_path() / "lib" : folder;
    environment.host_prefix = folder.parent_path().generic_string();
    environment.components_dir = (libraries / "nexuml" / "components").generic_string();
  }
  environment.elevated = own.elevated;
  if (environment.elevated) return environment;
  for (const char* name : variable_names)
    if (const char* value = std::getenv(name)) environment.variables.emplace(name, value);
  return environment;
}

std::vector<std::string> split_paths(std::string_view list) {
  std::vector<std::string> parts;
  while (!list.empty()) {
    const auto end = std::min(list.find(path_separator), list.size());
    if (end > 0) parts.emplace_back(list.substr(0, end));
    list.remove_prefix(std::min(end + 1, list.size()));
  }
  return parts;
}

std::vector<SearchPlace> search_places(const Environment& environment, const SearchOptions& options,
                                       Diagnostics& problems) {
  std::vector<SearchPlace> places;
  for (const auto& root : options.first_roots)
    places.push_back({SearchPlace::Kind::components, root, "named first", true});
  places.push_back({SearchPlace::Kind::components, environment.components_dir, "shipped", false});
  if (options.builtin_only) return places;

  add_entry_points(places, environment.host_prefix, false);
  for (const auto& prefix : split_paths(environment.variable("NEXUML_PREFIX_PATH")))
    add_entry_points(places, prefix, false);
  for (const auto& prefix : options.prefixes) add_entry_points(places, prefix, true);

  const auto add_root = [&](const std::string& path, const char* source) {
    places.push_back({SearchPlace::Kind::components, with_home(path, environment), source, true});
  };
  const std::string config = environment.library_config_path();
  if (const std::string paths = environment.variable("NEXUML_COMPONENT_PATH"); !paths.empty()) {
    for (const auto& root : split_paths(paths)) add_root(root, "NEXUML_COMPONENT_PATH");
  } else if (!config.empty()) {
    for (const auto& root : LibraryConfig::read(config, problems).roots) add_root(root, "configured root");
  }
  for (const auto& root : split_paths(environment.variable("NEXUML_ADD_COMPONENT_PATH"))) {
    add_root(root, "NEXUML_ADD_COMPONENT_PATH");
  }
  for (const auto& root : options.roots) add_root(root, "--root");
  return places;
}

LibraryConfig LibraryConfig::read(const std::string& path, Diagnostics& problems) {
  LibraryConfig config;
  std::error_code ignored;
  if (!fs::exists(path, ignored)) return config;
  Diagnostics found;
  const std::string text = read_text_file(path, found);
  const Value document = found.has_errors() ? Value() : parse_json(text, path, found);
  const Value* roots = document.find("roots");
  const bool sound = !found.has_errors() && roots && roots->is_list() &&
                     std::ranges::all_of(roots->items(), [](const Value& root) { return root.is_string(); });
  if (!sound) {
    const std::string detail =
        found.empty() ? "expected {\"roots\": [\"/path\", ...]}" : found.entries().front().message;
    problems
        .warning("W107", "the configured roots cannot be read and are left out: " + detail,
                 Where::in_file(path))
        .hint = "mend the file, or delete it and use nexuml-run library add";
    return config;
  }
  for (const Value& root : roots->items())
    if (!root.as_string().empty()) config.roots.push_back(root.as_string());
  return config;
}

void LibraryConfig::write(const std::string& path) const {
  const auto fail = [&](const std::string& why) {
    throw Error("E108", "the configuration cannot be written: " + why, Where::in_file(path));
  };
  std::error_code problem;
  fs::create_directories(fs::path(path).parent_path(), problem);
  if (problem) fail(problem.message());
  const std::string partial = path + ".partial";
  {
    std::ofstream file(partial, std::ios::trunc);
    file << write_json(Value::map({{"roots", Value(roots)}})) << '\n';
    file.close();
    if (!file) fail("writing " + partial + " failed");
  }
  fs::rename(partial, path, problem);
  if (problem) fail(problem.message());
}

}  // namespace nexuml
