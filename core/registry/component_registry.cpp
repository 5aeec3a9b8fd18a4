#include <fmt/format.h>
#include <nexuml/registry.h>

#include <algorithm>
#include <functional>
#include <map>
#include <unordered_map>

#include "registry/misses.h"

namespace nexuml {

ScenarioContext::~ScenarioContext() = default;
MissExplainer::~MissExplainer() = default;

std::string to_string(const Origin& origin) {
  std::string text = origin.library;
  if (!origin.version.empty()) text += " " + origin.version;
  if (!origin.path.empty()) text += " (" + origin.path + ")";
  return text;
}

// Entries are shared between registry values: registering more copies the maps of pointers, not the entries.
struct ComponentRegistry::Contents {
  template <class Entry>
  using Shared = std::shared_ptr<const Registered<Entry>>;

  std::map<Identity, Shared<DefinitionEntry>> definitions;
  std::unordered_map<TypeTag, Shared<DefinitionEntry>> definitions_by_tag;
  std::map<std::string, Shared<TargetEntry>, std::less<>> targets;           // by canonical path
  std::map<std::string, Shared<TargetEntry>, std::less<>> target_spellings;  // canonical paths and aliases
  std::map<std::string, Shared<ScenarioEntry>, std::less<>> scenarios;
  std::map<std::string, Shared<SerializerEntry>, std::less<>> serializers;
  std::unordered_map<TypeTag, Shared<SerializerEntry>> serializers_by_tag;
  std::shared_ptr<const MissExplainer> explainer;

  detail::KnownNames known_names() const;
};

detail::KnownNames ComponentRegistry::Contents::known_names() const {
  detail::KnownNames known;
  for (const auto& [identity, entry] : definitions) known.identities.push_back(identity);
  for (const auto& [path, entry] : targets) known.targets.push_back(path);
  if (!explainer) return known;
  for (const ComponentKind kind : {ComponentKind::layer, ComponentKind::data_source,
                                   ComponentKind::eval_algorithm, ComponentKind::loader_backend})
    for (Identity& identity : explainer->declared(kind))
      if (!definitions.contains(identity)) known.identities.push_back(std::move(identity));
  for (std::string& path : explainer->declared_targets())
    if (!targets.contains(path)) known.targets.push_back(std::move(path));
  known.searched = explainer->searched();
  return known;
}

namespace {

// One transaction: adds to a copy, remembers whether anything was wrong.
class Transaction {
 public:
  Transaction(const Origin& origin, Diagnostics& problems) : origin_(origin), problems_(problems) {}

  template <class Entry>
  std::string origin_text(const Registered<Entry>& registered) const {
    return fmt::format("{} at {}", to_string(registered.origin), registered.entry.source);
  }
  template <class Entry>
  std::string own_origin(const Entry& entry) const {
    return fmt::format("{} at {}", to_string(origin_), entry.source);
  }
  template <class Entry>
  void conflict(const std::string& what, const Registered<Entry>& earlier, const Entry& entry) {
    problems_
        .error("E501",
               fmt::format("{}: first by {}, again by {}", what, origin_text(earlier), own_origin(entry)),
               Where::in_library(origin_.library, origin_.path))
        .hint = "rename one of the two, or disable one library with NEXUML_COMPONENT_DISABLE";
    failed_ = true;
  }
  void invalid(const std::string& message) {
    problems_.error("E507", message, Where::in_library(origin_.library, origin_.path));
    failed_ = true;
  }
  template <class Entry>
  std::shared_ptr<const Registered<Entry>> make(const Entry& entry) const {
    return std::make_shared<const Registered<Entry>>(Registered<Entry>{entry, origin_});
  }
  bool failed() const noexcept { return failed_; }

