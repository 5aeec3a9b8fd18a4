// LibraryFacts: what discovery needs to know of a library's file, in the format of the system it runs on:
// ELF, or PE on Windows. Read without opening the library.
#pragma once

#include <nexuml/diagnostic.h>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "discovery/elf_facts.h"
#include "discovery/file_bytes.h"

namespace nexuml {

struct LibraryFacts {
  std::string build_id;             // hex; empty where the format has none
  bool exports_entry = false;       // nexuml_library_entry_v1
  std::optional<std::string> note;  // payload of our ABI note
  std::vector<VersionNeed> version_needs;
  std::vector<std::string> needed;  // libraries that it links, in order
};

// Nothing after a problem was reported at `where`: E201 to E204.
std::optional<LibraryFacts> read_library_facts(const ByteSource& bytes, const Where& where,
                                               Diagnostics& problems);

// The content of a section, where the format keeps names of that length.
std::optional<std::string> read_library_section(const ByteSource& bytes, std::string_view name);

// Whether the file is a library of this system with our note; never reports.
bool is_own_library(const ByteSource& bytes);

// The payload of the note in a library for another system or machine, and what that is: "Windows (x86_64)",
// "aarch64". Nothing for other files.
struct ForeignLibrary {
  std::string note;
  std::string system;
};
std::optional<ForeignLibrary> read_foreign_library(const ByteSource& bytes);

// E305 where the system's C and C++ libraries are older than what is needed.
bool check_system_versions(const std::vector<VersionNeed>& needs, const Where& where, Diagnostics& problems);

}  // namespace nexuml
