// Where libraries are looked for: environment, configured roots, command line, in their order.
#pragma once

#include <nexuml/diagnostic.h>

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace nexuml {

// What the search reads of the process it runs in; tests give their own.
struct Environment {
  std::string host_prefix;     // <prefix> of <prefix>/bin/nexuml-run
  std::string components_dir;  // the shipped libraries, <prefix>/lib/nexuml/components
  std::map<std::string, std::string, std::less<>> variables;
  bool elevated =
      false;  // more rights than the user who started it: variables and user roots are not trusted

  // Empty where it is not set.
  std::string variable(std::string_view name) const;
  // $XDG_CONFIG_HOME/nexuml/libraries.json; empty without a home.
  std::string library_config_path() const;
};

// Of this process: the prefix is found from where libnexuml-core lies.
Environment process_environment();

// What the command line says.
struct SearchOptions {
  std::vector<std::string> first_roots;  // before the shipped libraries: what `validate` is to look at
  std::vector<std::string> roots;        // --root
  std::vector<std::string> prefixes;     // --prefix
  std::vector<std::string> use;          // --use id=version
  bool builtin_only = false;             // --builtin-only
};

struct SearchPlace {
  enum class Kind { components, entry_points };
  Kind kind = Kind::components;
  std::string path;
  std::string source;     // "shipped", "entry points of /usr", "configured root", ...
  bool expected = false;  // a place that is missing is worth a word: somebody named it
};

// In the order of precedence. Problems: a libraries.json that cannot be read (W107).
std::vector<SearchPlace> search_places(const Environment& environment, const SearchOptions& options,
                                       Diagnostics& problems);

// libraries.json: {"roots": ["/abs/path", ...]}.
struct LibraryConfig {
  std::vector<std::string> roots;

  // A missing file is an empty configuration; a damaged one is W107 and empty.
  static LibraryConfig read(const std::string& path, Diagnostics& problems);
  // Written beside and renamed. Throws Error E108.
  void write(const std::string& path) const;
};

std::vector<std::string> split_paths(std::string_view list);  // at ':', empty parts dropped

}  // namespace nexuml
