#include "data/class_folders.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <iterator>
#include <map>
#include <set>
#include <system_error>

namespace nexuml_library {

namespace {

namespace fs = std::filesystem;

constexpr std::size_t most_named = 20;

bool is_hidden(const fs::path& path) {
  return path.filename().string().starts_with(".");
}

std::vector<fs::path> sorted_folders(const fs::path& folder) {
  std::vector<fs::path> folders;
  std::error_code failure;
  for (const auto& entry : fs::directory_iterator(folder))
    if (entry.is_directory(failure) && !is_hidden(entry.path())) folders.push_back(entry.path());
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

// What a walk through the folders found, and what it passed over.
struct Found {
  std::vector<ClassFile> files;
  std::vector<std::string> empty_classes;
  std::map<std::string, std::int64_t> other_endings;  // how many files of each
  std::int64_t outside = 0;                           // files in no class
  nexuml::Diagnostics problems;
};

class FolderWalk {
 public:
  explicit FolderWalk(const std::vector<std::string>& endings) : endings_(endings) {}

  void add_class(const fs::path& folder, const std::string& split) {
    const std::size_t before = found_.files.size();
    for (auto entry = fs::recursive_directory_iterator(folder); entry != fs::recursive_directory_iterator();
         ++entry) {
      if (is_hidden(entry->path())) {
        entry.disable_recursion_pending();
        continue;
      }
      if (is_wanted(*entry)) found_.files.push_back({entry->path(), folder.filename().string(), split});
    }
    if (found_.files.size() == before) found_.empty_classes.push_back(folder.filename().string());
  }
  // Files beside the folders of classes.
  void note_outside(const fs::path& folder) {
    for (const auto& entry : fs::directory_iterator(folder)) {
      std::error_code failure;
      if (!is_hidden(entry.path()) && entry.is_regular_file(failure) && ends_right(entry.path()))
        ++found_.outside;
    }
  }
  Found take() { return std::move(found_); }

 private:
  bool ends_right(const fs::path& file) const {
    return std::find(endings_.begin(), endings_.end(), lower_ending(file)) != endings_.end();
  }
  bool is_wanted(const fs::directory_entry& entry) {
    std::error_code failure;
    const fs::file_status status = entry.status(failure);
    if (fs::is_directory(status)) return false;
    if (!ends_right(entry.path())) {
      if (fs::is_regular_file(status)) ++found_.other_endings[lower_ending(entry.path())];
      return false;
    }
    if (fs::is_regular_file(status)) return true;
    if (found_.problems.size() < most_named)
      found_.problems
          .error("E831",
                 entry.is_symlink(failure) ? "the link leads to no file" : "this is no file that can be read",
                 nexuml::Where::in_file(entry.path().string()))
          .hint = "mend or remove it";
    return false;
  }

  const std::vector<std::string>& endings_;
  Found found_;
};

// The first names of a long list.
std::string listed(const std::vector<std::string>& names) {
  if (names.size() <= most_named) return fmt::format("{}", fmt::join(names, ", "));
  return fmt::format("{} and {} more", fmt::join(names.begin(), names.begin() + most_named, ", "),
                     names.size() - most_named);
}

std::vector<std::string> never_trained(const std::vector<ClassFile>& files) {
  std::set<std::string> trained, tested;
  for (const ClassFile& file : files)
    (file.split == "train" || file.split == "fit" || file.split == "all" ? trained : tested)
        .insert(file.class_name);
  std::vector<std::string> names;
  std::set_difference(tested.begin(), tested.end(), trained.begin(), trained.end(),
                      std::back_inserter(names));
  return names;
}

void tell(const Found& found, const fs::path& root, bool with_splits, nexuml::Diagnostics* advice) {
  if (!advice) return;
  const auto warn = [&](const std::string& message) {
    advice->warning("W831", message, nexuml::Where::in_file(root.string()));
  };
  if (!found.empty_classes.empty())
    warn("folders without a file make no class: " + listed(found.empty_classes));
  if (found.outside > 0)
    warn(fmt::format("{} files lie beside the folders of the classes and are not read", found.outside));
  std::vector<std::string> others;
  for (const auto& [ending, count] : found.other_endings)
    others.push_back(fmt::format("{} ({})", ending.empty() ? "without ending" : ending, count));
  if (!others.empty()) warn("files of other kinds are not read: " + listed(others));
  if (with_splits)
    if (const auto names = never_trained(found.files); !names.empty())
      warn("classes that training never sees: " + listed(names));
}

}  // namespace

ClassFolders find_class_folders(const fs::path& root, const std::vector<std::string>& endings,
                                const std::string& source_name, nexuml::Diagnostics* advice) {
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

  FolderWalk walk(endings);
  walk.note_outside(root);
  for (const fs::path& folder : first_level) {
    if (!with_splits) {
      walk.add_class(folder, "");
      continue;
    }
    walk.note_outside(folder);
    for (const fs::path& class_folder : sorted_folders(folder))
      walk.add_class(class_folder, folder.filename().string());
  }
  Found all = walk.take();
  if (all.problems.has_errors()) throw nexuml::Error(std::move(all.problems));
  if (all.files.empty()) refuse("there is no file in a folder of a class");
  tell(all, root, with_splits, advice);
  std::vector<ClassFile>& found = all.files;
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
