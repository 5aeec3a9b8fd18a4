// The LibTorch that this host uses, found by path and opened before anything that needs it.
#pragma once

#include <nexuml/diagnostic.h>

#include <optional>
#include <string>

#include "discovery/search.h"

namespace nexuml {

struct LibTorchPlace {
  std::string library_dir;  // holds libtorch_cpu.so
  std::string version;      // "2.15.0", empty where nothing tells it
  std::string source;       // "NEXUML_LIBTORCH", "/usr/local/etc/nexuml/libtorch.json"
};

// In this order: NEXUML_LIBTORCH (a LibTorch folder, or its lib folder), <prefix>/etc/nexuml/libtorch.json,
// <prefix>/lib/nexuml/libtorch. The first that is there decides. Opens nothing. E408 none or a wrong one.
std::optional<LibTorchPlace> find_libtorch(const Environment& environment, Diagnostics& problems);

// E303 when the runtime of this host was built against another major.minor.
bool check_libtorch_version(const LibTorchPlace& place, Diagnostics& problems);

}  // namespace nexuml
