#include <filesystem>
#include <string_view>

#include "discovery/elf_facts.h"
#include "loading/runpath.h"

namespace nexuml {

std::string runpath_searched(const std::string& path) {
  const FileBytes bytes(path);
  Diagnostics unreported;
  const auto facts =
      bytes.problem().empty() ? read_elf_facts(bytes, Where::in_file(path), unreported) : std::nullopt;
  if (!facts || !facts->note) return {};
  if (facts->runpath.empty()) return "; the library has no RUNPATH";
  const std::string origin = std::filesystem::absolute(path).parent_path().string();
  std::string folders = facts->runpath;
  for (const std::string_view name : {"${ORIGIN}", "$ORIGIN"})
    for (auto at = folders.find(name); at != folders.npos; at = folders.find(name, at + origin.size()))
      folders.replace(at, name.size(), origin);
  return "; the library's RUNPATH, which was searched: " + folders;
}

}  // namespace nexuml
