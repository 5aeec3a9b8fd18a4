// parse_yaml: libyaml's events, resolved by the YAML 1.2 core schema.
#include <fmt/format.h>
#include <yaml.h>

#include <new>
#include <optional>
#include <unordered_map>

#include "value/key_path.h"
#include "value/scalar.h"
#include "value/tree_builder.h"
#include "value/yaml_syntax.h"

namespace nexuml {
namespace {

constexpr std::string_view core_tags = "tag:yaml.org,2002:";

struct YamlParser {
  yaml_parser_t raw;

  explicit YamlParser(std::string_view text) {
    if (yaml_parser_initialize(&raw) == 0) throw std::bad_alloc();
    if (text.data() == nullptr) text = "";  // libyaml stops the program for an empty view
    yaml_parser_set_input_string(&raw, reinterpret_cast<const unsigned char*>(text.data()), text.size());
    yaml_parser_set_encoding(&raw, YAML_UTF8_ENCODING);
  }
  YamlParser(const YamlParser&) = delete;
  ~YamlParser() { yaml_parser_delete(&raw); }
};

struct YamlEvent {
  yaml_event_t raw{};

  YamlEvent() = default;
  YamlEvent(const YamlEvent&) = delete;
  ~YamlEvent() { yaml_event_delete(&raw); }
};

// A node with a name; `open` while it is being read, when an alias to it would never end.
struct Anchor {
  Value value;
  TreeBuilder::Extent extent;
  bool open = true;
};

std::string_view text_of(const yaml_char_t* text) {
  return text == nullptr ? std::string_view() : std::string_view(reinterpret_cast<const char*>(text));
}

class YamlReader {
 public:
  YamlReader(const CheckedText& text, std::shared_ptr<const std::string> file, Diagnostics& problems,
             const DocumentLimits& limits)
      : text_(text),
        file_(file),
        problems_(problems),
        limits_(limits),
        places_(text),
        builder_(file, problems, limits) {}

  Value read();

 private:
  bool take(const yaml_event_t& event);
  bool start_document(const yaml_event_t& event);
  bool start_collection(const yaml_event_t& event, bool is_map);
  bool end_collection();
  bool scalar(const yaml_event_t& event);
  bool key(const yaml_event_t& event, Place place);
  bool alias(const yaml_event_t& event);
  std::optional<Value> resolve(const yaml_event_t& event, Place place);
  std::optional<Value> resolve_tagged(std::string_view tag, std::string_view text, Place place);
  bool name_node(std::string_view anchor, Value value, const TreeBuilder::Extent& extent, Place place);
  bool spend_copies(std::size_t weight, Place place);
  bool stop(const char* code, std::string message, Place place, std::string hint) {
    builder_.problem(code, std::move(message), place, std::move(hint), builder_.path());
    return false;
  }

