// Schema nodes: what a described struct looks like, as data.
//
// The typed side (schema.h) produces these nodes from `describe`; everything else reads only the nodes:
// checking a document, writing defaults, JSON Schema, the schema hash, listings. A node that was read back
// from a manifest therefore checks a file without its library.
#pragma once

#include <nexuml/diagnostic.h>
#include <nexuml/export.h>
#include <nexuml/identity.h>
#include <nexuml/value.h>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace nexuml {

struct StructNode;

struct Constraints {
  std::optional<double> greater_than, at_least, less_than, at_most;
  std::optional<std::size_t> min_size, max_size;  // of a text in bytes, a list or a map in entries

  bool operator==(const Constraints&) const = default;
};

struct TypeNode {
  enum class Kind {
    boolean,
    integer,
    number,  // a finite double; an integer is accepted and becomes one
    string,
    choice,       // one of `choices`
    optional,     // null or `of[0]`
    list,         // of `of[0]`
    map,          // text -> `of[0]`, order kept
    tuple,        // exactly the types in `of`
    structure,    // `structure`
    definition,   // {type, version, params} of `definition_kind`
    target_name,  // the name of a target of `target_kind`
    any,          // any JSON-safe value
    one_of        // the first alternative in `of` whose outline fits
  };

  Kind kind = Kind::any;
  std::vector<TypeNode> of;
  std::vector<std::string> choices;
  std::shared_ptr<const StructNode> structure;
  ComponentKind definition_kind = ComponentKind::layer;
  TargetKind target_kind = TargetKind::module;
  Constraints constraints;
};

struct FieldNode {
  std::string name;
  std::string doc;
  TypeNode type;
  bool required = false;
  Value default_value;            // meaningless where required
  bool written_when_set = false;  // left out of documents while it has its default
};

struct StructNode {
  std::string name;     // C++ or component name, for messages and titles
  std::string summary;  // one sentence
  std::vector<FieldNode> fields;
  // Set for structs with the fields factory, args and kwargs: they name a target of this kind and its
  // arguments.
  std::optional<TargetKind> factory_of;
  // A field with one fixed text that tells alternatives of a union apart, such as kind: local.
  std::string discriminator;
  // Rules over several fields: reads the normalised value. Absent in nodes that came from a manifest.
  std::function<void(const Value& normalised, const std::string& key_path, Diagnostics&)> rules;

  const FieldNode* find(std::string_view field) const noexcept;
};

// A target as the table knows it. `arguments` lists fields in positional order.
struct TargetNode {
  TargetKind kind = TargetKind::module;
  std::string path;                  // canonical spelling, `torch.nn:Linear`
  std::vector<std::string> aliases;  // other spellings of the same entry, `torch.nn.modules.linear:Linear`
  std::shared_ptr<const StructNode> arguments;
  std::vector<std::string> injected;  // arguments passed when it is built, never written: params, optimizer
};

// What checking asks about names. Both the catalog (declared) and the registry (loaded) answer. A miss
// returns null after it was reported into `problems` at `where`, with near names.
class NEXUML_EXPORT Names {
 public:
  virtual ~Names();
  virtual std::shared_ptr<const StructNode> definition_schema(const Identity& identity, const Where& type_at,
                                                              const Where& version_at,
                                                              Diagnostics& problems) const = 0;
  virtual std::shared_ptr<const TargetNode> target(TargetKind kind, const std::string& spelling,
                                                   const Where& at, Diagnostics& problems) const = 0;
};

struct CheckOptions {
  const Names* names = nullptr;  // null: names of components and targets are not looked up
  std::string key_path;          // of the value that is checked
};

// Checks `value` against `schema`, reports every problem at once, and returns the normalised value: fields in
// schema order, defaults written out, integers for numbers turned into doubles, source positions kept. The
// result is only meaningful when no error was added.
NEXUML_EXPORT Value check_value(const StructNode& schema, const Value& value, const CheckOptions& options,
                                Diagnostics& problems);
NEXUML_EXPORT Value check_value(const TypeNode& type, const Value& value, const CheckOptions& options,
                                Diagnostics& problems);

// Binds positional and keyword arguments to a target's schema and checks them as check_value does.
NEXUML_EXPORT Value check_arguments(const TargetNode& target, const Value& args, const Value& kwargs,
                                    const CheckOptions& options, Diagnostics& problems);

// Whether the outline of a value fits an alternative of a union.
NEXUML_EXPORT bool outline_fits(const TypeNode& type, const Value& value);

// The data form of nodes, as manifests carry it, and back (throws Error E102 for a malformed one).
NEXUML_EXPORT Value schema_to_value(const StructNode& schema);
NEXUML_EXPORT std::shared_ptr<const StructNode> schema_from_value(const Value& value);

// JSON Schema (draft 2020-12) of the params of a component or the arguments of a target.
NEXUML_EXPORT Value json_schema(const StructNode& schema);

// SHA-256, in hex, over names, types, defaults and constraints; documentation does not count.
NEXUML_EXPORT std::string schema_hash(const StructNode& schema);

// The type in words, for listings: `integer >= 1`, `list of integer`, `text or null`.
NEXUML_EXPORT std::string type_in_words(const TypeNode& type);

// `torch.nn.Linear`, `torch.nn:Linear` -> `torch.nn:Linear`. Null where the text is no target name: it needs
// a module and one top-level name.
NEXUML_EXPORT std::optional<std::string> canonical_target_spelling(std::string_view text);

}  // namespace nexuml
