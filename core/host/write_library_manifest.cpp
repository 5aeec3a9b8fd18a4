// `nexuml-run __manifest LIBRARY STEM`: the build's last step for a component library. Lets it register and
// writes what it declares, so that afterwards nobody has to open it to know. A library that crashes, hangs or
// leaves a process behind fails its build with a diagnostic.
#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <set>

#include "discovery/elf_facts.h"
#include "discovery/manifest.h"
#include "host/commands.h"
#include "host/probe_tasks.h"
#include "loading/diagnostic_value.h"
#include "loading/open_library.h"
#include "loading/probe.h"

namespace nexuml {
namespace {

// What a library under a sanitizer takes to start is no mistake of it.
constexpr std::chrono::seconds registration_timeout{120};

bool write_file(const std::string& path, const std::string& text, Diagnostics& problems) {
  const std::string partial = path + ".partial";
  std::ofstream file(partial, std::ios::binary | std::ios::trunc);
  file << text;
  file.close();
  std::error_code failed;
  if (file) std::filesystem::rename(partial, path, failed);
  if (file && !failed) return true;
  problems.error("E108", "the file cannot be written", Where::in_file(path));
  return false;
}

// To register a type again under its identity changes nothing, and the manifest names it once.
void drop_repeated(StagedRegistration& staged) {
  std::set<Identity> identities;
  std::erase_if(staged.definitions,
                [&](const DefinitionEntry& entry) { return !identities.insert(entry.identity).second; });
  std::set<std::string> paths;
  std::erase_if(staged.targets,
                [&](const TargetEntry& entry) { return !paths.insert(entry.node->path).second; });
}

// The manifest and the schemas of a library that is opened here; nothing after a problem was reported.
std::optional<std::pair<std::string, std::string>> declared_texts(LibraryLoader& loader, const Value& request,
                                                                  Diagnostics& problems) {
  const std::string path = request.at("library").as_string();
  const Where where = Where::in_file(path);
  const FileBytes bytes(path);
  if (!bytes.problem().empty()) {
    problems.error("E101", "the library cannot be read: " + bytes.problem(), where);
    return std::nullopt;
  }
  const auto facts = read_elf_facts(bytes, where, problems);
  if (!facts) return std::nullopt;
  const auto note = read_note(facts->note.value_or(""), where, problems);
  if (!note || !check_abi(note->abi, host_abi(), where, problems)) return std::nullopt;
  if (!note->abi.part("torch-").empty() && !loader.open_runtime(problems)) return std::nullopt;
  auto staged = open_library(path, where, problems);
  if (!staged) return std::nullopt;
  const Origin origin{note->library_id, note->library_version, path, facts->build_id};
  // A library in conflict with itself fails its build.
  (void)ComponentRegistry().with(*staged, origin, problems);
  if (problems.has_errors()) return std::nullopt;

  drop_repeated(*staged);
  Manifest manifest = declare(*staged);
  manifest.library_id = note->library_id;
  manifest.library_version = note->library_version;
  manifest.library_path = std::filesystem::path(path).filename().string();
  manifest.abi = note->abi;
  for (const Value& requirement : request.at("requires").items())
    manifest.requirements.push_back(requirement.as_string());
  return std::pair(write_manifest(manifest), write_schemas(*staged));
}

}  // namespace

Value declare_library(LibraryLoader& loader, const Value& request) {
  Diagnostics problems;
  const auto texts = declared_texts(loader, request, problems);
  Value answer = Value::map({{"diagnostics", to_value(problems)}});
  if (texts) {
    answer.set("manifest", texts->first);
    answer.set("schemas", texts->second);
  }
  return answer;
}

int write_library_manifest(Session& session) {
  auto& problems = session.diagnostics();
  const auto& invocation = session.invocation();
  const std::string path = std::filesystem::absolute(invocation.text("library")).string();
  const Value request =
      Value::map({{"task", "declare"}, {"library", path}, {"requires", Value(invocation.texts("requires"))}});
  Value answer;
  if (invocation.flag("in_process")) {
    // Under an emulator this program cannot execute itself.
    LibraryLoader loader(std::make_shared<const Catalog>(std::vector<DeclaredLibrary>{}, Diagnostics{}, 0),
                         session.environment());
    answer = declare_library(loader, request);
    for (const Value& entry : answer.at("diagnostics").items()) problems.add(diagnostic_from_value(entry));
  } else {
    answer = Prober({.timeout = registration_timeout}).ask(request, problems);
  }
  if (problems.has_errors()) return 1;
  const std::string stem = invocation.text("output");
  const bool written =
      write_file(stem + std::string(manifest_suffix), answer.at("manifest").as_string(), problems) &&
      write_file(stem + std::string(schemas_suffix), answer.at("schemas").as_string(), problems);
  return written ? 0 : 1;
}

}  // namespace nexuml
