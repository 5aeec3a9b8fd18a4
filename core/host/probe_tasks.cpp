#include "host/probe_tasks.h"

#include <fmt/format.h>

#include <algorithm>

#include "discovery/discover.h"
#include "engine/engine_entry.h"
#include "loading/diagnostic_value.h"

namespace nexuml {
namespace {

std::vector<std::string> texts_at(const Value& map, std::string_view key) {
  std::vector<std::string> texts;
  if (const Value* list = map.find(key))
    for (const Value& item : list->items()) texts.push_back(item.as_string());
  return texts;
}

// The shipped libraries, for what every component may use, and the one that is looked at.
bool load_what_is_needed(LibraryLoader& loader, const std::string& path, Diagnostics& problems) {
  const auto& libraries = loader.catalog().libraries();
  for (const auto& library : libraries)
    if (library.usable() && library.source == "shipped" && !loader.load(library, problems)) return false;
  const auto found = std::ranges::find_if(
      libraries, [&](const DeclaredLibrary& library) { return library.origin.path == path; });
  if (found != libraries.end()) return loader.load(*found, problems);
  problems.error("E409", "the library was not found again", Where::in_file(path));
  return false;
}

}  // namespace

Value search_to_value(const SearchOptions& search) {
  return Value::map({{"first_roots", Value(search.first_roots)},
                     {"roots", Value(search.roots)},
                     {"prefixes", Value(search.prefixes)},
                     {"use", Value(search.use)}});
}

SearchOptions search_from_value(const Value& value) {
  return {.first_roots = texts_at(value, "first_roots"),
          .roots = texts_at(value, "roots"),
          .prefixes = texts_at(value, "prefixes"),
          .use = texts_at(value, "use")};
}

Value run_engine_task(LibraryLoader& worker, const Value& request) {
  Diagnostics problems;
  Value answer = Value::map();
  int exit_code = 1;
  LibraryLoader loader(discover(search_from_value(request.at("search")), worker.environment()),
                       worker.environment());
  if (loader.open_runtime(problems) &&
      load_what_is_needed(loader, request.at("library").as_string(), problems)) {
    if (const auto engine = loader.open_own("libnexuml-engine.so", problems)) {
      const std::string command = request.at("command").as_string();
      const nexuml_engine_call call{
          sizeof(nexuml_engine_call), command.c_str(), &request.at("options"), &loader, &problems, &answer};
      exit_code = engine->get<int(const nexuml_engine_call*)>(NEXUML_ENGINE_ENTRY_SYMBOL)(&call);
    }
  }
  return Value::map(
      {{"diagnostics", to_value(problems)}, {"answer", std::move(answer)}, {"exit_code", exit_code}});
}

}  // namespace nexuml
