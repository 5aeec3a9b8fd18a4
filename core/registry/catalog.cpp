#include "registry/catalog.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

#include "registry/misses.h"

namespace nexuml {
namespace {

std::string words(const Identity& identity) {
  return to_string(identity);
}
std::string words(const std::string& name) {
  return name;
}

// Where an entry of a catalog stands, for messages: the manifest, or the library that carries it inside.
std::string place(const DeclaredLibrary& library) {
  const std::string& path = library.manifest.empty() ? library.origin.path : library.manifest;
  return fmt::format("{} {} ({})", library.origin.library, library.origin.version, path);
}

constexpr std::size_t named_libraries = 5;  // in a message

// What to say of libraries that declare one entry; an empty message where no rows are in conflict.
struct Conflict {
  std::string message, hint;
};

template <class Entry>
Conflict conflict_among(const std::string& what, const std::vector<DeclaredRow<Entry>>& rows) {
  std::vector<std::string> places, ids;
  for (const auto& row : rows) {
    if (row.state != EntryState::conflicting) continue;
    places.push_back(place(*row.library));
    ids.push_back(row.library->origin.library);
  }
  if (places.empty()) return {};
  if (places.size() == 2)
    return {fmt::format("{} is declared by two libraries, and neither wins: {} and {}", what, places[0],
                        places[1]),
            "disable one of them: NEXUML_COMPONENT_DISABLE=" + ids[1]};
  const std::size_t count = places.size(), named = std::min(count, named_libraries);
  const std::string others = count > named ? fmt::format(", and {} more", count - named) : std::string();
  places.resize(named);
  return {fmt::format("{} is declared by {} libraries, and none wins: {}{}", what, count,
                      fmt::join(places, ", "), others),
          "disable all but one of them: NEXUML_COMPONENT_DISABLE takes several ids, and patterns such as "
          "org.acme.*"};
}

template <class Entry>
const DeclaredRow<Entry>* usable_row(const std::vector<DeclaredRow<Entry>>& rows) {
  const auto found = std::ranges::find(rows, EntryState::declared, &DeclaredRow<Entry>::state);
  return found == rows.end() ? nullptr : &*found;
}

// Why none of `rows` can be used: a conflict, or what is wrong with the first library.
template <class Entry>
void report_unusable(const std::string& what, const std::vector<DeclaredRow<Entry>>& rows, const char* code,
                     const Where& at, Diagnostics& problems) {
  if (const Conflict conflict = conflict_among(what, rows); !conflict.message.empty()) {
    problems.error("E501", conflict.message, at).hint = conflict.hint;
    return;
  }
  const DeclaredLibrary& library = *rows.front().library;
  problems.error(code,
                 fmt::format("{} is declared by {}, which is {}: {}", what, place(library),
                             to_string(library.state), library.reason),
                 at);
}

template <class Map>
auto all_rows(const Map& map) {
  typename Map::mapped_type result;
  for (const auto& [key, rows] : map) result.insert(result.end(), rows.begin(), rows.end());
  return result;
}

}  // namespace

std::string_view to_string(EntryState state) noexcept {
  constexpr std::array<std::string_view, 6> names{"declared",     "shadowed",    "disabled",
                                                  "incompatible", "conflicting", "broken"};
  return names[static_cast<std::size_t>(state)];
}

Catalog::Catalog(std::vector<DeclaredLibrary> libraries, Diagnostics problems, std::size_t unreadable)
    : libraries_(std::move(libraries)), diagnostics_(std::move(problems)), unreadable_(unreadable) {
  index();
}

Catalog::~Catalog() = default;

void Catalog::index() {
  for (const auto& library : libraries_) {
    for (const auto& entry : library.definitions) {
      definitions_[entry.identity].push_back({&entry, &library, library.state});
    }
    for (const auto& entry : library.targets)
      targets_[entry.path].push_back({&entry, &library, library.state});
    for (const auto& entry : library.scenarios)
      scenarios_[entry.name].push_back({&entry, &library, library.state});
  }
  for (auto& [key, rows] : definitions_) resolve(key, rows);
  for (auto& [key, rows] : targets_) resolve("the target " + key, rows);
  for (auto& [key, rows] : scenarios_) resolve("the scenario " + key, rows);
  for (const auto& [path, rows] : targets_) {
    target_spellings_.emplace(path, path);
    for (const auto& row : rows) {
      if (row.state != EntryState::declared) continue;
      for (const auto& alias : row.entry->aliases) target_spellings_.emplace(alias, path);
    }
  }
}

// Usable libraries that declare the same entry are in conflict; so are broken ones where no usable library
// has it.
template <class Key, class Entry>
void Catalog::resolve(const Key& key, Rows<Entry>& rows) {
  if (rows.size() < 2) return;
  for (const EntryState state : {EntryState::declared, EntryState::broken}) {
    const auto count = std::ranges::count(rows, state, &DeclaredRow<Entry>::state);
    if (count == 0) continue;
    if (count == 1) return;
    for (auto& row : rows)
      if (row.state == state) row.state = EntryState::conflicting;
    const Conflict conflict = conflict_among(words(key), rows);
    diagnostics_.warning("E501", conflict.message).hint = conflict.hint;
    return;
  }
}

const DeclaredLibrary* Catalog::library(std::string_view id) const noexcept {
  const DeclaredLibrary* found = nullptr;
  for (const auto& library : libraries_) {
    if (library.origin.library != id) continue;
    if (library.usable()) return &library;
    if (!found) found = &library;
  }
  return found;
}

std::vector<DeclaredRow<DeclaredDefinition>> Catalog::definitions() const {
  return all_rows(definitions_);
}
std::vector<DeclaredRow<DeclaredTarget>> Catalog::targets() const {
  return all_rows(targets_);
}
std::vector<DeclaredRow<DeclaredScenario>> Catalog::scenarios() const {
  return all_rows(scenarios_);
}

const DeclaredLibrary* Catalog::provider(const Identity& identity, const Where& type_at,
                                         const Where& version_at, Diagnostics& problems) const {
  const auto found = definitions_.find(identity);
  if (found == definitions_.end()) {
    detail::KnownNames known;
    for (const auto& [key, rows] : definitions_) known.identities.push_back(key);
    known.searched = searched();
    detail::report_missing_definition(identity, type_at, version_at, known, problems);
    return nullptr;
  }
  if (const auto* row = usable_row(found->second)) return row->library;
  report_unusable(to_string(identity), found->second, "E730", type_at, problems);
  return nullptr;
}

const DeclaredLibrary* Catalog::target_provider(std::string_view spelling) const noexcept {
  const auto canonical = canonical_target_spelling(spelling);
  const auto path = canonical ? target_spellings_.find(*canonical) : target_spellings_.end();
  if (path == target_spellings_.end()) return nullptr;
  const auto* row = usable_row(targets_.find(path->second)->second);
  return row ? row->library : nullptr;
}

const DeclaredRow<DeclaredScenario>* Catalog::scenario(const std::string& name, Diagnostics& problems) const {
  const auto found = scenarios_.find(name);
  if (found != scenarios_.end()) {
    if (const auto* row = usable_row(found->second)) return row;
    report_unusable("the scenario " + name, found->second, "E730", {}, problems);
    return nullptr;
  }
  std::vector<std::string> names;
  for (const auto& [key, rows] : scenarios_) names.push_back(key);
  std::string hint = did_you_mean(name, names);
  if (!hint.empty()) hint += " ";
  problems.error("E730", fmt::format("no scenario is named '{}' and there is no such file", name)).hint =
      fmt::format("{}`nexuml-run registry list scenarios` shows what there is; {}", hint, searched());
  return nullptr;
}

const DeclaredSchemas& Catalog::schemas(const DeclaredLibrary& library, Diagnostics& problems) const {
  const std::lock_guard lock(schemas_mutex_);
  auto& cached = schemas_[&library];
  if (!cached) {
    cached = std::make_unique<const DeclaredSchemas>(library.read_schemas ? library.read_schemas(problems)
                                                                          : DeclaredSchemas{});
  }
  return *cached;
}

namespace {

void report_no_schema(const std::string& what, const DeclaredLibrary& library, Diagnostics& problems) {
  problems
      .error("E502",
             fmt::format("the manifest of {} declares {} and holds no schema of it", place(library), what),
             Where::in_library(library.origin.library, library.manifest))
      .hint = "build the library again: nexuml_add_library writes both parts of the manifest";
}

}  // namespace

std::shared_ptr<const StructNode> Catalog::definition_schema(const Identity& identity, const Where& type_at,
                                                             const Where& version_at,
                                                             Diagnostics& problems) const {
  const auto* library = provider(identity, type_at, version_at, problems);
  if (!library) return nullptr;
  const auto& known = schemas(*library, problems).definitions;
  if (const auto found = known.find(identity); found != known.end()) return found->second;
  report_no_schema(to_string(identity), *library, problems);
  return nullptr;
}

std::shared_ptr<const TargetNode> Catalog::target(TargetKind kind, const std::string& spelling,
                                                  const Where& at, Diagnostics& problems) const {
  const auto canonical = canonical_target_spelling(spelling);
  const auto path = canonical ? target_spellings_.find(*canonical) : target_spellings_.end();
  if (path == target_spellings_.end()) {
    detail::report_missing_target(kind, spelling, at, {{}, declared_targets(), searched()}, problems);
    return nullptr;
  }
  const auto& rows = targets_.find(path->second)->second;
  const auto* row = usable_row(rows);
  if (!row) {
    report_unusable("the target " + spelling, rows, "E733", at, problems);
    return nullptr;
  }
  if (row->entry->kind != kind) {
    detail::report_wrong_target_kind(spelling, row->entry->kind, kind, at, problems);
    return nullptr;
  }
  const auto& known = schemas(*row->library, problems).targets;
  if (const auto found = known.find(path->second); found != known.end()) return found->second;
  report_no_schema("the target " + spelling, *row->library, problems);
  return nullptr;
}

std::shared_ptr<const StructNode> Catalog::scenario_parameters(const std::string& name,
                                                               Diagnostics& problems) const {
  const auto* row = scenario(name, problems);
  if (!row || !row->entry->file.empty()) return nullptr;
  const auto& known = schemas(*row->library, problems).scenarios;
  if (const auto found = known.find(name); found != known.end()) return found->second;
  report_no_schema("the scenario " + name, *row->library, problems);
  return nullptr;
}

std::vector<Identity> Catalog::declared(ComponentKind kind) const {
  std::vector<Identity> result;
  for (const auto& [identity, rows] : definitions_)
    if (identity.kind == kind) result.push_back(identity);
  return result;
}

std::vector<std::string> Catalog::declared_targets() const {
  std::vector<std::string> result;
  for (const auto& [path, rows] : targets_) result.push_back(path);
  return result;
}

std::string Catalog::searched() const {
  const auto broken =
      static_cast<std::size_t>(std::ranges::count(libraries_, EntryState::broken, &DeclaredLibrary::state));
  const std::size_t found = libraries_.size() + unreadable_;
  return fmt::format("{} {} searched, {} could not be read", found,
                     found == 1 ? "library was" : "libraries were", broken + unreadable_);
}

}  // namespace nexuml
