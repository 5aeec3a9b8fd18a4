// write_json and canonical_json. Numbers have the form of Python's json module, texts stay UTF-8.
#include <fmt/format.h>

#include <algorithm>

#include "value/scalar.h"
#include "value/text.h"

namespace nexuml {
namespace {

class JsonWriter {
 public:
  JsonWriter(int indent, bool sort_keys) : indent_(indent), sort_keys_(sort_keys) {}

  void write(const Value& value, int level) {
    switch (value.kind()) {
      case Value::Kind::null:
        out_ += "null";
        break;
      case Value::Kind::boolean:
        out_ += value.as_boolean() ? "true" : "false";
        break;
      case Value::Kind::integer:
        out_ += fmt::to_string(value.as_integer());
        break;
      case Value::Kind::number:
        out_ += number_to_text(value.as_number());
        break;
      case Value::Kind::string:
        write_text(value.as_string());
        break;
      case Value::Kind::list:
        write_list(value.items(), level);
        break;
      case Value::Kind::map:
        write_map(value.entries(), level);
        break;
    }
  }
  std::string take() { return std::move(out_); }

 private:
  void write_list(const Value::List& items, int level) {
    out_ += '[';
    for (std::size_t i = 0; i < items.size(); ++i) {
      separate(i, level + 1);
      write(items[i], level + 1);
    }
    if (!items.empty()) break_line(level);
    out_ += ']';
  }
  void write_map(const Value::Map& entries, int level) {
    std::vector<const Value::Entry*> ordered;
    ordered.reserve(entries.size());
    for (const Value::Entry& entry : entries) ordered.push_back(&entry);
    if (sort_keys_) {
      std::sort(ordered.begin(), ordered.end(),
                [](const Value::Entry* left, const Value::Entry* right) { return left->key < right->key; });
    }
    out_ += '{';
    for (std::size_t i = 0; i < ordered.size(); ++i) {
      separate(i, level + 1);
      write_text(ordered[i]->key);
      out_ += indent_ < 0 ? ":" : ": ";
      write(ordered[i]->value, level + 1);
    }
    if (!ordered.empty()) break_line(level);
    out_ += '}';
  }
  void separate(std::size_t index, int level) {
    if (index != 0) out_ += ',';
    break_line(level);
  }
  void break_line(int level) {
    if (indent_ < 0) return;
    out_ += '\n';
    out_.append(static_cast<std::size_t>(indent_ * level), ' ');
  }
  void write_text(std::string_view text) {
    out_ += '"';
    for (std::size_t at = 0; at < text.size();) {
      const Character character = decode_utf8(text, at);
      if (character.size == 0) {
        append_utf8(out_, U'\uFFFD');  // JSON holds no other bytes
      } else if (character.code == '"' || character.code == '\\') {
        out_ += '\\';
        out_ += text[at];
      } else if (character.code < 0x20 || character.code == 0x7F) {
        write_escape(character.code);
      } else {
        out_ += text.substr(at, character.size);
      }
      at += std::max(1u, character.size);
    }
    out_ += '"';
  }
  void write_escape(char32_t code) {
    switch (code) {
      case '\n':
        out_ += "\\n";
        break;
      case '\t':
        out_ += "\\t";
        break;
      case '\r':
        out_ += "\\r";
        break;
      default:
        out_ += fmt::format("\\u{:04x}", static_cast<unsigned>(code));
    }
  }

  int indent_;
  bool sort_keys_;
  std::string out_;
};

}  // namespace

std::string write_json(const Value& value, const JsonStyle& style) {
  JsonWriter writer(style.indent, style.sort_keys);
  writer.write(value, 0);
  return writer.take();
}

std::string canonical_json(const Value& value) {
  return write_json(value, {.indent = -1, .sort_keys = true});
}

}  // namespace nexuml
