// Value: the one tree behind YAML, JSON, manifests, overrides and recipes.
//
//     Value params = Value::map({{"hidden_dims", std::vector{32, 16}}, {"output_dim", 8}});
//     params.find("output_dim")->as_integer();   // 8
//
// A node is null, a boolean, a 64-bit integer, a finite double, a string, a list or a string-keyed map that
// keeps the order in which keys were added. Each node remembers where it was read. Values are plain data:
// copy them, share them between threads while nobody writes. Nothing here knows a tensor.
#pragma once

#include <nexuml/diagnostic.h>
#include <nexuml/export.h>

#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace nexuml {

class NEXUML_EXPORT Value {
 public:
  enum class Kind { null, boolean, integer, number, string, list, map };

  struct Entry;
  using List = std::vector<Value>;
  using Map = std::vector<Entry>;

  Value() noexcept;
  Value(std::nullptr_t) noexcept;
  template <std::same_as<bool> B>  // a pointer or a captureless lambda must not turn into true
  Value(B value) noexcept : data_(value) {}
  template <std::integral I>
  requires(!std::same_as<I, bool> && !std::same_as<I, char>) Value(I value)
      : data_(checked_integer(value)) {}  // throws Error E713 above the range of 64 signed bits
  Value(double value);                    // throws Error E716 for NaN and infinities
  Value(float value);
  Value(std::string value);
  Value(std::string_view value);
  Value(const char* value);
  Value(List items);
  Value(Map entries);  // throws Error E704 for a key that is given twice
  template <class T>
  requires(!std::same_as<T, Value> && std::constructible_from<Value, T>) Value(const std::vector<T>& items)
      : Value(list_of(items)) {}

  Value(const Value&);
  Value(Value&&) noexcept;
  Value& operator=(const Value&);
  Value& operator=(Value&&) noexcept;
  ~Value();

  static Value list(std::initializer_list<Value> items = {});
  static Value map(std::initializer_list<std::pair<std::string, Value>> entries = {});

  Kind kind() const noexcept { return static_cast<Kind>(data_.index()); }
  bool is_null() const noexcept { return kind() == Kind::null; }
  bool is_boolean() const noexcept { return kind() == Kind::boolean; }
  bool is_integer() const noexcept { return kind() == Kind::integer; }
  bool is_number() const noexcept { return kind() == Kind::number || is_integer(); }
  bool is_string() const noexcept { return kind() == Kind::string; }
  bool is_list() const noexcept { return kind() == Kind::list; }
  bool is_map() const noexcept { return kind() == Kind::map; }

  // Each throws std::logic_error when the node is of another kind: check first, or read through a schema.
  bool as_boolean() const;
  std::int64_t as_integer() const;
  double as_number() const;  // integers too
  const std::string& as_string() const;
  const List& items() const;
  List& items();
  const Map& entries() const;
  Map& entries();

  // Maps: linear search, keys are few. `find` gives null for a missing key and for a node that is no map.
  const Value* find(std::string_view key) const noexcept;
  Value* find(std::string_view key) noexcept;
  const Value& at(std::string_view key) const;  // throws std::out_of_range naming the key
  Value& set(std::string key, Value value);     // replaces or appends; a null node becomes a map
  bool erase(std::string_view key);
  std::size_t size() const noexcept;  // items or entries; 0 for scalars
  void push_back(Value value);        // a null node becomes a list

  const Position& position() const noexcept { return position_; }
  Value& at_position(Position position) {
    position_ = std::move(position);
    return *this;
  }
  // True for a scalar that stood in quotes in its YAML source: such a scalar is text whatever it looks like.
  // Only used to word messages.
  bool quoted() const noexcept { return quoted_; }
  void set_quoted(bool quoted) noexcept { quoted_ = quoted; }

  // Equal in meaning: positions are ignored, the order of map keys is ignored, 1 and 1.0 differ.
  friend NEXUML_EXPORT bool operator==(const Value& left, const Value& right);

 private:
  template <std::integral I>
  requires(std::signed_integral<I> || sizeof(I) < sizeof(std::int64_t)) static std::int64_t
      checked_integer(I value) {
    return value;
  }
  static std::int64_t checked_integer(std::uint64_t value);
  template <class T>
  static List list_of(const std::vector<T>& items) {
    List list;
    list.reserve(items.size());
    for (const T& item : items) list.emplace_back(item);
    return list;
  }

  std::variant<std::monostate, bool, std::int64_t, double, std::string, List, Map> data_;
  Position position_;
  bool quoted_ = false;
};

struct Value::Entry {
  std::string key;
  Value value;
  Position key_position;
};

// Here and not in the class: a vector of entries needs the whole Entry.
inline Value::Value() noexcept = default;
inline Value::Value(std::nullptr_t) noexcept {}
inline Value::Value(float value) : Value(static_cast<double>(value)) {}
inline Value::Value(std::string value) : data_(std::move(value)) {}
inline Value::Value(std::string_view value) : data_(std::string(value)) {}
inline Value::Value(const char* value) : data_(std::string(value)) {}
inline Value::Value(List items) : data_(std::move(items)) {}
inline Value::Value(const Value&) = default;
inline Value::Value(Value&&) noexcept = default;
inline Value& Value::operator=(const Value&) = default;
inline Value& Value::operator=(Value&&) noexcept = default;
inline Value::~Value() = default;
inline Value Value::list(std::initializer_list<Value> items) {
  return Value(List(items));
}

// "text", "integer", "number", "boolean", "null", "list", "map": the words of messages.
NEXUML_EXPORT std::string_view kind_name(Value::Kind kind) noexcept;

// What a message shows of a value: `text 'on'`, `integer 3`, `list of 4`, `null`.
NEXUML_EXPORT std::string describe_for_message(const Value& value);

// The limits that bound what a document may cost.
struct DocumentLimits {
  std::size_t max_bytes = 64u << 20;
  std::size_t max_depth = 100;
  std::size_t max_nodes = 5'000'000;      // after alias expansion
  std::size_t max_alias_nodes = 500'000;  // of these, how many anchors and aliases may stand for
};

// Readers. `name` is the file name for messages. Syntax problems are reported into `problems` (all that the
// parser can tell at once); the result is then null. Neither reader touches the file system, both are safe
// for any bytes.
NEXUML_EXPORT Value parse_yaml(std::string_view text, const std::string& name, Diagnostics& problems,
                               const DocumentLimits& limits = {});
NEXUML_EXPORT Value parse_json(std::string_view text, const std::string& name, Diagnostics& problems,
                               const DocumentLimits& limits = {});

// Reads a whole file: E701 when it is missing, a directory, unreadable, not regular or larger than
// `max_bytes`.
NEXUML_EXPORT std::string read_text_file(const std::string& path, Diagnostics& problems,
                                         std::size_t max_bytes = 64u << 20);

// Writers. Both are total and independent of the locale; doubles print the shortest text that reads back to
// the same bits and always look like a number with a fraction or an exponent.
NEXUML_EXPORT std::string write_yaml(const Value& value);
struct JsonStyle {
  int indent = 1;          // negative: one line
  bool sort_keys = false;  // the canonical form sorts
};
NEXUML_EXPORT std::string write_json(const Value& value, const JsonStyle& style = {});
// One line, sorted keys, no spaces: the bytes that hashes are taken of.
NEXUML_EXPORT std::string canonical_json(const Value& value);

}  // namespace nexuml