 private:
  const Origin& origin_;
  Diagnostics& problems_;
  bool failed_ = false;
};

bool valid_name(const std::string& name) {
  return !name.empty() && std::ranges::all_of(name, [](unsigned char c) { return c > ' ' && c != 0x7f; });
}

// The types whose serializers come with the runtime (tensor_serializers.h).
bool is_built_in(std::string_view type_name) {
  return type_name == "torch.dtype" || type_name == "torch.device" || type_name == "torch.Tensor";
}

// The names of the types with a serializer that a type is made of.
void collect_serialized(const TypeNode& type, std::vector<std::string>& names) {
  if (type.kind == TypeNode::Kind::any && type.structure) names.push_back(type.structure->name);
  for (const TypeNode& element : type.of) collect_serialized(element, names);
  if (type.kind == TypeNode::Kind::structure)
    for (const FieldNode& field : type.structure->fields) collect_serialized(field.type, names);
}

template <class Map>
auto found_or_null(const Map& map, const auto& key) -> decltype(map.begin()->second.get()) {
  const auto found = map.find(key);
  return found == map.end() ? nullptr : found->second.get();
}

template <class Map>
auto pointers(const Map& map) {
  std::vector<decltype(map.begin()->second.get())> result;
  for (const auto& [key, entry] : map) result.push_back(entry.get());
  return result;
}

}  // namespace

// Adds one entry of each sort. A friend-free seam: it sees Contents through the template parameter.
template <class Contents>
struct Adding {
  Contents& contents;
  Transaction& transaction;

  void add(const DefinitionEntry& entry) {
    if (!valid_name(entry.identity.name) || !valid_name(entry.identity.version))
      return transaction.invalid(fmt::format(
          "'{}' is no valid identity: name and version are texts without blanks", to_string(entry.identity)));
    if (const auto* earlier = found_or_null(contents.definitions, entry.identity)) {
      if (earlier->entry.tag != entry.tag)
        transaction.conflict(to_string(entry.identity) + " is registered twice", *earlier, entry);
      return;
    }
    if (const auto* earlier = found_or_null(contents.definitions_by_tag, entry.tag))
      return transaction.conflict(fmt::format("the type {} is registered as {} and as {}", entry.schema->name,
                                              to_string(earlier->entry.identity), to_string(entry.identity)),
                                  *earlier, entry);
    const auto shared = transaction.make(entry);
    contents.definitions.emplace(entry.identity, shared);
    contents.definitions_by_tag.emplace(entry.tag, shared);
  }

  void add(const TargetEntry& entry) {
    const TargetNode& node = *entry.node;
    std::vector<std::string> spellings{node.path};
    spellings.insert(spellings.end(), node.aliases.begin(), node.aliases.end());
    if (const auto* earlier = found_or_null(contents.targets, node.path);
        earlier && earlier->entry.tag == entry.tag)
      return;
    for (const std::string& spelling : spellings) {
      const auto canonical = canonical_target_spelling(spelling);
      if (!canonical || *canonical != spelling)
        return transaction.invalid(
            fmt::format("'{}' is no valid target name: module:name expected", spelling));
      if (const auto* earlier = found_or_null(contents.target_spellings, spelling))
        return transaction.conflict(fmt::format("the target {} is registered twice", spelling), *earlier,
                                    entry);
    }
    for (const FieldNode& field : node.arguments->fields)
      if (field.name == "cls_path" || field.name == "timestamp")
        return transaction.invalid(
            fmt::format("the argument '{}' of {} has a name that recipes reserve", field.name, node.path));
    const auto shared = transaction.make(entry);
    contents.targets.emplace(node.path, shared);
    for (std::string& spelling : spellings) contents.target_spellings.emplace(std::move(spelling), shared);
  }

  void add(const SerializerEntry& entry) {
    if (is_built_in(entry.type_name))
      return transaction.invalid(
          fmt::format("the type serializer {} is built in and cannot be registered", entry.type_name));
    const auto* same_type = found_or_null(contents.serializers_by_tag, entry.tag);
    const auto* same_name = found_or_null(contents.serializers, entry.type_name);
    if (same_type || same_name) {
      const auto& earlier = same_type ? *same_type : *same_name;
      return transaction.conflict(fmt::format("the type serializer {} is registered twice", entry.type_name),
                                  earlier, entry);
    }
    const auto shared = transaction.make(entry);
    contents.serializers.emplace(entry.type_name, shared);
    contents.serializers_by_tag.emplace(entry.tag, shared);
  }

