#include "loading/open_library.h"

#include <fmt/format.h>

#include <boost/core/demangle.hpp>
#include <regex>

namespace nexuml {
namespace {

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

// LibTorch's exceptions end in a stack of frames; a person needs the sentence before it.
std::string without_backtrace(std::string text) {
  if (const auto frames = text.find("\nException raised from "); frames != std::string::npos)
    text.resize(frames);
  return text;
}

void report_open_failure(const std::string& text, const Where& where, Diagnostics& problems) {
  if (text.find("cannot open shared object file") != std::string::npos) {
    problems.error("E403", "a library that it needs was not found: " + text, where).hint =
        "put it beside the library (it is looked for in its own folder), or install it";
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

std::optional<boost::dll::shared_library> open_shared(const std::string& path, const Where& where,
                                                      Diagnostics& problems) {
  try {
    // The overload that throws is the one that keeps the system's message.
    return boost::dll::shared_library(path, static_cast<boost::dll::load_mode::type>(library_open_flags()));
  } catch (const std::exception& failure) {
    const std::string text = failure.what();
    if (text.starts_with("boost::dll::"))
      report_open_failure(text, where, problems);
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
  if (!table || table->struct_size < sizeof(nexuml_library_v1) || !table->register_components) {
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
