// Candidates: the files in the search places that say they are component libraries.
//
// A manifest `*.nexuml.json` is one; a shared object is one when it carries our note. Everything else is
// passed over without a word, so a root may be any folder. Folders are walked in byte order, each once by
// device and inode (links are followed, loops end), to a depth of 8.
#pragma once

#include <nexuml/diagnostic.h>

#include <string>
#include <vector>

#include "discovery/search.h"

namespace nexuml {

struct Candidate {
  std::string manifest;   // path; empty for a bare library
  std::string library;    // path; empty where the manifest names it
  std::string source;     // where it was found, SearchPlace::source
  std::size_t place = 0;  // index of that place: the earlier one takes precedence
  bool entry_point = false;
};

inline constexpr int max_root_depth = 8;
inline constexpr std::size_t max_candidates = 100'000;

// E101 a folder that cannot be read, E105 a place that was named and is missing (an error for --root and
// --prefix, a warning else), W109 a folder that is not searched because it lies too deep or because there are
// too many.
std::vector<Candidate> find_candidates(const std::vector<SearchPlace>& places, Diagnostics& problems);

}  // namespace nexuml
