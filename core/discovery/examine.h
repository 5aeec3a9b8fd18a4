// One candidate, examined: manifest read, library file checked, ABI compared. Opens nothing.
#pragma once

#include <optional>

#include "discovery/abi.h"
#include "discovery/candidates.h"
#include "discovery/file_bytes.h"
#include "registry/catalog.h"

namespace nexuml {

struct Examined {
  DeclaredLibrary library;
  std::size_t place = 0;
  std::optional<FileIdentity> file;  // of the library
};

// Nothing when not even the library's id could be read; otherwise the entry, possibly broken or incompatible.
// At most one error is reported for a candidate, with every difference of the ABI in a report of its own.
std::optional<Examined> examine(const Candidate& candidate, const AbiFacts& host, Diagnostics& problems);

}  // namespace nexuml
