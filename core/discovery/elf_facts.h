// ElfFacts: what a shared object says about itself, read without opening it.
//
// Opening bytes that nobody checked can end the process: a file cut off while it was copied raises SIGBUS
// inside the loader, and no handler helps. So everything the loader will rely on is checked here first, with
// bounded reads and checked arithmetic: a pure function of bytes.
#pragma once

#include <nexuml/diagnostic.h>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "discovery/file_bytes.h"

namespace nexuml {

// A version of a symbol that a library needs of another: GLIBCXX_3.4.30 of libstdc++.so.6.
struct VersionNeed {
  std::string file;
  std::string version;
  bool operator==(const VersionNeed&) const = default;
};

struct ElfFacts {
  std::string machine;  // "x86_64"
  std::string soname;
  std::string runpath;
  std::vector<std::string> needed;         // DT_NEEDED, in order
  std::vector<std::string> exported;       // defined dynamic symbols, at most 4,096
  bool exports_entry = false;              // nexuml_library_entry_v1
  std::vector<VersionNeed> version_needs;  // those that are not weak, at most 4,096
  bool static_tls = false;
  std::string build_id;             // hex
  std::optional<std::string> note;  // payload of our ABI note
};

// Null after a problem was reported at `where`: E201 not ELF, E202 truncated, E203 another machine, E204 not
// a shared object. A sound shared object without our note has neither note nor exports filled in: nothing
// more is read of it.
std::optional<ElfFacts> read_elf_facts(const ByteSource& bytes, const Where& where, Diagnostics& problems);

// Whether the file is a shared object with our note; never reports. For files that no manifest names.
bool has_nexuml_note(const ByteSource& bytes);

// The note of a shared object for another machine of 64 bits; nothing for other files.
struct ForeignElf {
  std::string machine;  // "aarch64"
  std::string note;
};
std::optional<ForeignElf> read_foreign_elf(const ByteSource& bytes);

// The content of a section, at most 64 MiB.
std::optional<std::string> read_elf_section(const ByteSource& bytes, std::string_view name);

// The strong dynamic symbols that a sound library leaves for others to define, at most 65,536.
std::vector<std::string> read_undefined_symbols(const ByteSource& bytes);

// The versions of symbols that a shared object defines: GLIBC_2.2.5, GLIBC_2.3, ... in its order.
std::vector<std::string> read_version_definitions(const ByteSource& bytes);

// The machine of this process, as ElfFacts spells it.
std::string_view host_machine() noexcept;

}  // namespace nexuml
