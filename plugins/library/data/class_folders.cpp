#include "data/class_folders.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <set>
#include <system_error>

namespace nexuml_library {

namespace {

namespace fs = std::filesystem;

std::vector<fs::path> sorted_folders(const fs::path& folder) {
  std::vector<fs::path> folders;
  for (const auto& entry : fs::directory_iterator(folder))
    if (entry.is_directory() && !entry.path().filename().string().starts_with("."))
      folders.push_back(entry.path());
  std::sort(folders.begin(), folders.end());
  return folders;
}

bool is_split_name(const std::string& name) {
  return name == "train" || name == "test" || name == "fit" || name == "all" || name.find("val") == 0;
}

std::string lower_ending(const fs::path& file) {
  std::string ending = file.extension().string();
  std::transform(ending.begin(), ending.end(), ending.begin(),
                 [](unsigned char c) { return std::tolower(c); });
  return ending;
}

struct ClassFile {
  fs::path file;
  std::string class_name, split;
};

void add_files(const fs::path& folder, const std::string& split, const std::vector<std::string>& endings,
               std::vector<ClassFile>& found) {
  for (const auto& entry : fs::recursive_directory_iterator(folder))
    if (entry.is_regular_file() &&
        std::find(endings.begin(), endings.end(), lower_ending(entry.path())) != endings.end())
      found.push_back({entry.path(), folder.filename().string(), split});
}

}  // namespace

ClassFolders find_class_folders(const fs::path& root, const std::vector<std::string>& endings,
                                const std::string& source_name) {
  const auto refuse = [&](const std::string& message) {
    throw nexuml::Error(
        "E831", fmt::format("the data source '{}': {}", source_name, message),
        nexuml::Where::in_file(root.string()),
        fmt::format("lay the files out as {}/<class>/<file> or {}/<split>/<class>/<file>; files end in {}",
                    root.string(), root.string(), fmt::join(endings, ", ")));
  };
  std::error_code failure;
  if (!fs::is_directory(root, failure)) refuse("the folder does not exist");
  const std::vector<fs::path> first_level = sorted_folders(root);
  const bool with_splits =
      !first_level.empty() && std::all_of(first_level.begin(), first_level.end(), [](const fs::path& folder) {
        return is_split_name(folder.filename().string());
      });

  std::vector<ClassFile> found;
  for (const fs::path& folder : first_level) {
    if (!with_splits) {
      add_files(folder, "", endings, found);
      continue;
    }
    for (const fs::path& class_folder : sorted_folders(folder))
      add_files(class_folder, folder.filename().string(), endings, found);
  }
  if (found.empty()) refuse("there is no file in a folder of a class");
  std::sort(found.begin(), found.end(),
            [](const auto& left, const auto& right) { return left.file < right.file; });

  std::set<std::string> names;
  for (const ClassFile& file : found) names.insert(file.class_name);
  ClassFolders folders;
  folders.class_names.assign(names.begin(), names.end());
  for (ClassFile& file : found) {
    folders.files.push_back(std::move(file.file));
    folders.classes.push_back(std::distance(names.begin(), names.find(file.class_name)));
    if (with_splits) folders.splits.push_back(std::move(file.split));
  }
  return folders;
}

}  // namespace nexuml_library
