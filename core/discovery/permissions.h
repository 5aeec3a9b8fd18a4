// Who can change what is about to be opened: a folder or a library that anybody may write to runs anybody's
// code. W106; E106 in a process with more rights than its user.
#pragma once

#include <nexuml/diagnostic.h>

#include <string>

namespace nexuml {

struct PathPermissions {
  bool others_write = false;  // anybody may write to it
  bool trusted_owner = true;  // it belongs to root or to the user this process acts for
};

// What is not there has no permissions worth a word.
PathPermissions path_permissions(const std::string& path) noexcept;

// Why a process should not open what lies at `path`; empty when it may. Owners count only for an elevated
// one.
std::string insecure(const std::string& path, bool elevated);

}  // namespace nexuml
