#include "discovery/manifest.h"

#include <fmt/format.h>
#include <nexuml/schema_node.h>

#include <algorithm>

namespace nexuml {
namespace {

constexpr std::int64_t manifest_version = 1;

// Reads the fields of one manifest and reports what is missing or of another kind, with its position.
class ManifestReader {
 public:
  ManifestReader(const std::string& path, Diagnostics& problems) : path_(path), problems_(problems) {}

  void fail(const Value& at, const std::string& message) {
    Where where(at.position());
    where.file = path_;
    problems_.error("E102", message, where).hint =
        "build the library again: nexuml_add_library writes its manifest";
  }
  std::string text(const Value& map, std::string_view key, bool required = true) {
    const Value* value = map.find(key);
    if (!value) {
      if (required) fail(map, fmt::format("'{}' is missing", key));
      return {};
    }
    if (!value->is_string()) {
      fail(*value, fmt::format("'{}' is a text, found {}", key, describe_for_message(*value)));
      return {};
    }
    if (required && value->as_string().empty()) fail(*value, fmt::format("'{}' is empty", key));
    return value->as_string();
  }
  const Value* map(const Value& parent, std::string_view key) {
    const Value* value = parent.find(key);
    if (value && value->is_map()) return value;
    fail(value ? *value : parent,
         value ? fmt::format("'{}' is a map, found {}", key, describe_for_message(*value))
               : fmt::format("'{}' is missing", key));
    return nullptr;
  }
  // Calls `each` with every map of the list; a missing list has none.
  template <class Each>
  void maps(const Value& parent, std::string_view key, Each each) {
    const Value* list = parent.find(key);
    if (!list) return;
    if (!list->is_list())
      return fail(*list, fmt::format("'{}' is a list, found {}", key, describe_for_message(*list)));
    for (const Value& item : list->items()) {
      if (item.is_map())
        each(item);
      else
        fail(item, fmt::format("'{}' lists maps, found {}", key, describe_for_message(item)));
    }
  }
  std::vector<std::string> texts(const Value& parent, std::string_view key) {
    std::vector<std::string> result;
    const Value* list = parent.find(key);
    if (!list) return result;
    if (!list->is_list()) {
      fail(*list, fmt::format("'{}' is a list, found {}", key, describe_for_message(*list)));
      return result;
    }
    for (const Value& item : list->items()) {
      if (item.is_string())
        result.push_back(item.as_string());
      else
        fail(item, fmt::format("'{}' lists texts, found {}", key, describe_for_message(item)));
    }
    return result;
  }

