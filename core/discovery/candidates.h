// Candidates: the files in the search places that say they are component libraries.
//
// A manifest `*.nexuml.json` is one; a shared object is one when it carries our note. Everything else is
// passed over without a word, so a root may be any folder. Folders are walked in byte order, each once by
// device and inode (links are followed, loops end), within limits: a root may be `/`.
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

// Of each place, so that one that holds too much hides no other.
struct WalkLimits {
  int depth = 8;
  std::size_t folders = 100'000;
  std::size_t candidates = 100'000;
};

// E101 a folder that cannot be read, E105 a place that was named and is missing (an error for --root and
// --prefix, a warning else), W109 a folder that is not searched because it lies too deep, and, once a place,
// that it holds more than is searched.
std::vector<Candidate> find_candidates(const std::vector<SearchPlace>& places, Diagnostics& problems,
                                       const WalkLimits& limits = {});

}  // namespace nexuml
