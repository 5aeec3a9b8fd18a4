#include <nexuml/libraries.h>

#include "discovery/discover.h"
#include "loading/library_loader.h"

namespace nexuml {

ComponentRegistry load_libraries(const LibrarySearch& search, Diagnostics& problems) {
  const Environment environment = process_environment();
  const SearchOptions options{
      .roots = search.roots, .prefixes = search.prefixes, .builtin_only = search.builtin_only};
  LibraryLoader loader(discover(options, environment), environment);
  for (Diagnostic entry : loader.catalog().diagnostics()) {
    entry.severity = std::min(entry.severity, Severity::warning);
    problems.add(std::move(entry));
  }
  loader.load_all(problems);
  return loader.registry();
}

}  // namespace nexuml
