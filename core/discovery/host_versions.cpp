#include "discovery/host_versions.h"

#include <fmt/format.h>
#include <link.h>

#include <algorithm>

#include "discovery/file_bytes.h"
#include "discovery/version_order.h"

namespace nexuml {
namespace {

constexpr const char* system_libraries[] = {"libc.so.6", "libm.so.6", "libstdc++.so.6", "libgcc_s.so.1"};

// GLIBCXX of GLIBCXX_3.4.30, and 3.4.30; the number is empty where there is none (GLIBC_PRIVATE).
std::pair<std::string_view, std::string_view> family_and_number(std::string_view version) {
  const auto mark = version.rfind('_');
  if (mark == std::string_view::npos) return {version, {}};
  const std::string_view number = version.substr(mark + 1);
  const bool numeric = !number.empty() && number.find_first_not_of("0123456789.") == std::string_view::npos;
  return numeric ? std::pair(version.substr(0, mark), number) : std::pair(version, std::string_view());
}

// The newest version of the same family.
std::string newest(const std::set<std::string>& versions, std::string_view like) {
  const std::string_view family = family_and_number(like).first;
  std::string best;
  for (const auto& version : versions) {
    if (family_and_number(version).first != family) continue;
    if (best.empty() || version_less(family_and_number(best).second, family_and_number(version).second))
      best = version;
  }
  return best;
}

}  // namespace

const SystemVersions& host_versions() {
  static const SystemVersions versions = [] {
    SystemVersions found;
    ::dl_iterate_phdr(
        [](dl_phdr_info* info, std::size_t, void* into) {
          const std::string path = info->dlpi_name ? info->dlpi_name : "";
          const std::string name = path.substr(path.rfind('/') + 1);
          if (std::ranges::find(system_libraries, name) == std::end(system_libraries)) return 0;
          const FileBytes bytes(path);
          if (!bytes.problem().empty()) return 0;
          const auto defined = read_version_definitions(bytes);
          static_cast<SystemVersions*>(into)->emplace(name, std::set(defined.begin(), defined.end()));
          return 0;
        },
        &found);
    return found;
  }();
  return versions;
}

bool check_version_needs(const std::vector<VersionNeed>& needs, const SystemVersions& host,
                         const Where& where, Diagnostics& problems) {
  std::map<std::string, std::string> missing;  // library -> newest version that is missing
  for (const auto& need : needs) {
    const auto found = host.find(need.file);
    if (found == host.end() || found->second.empty() || found->second.contains(need.version)) continue;
    std::string& worst = missing[need.file];
    if (worst.empty() || version_less(worst, need.version)) worst = need.version;
  }
  for (const auto& [file, version] : missing) {
    const std::string has = newest(host.find(file)->second, version);
    problems
        .error("E305",
               fmt::format("built for a newer system: it needs {} of {}, this host has {}", version, file,
                           has.empty() ? "none of that name" : "up to " + has),
               where)
        .hint = "build the library on this system or on an older one, or update the system";
  }
  return missing.empty();
}

}  // namespace nexuml
