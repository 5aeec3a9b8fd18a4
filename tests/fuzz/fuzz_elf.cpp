// Any bytes: the readers of shared objects neither crash nor hang, and refuse with a reason.
#include <cstdint>
#include <cstdlib>

#include "discovery/elf_facts.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const nexuml::MemoryBytes bytes(std::string_view(reinterpret_cast<const char*>(data), size));
  nexuml::Diagnostics problems;
  const auto facts = nexuml::read_elf_facts(bytes, nexuml::Where::in_file("fuzz.so"), problems);
  if (facts.has_value() == problems.has_errors()) std::abort();
  nexuml::has_nexuml_note(bytes);
  nexuml::read_undefined_symbols(bytes);
  nexuml::read_version_definitions(bytes);
  nexuml::read_elf_section(bytes, ".nexuml.manifest");
  return 0;
}
