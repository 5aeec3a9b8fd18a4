// Opening one shared object, and letting a component library register into a staging area.
#pragma once

#include <nexuml/diagnostic.h>
#include <nexuml/registration.h>

#include <boost/dll/shared_library.hpp>
#include <optional>
#include <string>

namespace nexuml {

// RTLD_NOW: a missing symbol shows now, not in the middle of training. RTLD_LOCAL: two libraries do not see
// each other's symbols. RTLD_NODELETE: objects, thread-local destructors and type tags of a library may
// outlive any handle, so nothing is ever unloaded. Never RTLD_DEEPBIND: it splits malloc from free.
int library_open_flags() noexcept;

// Windows counts handles and has no flag for it: there this is what keeps a library mapped.
void keep_open(const boost::dll::shared_library& library);

// Whether this process has a shared object of this SONAME open.
bool is_open(const char* soname) noexcept;

// LibTorch's exceptions end in a stack of frames; a person needs the sentence before it.
std::string without_backtrace(std::string text);

// Null after E402 (the system's message, symbols demangled), E403 (a library it needs is missing) or E410 (this
// process opened another file at that path).
std::optional<boost::dll::shared_library> open_shared(const std::string& path, const Where& where,
                                                      Diagnostics& problems);

// Opens a component library whose file was checked before, and runs its registration: E404 no entry symbol,
// E407 the registration failed. What it staged refers to code of the library, which stays mapped.
std::optional<StagedRegistration> open_library(const std::string& path, const Where& where,
                                               Diagnostics& problems);

}  // namespace nexuml
