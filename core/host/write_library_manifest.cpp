// `nexuml-run __manifest LIBRARY FOLDER`: the build's last step for a component library. Lets it register and
// writes what it declares, so that afterwards nobody has to open it to know.
#include <fmt/format.h>

#include <filesystem>
#include <fstream>

#include "discovery/elf_facts.h"
#include "discovery/manifest.h"
#include "host/commands.h"
#include "loading/open_library.h"

namespace nexuml {
namespace {

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

}  // namespace

int write_library_manifest(Session& session) {
  auto& problems = session.diagnostics();
  const std::string path = std::filesystem::absolute(session.invocation().text("library")).string();
  const Where where = Where::in_file(path);
  const FileBytes bytes(path);
  if (!bytes.problem().empty()) {
    problems.error("E101", "the library cannot be read: " + bytes.problem(), where);
    return 1;
  }
  const auto facts = read_elf_facts(bytes, where, problems);
  if (!facts) return 1;
  const auto note = read_note(facts->note.value_or(""), where, problems);
  if (!note || !check_abi(note->abi, host_abi(), where, problems)) return 1;

  LibraryLoader loader(std::make_shared<const Catalog>(std::vector<DeclaredLibrary>{}, Diagnostics{}, 0),
                       session.environment());
  if (!note->abi.part("torch-").empty() && !loader.open_runtime(problems)) return 1;
  const auto staged = open_library(path, where, problems);
  if (!staged) return 1;
  const Origin origin{note->library_id, note->library_version, path, facts->build_id};
  (void)ComponentRegistry().with(*staged, origin,
                                 problems);  // a library in conflict with itself fails its build
  if (problems.has_errors()) return 1;

  Manifest manifest = declare(*staged);
  manifest.library_id = note->library_id;
  manifest.library_version = note->library_version;
  manifest.library_path = std::filesystem::path(path).filename().string();
  manifest.abi = note->abi;
  manifest.requirements = session.invocation().texts("requires");
  const std::string stem = session.invocation().text("output");
  const bool written = write_file(stem + std::string(manifest_suffix), write_manifest(manifest), problems) &&
                       write_file(stem + std::string(schemas_suffix), write_schemas(*staged), problems);
  return written ? 0 : 1;
}

}  // namespace nexuml
