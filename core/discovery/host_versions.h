// The symbol versions of the system's C and C++ libraries that this process has open, and whether a library's
// needs are among them. "version GLIBCXX_3.4.32 not found" is what the loader says much later, of one symbol.
#pragma once

#include <nexuml/diagnostic.h>

#include <map>
#include <set>
#include <string>
#include <vector>

#include "discovery/elf_facts.h"

namespace nexuml {

// SONAME -> versions: libc.so.6, libm.so.6, libstdc++.so.6, libgcc_s.so.1. Read once, from the files that are
// mapped into this process.
using SystemVersions = std::map<std::string, std::set<std::string>, std::less<>>;
const SystemVersions& host_versions();

// E305, one report a library that is too old here, with the newest version that is needed and the newest that
// there is. Libraries that `host` does not list say nothing.
bool check_version_needs(const std::vector<VersionNeed>& needs, const SystemVersions& host,
                         const Where& where, Diagnostics& problems);

}  // namespace nexuml
