// Any bytes as the payload of an ABI note: read or refused with a reason, and compared with this host's
// without harm.
#include <cstdint>
#include <cstdlib>

#include "discovery/abi.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  nexuml::Diagnostics problems, differences;
  const auto note = nexuml::read_note(std::string(reinterpret_cast<const char*>(data), size), {}, problems);
  if (note.has_value() == problems.has_errors()) std::abort();
  if (note && nexuml::check_abi(note->abi, nexuml::host_abi(), {}, differences) == differences.has_errors())
    std::abort();
  return 0;
}
