#include "discovery/candidates.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "discovery/abi.h"
#include "discovery/file_bytes.h"
#include "discovery/library_facts.h"
#include "discovery/manifest.h"
#include "discovery/system.h"

namespace nexuml {
namespace {

namespace fs = std::filesystem;

// The entries of a folder by name, links followed.
struct Listing {
  std::vector<std::string> manifests, libraries, foreign_libraries, folders;
};

class Walk {
 public:
  Walk(const WalkLimits& limits, Diagnostics& problems) : limits_(limits), problems_(problems) {}

  void enter(const SearchPlace& place, std::size_t index) {
    place_ = &place;
    index_ = index;
    folders_ = found_ = 0;
    full_ = false;
    const auto identity = file_identity(place.path);
    if (!identity) return report_missing();
    visit(place.path, *identity, 0);
  }
  std::vector<Candidate> take() { return std::move(candidates_); }

 private:
  void report_missing() {
    if (!place_->expected) return;
    const bool asked = place_->source.starts_with("--") || place_->kind == SearchPlace::Kind::entry_points;
    const std::string message = fmt::format("the root {} ({}) does not exist", place_->path, place_->source);
    auto& entry = asked ? problems_.error("E105", message, Where::in_file(place_->path))
                        : problems_.warning("E105", message, Where::in_file(place_->path));
    entry.hint = "create it, or leave it out";
  }
  // A component library of ours for another system or machine: harmless, and worth a line to who looks for it.
  void report_foreign_library(const FileBytes& bytes, const std::string& path) {
    const auto foreign = read_foreign_library(bytes);
    Diagnostics unreported;
    const auto note = foreign ? read_note(foreign->note, Where::in_file(path), unreported) : std::nullopt;
    if (!note) return;
    problems_
        .note("W203",
              fmt::format("{} {} is a library for {}, this host runs on {}", note->library_id,
                          note->library_version, foreign->system, host_machine()),
              Where::in_library(note->library_id, path))
        .hint = "use the library's build for this system";
  }
  // Counts one more folder or candidate of the place. Where that is too many, its walk ends with a word.
  bool count(std::size_t& counter, std::size_t limit, const char* what, const std::string& path) {
    if (full_) return false;
    if (counter++ < limit) return true;
    full_ = true;
    const std::string message = fmt::format(
        "{} holds more than {} {}; what comes from here on is not searched", place_->path, limit, what);
    problems_.warning("W109", message, Where::in_file(path)).hint =
        "name roots that hold component folders and little else";
    return false;
  }
  void visit(const std::string& folder, const FileIdentity& identity, int depth);
  void search(const std::string& folder, const Listing& listing);
  void add(Candidate candidate) {
    const std::string& path = candidate.manifest.empty() ? candidate.library : candidate.manifest;
    if (!count(found_, limits_.candidates, "libraries", path)) return;
    candidate.source = place_->source;
    candidate.place = index_;
    candidate.entry_point = place_->kind == SearchPlace::Kind::entry_points;
    candidates_.push_back(std::move(candidate));
  }

  const WalkLimits limits_;
  Diagnostics& problems_;
  const SearchPlace* place_ = nullptr;
  std::size_t index_ = 0;
  std::size_t folders_ = 0, found_ = 0;  // in this place
  bool full_ = false;
  std::set<FileIdentity> visited_;
  std::vector<Candidate> candidates_;
};

bool list_folder(const std::string& folder, Listing& listing, std::string& problem) {
  std::error_code failed;
  fs::directory_iterator entries(folder, failed);
  for (; !failed && entries != fs::directory_iterator(); entries.increment(failed)) {
    std::string name = entries->path().filename().string();
    const bool manifest = name.ends_with(manifest_suffix);
    const bool library = name.ends_with(library_suffix), foreign = name.ends_with(foreign_library_suffix);
    std::error_code ignored;
    if (entries->is_directory(ignored)) {
      if (!name.starts_with('.')) listing.folders.push_back(std::move(name));
    } else if ((manifest || library || foreign) && entries->is_regular_file(ignored)) {
      auto& names = manifest ? listing.manifests : library ? listing.libraries : listing.foreign_libraries;
      names.push_back(std::move(name));
    }
  }
  if (failed) problem = failed.message();
  for (auto* names : {&listing.manifests, &listing.libraries, &listing.foreign_libraries, &listing.folders})
    std::ranges::sort(*names);
  return !failed;
}

void Walk::visit(const std::string& folder, const FileIdentity& identity, int depth) {
  if (visited_.contains(identity) || !count(folders_, limits_.folders, "folders", folder)) return;
  visited_.insert(identity);
  if (depth > limits_.depth) {
    problems_
        .warning("W109",
                 fmt::format("a folder is not searched: it lies more than {} folders deep", limits_.depth),
                 Where::in_file(folder))
        .hint = "put the component folder nearer to its root";
    return;
  }
  Listing listing;
  std::string problem;
  if (!list_folder(folder, listing, problem)) {
    problems_.error("E101", "the folder cannot be read: " + problem, Where::in_file(folder));
    return;
  }
  search(folder, listing);
  if (place_->kind == SearchPlace::Kind::entry_points) return;
  for (const auto& name : listing.folders) {
    const std::string path = folder + "/" + name;
    if (const auto inner = file_identity(path)) visit(path, *inner, depth + 1);
  }
}

void Walk::search(const std::string& folder, const Listing& listing) {
  for (const auto& name : listing.manifests) add({.manifest = folder + "/" + name});
  // Beside a manifest, which libraries count is its word; it names the one that is its own.
  if (!listing.manifests.empty() || place_->kind != SearchPlace::Kind::components) return;
  for (const auto& name : listing.libraries) {
    std::string path = folder + "/" + name;
    const FileBytes bytes(path);
    if (!bytes.problem().empty()) continue;
    if (is_own_library(bytes))
      add({.library = std::move(path)});
    else
      report_foreign_library(bytes, path);
  }
  for (const auto& name : listing.foreign_libraries) {
    const std::string path = folder + "/" + name;
    if (const FileBytes bytes(path); bytes.problem().empty()) report_foreign_library(bytes, path);
  }
}

}  // namespace

std::vector<Candidate> find_candidates(const std::vector<SearchPlace>& places, Diagnostics& problems,
                                       const WalkLimits& limits) {
  Walk walk(limits, problems);
  for (std::size_t index = 0; index < places.size(); ++index) walk.enter(places[index], index);
  return walk.take();
}

}  // namespace nexuml
