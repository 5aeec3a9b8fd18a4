// `inspect SUBJECT`: what is known of it from manifests alone.
#include <fmt/format.h>

#include <algorithm>

#include "host/commands.h"
#include "host/inspect_scenario.h"
#include "host/table.h"

namespace nexuml {
namespace {

std::string default_text(const FieldNode& field) {
  return field.required ? "required" : write_json(field.default_value, {.indent = -1});
}

// Fields with type, default and words, as text and as values.
std::string fields_text(const StructNode& schema) {
  Table table({"FIELD", "TYPE", "DEFAULT", ""});
  for (const auto& field : schema.fields)
    table.add({field.name, type_in_words(field.type), default_text(field), field.doc});
  return table.empty() ? "no fields\n" : table.to_text();
}

Value fields_value(const StructNode& schema) {
  Value fields = Value::list();
  for (const auto& field : schema.fields) {
    Value entry =
        Value::map({{"name", field.name}, {"type", type_in_words(field.type)}, {"required", field.required}});
    if (!field.required) entry.set("default", field.default_value);
    if (!field.doc.empty()) entry.set("doc", field.doc);
    fields.push_back(std::move(entry));
  }
  return fields;
}

// Copies of one identity stand under it: the one that is used, and below it the others.
void set_copy(Value& answer, const std::string& title, Value entry) {
  Value* first = answer.find(title);
  if (!first) {
    answer.set(title, std::move(entry));
    return;
  }
  if (entry.at("state") == Value(std::string(to_string(EntryState::declared)))) std::swap(*first, entry);
  Value others = Value::list();
  for (Value* holder : {&entry, first})
    if (const Value* earlier = holder->find("other_copies"))
      for (const Value& copy : earlier->items()) others.push_back(copy);
  entry.erase("other_copies");
  others.push_back(std::move(entry));
  first->set("other_copies", std::move(others));
}

// One described thing: a component, a target, a scenario function.
void show_described(Session& session, const std::string& title, const DeclaredLibrary& library,
                    EntryState state, const std::string& summary, const StructNode* schema) {
  if (schema && session.invocation().flag("schema")) {
    Value document = json_schema(*schema);
    session.print(write_json(document) + "\n");
    session.answer().set(title, std::move(document));
    return;
  }
  std::string text = title + "\n";
  if (!summary.empty()) text += "  " + summary + "\n";
  text += fmt::format("  from {} ({})\n", to_string(library.origin), library.source);
  text +=
      fmt::format("  state {}{}\n", to_string(state), library.reason.empty() ? "" : ": " + library.reason);
  if (schema) text += "\n" + fields_text(*schema);
  session.print(text + "\n");
  Value entry = Value::map({{"library", library.origin.library},
                            {"version", library.origin.version},
                            {"path", library.origin.path},
                            {"abi", library.abi_tag},
                            {"state", to_string(state)},
                            {"summary", summary}});
  if (schema) entry.set("fields", fields_value(*schema));
  set_copy(session.answer(), title, std::move(entry));
}

// Its name in `registry list`.
std::string_view listing_of(ComponentKind kind) {
  switch (kind) {
    case ComponentKind::layer:
      return "layers";
    case ComponentKind::data_source:
      return "data";
    case ComponentKind::eval_algorithm:
      return "eval";
    case ComponentKind::loader_backend:
      return "loaders";
  }
  return {};
}

// `LinearEncoder`, `LinearEncoder@1`, `layer/LinearEncoder`, `layer/LinearEncoder@1`; `layer` and `layers`
// are all of a kind.
bool matches(const Identity& identity, std::string_view subject) {
  const std::string kind(to_string(identity.kind));
  const std::string with_version = identity.name + "@" + identity.version;
  return subject == kind || subject == listing_of(identity.kind) || subject == identity.name ||
         subject == with_version || subject == kind + "/" + identity.name ||
         subject == kind + "/" + with_version;
}

bool inspect_components(Session& session, const std::string& subject) {
  const Catalog& catalog = *session.catalog();
  bool found = false;
  for (const auto& row : catalog.definitions()) {
    if (!matches(row.entry->identity, subject)) continue;
    found = true;
    std::shared_ptr<const StructNode> schema;
    if (row.state == EntryState::declared) {
      schema = catalog.definition_schema(row.entry->identity, {}, {}, session.diagnostics());
    }
    show_described(session, to_string(row.entry->identity), *row.library, row.state, row.entry->summary,
                   schema.get());
  }
  return found;
}

bool inspect_target(Session& session, const std::string& subject) {
  const Catalog& catalog = *session.catalog();
  const auto canonical = canonical_target_spelling(subject);
  if (!canonical) return false;
  for (const auto& row : catalog.targets()) {
    if (row.entry->path != *canonical &&
        std::ranges::find(row.entry->aliases, *canonical) == row.entry->aliases.end())
      continue;
    std::shared_ptr<const TargetNode> node;
    if (row.state == EntryState::declared)
      node = catalog.target(row.entry->kind, row.entry->path, {}, session.diagnostics());
    show_described(session, fmt::format("{} {}", to_string(row.entry->kind), row.entry->path), *row.library,
                   row.state, node ? node->arguments->summary : "", node ? node->arguments.get() : nullptr);
    return true;
  }
  return false;
}

bool inspect_scenario_name(Session& session, const std::string& subject) {
  const Catalog& catalog = *session.catalog();
  for (const auto& row : catalog.scenarios()) {
    if (row.entry->name != subject) continue;
    if (!row.entry->file.empty()) {
      inspect_scenario_file(session, row.entry->file);
      return true;
    }
    const auto parameters = row.state == EntryState::declared
                                ? catalog.scenario_parameters(subject, session.diagnostics())
                                : nullptr;
    show_described(session, "scenario " + subject, *row.library, row.state, row.entry->summary,
                   parameters.get());
    return true;
  }
  return false;
}

bool inspect_library(Session& session, const std::string& subject) {
  bool found = false;
  Value entries = Value::list();
  for (const auto& library : session.catalog()->libraries()) {
    if (library.origin.library != subject) continue;
    found = true;
    std::string text = fmt::format(
        "library {} {}\n  path {}\n  from {}\n  state {}{}\n  abi {}; {}\n", library.origin.library,
        library.origin.version, library.origin.path, library.source, to_string(library.state),
        library.reason.empty() ? "" : ": " + library.reason, library.interface_version, library.abi_tag);
    if (!library.origin.build_id.empty()) text += fmt::format("  build id {}\n", library.origin.build_id);
    Value provides = Value::list();
    const auto provide = [&](const std::string& what) {
      text += "  provides " + what + "\n";
      provides.push_back(what);
    };
    for (const auto& entry : library.definitions) provide(to_string(entry.identity));
    for (const auto& entry : library.targets)
      provide(fmt::format("{} {}", to_string(entry.kind), entry.path));
    for (const auto& entry : library.scenarios) provide("scenario " + entry.name);
    for (const auto& name : library.serializers) provide("serializer " + name);
    for (const auto& requirement : library.requirements) text += "  requires " + requirement + "\n";
    session.print(text + "\n");
    entries.push_back(Value::map({{"id", library.origin.library},
                                  {"version", library.origin.version},
                                  {"path", library.origin.path},
                                  {"source", library.source},
                                  {"state", to_string(library.state)},
                                  {"reason", library.reason},
                                  {"nexuml", library.interface_version},
                                  {"abi", library.abi_tag},
                                  {"build_id", library.origin.build_id},
                                  {"provides", std::move(provides)}}));
  }
  if (found) session.answer().set("libraries", std::move(entries));
  return found;
}

int report_unknown(Session& session, const std::string& subject) {
  const Catalog& catalog = *session.catalog();
  std::vector<std::string> names;
  for (const auto& row : catalog.definitions()) names.push_back(row.entry->identity.name);
  for (const auto& row : catalog.targets()) names.push_back(row.entry->path);
  for (const auto& row : catalog.scenarios()) names.push_back(row.entry->name);
  for (const auto& library : catalog.libraries()) names.push_back(library.origin.library);
  std::string hint = did_you_mean(subject, names);
  session.diagnostics()
      .error("E730",
             fmt::format("nothing is named '{}': no component, target, scenario, library or file", subject))
      .hint = hint + (hint.empty() ? "" : " ") + catalog.searched();
  return 1;
}

}  // namespace

int inspect(Session& session) {
  const std::string subject = session.invocation().text("subject");
  if (subject.empty()) return list_registry(session);
  if (is_scenario_file(subject)) {
    inspect_scenario_file(session, subject);
    return 0;
  }
  const bool found = inspect_components(session, subject) || inspect_target(session, subject) ||
                     inspect_scenario_name(session, subject) || inspect_library(session, subject);
  return found ? 0 : report_unknown(session, subject);
}

}  // namespace nexuml
