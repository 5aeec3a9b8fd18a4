#include "discovery/permissions.h"

#include <filesystem>

namespace nexuml {

namespace fs = std::filesystem;

PermissionCheck::Finding PermissionCheck::judge(const std::string& path, Part part) const {
  const PathPermissions permissions = path_permissions(path);
  // In a folder like /tmp nobody can put another file in the place of ours.
  if (permissions.others_write && !(part == Part::on_the_way && permissions.sticky))
    return {"anybody may write to " + path, "take the right to write from others: chmod -R o-w " + path};
  if (elevated_ && !permissions.trusted_owner)
    return {path + " belongs to another user", "give it to root: chown -Rh root " + path};
  return {};
}

const PermissionCheck::Finding& PermissionCheck::judge_folder(const std::string& path, Part part) {
  auto& known = part == Part::opened ? folders_ : way_;
  const auto [found, fresh] = known.try_emplace(path);
  if (fresh) found->second = judge(path, part);
  return found->second;
}

PermissionCheck::Finding PermissionCheck::look_at_way(const std::string& folder) {
  std::error_code failed;
  // As it was written, since a link on it can be turned, and as it leads.
  for (const auto& way :
       {fs::absolute(folder, failed).lexically_normal(), fs::weakly_canonical(folder, failed)})
    for (fs::path part = way; part.has_relative_path(); part = part.parent_path())
      if (const Finding& found = judge_folder(part.parent_path().string(), Part::on_the_way)) return found;
  return {};
}

PermissionCheck::Finding PermissionCheck::look_at(const std::string& file, const std::string& place) {
  if (Finding found = judge(file, Part::opened)) return found;
  std::string folder = file.substr(0, file.rfind('/'));
  const bool inside = (folder + "/").starts_with(place + "/");
  if (const Finding& found = judge_folder(folder, Part::opened)) return found;
  for (std::string above = folder; inside && above != place;) {
    above.erase(above.rfind('/'));
    if (const Finding& found = judge_folder(above, Part::opened)) return found;
  }
  return elevated_ ? look_at_way(folder) : Finding{};
}

}  // namespace nexuml
