#include "loading/open_library.h"

#include <fmt/format.h>

#include <boost/core/demangle.hpp>
#include <regex>

#include "loading/opened_files.h"
#include "loading/runpath.h"

namespace nexuml {
namespace {

// What nexuml_library_v1 measured in the first release. Libraries of that time keep their table however much
// today's grows; a field that came later is read only from a table whose own size covers it.
constexpr std::uint32_t first_table_size = 16;
static_assert(offsetof(nexuml_library_v1, register_components) + sizeof(void*) == first_table_size);

// `/path/lib.so: undefined symbol: _ZN3c105ErrorE` with the symbol as it stands in the source.
std::string demangled(const std::string& text) {
  static const std::regex symbol("_Z[A-Za-z0-9_.$]+");
  std::string result;
  auto rest = text.cbegin();
  for (std::sregex_iterator found(text.begin(), text.end(), symbol), end; found != end; ++found) {
    result.append(rest, text.cbegin() + found->position());
    result += boost::core::demangle(found->str().c_str());
    rest = text.cbegin() + found->position() + found->length();
  }
  return result.append(rest, text.cend());
}

// `boost::dll::shared_library::load() failed (dlerror system message: WORDS): Bad file descriptor`: the words.
std::string system_words(const std::string& text) {
  constexpr std::string_view before = "dlerror system message: ";
  const auto begin = text.find(before), end = text.rfind("): ");
  if (begin == text.npos || end == text.npos || end < begin) return text;
  return text.substr(begin + before.size(), end - begin - before.size());
}

void report_open_failure(const std::string& path, const std::string& text, const Where& where,
                         Diagnostics& problems) {
  if (text.find("cannot open shared object file") != std::string::npos) {
    problems.error("E403", "a library that it needs was not found: " + text + runpath_searched(path), where)
        .hint = "put it beside the library (it is looked for in its own folder), or install it";
    return;
  }
  auto& entry = problems.error("E402", "the system cannot open the library: " + demangled(text), where);
  if (text.find("undefined symbol") != std::string::npos) {
    entry.hint =
        "it was linked against another version of the library that defines this symbol; rebuild it with this "
        "host's SDK";
  }
}

// The loader was left in the middle of its work, which ends the process with many systems. This one got
// away with it; the library is a crash all the same.
void report_thrown_while_opening(const std::string& text, const Where& where, Diagnostics& problems) {
  problems
      .error("E405", "an exception left a static initialiser of the library: " + without_backtrace(text),
             where)
      .hint = "nobody can catch it there; do such work in NEXUML_LIBRARY instead";
}

}  // namespace

std::string without_backtrace(std::string text) {
  constexpr std::string_view first_line = "\nException raised from ", frame = "frame #";
  for (auto at = text.find(first_line); at != text.npos; at = text.find(first_line, at)) {
    auto end = text.find('\n', at + 1);
    while (end != text.npos && text.compare(end + 1, frame.size(), frame) == 0)
      end = text.find('\n', end + 1);
    text.erase(at, end == text.npos ? end : end - at);
  }
  return text;
}

std::optional<boost::dll::shared_library> open_shared(const std::string& path, const Where& where,
                                                      Diagnostics& problems) {
  const auto file = file_identity(path);
  if (file && was_replaced(path, *file)) {
    problems
        .error("E410", "the library was opened before by this process, and its file has been replaced since",
               where)
        .hint = "start a new process: what a process has opened it keeps to its end";
    return std::nullopt;
  }
  try {
    // The overload that throws is the one that keeps the system's message.
    boost::dll::shared_library library(path, static_cast<boost::dll::load_mode::type>(library_open_flags()));
    if (file) remember_opened(path, *file);
    return library;
  } catch (const std::exception& failure) {
    const std::string text = failure.what();
    if (text.starts_with("boost::dll::"))
      report_open_failure(path, system_words(text), where, problems);
    else
      report_thrown_while_opening(text, where, problems);
  } catch (...) {
    report_thrown_while_opening("an exception that is not a std::exception", where, problems);
  }
  return std::nullopt;
}

std::optional<StagedRegistration> open_library(const std::string& path, const Where& where,
                                               Diagnostics& problems) {
  const auto library = open_shared(path, where, problems);
  if (!library) return std::nullopt;
  keep_open(*library);
  if (!library->has(NEXUML_LIBRARY_ENTRY_SYMBOL)) {
    problems.error("E404", fmt::format("the library does not export {}", NEXUML_LIBRARY_ENTRY_SYMBOL), where)
        .hint = "write NEXUML_LIBRARY(registry) { ... } in one of its sources";
    return std::nullopt;
  }
  const auto entry = library->get<nexuml_library_v1*(void)>(NEXUML_LIBRARY_ENTRY_SYMBOL);
  const nexuml_library_v1* table = entry();
  if (!table || table->struct_size < first_table_size || !table->register_components) {
    problems.error("E404", "the library's entry returned no usable table", where);
    return std::nullopt;
  }
  StagedRegistration staged;
  Registration registration(staged);
  std::string failure;
  const nexuml_host_v1 host{sizeof(nexuml_host_v1), &registration,
                            [](void* context, const char* message) {
                              *static_cast<std::string*>(context) = message ? message : "";
                            },
                            &failure};
  if (table->register_components(&host) != 0) {
    problems.error("E407",
                   "the library failed while it registered its components: " + without_backtrace(failure),
                   where);
    return std::nullopt;
  }
  return staged;
}

}  // namespace nexuml
