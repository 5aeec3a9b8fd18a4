// A signal as a person reads it.
#pragma once

#include <fmt/format.h>
#include <string.h>

#include <string>

namespace nexuml {

// "SIGABRT (Aborted)"
inline std::string signal_words(int signal) {
  const char* name = ::sigabbrev_np(signal);
  const char* description = ::sigdescr_np(signal);
  return fmt::format("SIG{} ({})", name ? name : "?", description ? description : "unknown");
}

}  // namespace nexuml
