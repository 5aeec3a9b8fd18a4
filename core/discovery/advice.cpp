#include "discovery/advice.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nexuml/registration.h>

#include <algorithm>

namespace nexuml {
namespace {

constexpr std::size_t named_symbols = 5;  // symbols in a message

// Functions that stand in the shared library alone, never inline in a header, by the start of their names.
struct Marker {
  std::string_view symbol, library;
};
constexpr Marker markers[] = {{"_ZN2at4_ops", "LibTorch"},
                              {"_ZN3c106detail14torchCheckFail", "LibTorch"},
                              {"_ZN3tbb6detail2r1", "oneTBB"},
                              {"_ZN6google8protobuf14DescriptorPool", "protobuf"}};

// A library that is in the process already and was linked into this one once more; empty where there is none.
std::string_view second_copy(const ElfFacts& facts) {
  for (const Marker& marker : markers)
    for (const auto& name : facts.exported)
      if (name.starts_with(marker.symbol)) return marker.library;
  return {};
}

}  // namespace

void advise(const ElfFacts& facts, const std::vector<std::string>& undefined, const Where& where,
            Diagnostics& problems) {
  if (facts.static_tls) {
    problems
        .warning("W602",
                 "it has thread-local variables at a fixed place, of which a process has room for few", where)
        .hint = "compile without -ftls-model=initial-exec; a static library linked in may bring them, too";
  }
  std::vector<std::string> extra;
  for (const auto& name : facts.exported)
    if (!name.starts_with("nexuml_library_entry_v")) extra.push_back(name);
  if (!extra.empty()) {
    const std::size_t count = extra.size();
    extra.resize(std::min(count, named_symbols));
    problems
        .warning("W603",
                 fmt::format("it shows {} symbol{} beside its entry: {}{}", count, count == 1 ? "" : "s",
                             fmt::join(extra, ", "), count > named_symbols ? ", ..." : ""),
                 where)
        .hint =
        "nexuml_add_library hides them with its version script; a second script must not show them again";
  }
  if (const auto copy = second_copy(facts); !copy.empty()) {
    problems
        .warning(
            "W607",
            fmt::format("a copy of {} is linked into it: two in one process end it or mix their state", copy),
            where)
        .hint = "link the shared library, which the host has open already";
  }
  for (const auto& needed : facts.needed) {
    // LibTorch brings the OpenMP that is used.
    if (!needed.starts_with("libgomp") && !needed.starts_with("libiomp5") && !needed.starts_with("libomp"))
      continue;
    problems
        .warning(
            "W604",
            fmt::format("it needs {}: beside LibTorch's, that may be a second OpenMP in the process", needed),
            where)
        .hint = "build without -fopenmp; use oneTBB or at::parallel_for";
  }
  if (registers_operators(undefined)) {
    problems
        .warning("W606",
                 "it registers operators with LibTorch (TORCH_LIBRARY): a second version of it in one "
                 "process ends "
                 "that process",
                 where)
        .hint = "offer functions as targets instead, or put the version into the operators' namespace";
  }
}

bool registers_operators(const std::vector<std::string>& undefined) {
  // A constructor of torch::Library, of which the macros are made.
  return std::ranges::any_of(undefined,
                             [](const std::string& name) { return name.starts_with("_ZN5torch7LibraryC"); });
}

}  // namespace nexuml
