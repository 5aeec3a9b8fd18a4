// The one engine behind reading: walks a value along schema nodes, reports every problem, returns the
// normalised tree.
#pragma once

#include <nexuml/schema_node.h>

#include <functional>
#include <string>

#include "schema/key_path.h"

namespace nexuml::detail {

class Checker {
 public:
  Checker(const Names* names, Diagnostics& problems) : names_(names), problems_(problems) {}

  Value check(const TypeNode& type, const Value& value, const KeyPath& path);
  Value check_struct(const StructNode& schema, const Value& value, const KeyPath& path);
  Value check_target_arguments(const TargetNode& target, const Value& args, const Value& kwargs,
                               const KeyPath& path, const Position& at);

 private:
  Value check_list(const TypeNode& type, const Value& value, const KeyPath& path);
  Value check_tuple(const TypeNode& type, const Value& value, const KeyPath& path);
  Value check_map(const TypeNode& type, const Value& value, const KeyPath& path);
  Value check_choice(const TypeNode& type, const Value& value, const KeyPath& path);
  Value check_target_name(const TypeNode& type, const Value& value, const KeyPath& path);
  Value check_definition(const TypeNode& type, const Value& value, const KeyPath& path);
  Value check_union(const TypeNode& type, const Value& value, const KeyPath& path);
  void check_factory(TargetKind kind, const Value& normalised, const KeyPath& path);
  void check_bounds(const Constraints& bounds, const Value& value, const KeyPath& path);
  void check_size(const TypeNode& type, const Value& value, const KeyPath& path);

  Value wrong_type(const TypeNode& type, const Value& value, const KeyPath& path);
  Diagnostic& error(const char* code, std::string message, const Value& at, const KeyPath& path);

  // The place of a problem: that of the nearest struct around it where the value itself was not read.
  Where where(const Position& position, const KeyPath& path) const;

  // While it lives, `position` is the place of whatever has none.
  class Enclosing {
   public:
    Enclosing(Checker& checker, const Position& position) : checker_(checker), outer_(checker.enclosing_) {
      if (position.known()) checker.enclosing_ = &position;
    }
    ~Enclosing() { checker_.enclosing_ = outer_; }
    Enclosing(const Enclosing&) = delete;
    Enclosing& operator=(const Enclosing&) = delete;

   private:
    Checker& checker_;
    const Position* outer_;
  };

  const Names* names_;
  Diagnostics& problems_;
  const Position* enclosing_ = nullptr;
};

}  // namespace nexuml::detail
