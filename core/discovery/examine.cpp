#include "discovery/examine.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "discovery/library_facts.h"
#include "discovery/manifest.h"

namespace nexuml {
namespace {

namespace fs = std::filesystem;

std::string folder_of(const std::string& path) {
  const auto slash = path.rfind('/');
  return slash == std::string::npos ? "." : path.substr(0, slash);
}

void break_library(DeclaredLibrary& library, EntryState state, const Diagnostics& problems) {
  library.state = state;
  library.reason = problems.entries().empty() ? "" : problems.entries().back().message;
}

// The library that a manifest names. In a component folder it may not lie outside that folder: a folder that
// was dropped in brings its own code only. E104.
std::optional<std::string> library_path(const Candidate& candidate, const std::string& written,
                                        Diagnostics& problems) {
  const std::string folder = folder_of(candidate.manifest);
  if (candidate.entry_point) return fs::path(folder).append(written).lexically_normal().string();
  std::string path = folder + "/" + written;
  if (written.find('/') == std::string::npos && !fs::is_symlink(path)) return path;
  std::error_code ignored;
  const std::string real_folder = fs::weakly_canonical(folder, ignored).string();
  const std::string real_path = fs::weakly_canonical(fs::path(folder).append(written), ignored).string();
  if (real_path.starts_with(real_folder + "/")) return path;
  problems
      .error("E104", fmt::format("the manifest names a library outside its folder: {}", written),
             Where::in_file(candidate.manifest))
      .hint =
      "a component folder holds its library; install one that lies elsewhere with an entry-point manifest";
  return std::nullopt;
}

void add_scenario_files(DeclaredLibrary& library, const std::string& folder) {
  std::error_code failed;
  std::vector<DeclaredScenario> found;
  for (fs::directory_iterator entries(folder + "/scenarios", failed);
       !failed && entries != fs::directory_iterator(); entries.increment(failed)) {
    const auto& path = entries->path();
    std::error_code ignored;
    if ((path.extension() == ".yaml" || path.extension() == ".yml") && entries->is_regular_file(ignored)) {
      found.push_back({path.stem().string(), {}, {}, path.string()});
    }
  }
  std::ranges::sort(found, {}, &DeclaredScenario::name);
  library.scenarios.insert(library.scenarios.end(), found.begin(), found.end());
}

// Compares the manifest with the note; the note is the truth. E206.
bool agree(const Manifest& manifest, const AbiNote& note, const Where& where, Diagnostics& problems) {
  const auto differ = [&](const char* what, const std::string& declared, const std::string& actual) {
    problems
        .error(
            "E206",
            fmt::format("manifest and library disagree: {} '{}' in the manifest, '{}' in the library's note",
                        what, declared, actual),
            where)
        .hint = "the manifest belongs to another build: build or copy both together";
    return false;
  };
  if (manifest.library_id != note.library_id) return differ("id", manifest.library_id, note.library_id);
  if (manifest.library_version != note.library_version) {
    return differ("version", manifest.library_version, note.library_version);
  }
  if (manifest.abi.tag != note.abi.tag) return differ("abi", manifest.abi.tag, note.abi.tag);
  if (manifest.abi.interface_version != note.abi.interface_version)
    return differ("interface", manifest.abi.interface_version, note.abi.interface_version);
  return true;
}

std::function<DeclaredSchemas(Diagnostics&)> schemas_reader(const std::string& manifest,
                                                            const std::string& library) {
  return [manifest, library](Diagnostics& problems) -> DeclaredSchemas {
    if (!manifest.empty()) {
      const std::string beside =
          manifest.substr(0, manifest.size() - manifest_suffix.size()) + std::string(schemas_suffix);
      std::error_code ignored;
      if (fs::exists(beside, ignored))
        return read_schemas(read_text_file(beside, problems), beside, problems);
    }
    const FileBytes bytes(library);
    const auto inside = bytes.problem().empty() ? read_library_section(bytes, schemas_section) : std::nullopt;
    return inside ? read_schemas(*inside, library, problems) : DeclaredSchemas{};
  };
}

// The manifest of a bare library: from its section, or just what the note tells.
std::optional<Manifest> manifest_inside(const FileBytes& bytes, const std::string& path, const AbiNote& note,
                                        Diagnostics& problems) {
  if (const auto section = read_library_section(bytes, manifest_section))
    return read_manifest(*section, path, problems);
  Manifest manifest;
  manifest.library_id = note.library_id;
  manifest.library_version = note.library_version;
  manifest.abi = note.abi;
  return manifest;
}

DeclaredLibrary declared(Manifest manifest, const Candidate& candidate, const std::string& path) {
  DeclaredLibrary library;
  library.origin = {manifest.library_id, manifest.library_version, path, {}};
  library.manifest = candidate.manifest;
  library.source = candidate.source;
  library.interface_version = manifest.abi.interface_version;
  library.abi_tag = manifest.abi.tag;
  library.definitions = std::move(manifest.definitions);
  library.targets = std::move(manifest.targets);
  library.scenarios = std::move(manifest.scenarios);
  library.serializers = std::move(manifest.serializers);
  library.requirements = std::move(manifest.requirements);
  library.read_schemas = schemas_reader(candidate.manifest, path);
  return library;
}

// What the file itself tells.
struct LibraryFile {
  AbiNote note;
  std::vector<VersionNeed> version_needs;
  std::vector<std::string> needed;
};

// Checks the file; `manifest` is null for a bare library. Nothing after a problem was reported.
std::optional<LibraryFile> check_library_file(const FileBytes& bytes, const Manifest* manifest,
                                              const Where& where, std::string& build_id,
                                              Diagnostics& problems) {
  if (!bytes.problem().empty()) {
    problems.error("E101", "the library that the manifest names cannot be read: " + bytes.problem(), where)
        .hint = "copy or build the library again, or delete the folder";
    return std::nullopt;
  }
  auto facts = read_library_facts(bytes, where, problems);
  if (!facts) return std::nullopt;
  build_id = facts->build_id;
  if (!facts->note) {
    problems.error("E205", "the library has no NexuML ABI note", where).hint =
        "build it with nexuml_add_library of the SDK";
    return std::nullopt;
  }
  auto note = read_note(*facts->note, where, problems);
  if (!note || (manifest && !agree(*manifest, *note, where, problems))) return std::nullopt;
  if (!facts->exports_entry) {
    problems.error("E404", fmt::format("the library does not export {}", NEXUML_LIBRARY_ENTRY_SYMBOL), where)
        .hint = "write NEXUML_LIBRARY(registry) { ... } in one of its sources";
    return std::nullopt;
  }
  return LibraryFile{std::move(*note), std::move(facts->version_needs), std::move(facts->needed)};
}

// Builds for several machines may lie in one root on purpose: harmless, and worth a line to who looks for
// one. W203.
bool is_for_another_machine(const AbiFacts& library, const AbiFacts& host, const Where& where,
                            Diagnostics& problems) {
  if (library.machine().empty() || library.machine() == host.machine()) return false;
  problems
      .note("W203", fmt::format("built for {}, this host runs on {}", library.machine(), host.machine()),
            where)
      .hint = "use the library's build for this machine";
  return true;
}

}  // namespace

std::optional<Examined> examine(const Candidate& candidate, const AbiFacts& host, Diagnostics& problems) {
  std::optional<Manifest> manifest;
  std::string path = candidate.library;
  if (!candidate.manifest.empty()) {
    Diagnostics unreadable;
    const std::string text = read_text_file(candidate.manifest, unreadable);
    if (unreadable.has_errors()) {
      problems.error("E101", "the manifest cannot be read: " + unreadable.entries().front().message,
                     Where::in_file(candidate.manifest));
      return std::nullopt;
    }
    manifest = read_manifest(text, candidate.manifest, problems);
    if (!manifest) return std::nullopt;
    const auto named = library_path(candidate, manifest->library_path, problems);
    path = named.value_or("");
  }

  Diagnostics found;
  Where where = Where::in_file(path.empty() ? candidate.manifest : path);
  if (manifest) where.library = manifest->library_id;
  // The manifest's abi first: a library for another system is told by it, whatever its file looks like.
  const bool foreign = manifest && is_for_another_machine(manifest->abi, host, where, found);
  const bool fits = !foreign && (!manifest || check_abi(manifest->abi, host, where, found));
  std::optional<LibraryFile> file;
  Examined examined;
  std::string build_id;
  if (!path.empty()) {
    const FileBytes bytes(path);
    if (fits) file = check_library_file(bytes, manifest ? &*manifest : nullptr, where, build_id, found);
    if (bytes.problem().empty()) examined.file = bytes.identity();
    if (!manifest) {
      if (file) manifest = manifest_inside(bytes, path, file->note, found);
      if (!manifest) {
        problems.append(found);
        return std::nullopt;
      }
      where.library = file->note.library_id;
      check_abi(file->note.abi, host, where, found);
    } else if (file) {
      check_processor(file->note.abi, host, where, found);  // what no manifest tells
    }
    if (file) {
      check_flavour(file->note.abi, host, file->needed, where, found);
      check_system_versions(file->version_needs, where, found);
    }
  } else {
    found.append(problems);  // the reason stands there already
  }
  examined.place = candidate.place;
  examined.library = declared(std::move(*manifest), candidate, path);
  examined.library.origin.build_id = build_id;
  if (path.empty() || (fits && !file))
    break_library(examined.library, EntryState::broken, found);
  else if (foreign || found.has_errors())
    break_library(examined.library, EntryState::incompatible, found);
  else
    add_scenario_files(examined.library, folder_of(path));
  if (!path.empty()) problems.append(found);
  return examined;
}

}  // namespace nexuml
