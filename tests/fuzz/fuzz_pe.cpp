// Any bytes: the reader of Windows libraries neither crashes nor hangs, and refuses with a reason.
#include <cstdint>
#include <cstdlib>

#include "discovery/pe_facts.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const nexuml::MemoryBytes bytes(std::string_view(reinterpret_cast<const char*>(data), size));
  nexuml::Diagnostics problems;
  const auto facts = nexuml::read_pe_facts(bytes, nexuml::Where::in_file("fuzz.dll"), problems);
  if (facts.has_value() == problems.has_errors()) std::abort();
  return 0;
}
