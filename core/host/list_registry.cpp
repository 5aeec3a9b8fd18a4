#include <fmt/format.h>

#include <optional>

#include "host/commands.h"
#include "host/table.h"

namespace nexuml {
namespace {

constexpr std::pair<const char*, ComponentKind> component_listings[] = {
    {"layers", ComponentKind::layer},
    {"data", ComponentKind::data_source},
    {"eval", ComponentKind::eval_algorithm},
    {"loaders", ComponentKind::loader_backend}};

// A summary's first line is its sentence; shapes and formulas follow and belong to `inspect`.
std::string first_line(const std::string& text) {
  return text.substr(0, text.find('\n'));
}

// One listing: collected as values, shown as a table.
class Listing {
 public:
  explicit Listing(const std::string& title) : title_(title) {}

  void add(const std::string& name, const std::string& version, const DeclaredLibrary& library,
           EntryState state, const std::string& about) {
    Value entry = Value::map({{"name", name}});
    if (!version.empty()) entry.set("version", version);
    entry.set("library", library.origin.library);
    entry.set("library_version", library.origin.version);
    entry.set("path", library.origin.path);
    entry.set("state", to_string(state));
    if (!about.empty()) entry.set("summary", about);
    entries_.push_back(std::move(entry));
    const bool usable = state == EntryState::declared;
    table_.add({name, version, library.origin.library,
                usable ? first_line(about) : fmt::format("[{}] {}", to_string(state), first_line(about))});
  }
  void show(Session& session) {
    session.print(title_ + "\n" + (table_.empty() ? "  none\n" : table_.to_text()) + "\n");
    session.answer().set(title_, std::move(entries_));
  }

 private:
  std::string title_;
  Value entries_ = Value::list();
  Table table_{{"NAME", "VERSION", "LIBRARY", ""}};
};

void list_scenarios(Session& session) {
  Listing listing("scenarios");
  for (const auto& row : session.catalog()->scenarios()) {
    listing.add(row.entry->name, {}, *row.library, row.state,
                row.entry->file.empty() ? row.entry->summary : row.entry->file);
  }
  listing.show(session);
}

void list_targets(Session& session) {
  Listing listing("targets");
  for (const auto& row : session.catalog()->targets()) {
    listing.add(row.entry->path, {}, *row.library, row.state, std::string(to_string(row.entry->kind)));
  }
  listing.show(session);
}

}  // namespace

int list_registry(Session& session) {
  const std::string wanted = session.invocation().text("kind");
  session.report_libraries();
  for (const auto& [title, kind] : component_listings) {
    if (!wanted.empty() && wanted != title) continue;
    Listing listing(title);
    for (const auto& row : session.catalog()->definitions()) {
      const Identity& identity = row.entry->identity;
      if (identity.kind == kind)
        listing.add(identity.name, identity.version, *row.library, row.state, row.entry->summary);
    }
    listing.show(session);
  }
  if (wanted.empty() || wanted == "scenarios") list_scenarios(session);
  if (wanted.empty() || wanted == "targets") list_targets(session);
  return 0;
}

}  // namespace nexuml
