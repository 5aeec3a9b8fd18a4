// Libraries that register operators with LibTorch (TORCH_LIBRARY). LibTorch allows a namespace of operators one
// registration in a process: it answers a second one with an exception out of a static initialiser, where nothing
// catches it, and the process ends. So what is about to be opened beside another such library is tried with it in
// a process of its own first.
#pragma once

#include <nexuml/diagnostic.h>

#include <string>
#include <vector>

#include "discovery/search.h"
#include "registry/catalog.h"

namespace nexuml {

// Read from the file; nothing is opened.
bool registers_operators(const std::string& path);

// Whether `library` opens in a process that has `opened` open, in that order. False after E405 in LibTorch's
// words, or E401. True without a trial where there is no nexuml-run that could make one: in a program that
// embeds the runtime and was installed without it.
bool opens_beside(const DeclaredLibrary& library, const std::vector<const DeclaredLibrary*>& opened,
                  const Environment& environment, Diagnostics& problems);

}  // namespace nexuml
