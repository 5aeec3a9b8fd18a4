// Whether this host's LibTorch has what a library uses of it: asked before the library is opened, so that a
// person reads every missing function and its reason, not one mangled name.
#pragma once

#include <nexuml/diagnostic.h>

#include <string>

namespace nexuml {

// Looks up the undefined at::, c10:: and torch:: symbols of the file in the LibTorch that this process has
// open. E303.
bool check_torch_symbols(const std::string& path, const Where& where, Diagnostics& problems);

}  // namespace nexuml
