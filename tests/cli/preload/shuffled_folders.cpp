// Preloaded into a host, this gives the entries of each folder in an order of its own, as another file system
// does. NEXUML_TEST_SHUFFLE is the seed.
#include <dirent.h>
#include <dlfcn.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <mutex>
#include <random>
#include <string>
#include <vector>

namespace {

struct Folder {
  std::vector<std::string> entries;  // the bytes of each dirent
  std::size_t next = 0;
};

std::mutex mutex;
std::map<DIR*, Folder> folders;

template <class Function>
Function* next_definition(const char* name) {
  return reinterpret_cast<Function*>(::dlsym(RTLD_NEXT, name));
}

Folder shuffled(DIR* stream) {
  static auto* const read = next_definition<dirent*(DIR*)>("readdir");
  Folder folder;
  while (const dirent* entry = read(stream))
    folder.entries.emplace_back(reinterpret_cast<const char*>(entry), entry->d_reclen);
  const char* seed = std::getenv("NEXUML_TEST_SHUFFLE");
  std::ranges::sort(folder.entries);
  std::mt19937 random(static_cast<unsigned>(seed ? std::atoi(seed) : 0));
  std::ranges::shuffle(folder.entries, random);
  return folder;
}

}  // namespace

extern "C" dirent* readdir(DIR* stream) {
  const std::lock_guard lock(mutex);
  auto found = folders.find(stream);
  if (found == folders.end()) found = folders.emplace(stream, shuffled(stream)).first;
  Folder& folder = found->second;
  return folder.next < folder.entries.size() ? reinterpret_cast<dirent*>(folder.entries[folder.next++].data())
                                             : nullptr;
}

extern "C" int closedir(DIR* stream) {
  {
    const std::lock_guard lock(mutex);
    folders.erase(stream);
  }
  static auto* const close = next_definition<int(DIR*)>("closedir");
  return close(stream);
}
