// What discovery asks of the system it runs on; one source a system, named by its suffix.
#pragma once

#include <string>
#include <string_view>

namespace nexuml {

#if defined(_WIN32)
inline constexpr char path_separator = ';';  // between the paths of a variable
inline constexpr std::string_view library_suffix = ".dll";
inline constexpr std::string_view foreign_library_suffix = ".so";  // of the other systems
#else
inline constexpr char path_separator = ':';
inline constexpr std::string_view library_suffix = ".so";
inline constexpr std::string_view foreign_library_suffix = ".dll";
#endif

struct OwnPlace {
  std::string library;    // the file of libnexuml-core
  bool elevated = false;  // this process has more rights than the user who started it
};
OwnPlace own_place();

// Whether `text` fits a glob of `*` and `?`.
bool fits_glob(const std::string& glob, const std::string& text);

}  // namespace nexuml
