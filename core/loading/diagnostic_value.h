// Diagnostics as data: for --json and between processes.
#pragma once

#include <nexuml/diagnostic.h>
#include <nexuml/value.h>

namespace nexuml {

// {"code", "severity", "message", "where": {file, line, column, key_path, library, layer}, "hint"}; `where`
// holds what is known.
Value to_value(const Diagnostic& diagnostic);
Value to_value(const Diagnostics& diagnostics);

// The way back; fields that are missing or of another kind stay empty.
Diagnostic diagnostic_from_value(const Value& value);

}  // namespace nexuml
