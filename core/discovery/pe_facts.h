// PeFacts: what a Windows library says about itself, read without a Windows. The counterpart of ElfFacts for
// the files that authors of several systems put into one folder.
#pragma once

#include <nexuml/diagnostic.h>

#include <optional>
#include <string>
#include <vector>

#include "discovery/file_bytes.h"

namespace nexuml {

struct PeFacts {
  std::string machine;                // "x86_64"
  std::string name;                   // the name that its exports give it: acme_audio.dll
  std::vector<std::string> needed;    // libraries that it imports, in order
  std::vector<std::string> exported;  // names, at most 4,096
  bool exports_entry = false;         // nexuml_library_entry_v1
  std::optional<std::string> note;    // the content of our section .nexuml: the payload of the ABI note
};

// Nothing after a problem was reported at `where`: E201 no PE file, E202 cut off or damaged, E204 no library.
// A pure function of bytes: bounded reads, checked arithmetic.
std::optional<PeFacts> read_pe_facts(const ByteSource& bytes, const Where& where, Diagnostics& problems);

}  // namespace nexuml
