#include "discovery/abi.h"

#include <nexuml/abi.h>
#include <nexuml/value.h>

#include <algorithm>
#include <charconv>

#if defined(__linux__)
#include <dlfcn.h>
#endif

namespace nexuml {
namespace {

constexpr const char* rebuild =
    "rebuild the library with this host's SDK, or use a build that was made for it";

// "1.2" -> {1, 2}; {-1, -1} for other text.
std::pair<int, int> interface_numbers(std::string_view text) {
  int major = -1, minor = -1;
  const char* end = text.data() + text.size();
  const auto [dot, problem] = std::from_chars(text.data(), end, major);
  if (problem != std::errc() || dot == end || *dot != '.') return {-1, -1};
  const auto [rest, second] = std::from_chars(dot + 1, end, minor);
  return second == std::errc() && rest == end ? std::pair(major, minor) : std::pair(-1, -1);
}

// The levels of the x86-64 psABI.
std::string processor_level() {
#if defined(__x86_64__) && (defined(__GNUC__) || defined(__clang__))
  const auto has_v2 = [] { return __builtin_cpu_supports("sse4.2") && __builtin_cpu_supports("popcnt"); };
  const auto has_v3 = [] {
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi2") && __builtin_cpu_supports("fma");
  };
  const auto has_v4 = [] {
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
           __builtin_cpu_supports("avx512vl");
  };
  __builtin_cpu_init();
  if (!has_v2()) return "x86-64";
  if (!has_v3()) return "x86-64-v2";
  return has_v4() ? "x86-64-v4" : "x86-64-v3";
#else
  return {};
#endif
}

// A sanitizer's runtime that was preloaded into a process built without one: such a process takes both kinds
// of libraries.
std::string sanitizer_of_process() {
#if defined(__linux__)
  if (::dlsym(RTLD_DEFAULT, "__asan_init")) return "address";
  if (::dlsym(RTLD_DEFAULT, "__tsan_init")) return "thread";
#endif
  return {};
}

// 3 of x86-64-v3; 0 where no level is told.
int level_number(std::string_view processor) {
  return processor.starts_with("x86-64-v") && processor.size() == 9 ? processor.back() - '0' : 0;
}

// "cu132" of "2.15.0+cu132"; empty where none is told.
std::string_view flavour(std::string_view version) {
  const auto plus = version.find('+');
  return plus == std::string_view::npos ? std::string_view() : version.substr(plus + 1);
}

// Whether a file is one of LibTorch's own for a device: libtorch_cuda.so, c10_hip.dll.
bool is_for_a_device(std::string_view file) {
  if (file.starts_with("lib")) file.remove_prefix(3);
  for (std::string_view part : {"torch_cuda", "c10_cuda", "torch_hip", "c10_hip", "torch_xpu", "c10_xpu"})
    if (file.starts_with(part)) return true;
  return false;
}

std::string text_field(const Value& map, std::string_view key) {
  const Value* value = map.find(key);
  return value && value->is_string() ? value->as_string() : std::string();
}

}  // namespace

std::string_view AbiFacts::part(std::string_view prefix) const noexcept {
  for (std::string_view rest = tag; !rest.empty();) {
    const auto end = rest.find(';');
    const auto part = rest.substr(0, end);
    if (part.starts_with(prefix)) return part.substr(prefix.size());
    if (end == std::string_view::npos) break;
    rest.remove_prefix(end + 1);
  }
  return {};
}

std::string_view AbiFacts::machine() const noexcept {
  return std::string_view(tag).substr(0, tag.find(';'));
}

std::string_view AbiFacts::standard_library() const noexcept {
  for (std::string_view prefix : {"libstdcxx-", "libcxx-", "stdlib-"}) {
    if (const auto part = this->part(prefix); !part.empty()) {
      return {part.data() - prefix.size(), part.size() + prefix.size()};
    }
  }
  return {};
}

const AbiFacts& host_abi() {
  static const AbiFacts facts{NEXUML_INTERFACE_VERSION, NEXUML_ABI_TAG, NEXUML_ABI_COMPILER,
                              processor_level(), sanitizer_of_process()};
  return facts;
}

std::string_view major_minor(std::string_view version) noexcept {
  const auto first = version.find('.');
  return first == std::string_view::npos ? version : version.substr(0, version.find('.', first + 1));
}

std::optional<AbiNote> read_note(const std::string& payload, const Where& where, Diagnostics& problems) {
  Diagnostics syntax;
  const Value note = parse_json(payload, where.file, syntax);
  if (syntax.has_errors() || !note.is_map()) {
    problems.error("E206", "the ABI note in the library is damaged: expected one line of JSON", where);
    return std::nullopt;
  }
  const Value* form = note.find("note_version");
  if (!form || !form->is_integer() || form->as_integer() != 1) {
    problems
        .error("E206",
               "the ABI note has form " + (form ? write_json(*form) : std::string("unknown")) +
                   ", this host reads form 1",
               where)
        .hint =
        form && form->is_integer() && form->as_integer() < 1 ? rebuild : "use a host as new as the library";
    return std::nullopt;
  }
  AbiNote result{text_field(note, "id"),
                 text_field(note, "version"),
                 {text_field(note, "nexuml"), text_field(note, "tag"), text_field(note, "compiler"),
                  text_field(note, "processor")}};
  if (result.library_id.empty() || result.abi.interface_version.empty() || result.abi.tag.empty()) {
    problems.error("E206", "the ABI note lacks id, nexuml or tag", where);
    return std::nullopt;
  }
  return result;
}

bool check_processor(const AbiFacts& library, const AbiFacts& host, const Where& where,
                     Diagnostics& problems) {
  if (host.processor.empty() || level_number(library.processor) <= level_number(host.processor)) return true;
  problems
      .error("E306",
             "built for processors of level " + library.processor + ", this one has " + host.processor, where)
      .hint =
      "build the library without -march=native, or for the level of the oldest machine that is to run it";
  return false;
}

bool check_flavour(const AbiFacts& library, const AbiFacts& host, const std::vector<std::string>& needed,
                   const Where& where, Diagnostics& problems) {
  const auto built_for = library.part("torch-"), has = host.part("torch-");
  const auto device = std::ranges::find_if(needed, is_for_a_device);
  if (device == needed.end() || flavour(built_for).empty() || flavour(has).empty() ||
      flavour(built_for) == flavour(has))
    return true;
  problems
      .error("E303",
             "needs " + *device + " of LibTorch " + std::string(built_for) + ", this host has " +
                 std::string(has),
             where)
      .hint = rebuild;
  return false;
}

bool check_abi(const AbiFacts& library, const AbiFacts& host, const Where& where, Diagnostics& problems) {
  bool same = true;
  const auto differ = [&](const char* code, const std::string& what, std::string_view built_for,
                          std::string_view has) {
    problems
        .error(code,
               "built for " + what + " " + std::string(built_for) + ", this host has " + std::string(has),
               where)
        .hint = rebuild;
    same = false;
  };
  const auto [major, minor] = interface_numbers(library.interface_version);
  const auto [host_major, host_minor] = interface_numbers(host.interface_version);
  if (major != host_major || minor > host_minor) {
    differ("E301", "NexuML interface", library.interface_version, host.interface_version);
  }
  // A part that either side lacks says nothing: a library without tensors names no LibTorch.
  const auto compare = [&](const char* code, const char* what, std::string_view built_for,
                           std::string_view has, auto significant) {
    if (!built_for.empty() && !has.empty() && significant(built_for) != significant(has)) {
      differ(code, what, built_for, has);
    }
  };
  constexpr auto all = [](std::string_view text) { return text; };
  compare("E203", "machine", library.machine(), host.machine(), all);
  compare("E302", "C++ standard library", library.standard_library(), host.standard_library(), all);
  compare("E303", "LibTorch", library.part("torch-"), host.part("torch-"), major_minor);
  compare("E304", "TBB", library.part("tbb-"), host.part("tbb-"), all);
  same = check_processor(library, host, where, problems) && same;
  if (library.part("sanitizer-") != host.part("sanitizer-") &&
      library.part("sanitizer-") != host.preloaded_sanitizer) {
    const auto name = [](std::string_view part) { return part.empty() ? std::string_view("none") : part; };
    differ("E307", "sanitizer", name(library.part("sanitizer-")), name(host.part("sanitizer-")));
  }
  return same;
}

}  // namespace nexuml
