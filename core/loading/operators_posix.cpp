#include <fmt/format.h>
#include <fmt/ranges.h>

#include <filesystem>

#include "discovery/advice.h"
#include "loading/operators.h"
#include "loading/probe.h"

namespace nexuml {

bool registers_operators(const std::string& path) {
  const FileBytes bytes(path);
  return bytes.problem().empty() && registers_operators(read_undefined_symbols(bytes));
}

bool opens_beside(const DeclaredLibrary& library, const std::vector<const DeclaredLibrary*>& opened,
                  const Environment& environment, Diagnostics& problems) {
  const std::string host = environment.host_prefix + "/bin/nexuml-run";
  std::error_code ignored;
  if (opened.empty() || !std::filesystem::exists(host, ignored)) return true;
  std::vector<std::string> paths, names;
  for (const auto* other : opened) {
    paths.push_back(other->origin.path);
    names.push_back(other->origin.library);
  }
  Value request = probe_request("open", library);
  request.set("beside", Value(paths));
  Diagnostics found;
  Prober({.host = host}).ask(std::move(request), found);
  for (Diagnostic entry : found) {
    entry.where.library = library.origin.library;
    entry.message = fmt::format("opened beside {}, with which it shares LibTorch's operators: {}",
                                fmt::join(names, ", "), entry.message);
    problems.add(std::move(entry));
  }
  return !found.has_errors();
}

}  // namespace nexuml
