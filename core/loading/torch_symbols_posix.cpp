#include <dlfcn.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <boost/core/demangle.hpp>
#include <vector>

#include "discovery/abi.h"
#include "discovery/elf_facts.h"
#include "loading/torch_symbols.h"

namespace nexuml {
namespace {

constexpr std::size_t named_in_message = 3;  // functions in a message

// _ZN2at..., _ZNK3c10..., _ZTIN5torch...
bool is_of_libtorch(std::string_view mangled) {
  if (!mangled.starts_with("_Z")) return false;
  mangled.remove_prefix(2);
  for (const std::string_view special : {"TI", "TV", "TS", "TT", "GV", "TW", "TH"})
    if (mangled.starts_with(special)) {
      mangled.remove_prefix(special.size());
      break;
    }
  if (!mangled.starts_with('N')) return false;
  mangled.remove_prefix(1);
  mangled.remove_prefix(std::min(mangled.find_first_not_of("VKRO"), mangled.size()));
  return mangled.starts_with("2at") || mangled.starts_with("3c10") || mangled.starts_with("5torch");
}

// Parts of LibTorch that this host does not open by itself: what a library links of them it brings.
bool brings_its_own(const std::vector<std::string>& needed) {
  return std::ranges::any_of(needed, [](const std::string& name) {
    const bool part = name.starts_with("libtorch") || name.starts_with("libc10");
    return part && !name.starts_with("libtorch_cpu.") && !name.starts_with("libtorch.so") &&
           !name.starts_with("libc10.");
  });
}

}  // namespace

bool check_torch_symbols(const std::string& path, const Where& where, Diagnostics& problems) {
  const FileBytes bytes(path);
  Diagnostics reported_by_the_scan;
  const auto facts =
      bytes.problem().empty() ? read_elf_facts(bytes, where, reported_by_the_scan) : std::nullopt;
  if (!facts || brings_its_own(facts->needed)) return true;
  // Its own dependencies belong to the search: libc10 is one of them.
  void* libtorch = ::dlopen("libtorch_cpu.so", RTLD_LAZY | RTLD_NOLOAD);
  if (!libtorch) return true;
  std::vector<std::string> missing;
  for (const auto& name : read_undefined_symbols(bytes)) {
    if (is_of_libtorch(name) && !::dlsym(libtorch, name.c_str()))
      missing.push_back(boost::core::demangle(name.c_str()));
  }
  ::dlclose(libtorch);
  if (missing.empty()) return true;
  const std::size_t count = missing.size();
  std::ranges::sort(missing);
  missing.resize(std::min(count, named_in_message));
  const auto note = facts->note ? read_note(*facts->note, where, reported_by_the_scan) : std::nullopt;
  const std::string_view built_for = note ? note->abi.part("torch-") : std::string_view();
  problems
      .error("E303",
             fmt::format(
                 "it uses {} of LibTorch that this host's {} does not have: {}{}; its note says built for {}",
                 count == 1 ? "a symbol" : fmt::format("{} symbols", count), host_abi().part("torch-"),
                 fmt::join(missing, ", "), count > named_in_message ? ", ..." : "",
                 built_for.empty() ? "none" : built_for),
             where)
      .hint = "rebuild the library with this host's SDK, and with headers and libraries of one LibTorch";
  return false;
}

}  // namespace nexuml
