// The shipped libraries, registered as a host does it.
#pragma once

#include <dlfcn.h>
#include <nexuml/layer_context.h>
#include <nexuml/registry.h>

#include <filesystem>
#include <stdexcept>
#include <string>

namespace shipped {

inline nexuml::ComponentRegistry with_library(const nexuml::ComponentRegistry& registry,
                                              const std::string& id, const std::string& path) {
  void* handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  if (!handle) throw std::runtime_error(dlerror());
  const auto entry =
      reinterpret_cast<nexuml_library_entry_v1_function>(dlsym(handle, NEXUML_LIBRARY_ENTRY_SYMBOL));
  nexuml::StagedRegistration staged;
  nexuml::Registration registration(staged);
  const auto report = [](void*, const char* message) { throw std::runtime_error(message); };
  const nexuml_host_v1 host{sizeof(nexuml_host_v1), &registration, report, nullptr};
  entry()->register_components(&host);
  nexuml::Diagnostics problems;
  nexuml::ComponentRegistry result = registry.with(staged, {id, "", path, ""}, problems);
  if (problems.has_errors()) throw nexuml::Error(problems);
  return result;
}

// Every library of the build tree.
inline const nexuml::ComponentRegistry& registry() {
  static const nexuml::ComponentRegistry loaded = [] {
    nexuml::ComponentRegistry all;
    for (const auto& folder : std::filesystem::directory_iterator(NEXUML_COMPONENTS_ROOT))
      for (const auto& file : std::filesystem::directory_iterator(folder))
        if (file.path().extension() == ".so")
          all = with_library(all, folder.path().filename().string(), file.path().string());
    return all;
  }();
  return loaded;
}

}  // namespace shipped
