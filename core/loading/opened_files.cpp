#include "loading/opened_files.h"

#include <map>
#include <mutex>

namespace nexuml {
namespace {

// By the path as it is given to the system, which compares it letter by letter. An open file keeps its inode,
// also after it was deleted: no later file can be taken for it.
struct OpenedFiles {
  std::mutex mutex;
  std::map<std::string, FileIdentity> by_path;
};

// As long as the process: that is how long what it opened stays open.
OpenedFiles& opened_files() {
  static auto* const files = new OpenedFiles;
  return *files;
}

}  // namespace

bool was_replaced(const std::string& path, const FileIdentity& file) {
  OpenedFiles& files = opened_files();
  const std::lock_guard lock(files.mutex);
  const auto opened = files.by_path.find(path);
  return opened != files.by_path.end() && opened->second != file;
}

void remember_opened(const std::string& path, const FileIdentity& file) {
  OpenedFiles& files = opened_files();
  const std::lock_guard lock(files.mutex);
  files.by_path.emplace(path, file);
}

}  // namespace nexuml
