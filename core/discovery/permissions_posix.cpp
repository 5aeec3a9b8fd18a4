#include <sys/stat.h>
#include <unistd.h>

#include "discovery/permissions.h"

namespace nexuml {

PathPermissions path_permissions(const std::string& path) noexcept {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) return {};
  return {(status.st_mode & S_IWOTH) != 0, status.st_uid == 0 || status.st_uid == ::geteuid()};
}

}  // namespace nexuml
