// Who can change what is about to be opened: a folder or a library that anybody may write to runs anybody's
// code. W106; E106 in a process with more rights than its user.
#pragma once

#include <map>
#include <string>

namespace nexuml {

struct PathPermissions {
  bool others_write = false;  // anybody may write to it
  bool sticky = false;        // what lies in it is renamed and removed by its owners alone
  bool trusted_owner = true;  // it, and where it is a link also that, belongs to nobody who could misuse us
};

// What is not there has no permissions worth a word. Whom this process trusts is root, and the user that it
// acts for; where it got its rights from a group or a capability, that user is its caller and is not trusted.
PathPermissions path_permissions(const std::string& path) noexcept;

// Asked once for each file of a scan; folders are looked at once.
class PermissionCheck {
 public:
  struct Finding {
    std::string reason, hint;
    explicit operator bool() const noexcept { return !reason.empty(); }
  };

  // An elevated process has more rights than its user: owners count, too, and so does every folder on the way
  // from the root of the file system.
  explicit PermissionCheck(bool elevated) noexcept : elevated_(elevated) {}

  // Why a process should not open `file`, which was found in `place`; an empty reason when it may.
  Finding look_at(const std::string& file, const std::string& place);

 private:
  enum class Part { opened, on_the_way };  // what is searched or opened; a folder above it

  Finding judge(const std::string& path, Part part) const;
  const Finding& judge_folder(const std::string& path, Part part);
  Finding look_at_way(const std::string& folder);

  bool elevated_;
  std::map<std::string, Finding> folders_, way_;
};

}  // namespace nexuml
