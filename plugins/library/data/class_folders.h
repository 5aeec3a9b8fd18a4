// Files that lie in one folder a class, with or without a folder a split around them.
#pragma once

#include <nexuml/data.h>

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace nexuml_library {

struct ClassFolders {
  std::vector<std::filesystem::path> files;  // sorted, so that their order is the same everywhere
  std::vector<std::int64_t> classes;         // of each file
  std::vector<std::string> class_names;      // sorted
  std::vector<std::string> splits;           // of each file, or empty
};

// Files below `root` whose ending is one of `endings` (lower case, with the dot). The first level is taken
// for splits where all of its folders are named train, fit, val..., test or all. Hidden files and folders are
// passed over. Throws nexuml::Error E831 when there is no such folder, no class or no file, and for links
// that lead nowhere. Told in `advice` as W831: classes without a file or without a training file, files that
// lie in no class, and files of other kinds.
ClassFolders find_class_folders(const std::filesystem::path& root, const std::vector<std::string>& endings,
                                const std::string& source_name, nexuml::Diagnostics* advice);

}  // namespace nexuml_library