 private:
  const std::string& path_;
  Diagnostics& problems_;
};

std::optional<Value> read_json_map(std::string_view json, const std::string& path, Diagnostics& problems) {
  Diagnostics syntax;
  Value document = parse_json(json, path, syntax);
  // The codes of documents say nothing here: whatever is wrong with the text is wrong with the manifest.
  for (Diagnostic entry : syntax) {
    entry.code = "E102";
    entry.message = "the manifest is no valid JSON: " + entry.message;
    entry.where.file = path;
    problems.add(std::move(entry));
  }
  if (syntax.has_errors()) return std::nullopt;
  if (!document.is_map()) {
    problems.error("E102", "a manifest is a JSON map, found " + describe_for_message(document),
                   Where::in_file(path));
    return std::nullopt;
  }
  const Value* version = document.find("manifest_version");
  if (!version || !version->is_integer() || version->as_integer() < 1) {
    problems.error("E102", "'manifest_version' is missing or no positive integer", Where::in_file(path));
    return std::nullopt;
  }
  if (version->as_integer() > manifest_version) {
    problems
        .error("E103",
               fmt::format("manifest_version {} is newer than this host reads ({})", version->as_integer(),
                           manifest_version),
               Where::in_file(path))
        .hint = "use a newer nexuml-run, or the library's build for this one";
    return std::nullopt;
  }
  return document;
}

#if defined(_WIN32)
constexpr const char* own_system = "windows";
#else
constexpr const char* own_system = "linux";
#endif

// One file, or one a system.
std::string library_file(const Value& library, ManifestReader& reader) {
  const Value* path = library.find("path");
  return path && path->is_map() ? reader.text(*path, own_system) : reader.text(library, "path");
}

// The systems that a manifest names a file for, where this one is not among them.
std::string other_systems(const Value& document) {
  const Value* library = document.find("library");
  const Value* path = library ? library->find("path") : nullptr;
  std::string names;
  if (!path || !path->is_map() || path->find(own_system)) return names;
  for (const auto& entry : path->entries()) names += (names.empty() ? "" : ", ") + entry.key;
  return names;
}

void read_provides(const Value& document, ManifestReader& reader, Manifest& manifest) {
  reader.maps(document, "provides", [&](const Value& item) {
    const std::string kind = reader.text(item, "kind");
    const auto known = component_kind(kind);
    if (!known && !kind.empty()) reader.fail(item, fmt::format("'{}' is no kind of component", kind));
    manifest.definitions.push_back(
        {{known.value_or(ComponentKind::layer), reader.text(item, "name"), reader.text(item, "version")},
         reader.text(item, "summary", false),
         reader.text(item, "hash", false)});
  });
  reader.maps(document, "targets", [&](const Value& item) {
    const std::string kind = reader.text(item, "kind");
    const auto known = target_kind(kind);
    if (!known && !kind.empty()) reader.fail(item, fmt::format("'{}' is no kind of target", kind));
    manifest.targets.push_back({known.value_or(TargetKind::module), reader.text(item, "path"),
                                reader.texts(item, "aliases"), reader.text(item, "hash", false)});
  });
  reader.maps(document, "scenarios", [&](const Value& item) {
    manifest.scenarios.push_back({reader.text(item, "name"),
                                  reader.text(item, "summary", false),
                                  reader.text(item, "hash", false),
                                  {}});
  });
  manifest.serializers = reader.texts(document, "serializers");
}

}  // namespace

std::optional<Manifest> read_manifest(std::string_view json, const std::string& path, Diagnostics& problems) {
  const auto document = read_json_map(json, path, problems);
  if (!document) return std::nullopt;
  if (const std::string others = other_systems(*document); !others.empty()) {
    problems
        .note("W203", fmt::format("the manifest names a library for {}, and none for {}", others, own_system),
              Where::in_file(path))
        .hint = "add the build for this system to the folder and to `path`";
    return std::nullopt;
  }
  Diagnostics found;
  ManifestReader reader(path, found);
  Manifest manifest;
  if (const Value* library = reader.map(*document, "library")) {
    manifest.library_id = reader.text(*library, "id");
    manifest.library_version = reader.text(*library, "version");
    manifest.library_path = library_file(*library, reader);
  }
  if (const Value* abi = reader.map(*document, "abi")) {
    manifest.abi = {reader.text(*abi, "nexuml"), reader.text(*abi, "tag"), {}};
  }
  read_provides(*document, reader, manifest);
  reader.maps(*document, "requires", [&](const Value& item) {
    const std::string version = reader.text(item, "version", false);
    manifest.requirements.push_back(reader.text(item, "library") + (version.empty() ? "" : " " + version));
  });
  problems.append(found);
  if (found.has_errors()) return std::nullopt;
  return manifest;
}

std::string write_manifest(const Manifest& manifest) {
  const auto line = [](const Value& value) { return write_json(value, {.indent = -1}); };
  const auto list = [&](std::string_view key, const std::vector<Value>& items) {
    std::string text = fmt::format(",\n \"{}\": [", key);
    for (const Value& item : items)
      text += fmt::format("{}\n  {}", &item == items.data() ? "" : ",", line(item));
    return text + "]";
  };
  const auto with_summary = [](Value item, const std::string& summary, const std::string& hash) {
    if (!summary.empty()) item.set("summary", summary);
    item.set("hash", hash);
    return item;
  };
  std::vector<Value> provides, targets, scenarios, serializers, requirements;
  for (const auto& entry : manifest.definitions) {
    provides.push_back(with_summary(Value::map({{"kind", to_string(entry.identity.kind)},
                                                {"name", entry.identity.name},
                                                {"version", entry.identity.version}}),
                                    entry.summary, entry.schema_hash));
  }
  for (const auto& entry : manifest.targets) {
    Value item = Value::map({{"kind", to_string(entry.kind)}, {"path", entry.path}});
    if (!entry.aliases.empty()) item.set("aliases", Value(entry.aliases));
    targets.push_back(with_summary(std::move(item), {}, entry.schema_hash));
  }
  for (const auto& entry : manifest.scenarios) {
    scenarios.push_back(with_summary(Value::map({{"name", entry.name}}), entry.summary, entry.schema_hash));
  }
  for (const auto& name : manifest.serializers) serializers.emplace_back(name);
  for (const auto& requirement : manifest.requirements) {
    const auto blank = requirement.find(' ');
    Value item = Value::map({{"library", requirement.substr(0, blank)}});
    if (blank != std::string::npos) item.set("version", requirement.substr(blank + 1));
    requirements.push_back(std::move(item));
  }
  const Value library = Value::map(
      {{"id", manifest.library_id}, {"version", manifest.library_version}, {"path", manifest.library_path}});
  const Value abi = Value::map({{"nexuml", manifest.abi.interface_version}, {"tag", manifest.abi.tag}});
  return fmt::format("{{\"manifest_version\": {},\n \"library\": {},\n \"abi\": {}{}{}{}{}{}}}\n",
                     manifest_version, line(library), line(abi), list("provides", provides),
                     list("targets", targets), list("scenarios", scenarios), list("serializers", serializers),
                     list("requires", requirements));
}

DeclaredSchemas read_schemas(std::string_view json, const std::string& path, Diagnostics& problems) {
  DeclaredSchemas schemas;
  const auto document = read_json_map(json, path, problems);
  if (!document) return schemas;
  ManifestReader reader(path, problems);
  try {
    reader.maps(*document, "definitions", [&](const Value& item) {
      const auto kind = component_kind(reader.text(item, "kind"));
      if (!kind) return reader.fail(item, "a schema of an unknown kind of component");
      schemas.definitions.emplace(Identity{*kind, reader.text(item, "name"), reader.text(item, "version")},
                                  schema_from_value(item.at("schema")));
    });
    reader.maps(*document, "targets", [&](const Value& item) {
      const auto kind = target_kind(reader.text(item, "kind"));
      if (!kind) return reader.fail(item, "a schema of an unknown kind of target");
      TargetNode node{*kind, reader.text(item, "path"), reader.texts(item, "aliases"),
                      schema_from_value(item.at("schema")), reader.texts(item, "injected")};
      std::string key = node.path;
      schemas.targets.emplace(std::move(key), std::make_shared<const TargetNode>(std::move(node)));
    });
    reader.maps(*document, "scenarios", [&](const Value& item) {
      schemas.scenarios.emplace(reader.text(item, "name"), schema_from_value(item.at("schema")));
    });
  } catch (const Error& malformed) {
    problems.append(malformed.diagnostics());
  } catch (const std::out_of_range& missing) {
    problems.error("E102", std::string("the schemas are incomplete: ") + missing.what(),
                   Where::in_file(path));
  }
  return schemas;
}

std::string write_schemas(const StagedRegistration& staged) {
  Value definitions = Value::list(), targets = Value::list(), scenarios = Value::list();
  for (const auto& entry : staged.definitions) {
    definitions.push_back(Value::map({{"kind", to_string(entry.identity.kind)},
                                      {"name", entry.identity.name},
                                      {"version", entry.identity.version},
                                      {"schema", schema_to_value(*entry.schema)}}));
  }
  for (const auto& entry : staged.targets) {
    targets.push_back(Value::map({{"kind", to_string(entry.node->kind)},
                                  {"path", entry.node->path},
                                  {"aliases", Value(entry.node->aliases)},
                                  {"injected", Value(entry.node->injected)},
                                  {"schema", schema_to_value(*entry.node->arguments)}}));
  }
  for (const auto& entry : staged.scenarios) {
    scenarios.push_back(Value::map({{"name", entry.name}, {"schema", schema_to_value(*entry.parameters)}}));
  }
  return write_json(Value::map({{"manifest_version", manifest_version},
                                {"definitions", std::move(definitions)},
                                {"targets", std::move(targets)},
                                {"scenarios", std::move(scenarios)}}),
                    {.indent = -1}) +
         "\n";
}

Manifest declare(const StagedRegistration& staged) {
  Manifest manifest;
  for (const auto& entry : staged.definitions) {
    manifest.definitions.push_back({entry.identity, entry.schema->summary, schema_hash(*entry.schema)});
  }
  for (const auto& entry : staged.targets) {
    manifest.targets.push_back(
        {entry.node->kind, entry.node->path, entry.node->aliases, schema_hash(*entry.node->arguments)});
  }
  for (const auto& entry : staged.scenarios) {
    manifest.scenarios.push_back({entry.name, entry.summary, schema_hash(*entry.parameters), {}});
  }
  for (const auto& entry : staged.serializers) manifest.serializers.push_back(entry.type_name);
  std::ranges::sort(manifest.definitions, {}, &DeclaredDefinition::identity);
  std::ranges::sort(manifest.targets, {}, &DeclaredTarget::path);
  std::ranges::sort(manifest.scenarios, {}, &DeclaredScenario::name);
  std::ranges::sort(manifest.serializers);
  return manifest;
}

}  // namespace nexuml
