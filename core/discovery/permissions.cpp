#include "discovery/permissions.h"

#include <sys/stat.h>
#include <unistd.h>

namespace nexuml {

PathPermissions path_permissions(const std::string& path) noexcept {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) return {};
  return {(status.st_mode & S_IWOTH) != 0, status.st_uid == 0 || status.st_uid == ::geteuid()};
}

std::string insecure(const std::string& path, bool elevated) {
  const PathPermissions permissions = path_permissions(path);
  if (permissions.others_write) return "anybody may write to " + path;
  if (elevated && !permissions.trusted_owner) return path + " belongs to another user";
  return {};
}

}  // namespace nexuml
