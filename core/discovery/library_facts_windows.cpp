#include <nexuml/abi.h>

#include "discovery/library_facts.h"
#include "discovery/pe_facts.h"

namespace nexuml {

std::optional<LibraryFacts> read_library_facts(const ByteSource& bytes, const Where& where,
                                               Diagnostics& problems) {
  auto facts = read_pe_facts(bytes, where, problems);
  if (!facts) return std::nullopt;
  if (facts->machine != host_machine()) {
    problems
        .error("E203", "built for " + facts->machine + ", this host runs on " + std::string(host_machine()),
               where)
        .hint = "use the library's build for this machine";
    return std::nullopt;
  }
  return LibraryFacts{{}, facts->exports_entry, std::move(facts->note), {}, std::move(facts->needed)};
}

// A section's name has eight letters here, ours are longer: the manifest stands beside the library.
std::optional<std::string> read_library_section(const ByteSource&, std::string_view) {
  return std::nullopt;
}

bool is_own_library(const ByteSource& bytes) {
  Diagnostics unreported;
  const auto facts = read_pe_facts(bytes, {}, unreported);
  return facts && facts->note;
}

std::optional<ForeignLibrary> read_foreign_library(const ByteSource&) {
  return std::nullopt;
}

// The runtime libraries of a compiler come with what it compiled.
bool check_system_versions(const std::vector<VersionNeed>&, const Where&, Diagnostics&) {
  return true;
}

std::string_view host_machine() noexcept {
  return NEXUML_ABI_MACHINE;
}

}  // namespace nexuml
