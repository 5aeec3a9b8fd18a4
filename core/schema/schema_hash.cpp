#include <nexuml/schema_node.h>

#include "schema/sha256.h"

namespace nexuml {
namespace {

// Documentation and C++ names may change without changing what a document means.
Value without_documentation(const Value& value) {
  if (value.is_list()) {
    Value result = Value::list();
    for (const Value& item : value.items()) result.push_back(without_documentation(item));
    return result;
  }
  if (!value.is_map()) return value;
  const bool is_struct = value.find("fields") != nullptr;
  // The name of a type with a serializer is all that a schema says of it.
  const Value* kind = value.find("kind");
  if (kind && *kind == Value("any")) return value;
  Value result = Value::map();
  for (const Value::Entry& entry : value.entries()) {
    const bool documentation =
        entry.key == "doc" || (is_struct && (entry.key == "summary" || entry.key == "name"));
    if (documentation) continue;
    result.set(entry.key, entry.key == "default" ? entry.value : without_documentation(entry.value));
  }
  return result;
}

}  // namespace

std::string schema_hash(const StructNode& schema) {
  const std::string bytes = canonical_json(without_documentation(schema_to_value(schema)));
  const auto digest = sha256(bytes);
  static constexpr char kHex[] = "0123456789abcdef";
  std::string text;
  for (const unsigned char byte : digest) {
    text += kHex[byte >> 4];
    text += kHex[byte & 15];
  }
  return text;
}

}  // namespace nexuml
