// Any bytes: parse_yaml neither crashes nor hangs, refuses with a reason, and what it accepts survives
// writing and reading again.
#include <nexuml/value.h>

#include <cstdint>
#include <cstdlib>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  nexuml::Diagnostics problems;
  const nexuml::Value value = nexuml::parse_yaml(text, "fuzz.yaml", problems);
  if (!problems.empty()) {
    if (!value.is_null() || problems.to_text().empty()) std::abort();
    return 0;
  }
  nexuml::Diagnostics problems_again;
  const nexuml::Value again = nexuml::parse_yaml(nexuml::write_yaml(value), "again.yaml", problems_again);
  if (!problems_again.empty() || !(again == value)) std::abort();
  return 0;
}