  const CheckedText& text_;
  std::shared_ptr<const std::string> file_;
  Diagnostics& problems_;
  const DocumentLimits& limits_;
  MarkPlaces places_;
  TreeBuilder builder_;
  std::unordered_map<std::string, Anchor> anchors_;
  std::vector<std::string> open_anchors_;  // one for each open list or map, empty without an anchor
  std::size_t copied_ = 0;
  bool has_document_ = false;
  bool is_empty_ = true;
};

Value YamlReader::read() {
  YamlParser parser(text_.body);
  for (bool ended = false; !ended;) {
    YamlEvent event;
    if (yaml_parser_parse(&parser.raw, &event.raw) == 0) {
      if (parser.raw.error == YAML_MEMORY_ERROR) throw std::bad_alloc();
      report_yaml_error(parser.raw, text_, file_, problems_);
      return {};
    }
    ended = event.raw.type == YAML_STREAM_END_EVENT;
    if (!ended && !take(event.raw)) return {};
  }
  if (is_empty_) {
    stop("E707", "the document is empty", {1, 1}, "check that this is the right file and that it was saved");
  }
  return builder_.take();
}

bool YamlReader::take(const yaml_event_t& event) {
  switch (event.type) {
    case YAML_DOCUMENT_START_EVENT:
      return start_document(event);
    case YAML_MAPPING_START_EVENT:
      return start_collection(event, true);
    case YAML_SEQUENCE_START_EVENT:
      return start_collection(event, false);
    case YAML_MAPPING_END_EVENT:
    case YAML_SEQUENCE_END_EVENT:
      return end_collection();
    case YAML_SCALAR_EVENT:
      return scalar(event);
    case YAML_ALIAS_EVENT:
      return alias(event);
    default:
      return true;
  }
}

bool YamlReader::start_document(const yaml_event_t& event) {
  const Place place = places_.place(event.start_mark);
  if (has_document_) {
    return stop("E706", "a second document starts here; one document is expected", place,
                "remove the '---' line, or put the documents into files of their own");
  }
  has_document_ = true;
  const yaml_version_directive_t* version = event.data.document_start.version_directive;
  if (version != nullptr && version->minor != 2) {
    return stop("E703", fmt::format("YAML 1.2 expected, found %YAML {}.{}", version->major, version->minor),
                place, "remove the line: `on`, `1:20` and the like are text in YAML 1.2");
  }
  return true;
}

bool YamlReader::start_collection(const yaml_event_t& event, bool is_map) {
  const Place place = places_.place(event.start_mark);
  is_empty_ = false;
  if (builder_.expects_key()) {
    return stop("E703", fmt::format("text expected as a key, found a {}", is_map ? "map" : "list"), place,
                "put quotes around a key that begins with '{' or '['");
  }
  const std::string_view tag = text_of(is_map ? event.data.mapping_start.tag : event.data.sequence_start.tag);
  const std::string_view own_tag = is_map ? "tag:yaml.org,2002:map" : "tag:yaml.org,2002:seq";
  if (!tag.empty() && tag != "!" && tag != own_tag) {
    return stop("E703", fmt::format("the tag {} is not allowed", shown(tag)), place, "remove the tag");
  }
  const std::string_view anchor =
      text_of(is_map ? event.data.mapping_start.anchor : event.data.sequence_start.anchor);
  if (!anchor.empty()) anchors_[std::string(anchor)] = Anchor();
  open_anchors_.emplace_back(anchor);
  return is_map ? builder_.open_map(place) : builder_.open_list(place);
}

bool YamlReader::end_collection() {
  const std::string anchor = std::move(open_anchors_.back());
  open_anchors_.pop_back();
  builder_.close();
  if (anchor.empty()) return true;
  const Position& position = builder_.last().position();
  const Place place{position.line, position.column};
  if (!spend_copies(builder_.last_extent().weight, place)) return false;
  return name_node(anchor, builder_.last(), builder_.last_extent(), place);
}

bool YamlReader::scalar(const yaml_event_t& event) {
  const Place place = places_.place(event.start_mark);
  if (builder_.expects_key()) return key(event, place);
  const auto& data = event.data.scalar;
  if (data.length != 0 || data.style != YAML_PLAIN_SCALAR_STYLE || builder_.depth() != 0) is_empty_ = false;
  std::optional<Value> value = resolve(event, place);
  if (!value) return false;
  value->set_quoted(data.style != YAML_PLAIN_SCALAR_STYLE);
  const std::string_view anchor = text_of(data.anchor);
  if (!builder_.scalar(std::move(*value), place)) return false;
  return anchor.empty() || name_node(anchor, builder_.last(), builder_.last_extent(), place);
}

bool YamlReader::key(const yaml_event_t& event, Place place) {
  const auto& data = event.data.scalar;
  std::string key(reinterpret_cast<const char*>(data.value), data.length);
  const bool plain = data.style == YAML_PLAIN_SCALAR_STYLE;
  if (plain && key.empty()) {
    return stop("E703", "a key is missing before ':'", place, "write a key, or quotes around an empty one");
  }
  const std::string_view anchor = text_of(data.anchor);
  if (!anchor.empty() && !name_node(anchor, Value(key), {1 + key.size() / 64, 0}, place)) return false;
  return plain && key == "<<" ? builder_.merge_key(place) : builder_.key(std::move(key), place);
}

bool YamlReader::alias(const yaml_event_t& event) {
  const Place place = places_.place(event.start_mark);
  const std::string name(text_of(event.data.alias.anchor));
  const auto found = anchors_.find(name);
  if (found == anchors_.end()) {
    std::vector<std::string> names;
    for (const auto& [known, anchor] : anchors_) names.push_back(known);
    std::string hint = did_you_mean(name, names);
    if (hint.empty())
      hint = fmt::format("name the value with &{} above, or put quotes around the text", shown(name));
    return stop("E703", fmt::format("the alias *{} names no anchor above it", shown(name)), place,
                std::move(hint));
  }
  const Anchor& anchor = found->second;
  if (anchor.open) {
    return stop(
        "E705",
        fmt::format("the alias *{} makes a loop: it lies inside the value that it names", shown(name)), place,
        "write the values out");
  }
  if (builder_.expects_key()) {
    if (!anchor.value.is_string()) {
      return stop("E703", fmt::format("text expected as a key, found {}", describe_for_message(anchor.value)),
                  place, "write the key out");
    }
    return builder_.key(anchor.value.as_string(), place);
  }
  if (!spend_copies(anchor.extent.weight, place)) return false;
  return builder_.graft(anchor.value, anchor.extent, place);
}

bool YamlReader::name_node(std::string_view anchor, Value value, const TreeBuilder::Extent& extent,
                           Place place) {
  if (extent.height == 0 && !spend_copies(extent.weight, place)) return false;
  anchors_[std::string(anchor)] = Anchor{std::move(value), extent, false};
  return true;
}

// A few hundred bytes of nested aliases can stand for billions of values, so copies have a limit of their
// own.
bool YamlReader::spend_copies(std::size_t weight, Place place) {
  copied_ += weight;
  if (copied_ <= limits_.max_alias_nodes) return true;
  return stop(
      "E705",
      fmt::format("the limit of alias expansion is exceeded: anchors and aliases may stand for {} values",
                  limits_.max_alias_nodes),
      place, "write the values out");
}

std::optional<Value> YamlReader::resolve(const yaml_event_t& event, Place place) {
  const auto& data = event.data.scalar;
  const std::string_view text(reinterpret_cast<const char*>(data.value), data.length);
  const std::string_view tag = text_of(data.tag);
  if (!tag.empty()) return resolve_tagged(tag, text, place);
  const bool is_plain = data.style == YAML_PLAIN_SCALAR_STYLE && data.plain_implicit != 0;
  if (!is_plain) return Value(text);
  ResolvedScalar resolved = resolve_plain_scalar(text);
  if (resolved.problem == ScalarProblem::none) return std::move(resolved.value);
  ScalarProblemText problem = explain(resolved.problem, text);
  if (!builder_.problem(problem.code, std::move(problem.message), place, problem.hint, builder_.path())) {
    return std::nullopt;
  }
  return Value();
}

std::optional<Value> YamlReader::resolve_tagged(std::string_view tag, std::string_view text, Place place) {
  const std::string_view name =
      tag.starts_with(core_tags) ? tag.substr(core_tags.size()) : std::string_view();
  if (name == "str") return Value(text);
  if (name != "int" && name != "float" && name != "bool" && name != "null") {
    stop("E703", fmt::format("the tag {} is not allowed", shown(tag)), place, "remove the tag");
    return std::nullopt;
  }
  const ResolvedScalar resolved = resolve_plain_scalar(text);
  const Value& value = resolved.value;
  if (resolved.problem == ScalarProblem::none) {
    if (name == "float" && value.is_number()) return Value(value.as_number());
    if ((name == "int" && value.is_integer()) || (name == "bool" && value.is_boolean()) ||
        (name == "null" && value.is_null())) {
      return value;
    }
  }
  stop("E703", fmt::format("'{}' is not what its tag !!{} says", shown(text), name), place, "remove the tag");
  return std::nullopt;
}

}  // namespace

Value parse_yaml(std::string_view text, const std::string& name, Diagnostics& problems,
                 const DocumentLimits& limits) {
  const auto file = std::make_shared<const std::string>(name);
  const CheckedText checked = check_text(text, Dialect::yaml, file, limits, problems);
  if (!checked.valid) return {};
  return YamlReader(checked, file, problems, limits).read();
}

}  // namespace nexuml
