// Where a library's own file says that the libraries it needs are looked for.
#pragma once

#include <string>

namespace nexuml {

// "; the library's RUNPATH, which was searched: /srv/components/acme", the end of a sentence about a library that
// was not found. Empty for a file that is none of our libraries, and on a system that has no such thing.
std::string runpath_searched(const std::string& path);

}  // namespace nexuml
