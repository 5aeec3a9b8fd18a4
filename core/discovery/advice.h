// What is not wrong with a library, but will hurt somebody: W602 to W604, W606, W607.
#pragma once

#include <nexuml/diagnostic.h>

#include <string>
#include <vector>

#include "discovery/elf_facts.h"

namespace nexuml {

// W602 thread-local storage at a fixed place, W603 symbols beside the entry, W604 a second OpenMP, W606
// operators registered with LibTorch. Warnings. `undefined`: the symbols that the library leaves for others
// to define.
void advise(const ElfFacts& facts, const std::vector<std::string>& undefined, const Where& where,
            Diagnostics& problems);

// Whether a library registers operators with LibTorch (TORCH_LIBRARY and its kin), by the same symbols.
bool registers_operators(const std::vector<std::string>& undefined);

}  // namespace nexuml
