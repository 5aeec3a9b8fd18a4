#include "host/commands.h"
#include "host/table.h"

namespace nexuml {
namespace {

struct Backend {
  std::string category, name, origin;
};

// What the runtime itself carries out; the rest comes from libraries.
const Backend built_in[] = {{"training", "local", "built in"}, {"tracking", "csv", "built in"}};

std::vector<Backend> backends(const Catalog& catalog) {
  std::vector<Backend> found(std::begin(built_in), std::end(built_in));
  for (const auto& row : catalog.definitions()) {
    if (row.entry->identity.kind == ComponentKind::loader_backend && row.state == EntryState::declared) {
      found.push_back({"data-loader", row.entry->identity.name, row.library->origin.library});
    }
  }
  for (const auto& row : catalog.targets()) {
    if (row.entry->kind == TargetKind::writer && row.state == EntryState::declared) {
      found.push_back({"data-export", row.entry->path, row.library->origin.library});
    }
  }
  return found;
}

}  // namespace

int list_backends(Session& session) {
  const std::string wanted = session.invocation().text("category");
  Table table({"CATEGORY", "BACKEND", "FROM"});
  Value entries = Value::list();
  for (const auto& backend : backends(*session.catalog())) {
    if (!wanted.empty() && backend.category != wanted) continue;
    table.add({backend.category, backend.name, backend.origin});
    entries.push_back(
        Value::map({{"category", backend.category}, {"name", backend.name}, {"library", backend.origin}}));
  }
  session.print(table.to_text());
  session.answer().set("backends", std::move(entries));
  return 0;
}

}  // namespace nexuml
