#include "discovery/discover.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "discovery/candidates.h"
#include "discovery/examine.h"
#include "discovery/permissions.h"
#include "discovery/system.h"
#include "discovery/version_order.h"

namespace nexuml {
namespace {

std::string place_of(const DeclaredLibrary& library) {
  return library.origin.path.empty() ? library.manifest : library.origin.path;
}

// --use id=version
std::map<std::string, std::string> chosen_versions(const SearchOptions& options, Diagnostics& problems) {
  std::map<std::string, std::string> chosen;
  for (const auto& text : options.use) {
    const auto equals = text.find('=');
    if (equals == std::string::npos || equals == 0 || equals + 1 == text.size()) {
      problems.error("E881", fmt::format("--use {}: expected id=version", text));
      continue;
    }
    chosen[text.substr(0, equals)] = text.substr(equals + 1);
  }
  return chosen;
}

void apply_disabled(std::vector<Examined>& all, const std::string& globs) {
  for (const auto& glob : split_paths(globs)) {
    for (auto& examined : all) {
      auto& library = examined.library;
      if (!library.usable() || !fits_glob(glob, library.origin.library)) continue;
      library.state = EntryState::disabled;
      library.reason = "NEXUML_COMPONENT_DISABLE names " + glob;
    }
  }
}

// One version of a library id is active: the one that --use names, else the one of the earlier place, else
// the higher version. Libraries that cannot be used take no part.
void apply_precedence(std::vector<Examined>& all, const std::map<std::string, std::string>& chosen,
                      Diagnostics& problems) {
  std::map<std::string, std::vector<Examined*>> by_id;
  for (auto& examined : all)
    if (examined.library.usable()) by_id[examined.library.origin.library].push_back(&examined);
  for (const auto& [id, version] : chosen) {
    const auto found = by_id.find(id);
    const auto has_version = [&wanted = version](const Examined* one) {
      return one->library.origin.version == wanted;
    };
    if (found == by_id.end() || std::ranges::none_of(found->second, has_version)) {
      problems
          .error("E505",
                 fmt::format("--use {}={}: there is no usable library of that id and version", id, version),
                 Where::in_library(id))
          .hint = "`nexuml-run doctor` shows every library that was found";
    }
  }
  for (auto& [id, versions] : by_id) {
    const auto wanted = chosen.find(id);
    const auto rank = [&](const Examined* one) {
      return wanted != chosen.end() && one->library.origin.version == wanted->second ? 0 : 1;
    };
    std::ranges::stable_sort(versions, [&](const Examined* left, const Examined* right) {
      if (rank(left) != rank(right)) return rank(left) < rank(right);
      if (left->place != right->place) return left->place < right->place;
      return version_less(right->library.origin.version, left->library.origin.version);
    });
    const DeclaredLibrary& active = versions.front()->library;
    for (std::size_t index = 1; index < versions.size(); ++index) {
      DeclaredLibrary& library = versions[index]->library;
      library.state = EntryState::shadowed;
      library.reason =
          fmt::format("{} {} at {} is used ({})", id, active.origin.version, place_of(active), active.source);
      problems
          .note("W601", fmt::format("{} {} is shadowed: {}", id, library.origin.version, library.reason),
                Where::in_library(id, place_of(library)))
          .hint = fmt::format("--use {}={} selects it", id, library.origin.version);
    }
  }
}

// The folders and files of each place that others may change; one report a place, so that a mounted file
// system that knows no permissions is one line. An elevated process does not use such libraries.
void check_permissions(const std::vector<SearchPlace>& places, std::vector<Examined>& all, bool elevated,
                       Diagnostics& problems) {
  PermissionCheck check(elevated);
  std::map<std::size_t, std::pair<PermissionCheck::Finding, int>> found;  // by place: the first, how many
  for (auto& examined : all) {
    DeclaredLibrary& library = examined.library;
    PermissionCheck::Finding finding;
    for (const auto* file : {&library.manifest, &library.origin.path})
      if (!finding && !file->empty()) finding = check.look_at(*file, places[examined.place].path);
    if (!finding) continue;
    if (elevated && library.usable()) {
      library.state = EntryState::broken;
      library.reason = finding.reason + ", and this process has more rights than its user";
    }
    ++found.try_emplace(examined.place, std::move(finding), 0).first->second.second;
  }
  for (const auto& [index, first] : found) {
    const auto& [finding, count] = first;
    const std::string others =
        count == 1 ? "" : fmt::format("; {} libraries of {} are like that", count, places[index].source);
    const std::string message = finding.reason + ", and so to what this host opens" + others;
    auto& entry = elevated ? problems.error("E106", message, Where::in_file(places[index].path))
                           : problems.warning("W106", message, Where::in_file(places[index].path));
    entry.hint = finding.hint;
  }
}

}  // namespace

std::shared_ptr<const Catalog> discover(const SearchOptions& options, const Environment& environment,
                                        const AbiFacts& host) {
  Diagnostics problems;
  const auto places = search_places(environment, options, problems);
  std::vector<Examined> all;
  std::set<FileIdentity> files;
  std::size_t unreadable = 0;
  for (const auto& candidate : find_candidates(places, problems)) {
    auto examined = examine(candidate, host, problems);
    if (!examined) {
      ++unreadable;
    } else if (!examined->file || files.insert(*examined->file).second) {
      all.push_back(std::move(*examined));  // one file that is reached twice is one library
    }
  }
  check_permissions(places, all, environment.elevated, problems);
  apply_disabled(all, environment.variable("NEXUML_COMPONENT_DISABLE"));
  apply_precedence(all, chosen_versions(options, problems), problems);

  std::vector<DeclaredLibrary> libraries;
  libraries.reserve(all.size());
  for (auto& examined : all) libraries.push_back(std::move(examined.library));
  std::ranges::stable_sort(libraries, {},
                           [](const DeclaredLibrary& library) { return library.origin.library; });
  return std::make_shared<const Catalog>(std::move(libraries), std::move(problems), unreadable);
}

}  // namespace nexuml
