// write_yaml: block style as ruamel writes it by default, readable to YAML 1.1 and 1.2 readers alike.
#include <fmt/format.h>

#include <algorithm>

#include "value/scalar.h"
#include "value/text.h"

namespace nexuml {
namespace {

// libyaml looks at most 1,024 characters ahead for the ':' of a key; longer keys are written as `? key`.
constexpr std::size_t longest_simple_key = 1000;

// YAML 1.1 wants a dot before the exponent: 1.0e-08.
std::string yaml_number(double value) {
  std::string text = number_to_text(value);
  const std::size_t exponent = text.find('e');
  if (exponent != std::string::npos && text.find('.') == std::string::npos) text.insert(exponent, ".0");
  return text;
}

bool is_printable(char32_t code) {
  return (code >= 0x20 && code < 0x7F) || (code >= 0xA0 && code != 0x2028 && code != 0x2029 &&
                                           code != 0xFEFF && code != 0xFFFE && code != 0xFFFF);
}

bool is_printable_line(std::string_view text) {
  for (std::size_t at = 0; at < text.size();) {
    const Character character = decode_utf8(text, at);
    if (character.size == 0 || !is_printable(character.code)) return false;
    at += character.size;
  }
  return true;
}

// Whether the text, without quotes, is one plain scalar in block context (YAML 1.2.2, section 7.3.3).
bool may_be_plain(std::string_view text) {
  if (text.empty() || text.front() == ' ' || text.back() == ' ' || text.back() == ':') return false;
  if (std::string_view("[]{},#&*!|>'\"%@`").find(text.front()) != std::string_view::npos) return false;
  const bool starts_as_indicator = text.front() == '-' || text.front() == '?' || text.front() == ':';
  if (starts_as_indicator && (text.size() == 1 || text[1] == ' ')) return false;
  if (text.starts_with("---") || text.starts_with("...")) return false;
  return text.find(": ") == std::string_view::npos && text.find(" #") == std::string_view::npos;
}

std::string double_quoted(std::string_view text) {
  std::string out = "\"";
  for (std::size_t at = 0; at < text.size();) {
    const Character character = decode_utf8(text, at);
    const auto code = static_cast<unsigned>(character.code);
    if (character.size == 0) {
      append_utf8(out, U'\uFFFD');  // YAML holds no other bytes
    } else if (code == '"' || code == '\\') {
      out += '\\';
      out += text[at];
    } else if (code == '\n' || code == '\t' || code == '\r') {
      out += code == '\n' ? "\\n" : code == '\t' ? "\\t" : "\\r";
    } else if (is_printable(character.code)) {
      out += text.substr(at, character.size);
    } else {
      out += code < 0x100 ? fmt::format("\\x{:02X}", code) : fmt::format("\\u{:04X}", code);
    }
    at += std::max(1u, character.size);
  }
  return out + '"';
}

std::string single_quoted(std::string_view text) {
  std::string out = "'";
  for (const char letter : text) {
    if (letter == '\'') out += '\'';
    out += letter;
  }
  return out + '\'';
}

std::string yaml_text(std::string_view text) {
  if (!is_printable_line(text)) return double_quoted(text);
  return may_be_plain(text) && reads_as_text_everywhere(text) ? std::string(text) : single_quoted(text);
}

bool is_block(const Value& value) {
  return (value.is_list() || value.is_map()) && value.size() != 0;
}

std::string inline_text(const Value& value) {
  switch (value.kind()) {
    case Value::Kind::null:
      return "null";
    case Value::Kind::boolean:
      return value.as_boolean() ? "true" : "false";
    case Value::Kind::integer:
      return fmt::to_string(value.as_integer());
    case Value::Kind::number:
      return yaml_number(value.as_number());
    case Value::Kind::string:
      return yaml_text(value.as_string());
    case Value::Kind::list:
      return "[]";
    case Value::Kind::map:
      break;
  }
  return "{}";
}

class YamlWriter {
 public:
  // `begun`: the first line has its indentation already, as behind "- ".
  void write_block(const Value& value, std::size_t indent, bool begun) {
    if (value.is_map()) {
      write_map(value.entries(), indent, begun);
    } else {
      write_list(value.items(), indent, begun);
    }
  }
  void write_line(const Value& value) { out_ += inline_text(value) + '\n'; }
  std::string take() { return std::move(out_); }

 private:
  void write_map(const Value::Map& entries, std::size_t indent, bool begun) {
    for (const Value::Entry& entry : entries) {
      if (!begun) out_.append(indent, ' ');
      begun = false;
      const std::string key = yaml_text(entry.key);
      if (key.size() > longest_simple_key) {
        out_ += "? " + key + '\n';
        out_.append(indent, ' ');
      } else {
        out_ += key;
      }
      out_ += ':';
      if (is_block(entry.value)) {
        out_ += '\n';
        write_block(entry.value, entry.value.is_map() ? indent + 2 : indent, false);
      } else {
        write_rest_of_line(entry.value);
      }
    }
  }
  void write_list(const Value::List& items, std::size_t indent, bool begun) {
    for (const Value& item : items) {
      if (!begun) out_.append(indent, ' ');
      begun = false;
      out_ += '-';
      if (is_block(item)) {
        out_ += ' ';
        write_block(item, indent + 2, true);
      } else {
        write_rest_of_line(item);
      }
    }
  }
  void write_rest_of_line(const Value& value) {
    if (!value.is_null()) out_ += ' ' + inline_text(value);
    out_ += '\n';
  }

  std::string out_;
};

}  // namespace

std::string write_yaml(const Value& value) {
  YamlWriter writer;
  if (is_block(value)) {
    writer.write_block(value, 0, false);
  } else {
    writer.write_line(value);
  }
  return writer.take();
}

}  // namespace nexuml
