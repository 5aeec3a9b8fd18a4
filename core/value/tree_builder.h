// TreeBuilder: grows a Value from the events of a parser and keeps what is common to all documents:
// positions, limits, duplicate keys and the key path of the node at hand. It never recurses, so the depth of
// a document costs no stack.
//
//     builder.open_map({1, 1});
//     builder.key("lr", {1, 1});
//     builder.scalar(Value(0.1), {1, 5});
//     builder.close();
//     Value root = builder.take();
//
// A function that returns false has reported why; the caller then stops reading.
#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include "value/text.h"

namespace nexuml {

class TreeBuilder {
 public:
  // What a finished node costs when it is copied.
  struct Extent {
    std::size_t weight = 1;  // nodes, plus one for every 64 bytes of text
    std::size_t height = 0;  // levels of lists and maps
  };

  TreeBuilder(std::shared_ptr<const std::string> file, Diagnostics& problems, const DocumentLimits& limits)
      : file_(std::move(file)), problems_(problems), limits_(limits), first_problem_(problems.size()) {}

  bool open_list(Place place);
  bool open_map(Place place);
  // The finished list or map; merges of a map are carried out.
  void close();
  bool scalar(Value value, Place place);
  // A finished subtree: an alias. The node takes `place`, its children keep theirs.
  bool graft(Value value, const Extent& extent, Place place);

  bool expects_key() const { return !frames_.empty() && frames_.back().expects_key; }
  bool key(std::string key, Place place);
  // The next value is one map or a list of maps whose entries are added where the map lacks them.
  bool merge_key(Place place);

  // Key path of the node that comes next; of the map itself where a key comes next.
  std::string path() const;
  std::size_t depth() const { return frames_.size(); }
  std::size_t node_count() const { return node_count_; }

  // The node that was finished last, and its extent.
  const Value& last() const { return *last_; }
  const Extent& last_extent() const { return last_extent_; }

  // Reports a problem at the node that comes next. False when so many were reported that reading on is no
  // use.
  bool problem(const char* code, std::string message, Place place, std::string hint, std::string key_path);
  bool failed() const { return problems_.size() != first_problem_; }

  Value take() { return failed() ? Value() : std::move(root_); }

 private:
  enum class Slot { entry, merge, dropped };  // where the value of a map goes

  struct Frame {
    Value::Map entries;
    Value::List items;
    std::unordered_map<std::string, std::size_t> index;  // of entries, once they are many
    Value merged;                                        // value of `<<`
    Place merge_place;
    Place place;
    Extent extent;
    bool is_map = false;
    bool expects_key = false;
    Slot slot = Slot::entry;
    bool has_merge = false;
  };

  bool open(bool is_map, Place place);
  bool add(Value value, const Extent& extent);
  bool count_nodes(std::size_t nodes, Place place);
  const Value::Entry* find_entry(Frame& frame, const std::string& key);
  void merge_into(Frame& frame);
  void merge_map(Frame& frame, Value& source);
  Position position(Place place) const { return {file_, place.line, place.column}; }

  std::shared_ptr<const std::string> file_;
  Diagnostics& problems_;
  const DocumentLimits& limits_;
  std::size_t first_problem_;
  std::vector<Frame> frames_;
  Value root_;
  Value dropped_;
  const Value* last_ = nullptr;
  Extent last_extent_;
  std::size_t node_count_ = 0;
};

}  // namespace nexuml
