// try: recorded cases, replayed and compared. Exit code 3 where a number differs.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "engine/engine_call.h"
#include "engine/replay.h"
#include "scenario/document.h"

namespace nexuml {

namespace fs = std::filesystem;

namespace {

// A folder stands for the .json files in it, in the order of their names.
std::vector<fs::path> case_files(const std::vector<std::string>& paths) {
  std::vector<fs::path> files;
  for (const std::string& path : paths) {
    if (!fs::is_directory(path)) {
      files.emplace_back(path);
      continue;
    }
    std::vector<fs::path> found;
    for (const auto& entry : fs::directory_iterator(path))
      if (entry.path().extension() == ".json" && entry.path().filename() != "index.json")
        found.push_back(entry.path());
    std::sort(found.begin(), found.end());
    files.insert(files.end(), found.begin(), found.end());
  }
  return files;
}

bool try_case(EngineCall& call, const fs::path& file) {
  Diagnostics problems;
  const Value reference = read_document(file.string(), problems);
  if (problems.has_errors()) throw Error(std::move(problems));
  if (is_training_reference(reference)) return replay_training(call, reference, file);
  throw Error("E870", "the file is no case that `try` knows", Where::in_file(file.string()));
}

}  // namespace

int try_cases(EngineCall& call) {
  bool all = true;
  for (const fs::path& file : case_files(call.texts("cases"))) all = try_case(call, file) && all;
  return all ? 0 : 3;
}

}  // namespace nexuml
