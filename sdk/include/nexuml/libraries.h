// Component libraries in a program of one's own.
//
//     Diagnostics problems;
//     ComponentRegistry registry = load_libraries({.roots = {"/srv/components"}}, problems);
//     AnyLayer encoder = registry.layer("LinearEncoder", {{"output_dim", 8}});
//
// The places are those of nexuml-run: the libraries shipped with the runtime, entry points, the roots of the
// environment and of the user's configuration, and then `roots`.
#pragma once

#include <nexuml/diagnostic.h>
#include <nexuml/export.h>
#include <nexuml/registry.h>

#include <string>
#include <vector>

namespace nexuml {

struct LibrarySearch {
  std::vector<std::string> roots = {};     // folders with component folders, after all others
  std::vector<std::string> prefixes = {};  // installations whose entry points are searched
  bool builtin_only = false;               // only the shipped libraries
};

// Opens every usable library. One that cannot be used is a warning in `problems` and hides no other. The code
// of libraries stays loaded until the process ends. [one thread; the registry: any thread]
NEXUML_EXPORT ComponentRegistry load_libraries(const LibrarySearch& search, Diagnostics& problems);

}  // namespace nexuml
