// Catalog: what the manifests of all libraries that were found declare, frozen after the scan.
//
//     auto catalog = discover(options, environment);                          // discovery
//     for (const auto& row : catalog->definitions())
//       print(row.entry->identity, row.library->origin, row.state);
//     check_value(schema, document, {catalog.get(), {}}, problems);   // checks a file, opens no library
//
// An entry that two usable libraries declare is conflicting: neither wins, and it is an error only for who
// asks for it. Schemas are read on demand, from the second part of the manifest. [any thread]
#pragma once

#include <nexuml/diagnostic.h>
#include <nexuml/identity.h>
#include <nexuml/registry.h>
#include <nexuml/schema_node.h>

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace nexuml {

enum class EntryState { declared, shadowed, disabled, incompatible, conflicting, broken };

NEXUML_EXPORT std::string_view to_string(EntryState state) noexcept;

struct DeclaredDefinition {
  Identity identity;
  std::string summary;
  std::string schema_hash;
  bool operator==(const DeclaredDefinition&) const = default;
};
struct DeclaredTarget {
  TargetKind kind = TargetKind::module;
  std::string path;  // torch.nn:Linear
  std::vector<std::string> aliases;
  std::string schema_hash;
  bool operator==(const DeclaredTarget&) const = default;
};
struct DeclaredScenario {
  std::string name;
  std::string summary;
  std::string schema_hash;  // of its parameters; empty for a file
  std::string file;         // path of a YAML file in the component folder; empty for one registered from code
  bool operator==(const DeclaredScenario&) const = default;
};

// The schemas of one library, by what they describe.
struct DeclaredSchemas {
  std::map<Identity, std::shared_ptr<const StructNode>> definitions;
  std::map<std::string, std::shared_ptr<const TargetNode>, std::less<>> targets;  // by path
  std::map<std::string, std::shared_ptr<const StructNode>, std::less<>> scenarios;
};

struct DeclaredLibrary {
  Origin origin;
  std::string manifest;  // path; empty for a library without one
  std::string source;    // "shipped", "entry point", "root /srv/components"
  std::string interface_version;
  std::string abi_tag;
  EntryState state = EntryState::declared;
  std::string reason;  // why it is not `declared`, in words

  std::vector<DeclaredDefinition> definitions;
  std::vector<DeclaredTarget> targets;
  std::vector<DeclaredScenario> scenarios;
  std::vector<std::string> serializers;   // type names
  std::vector<std::string> requirements;  // library ids, each optionally followed by a version rule
  std::function<DeclaredSchemas(Diagnostics&)> read_schemas;

  bool usable() const noexcept { return state == EntryState::declared; }
};

// One line of a listing.
template <class Entry>
struct DeclaredRow {
  const Entry* entry = nullptr;
  const DeclaredLibrary* library = nullptr;
  EntryState state = EntryState::declared;
};

class NEXUML_EXPORT Catalog final : public Names, public MissExplainer {
 public:
  // `problems` of the scan; conflicts between `libraries` are added to them as warnings.
  Catalog(std::vector<DeclaredLibrary> libraries, Diagnostics problems, std::size_t unreadable);
  ~Catalog() override;
  Catalog(const Catalog&) = delete;
  Catalog& operator=(const Catalog&) = delete;

  const std::vector<DeclaredLibrary>& libraries() const noexcept { return libraries_; }
  const DeclaredLibrary* library(std::string_view id) const noexcept;  // the active one of this id
  const Diagnostics& diagnostics() const noexcept { return diagnostics_; }

  // Sorted by identity or name, then by library.
  std::vector<DeclaredRow<DeclaredDefinition>> definitions() const;
  std::vector<DeclaredRow<DeclaredTarget>> targets() const;
  std::vector<DeclaredRow<DeclaredScenario>> scenarios() const;

  // The usable library that declares it, or null after the miss was explained: E501 conflicting, E730 and
  // further as the registry words them.
  const DeclaredLibrary* provider(const Identity& identity, const Where& type_at, const Where& version_at,
                                  Diagnostics& problems) const;
  const DeclaredLibrary* target_provider(
      std::string_view spelling) const noexcept;  // null: none, or conflicting
  // Null after E730 with near names.
  const DeclaredRow<DeclaredScenario>* scenario(const std::string& name, Diagnostics& problems) const;

  std::shared_ptr<const StructNode> scenario_parameters(const std::string& name, Diagnostics& problems) const;

  // Names
  std::shared_ptr<const StructNode> definition_schema(const Identity& identity, const Where& type_at,
                                                      const Where& version_at,
                                                      Diagnostics& problems) const override;
  std::shared_ptr<const TargetNode> target(TargetKind kind, const std::string& spelling, const Where& at,
                                           Diagnostics& problems) const override;
  // MissExplainer
  std::vector<Identity> declared(ComponentKind kind) const override;
  std::vector<std::string> declared_targets() const override;
  std::string searched() const override;

 private:
  template <class Entry>
  using Rows = std::vector<DeclaredRow<Entry>>;

  void index();
  template <class Key, class Entry>
  void resolve(const Key& key, Rows<Entry>& rows);
  const DeclaredSchemas& schemas(const DeclaredLibrary& library, Diagnostics& problems) const;

  std::vector<DeclaredLibrary> libraries_;
  Diagnostics diagnostics_;
  std::size_t unreadable_;  // manifests and libraries that gave no entry at all

  std::map<Identity, Rows<DeclaredDefinition>> definitions_;
  std::map<std::string, Rows<DeclaredTarget>, std::less<>> targets_;  // by canonical path
  std::map<std::string, std::string, std::less<>> target_spellings_;  // alias -> canonical path
  std::map<std::string, Rows<DeclaredScenario>, std::less<>> scenarios_;

  mutable std::mutex schemas_mutex_;
  mutable std::map<const DeclaredLibrary*, std::unique_ptr<const DeclaredSchemas>> schemas_;
};

}  // namespace nexuml
