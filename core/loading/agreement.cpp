#include "loading/agreement.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>

#include "discovery/manifest.h"

namespace nexuml {
namespace {

// Everything that a manifest promises, by a name that a person reads, with the hash of its fields.
using Promises = std::map<std::string, std::string>;

template <class Source>
Promises promises_of(const Source& source) {
  Promises promises;
  for (const auto& entry : source.definitions) promises[to_string(entry.identity)] = entry.schema_hash;
  for (const auto& entry : source.targets) promises["target " + entry.path] = entry.schema_hash;
  for (const auto& entry : source.scenarios)
    if (entry.file.empty()) promises["scenario " + entry.name] = entry.schema_hash;
  for (const auto& name : source.serializers) promises["serializer " + name] = "";
  return promises;
}

}  // namespace

bool agrees_with_manifest(const StagedRegistration& staged, const DeclaredLibrary& library,
                          Diagnostics& problems) {
  const Promises declared = promises_of(library);
  const Promises registered = promises_of(declare(staged));
  if (declared.empty() && library.manifest.empty()) return true;
  std::vector<std::string> missing, extra, different;
  for (const auto& [name, hash] : declared) {
    const auto found = registered.find(name);
    if (found == registered.end())
      missing.push_back(name);
    else if (!hash.empty() && found->second != hash)
      different.push_back(name);
  }
  for (const auto& [name, hash] : registered)
    if (!declared.contains(name)) extra.push_back(name);
  if (missing.empty() && extra.empty() && different.empty()) return true;

  std::vector<std::string> parts;
  if (!missing.empty())
    parts.push_back(fmt::format("declared but not registered: {}", fmt::join(missing, ", ")));
  if (!extra.empty()) parts.push_back(fmt::format("registered but not declared: {}", fmt::join(extra, ", ")));
  if (!different.empty())
    parts.push_back(fmt::format("other fields than declared: {}", fmt::join(different, ", ")));
  problems
      .error("E502", fmt::format("the library does not match its manifest; {}", fmt::join(parts, "; ")),
             Where::in_library(library.origin.library, library.manifest))
      .hint = "the manifest belongs to another build: build or copy both together";
  return false;
}

}  // namespace nexuml
