#include "checkpoint/staging_folder.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <nexuml/diagnostic.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cctype>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <mutex>
#include <set>
#include <system_error>

namespace nexuml {

namespace fs = std::filesystem;

namespace {

constexpr std::string_view staging_prefix = ".staging-";

// Names in use by this process: another staging folder with its process id is a leftover of an earlier
// process that had the same id, as in containers.
struct NamesInUse {
  std::mutex mutex;
  std::set<std::string> names;
};

NamesInUse& names_in_use() {
  static NamesInUse* const names = new NamesInUse;  // lives as long as threads may write
  return *names;
}

std::string host_name() {
  std::array<char, 64> name{};
  if (::gethostname(name.data(), name.size() - 1) != 0) return "host";
  std::string text(name.data());
  for (char& c : text)
    if (!std::isalnum(static_cast<unsigned char>(c))) c = '_';
  return text;
}

// ".staging-<host>-<process>-<count>"
std::string fresh_name() {
  static std::atomic<int> count{0};
  std::string name = fmt::format("{}{}-{}-{}", staging_prefix, host_name(), ::getpid(), count++);
  NamesInUse& in_use = names_in_use();
  const std::lock_guard lock(in_use.mutex);
  in_use.names.insert(name);
  return name;
}

void forget(const std::string& name) {
  NamesInUse& in_use = names_in_use();
  const std::lock_guard lock(in_use.mutex);
  in_use.names.erase(name);
}

bool is_in_use(const std::string& name) {
  NamesInUse& in_use = names_in_use();
  const std::lock_guard lock(in_use.mutex);
  return in_use.names.contains(name);
}

// Whether the writer of this folder runs no more. Folders of other machines are left alone: nobody here
// knows.
bool is_leftover(const std::string& name) {
  const std::string own = fmt::format("{}{}-", staging_prefix, host_name());
  if (!name.starts_with(staging_prefix)) return false;
  // Earlier versions wrote no machine: `.staging-<process>-<count>`.
  const bool names_machine = std::count(name.begin(), name.end(), '-') > 2;
  if (names_machine && !name.starts_with(own)) return false;
  const std::size_t digits = names_machine ? own.size() : staging_prefix.size();
  pid_t process = 0;
  std::from_chars(name.data() + digits, name.data() + name.size(), process);
  if (process <= 0) return false;
  if (process == ::getpid()) return !is_in_use(name);
  return ::kill(process, 0) != 0 && errno == ESRCH;
}

// Never replaces, not even an empty folder. File systems without that flag take a plain rename, which
// replaces no folder that holds something.
int rename_without_replacing(const fs::path& from, const fs::path& to) {
  if (::renameat2(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), RENAME_NOREPLACE) == 0) return 0;
  if (errno != EINVAL && errno != ENOSYS) return -1;
  return ::rename(from.c_str(), to.c_str());
}

}  // namespace

void fail_to_save(const fs::path& path, const std::string& reason) {
  throw Error("E762", "the checkpoint cannot be written: " + reason, Where::in_file(path.string()),
              "free space or choose another --run-dir; earlier checkpoints are intact");
}

void sync_folder(const fs::path& folder) {
  const int descriptor = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0) fail_to_save(folder, std::strerror(errno));
  const int failed = ::fsync(descriptor) != 0 ? errno : 0;
  ::close(descriptor);
  if (failed) fail_to_save(folder, std::strerror(failed));
}

StagingFolder::StagingFolder(const fs::path& parent) : parent_(parent) {
  std::error_code failure;
  made_parent_ = !fs::exists(parent_, failure);
  fs::create_directories(parent_, failure);
  if (failure) fail_to_save(parent_, failure.message());
  path_ = parent_ / fresh_name();
  fs::remove_all(path_, failure);  // of an earlier process with this id
  if (fs::create_directory(path_, failure)) return;
  forget(path_.filename().string());
  if (made_parent_) ::rmdir(parent_.c_str());
  fail_to_save(path_, failure ? failure.message() : "the name is taken");
}

StagingFolder::~StagingFolder() {
  std::error_code ignored;
  if (!committed_) {
    fs::remove_all(path_, ignored);
    if (made_parent_) ::rmdir(parent_.c_str());  // only when it is empty
  }
  forget(path_.filename().string());
}

bool StagingFolder::commit(const fs::path& place) {
  if (rename_without_replacing(path_, place) != 0) {
    if (errno == EEXIST || errno == ENOTEMPTY || errno == ENOTDIR) return false;
    fail_to_save(place, std::strerror(errno));
  }
  committed_ = true;
  sync_folder(parent_);
  if (made_parent_ && parent_.has_parent_path()) sync_folder(parent_.parent_path());
  return true;
}

void StagingFolder::sweep(const fs::path& parent) {
  std::error_code failure;
  for (const auto& entry : fs::directory_iterator(parent, failure)) {
    std::error_code ignored;
    if (is_leftover(entry.path().filename().string())) fs::remove_all(entry.path(), ignored);
  }
}

void StagingFolder::discard(const fs::path& folder) {
  std::error_code ignored;
  const std::string name = fresh_name();
  const fs::path leaving = folder.parent_path() / name;
  fs::rename(folder, leaving, ignored);
  fs::remove_all(leaving, ignored);
  forget(name);
}

}  // namespace nexuml
