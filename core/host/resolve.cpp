#include <fmt/format.h>

#include <filesystem>
#include <fstream>

#include "host/commands.h"
#include "loading/scenario_source.h"

namespace nexuml {
namespace {

void write_scenario(const std::string& path, const std::string& text) {
  std::error_code failed;
  const auto folder = std::filesystem::path(path).parent_path();
  if (!folder.empty()) std::filesystem::create_directories(folder, failed);
  const std::string partial = path + ".partial";
  std::ofstream file(partial, std::ios::binary | std::ios::trunc);
  file << text;
  file.close();
  if (file && !failed) std::filesystem::rename(partial, path, failed);
  if (!file || failed) throw Error("E108", "the file cannot be written", Where::in_file(path));
}

}  // namespace

int resolve(Session& session) {
  const auto& invocation = session.invocation();
  const auto sources = invocation.texts("scenarios");
  const std::string output = invocation.text("output");
  if (sources.size() > 1 && (!output.empty() || !invocation.json)) {
    Diagnostics problems;
    problems.error("E881", "resolve writes one scenario at a time").hint = "call it once for each";
    throw BadCommandLine{std::move(problems)};
  }
  for (const auto& source : sources) {
    const Value document = open_scenario(session.loader(),
                                         {.source = source,
                                          .overrides = invocation.texts("overrides"),
                                          .parameters = invocation.texts("parameters")},
                                         session.diagnostics());
    if (session.diagnostics().has_errors()) return 1;
    if (!output.empty()) {
      write_scenario(output, write_yaml(document));
      session.print(fmt::format("written: {}\n", output));
    } else {
      session.print(write_yaml(document));
    }
    session.answer().set(source, document);
  }
  return 0;
}

}  // namespace nexuml
