// Turns whatever code of a layer threw into an Error that names the layer.
#pragma once

#include <nexuml/diagnostic.h>
#include <nexuml/export.h>

#include <string>

namespace nexuml {

// Call it inside a catch block. Diagnostics of an Error keep their code and gain the layer where they name
// none; any other exception becomes one diagnostic `code`: "the layer failed <when>: <what>".
[[noreturn]] NEXUML_EXPORT void rethrow_as_failure_of(const std::string& layer, const std::string& code,
                                                      const std::string& when);
// The same as data.
NEXUML_EXPORT Diagnostics failure_of(const std::string& layer, const std::string& code,
                                     const std::string& when);

}  // namespace nexuml
