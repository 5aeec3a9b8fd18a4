#include "value/tree_builder.h"

#include <fmt/format.h>

#include <algorithm>

#include "value/key_path.h"

namespace nexuml {
namespace {

constexpr std::size_t most_problems = 100;
constexpr std::size_t few_keys = 16;  // up to here a linear search is faster than an index
constexpr std::size_t bytes_per_weight = 64;

}  // namespace

bool TreeBuilder::problem(const char* code, std::string message, Place place, std::string hint,
                          std::string key_path) {
  problems_.error(code, std::move(message), Where(position(place), std::move(key_path))).hint =
      std::move(hint);
  return problems_.size() - first_problem_ < most_problems;
}

bool TreeBuilder::count_nodes(std::size_t nodes, Place place) {
  node_count_ += nodes;
  if (node_count_ <= limits_.max_nodes) return true;
  problem("E705", fmt::format("the document has more than {} values", limits_.max_nodes), place,
          "move data out of the document", path());
  return false;
}

bool TreeBuilder::open_list(Place place) {
  return open(false, place);
}
bool TreeBuilder::open_map(Place place) {
  return open(true, place);
}

bool TreeBuilder::open(bool is_map, Place place) {
  if (!count_nodes(1, place)) return false;
  if (frames_.size() >= limits_.max_depth) {
    problem(
        "E705",
        fmt::format("the depth limit is exceeded: lists and maps may be nested {} deep", limits_.max_depth),
        place, "check for brackets that are never closed", {});
    return false;
  }
  Frame& frame = frames_.emplace_back();
  frame.is_map = is_map;
  frame.expects_key = is_map;
  frame.place = place;
  frame.extent.height = 1;
  return true;
}

void TreeBuilder::close() {
  Frame frame = std::move(frames_.back());
  frames_.pop_back();
  if (frame.has_merge) merge_into(frame);
  Value value;
  if (frame.is_map) {
    value = Value::map();
    value.entries() = std::move(frame.entries);
  } else {
    value = Value(std::move(frame.items));
  }
  value.at_position(position(frame.place));
  add(std::move(value), frame.extent);
}

bool TreeBuilder::scalar(Value value, Place place) {
  if (!count_nodes(1, place)) return false;
  Extent extent;
  if (value.is_string()) extent.weight += value.as_string().size() / bytes_per_weight;
  value.at_position(position(place));
  return add(std::move(value), extent);
}

bool TreeBuilder::graft(Value value, const Extent& extent, Place place) {
  if (!count_nodes(extent.weight, place)) return false;
  if (frames_.size() + extent.height > limits_.max_depth) {
    problem("E705",
            fmt::format("the depth limit is exceeded by an alias: lists and maps may be nested {} deep",
                        limits_.max_depth),
            place, "write the values out", path());
    return false;
  }
  value.at_position(position(place));
  return add(std::move(value), extent);
}

bool TreeBuilder::add(Value value, const Extent& extent) {
  last_extent_ = extent;
  if (frames_.empty()) {
    root_ = std::move(value);
    last_ = &root_;
    return true;
  }
  Frame& frame = frames_.back();
  frame.extent.weight += extent.weight;
  frame.extent.height = std::max(frame.extent.height, extent.height + 1);
  if (!frame.is_map) {
    last_ = &frame.items.emplace_back(std::move(value));
    return true;
  }
  Value& target = frame.slot == Slot::entry   ? frame.entries.back().value
                  : frame.slot == Slot::merge ? frame.merged
                                              : dropped_;
  target = std::move(value);
  last_ = &target;
  frame.expects_key = true;
  return true;
}

const Value::Entry* TreeBuilder::find_entry(Frame& frame, const std::string& key) {
  Value::Map& entries = frame.entries;
  if (entries.size() <= few_keys) {
    const auto found = std::find_if(entries.begin(), entries.end(),
                                    [&](const Value::Entry& entry) { return entry.key == key; });
    return found == entries.end() ? nullptr : &*found;
  }
  for (std::size_t i = frame.index.size(); i < entries.size(); ++i) frame.index.emplace(entries[i].key, i);
  const auto found = frame.index.find(key);
  return found == frame.index.end() ? nullptr : &entries[found->second];
}

bool TreeBuilder::key(std::string key, Place place) {
  Frame& frame = frames_.back();
  bool go_on = true;
  const Value::Entry* earlier = find_entry(frame, key);
  if (earlier != nullptr) {
    const std::string full_path = join_key(path(), key);
    go_on = problem(
        "E704",
        fmt::format("{} is given twice: first at {}:{}, again at {}:{}", shown(full_path, 200),
                    earlier->key_position.line, earlier->key_position.column, place.line, place.column),
        place, "keep one of the two", full_path);
  }
  frame.extent.weight += key.size() / bytes_per_weight;
  frame.slot = earlier == nullptr ? Slot::entry : Slot::dropped;
  if (earlier == nullptr) frame.entries.push_back({std::move(key), Value(), position(place)});
  frame.expects_key = false;
  return go_on;
}

bool TreeBuilder::merge_key(Place place) {
  Frame& frame = frames_.back();
  bool go_on = true;
  if (frame.has_merge) {
    go_on = problem("E704",
                    fmt::format("{} is given twice: first at {}:{}, again at {}:{}", join_key(path(), "<<"),
                                frame.merge_place.line, frame.merge_place.column, place.line, place.column),
                    place, "merge a list of maps: `<<: [*first, *second]`", join_key(path(), "<<"));
  }
  frame.has_merge = true;
  frame.slot = Slot::merge;
  frame.merge_place = place;
  frame.expects_key = false;
  return go_on;
}

// As readers of YAML 1.1 do it: explicit keys win, an earlier map of a list wins over a later one.
void TreeBuilder::merge_into(Frame& frame) {
  const auto refuse = [&](const Value& found) {
    problem(
        "E703",
        fmt::format("the merge key << needs a map or a list of maps, got {}", describe_for_message(found)),
        {found.position().line, found.position().column}, "write `<<: *anchor`, where the anchor names a map",
        join_key(path(), "<<"));
  };
  if (frame.merged.is_map()) return merge_map(frame, frame.merged);
  if (!frame.merged.is_list()) return refuse(frame.merged);
  for (Value& source : frame.merged.items()) {
    if (!source.is_map()) return refuse(source);
    merge_map(frame, source);
  }
}

void TreeBuilder::merge_map(Frame& frame, Value& source) {
  for (Value::Entry& entry : source.entries()) {
    if (find_entry(frame, entry.key) == nullptr) frame.entries.push_back(std::move(entry));
  }
}

std::string TreeBuilder::path() const {
  std::string path;
  for (const Frame& frame : frames_) {
    if (!frame.is_map) {
      path = join_index(path, frame.items.size());
    } else if (!frame.expects_key) {
      path = join_key(path, frame.slot == Slot::merge ? "<<" : frame.entries.back().key);
    }
  }
  return path;
}

}  // namespace nexuml
