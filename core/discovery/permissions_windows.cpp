#include "discovery/permissions.h"

namespace nexuml {

// Access lists of Windows are not read: no program there runs with more rights than its user by a mark on its
// file.
PathPermissions path_permissions(const std::string&) noexcept {
  return {};
}

}  // namespace nexuml