  // After all entries were added: a type may be registered after the target that uses it.
  void check_serializers(const std::string& owner, const StructNode& schema) {
    for (const FieldNode& field : schema.fields) {
      std::vector<std::string> names;
      collect_serialized(field.type, names);
      for (const std::string& name : names)
        if (!is_built_in(name) && !contents.serializers.contains(name))
          transaction.invalid(
              fmt::format("'{}' of {} is a {}, and no type serializer of this name is registered: call "
                          "register_type_serializer in the same NEXUML_LIBRARY",
                          field.name, owner, name));
    }
  }

  void add(const ScenarioEntry& entry) {
    if (!valid_name(entry.name))
      return transaction.invalid(fmt::format("'{}' is no valid scenario name", entry.name));
    if (const auto* earlier = found_or_null(contents.scenarios, entry.name))
      return transaction.conflict(fmt::format("the scenario {} is registered twice", entry.name), *earlier,
                                  entry);
    contents.scenarios.emplace(entry.name, transaction.make(entry));
  }
};

ComponentRegistry::ComponentRegistry() : contents_(std::make_shared<const Contents>()) {}
ComponentRegistry::~ComponentRegistry() = default;

ComponentRegistry ComponentRegistry::with(const StagedRegistration& staged, const Origin& origin,
                                          Diagnostics& problems) const {
  auto extended = std::make_shared<Contents>(*contents_);
  Transaction transaction(origin, problems);
  Adding<Contents> adding{*extended, transaction};
  for (const auto& entry : staged.definitions) adding.add(entry);
  for (const auto& entry : staged.targets) adding.add(entry);
  for (const auto& entry : staged.serializers) adding.add(entry);
  for (const auto& entry : staged.scenarios) adding.add(entry);
  for (const auto& entry : staged.definitions)
    adding.check_serializers(to_string(entry.identity), *entry.schema);
  for (const auto& entry : staged.targets) adding.check_serializers(entry.node->path, *entry.node->arguments);
  ComponentRegistry result = *this;
  if (!transaction.failed()) result.contents_ = std::move(extended);
  return result;
}

ComponentRegistry ComponentRegistry::explained_by(std::shared_ptr<const MissExplainer> explainer) const {
  auto extended = std::make_shared<Contents>(*contents_);
  extended->explainer = std::move(explainer);
  ComponentRegistry result = *this;
  result.contents_ = std::move(extended);
  return result;
}

ComponentRegistry ComponentRegistry::with_program(
    const std::function<void(Registration&)>& register_components) const {
  StagedRegistration staged;
  Registration registration(staged);
  register_components(registration);
  Diagnostics problems;
  ComponentRegistry result =
      with(staged, Origin{.library = "program", .version = {}, .path = {}, .build_id = {}}, problems);
  if (problems.has_errors()) throw Error(std::move(problems));
  return result;
}

const Registered<DefinitionEntry>* ComponentRegistry::find(const Identity& identity) const noexcept {
  return found_or_null(contents_->definitions, identity);
}
const Registered<TargetEntry>* ComponentRegistry::find_target(std::string_view spelling) const {
  const auto canonical = canonical_target_spelling(spelling);
  return canonical ? found_or_null(contents_->target_spellings, *canonical) : nullptr;
}
const Registered<ScenarioEntry>* ComponentRegistry::find_scenario(std::string_view name) const noexcept {
  return found_or_null(contents_->scenarios, name);
}
const Registered<SerializerEntry>* ComponentRegistry::find_serializer(TypeTag tag) const noexcept {
  return found_or_null(contents_->serializers_by_tag, tag);
}
const Registered<SerializerEntry>* ComponentRegistry::find_serializer(
    std::string_view type_name) const noexcept {
  return found_or_null(contents_->serializers, type_name);
}

std::vector<const Registered<DefinitionEntry>*> ComponentRegistry::definitions() const {
  return pointers(contents_->definitions);
}
std::vector<const Registered<TargetEntry>*> ComponentRegistry::targets() const {
  return pointers(contents_->targets);
}
std::vector<const Registered<ScenarioEntry>*> ComponentRegistry::scenarios() const {
  return pointers(contents_->scenarios);
}
std::vector<const Registered<SerializerEntry>*> ComponentRegistry::serializers() const {
  return pointers(contents_->serializers);
}

const Registered<DefinitionEntry>* ComponentRegistry::entry_of(const Definition& definition) const noexcept {
  return definition.has_value() ? found_or_null(contents_->definitions_by_tag, definition.tag()) : nullptr;
}
std::optional<Identity> ComponentRegistry::identity_of(const Definition& definition) const {
  const auto* entry = entry_of(definition);
  return entry ? std::optional(entry->entry.identity) : std::nullopt;
}

std::shared_ptr<const StructNode> ComponentRegistry::definition_schema(const Identity& identity,
                                                                       const Where& type_at,
                                                                       const Where& version_at,
                                                                       Diagnostics& problems) const {
  if (const auto* found = find(identity)) return found->entry.schema;
  detail::report_missing_definition(identity, type_at, version_at, contents_->known_names(), problems);
  return nullptr;
}

std::shared_ptr<const TargetNode> ComponentRegistry::target(TargetKind kind, const std::string& spelling,
                                                            const Where& at, Diagnostics& problems) const {
  const auto* found = find_target(spelling);
  if (!found) {
    detail::report_missing_target(kind, spelling, at, contents_->known_names(), problems);
    return nullptr;
  }
  if (found->entry.node->kind != kind) {
    detail::report_wrong_target_kind(spelling, found->entry.node->kind, kind, at, problems);
    return nullptr;
  }
  return found->entry.node;
}

Value ComponentRegistry::lower(const Definition& definition) const {
  const auto* found = entry_of(definition);
  if (!found)
    throw Error(
        "E506",
        fmt::format("{} is registered nowhere and has no identity to write down",
                    definition.has_value() ? definition.model().schema().name : "an empty definition"),
        {}, "register it in NEXUML_LIBRARY or through ComponentRegistry::with_program");
  const Identity& identity = found->entry.identity;
  return Value::map(
      {{"type", identity.name}, {"version", identity.version}, {"params", definition.params(this)}});
}

Definition ComponentRegistry::restore(ComponentKind kind, const Value& component) const {
  const Identity identity{kind, component.at("type").as_string(), component.at("version").as_string()};
  if (const auto* found = find(identity)) return found->entry.restore(component.at("params"), this);
  Diagnostics problems;
  detail::report_missing_definition(identity, {}, {}, contents_->known_names(), problems);
  throw Error(std::move(problems));
}

Definition ComponentRegistry::definition(const Identity& identity, const Value& params) const {
  const TypeNode type{.kind = TypeNode::Kind::definition, .definition_kind = identity.kind};
  const Value component =
      Value::map({{"type", identity.name}, {"version", identity.version}, {"params", params}});
  Diagnostics problems;
  const Value normalised = check_value(type, component, {this, to_string(identity)}, problems);
  if (problems.has_errors()) throw Error(std::move(problems));
  return restore(identity.kind, normalised);
}

std::shared_ptr<const TargetModel> ComponentRegistry::make(TargetKind kind, const std::string& spelling,
                                                           const Value& args, const Value& kwargs) const {
  Diagnostics problems;
  const auto node = target(kind, spelling, {}, problems);
  Value arguments;
  if (node) arguments = check_arguments(*node, args, kwargs, {this, spelling}, problems);
  if (problems.has_errors()) throw Error(std::move(problems));
  return find_target(spelling)->entry.make(arguments);
}

ScenarioSpec ComponentRegistry::scenario(const std::string& name, const Value& parameters) const {
  const auto* found = find_scenario(name);
  if (!found) {
    std::vector<std::string> names;
    for (const auto* entry : scenarios()) names.push_back(entry->entry.name);
    throw Error("E730", fmt::format("no scenario is named '{}'", name), {}, did_you_mean(name, names));
  }
  Diagnostics problems;
  const Value normalised = check_value(*found->entry.parameters, parameters, {this, {}}, problems);
  if (problems.has_errors()) throw Error(std::move(problems));
  return found->entry.make(normalised, *this);
}

}  // namespace nexuml
