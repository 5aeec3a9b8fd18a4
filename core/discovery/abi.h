// AbiFacts: what a library was built for, read from its manifest or its note, and whether this host has it.
#pragma once

#include <nexuml/diagnostic.h>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace nexuml {

struct AbiFacts {
  std::string interface_version;  // "1.0"
  std::string tag;                // "x86_64-linux-gnu;libstdcxx-cxx11;torch-2.15.0+cu132;tbb-12"
  std::string compiler;           // "GNU 12.2.0"; only told, never compared
  std::string processor = {};     // "x86-64-v3"; empty: any of this machine
  std::string preloaded_sanitizer =
      {};  // of a host whose process has its runtime without being built with it

  // A part of the tag by its prefix: part("torch-") is "2.15.0+cu132". Empty where the tag has none.
  std::string_view part(std::string_view prefix) const noexcept;
  std::string_view machine() const noexcept;  // the first part
  std::string_view standard_library() const noexcept;
  bool operator==(const AbiFacts&) const = default;
};

// The payload of the note.
struct AbiNote {
  std::string library_id;
  std::string library_version;
  AbiFacts abi;
};

// What this build of the host was made with. Its LibTorch part is empty in a build without the runtime.
const AbiFacts& host_abi();

// E206 for a payload that is not ours or of a newer form.
std::optional<AbiNote> read_note(const std::string& payload, const Where& where, Diagnostics& problems);

// Reports every difference at `where`, built-for against host-has, and returns whether there is none: E301
// interface, E302 standard library, E303 LibTorch, E304 TBB, E306 processor level, E307 sanitizer, E203
// machine. LibTorch matches on major.minor; its flavour alone makes no difference, see check_flavour.
bool check_abi(const AbiFacts& library, const AbiFacts& host, const Where& where, Diagnostics& problems);

// E306 alone: the one part that stands in the note and not in the manifest.
bool check_processor(const AbiFacts& library, const AbiFacts& host, const Where& where,
                     Diagnostics& problems);

// E303 for a library that needs one of LibTorch's libraries for a device (`needed`, such as libc10_cuda.so)
// and was built with another flavour: the parts for the CPU are the same in all.
bool check_flavour(const AbiFacts& library, const AbiFacts& host, const std::vector<std::string>& needed,
                   const Where& where, Diagnostics& problems);

// "2.15" of "2.15.0+cpu".
std::string_view major_minor(std::string_view version) noexcept;

}  // namespace nexuml
