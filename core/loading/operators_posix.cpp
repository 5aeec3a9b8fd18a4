#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>

#include "discovery/elf_facts.h"
#include "loading/operators.h"
#include "loading/probe.h"

namespace nexuml {

bool registers_operators(const std::string& path) {
  const FileBytes bytes(path);
  // A constructor of torch::Library, of which TORCH_LIBRARY and its kin are made.
  return bytes.problem().empty() &&
         std::ranges::any_of(read_undefined_symbols(bytes),
                             [](const std::string& name) { return name.starts_with("_ZN5torch7LibraryC"); });
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
