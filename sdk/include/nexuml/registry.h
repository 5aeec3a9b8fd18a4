// ComponentRegistry: what loaded libraries registered, as an immutable value.
//
//     Diagnostics problems;
//     ComponentRegistry registry;                                  // empty
//     registry = registry.with(staged, Origin{...}, problems);     // unchanged when a problem was reported
//     AnyLayer layer = registry.layer("LinearEncoder", {{"output_dim", 8}});
//
// Lookup is exact. Registering more gives a new value; old ones stay valid, and any thread reads without a
// lock. A conflict (one identity from two types, one type under two identities) names both origins; nothing
// is overwritten. There is no process-wide registry. [any thread]
#pragma once

#include <nexuml/definition.h>
#include <nexuml/export.h>
#include <nexuml/registration.h>
#include <nexuml/scenario.h>
#include <nexuml/schema.h>
#include <nexuml/target.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace nexuml {

// Who registered an entry.
struct Origin {
  std::string library;  // library id, or "program"
  std::string version;
  std::string path;  // of the shared object
  std::string build_id;

  bool operator==(const Origin&) const = default;
};

NEXUML_EXPORT std::string to_string(const Origin& origin);  // "org.acme.audio 1.4.0 (/path/lib.so)"

template <class Entry>
struct Registered {
  Entry entry;
  Origin origin;
};

// Explains a miss beyond what is loaded: names that manifests declare, libraries that failed. The catalog
// does.
class NEXUML_EXPORT MissExplainer {
 public:
  virtual ~MissExplainer();
  virtual std::vector<Identity> declared(ComponentKind kind) const = 0;
  virtual std::vector<std::string> declared_targets() const = 0;
  virtual std::string searched() const = 0;  // "7 libraries were searched, 1 could not be read"
};

class NEXUML_EXPORT ComponentRegistry final : public Names,
                                              public Lowering,
                                              public Restoring,
                                              public Targets,
                                              public ScenarioContext {
 public:
  ComponentRegistry();
  ~ComponentRegistry() override;
  ComponentRegistry(const ComponentRegistry&) = default;
  ComponentRegistry& operator=(const ComponentRegistry&) = default;

  // All of `staged` or nothing: with a conflict (E501) or an invalid entry the result equals *this.
  [[nodiscard]] ComponentRegistry with(const StagedRegistration& staged, const Origin& origin,
                                       Diagnostics& problems) const;
  // The same registry, with misses explained from there.
  [[nodiscard]] ComponentRegistry explained_by(std::shared_ptr<const MissExplainer> explainer) const;

  // Registers from a program: `registry.with_program([](Registration& r) { r.add<MyLayer>("my_layer"); })`.
  [[nodiscard]] ComponentRegistry with_program(
      const std::function<void(Registration&)>& register_components) const;

  const Registered<DefinitionEntry>* find(const Identity& identity) const noexcept;
  const Registered<TargetEntry>* find_target(std::string_view spelling) const;  // dotted or with a colon
  const Registered<ScenarioEntry>* find_scenario(std::string_view name) const noexcept;
  const Registered<SerializerEntry>* find_serializer(TypeTag tag) const noexcept;
  const Registered<SerializerEntry>* find_serializer(std::string_view type_name) const noexcept;

  // Sorted: definitions by (kind, name, version), the rest by name.
  std::vector<const Registered<DefinitionEntry>*> definitions() const;
  std::vector<const Registered<TargetEntry>*> targets() const;
  std::vector<const Registered<ScenarioEntry>*> scenarios() const;
  std::vector<const Registered<SerializerEntry>*> serializers() const;

  // From a definition object to its identity; null for a type that is registered nowhere.
  const Registered<DefinitionEntry>* entry_of(const Definition& definition) const noexcept;
  std::optional<Identity> identity_of(const Definition& definition) const;

  // Names
  std::shared_ptr<const StructNode> definition_schema(const Identity& identity, const Where& type_at,
                                                      const Where& version_at,
                                                      Diagnostics& problems) const override;
  std::shared_ptr<const TargetNode> target(TargetKind kind, const std::string& spelling, const Where& at,
                                           Diagnostics& problems) const override;
  // Lowering: {type, version, params}; throws Error E506 for a definition that is registered nowhere.
  Value lower(const Definition& definition) const override;
  // Restoring: `component` is normalised.
  Definition restore(ComponentKind kind, const Value& component) const override;
  // Targets
  using Targets::make;
  std::shared_ptr<const TargetModel> make(TargetKind kind, const std::string& spelling, const Value& args,
                                          const Value& kwargs) const override;
  // ScenarioContext
  Definition definition(const Identity& identity, const Value& params) const override;

  // Runs a registered scenario function. Throws Error E730 for an unknown name and E71x for wrong parameters.
  ScenarioSpec scenario(const std::string& name, const Value& parameters = Value::map()) const;

 private:
  struct Contents;
  std::shared_ptr<const Contents> contents_;
};

}  // namespace nexuml
