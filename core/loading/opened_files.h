// Which file this process opened at which path. The system's loader keeps such a list, too, and for a path on
// it gives what it has, whatever file lies there now: the old code under the new version, without a word.
#pragma once

#include <string>

#include "discovery/file_bytes.h"

namespace nexuml {

// Whether `file`, which lies at `path` now, is another than the one that was opened there. [any thread]
bool was_replaced(const std::string& path, const FileIdentity& file);

// After `path` was opened; `file` is what lay there before. [any thread]
void remember_opened(const std::string& path, const FileIdentity& file);

}  // namespace nexuml
