// Any bytes: a manifest is read or refused with a reason, and what was read survives writing and reading
// again. The same bytes as its second part, the schemas.
#include <cstdint>
#include <cstdlib>

#include "discovery/manifest.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  nexuml::Diagnostics problems, of_schemas;
  const auto manifest = nexuml::read_manifest(text, "fuzz.nexuml.json", problems);
  if (manifest.has_value() != problems.empty()) std::abort();
  nexuml::read_schemas(text, "fuzz.nexuml-schemas.json", of_schemas);
  if (!manifest) return 0;
  nexuml::Diagnostics again;
  const auto twice = nexuml::read_manifest(nexuml::write_manifest(*manifest), "again.nexuml.json", again);
  if (!twice || twice->library_id != manifest->library_id || twice->definitions != manifest->definitions ||
      twice->targets != manifest->targets || twice->abi != manifest->abi)
    std::abort();
  return 0;
}
