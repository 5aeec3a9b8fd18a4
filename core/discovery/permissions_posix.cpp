#include <sys/stat.h>
#include <unistd.h>

#include "discovery/permissions.h"

namespace nexuml {
namespace {

bool trusted(uid_t owner) noexcept {
  const uid_t acts_for = ::geteuid();
  return owner == 0 || (owner == acts_for && acts_for != ::getuid());
}

}  // namespace

PathPermissions path_permissions(const std::string& path) noexcept {
  struct stat itself {
  }, leads_to{};
  if (::lstat(path.c_str(), &itself) != 0 || ::stat(path.c_str(), &leads_to) != 0) return {};
  return {(leads_to.st_mode & S_IWOTH) != 0, (leads_to.st_mode & S_ISVTX) != 0,
          trusted(itself.st_uid) && trusted(leads_to.st_uid)};
}

}  // namespace nexuml
