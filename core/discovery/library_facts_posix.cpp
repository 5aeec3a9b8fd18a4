#include "discovery/host_versions.h"
#include "discovery/library_facts.h"
#include "discovery/pe_facts.h"

namespace nexuml {

std::optional<LibraryFacts> read_library_facts(const ByteSource& bytes, const Where& where,
                                               Diagnostics& problems) {
  auto facts = read_elf_facts(bytes, where, problems);
  if (!facts) return std::nullopt;
  return LibraryFacts{std::move(facts->build_id), facts->exports_entry, std::move(facts->note),
                      std::move(facts->version_needs), std::move(facts->needed)};
}

std::optional<std::string> read_library_section(const ByteSource& bytes, std::string_view name) {
  return read_elf_section(bytes, name);
}

bool is_own_library(const ByteSource& bytes) {
  return has_nexuml_note(bytes);
}

std::optional<ForeignLibrary> read_foreign_library(const ByteSource& bytes) {
  if (auto elf = read_foreign_elf(bytes))
    return ForeignLibrary{std::move(elf->note), std::move(elf->machine)};
  Diagnostics unreported;
  auto facts = read_pe_facts(bytes, {}, unreported);
  if (!facts || !facts->note) return std::nullopt;
  return ForeignLibrary{std::move(*facts->note), "Windows (" + facts->machine + ")"};
}

bool check_system_versions(const std::vector<VersionNeed>& needs, const Where& where, Diagnostics& problems) {
  return check_version_needs(needs, host_versions(), where, problems);
}

}  // namespace nexuml
