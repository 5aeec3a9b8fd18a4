#include "discovery/permissions.h"

namespace nexuml {

std::string insecure(const std::string& path, bool elevated) {
  const PathPermissions permissions = path_permissions(path);
  if (permissions.others_write) return "anybody may write to " + path;
  if (elevated && !permissions.trusted_owner) return path + " belongs to another user";
  return {};
}

}  // namespace nexuml
