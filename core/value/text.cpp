#include "value/text.h"

#include <fmt/format.h>

namespace nexuml {

Character decode_utf8(std::string_view text, std::size_t at) noexcept {
  if (at >= text.size()) return {};
  const auto byte = [&](std::size_t offset) { return static_cast<unsigned char>(text[at + offset]); };
  const unsigned char lead = byte(0);
  if (lead < 0x80) return {lead, 1};
  const unsigned size = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
  if (lead < 0xC2 || lead > 0xF4 || text.size() - at < size) return {};
  char32_t code = lead & (0xFFu >> (size + 1));
  for (unsigned i = 1; i < size; ++i) {
    if ((byte(i) & 0xC0) != 0x80) return {};
    code = (code << 6) | (byte(i) & 0x3Fu);
  }
  const bool overlong = (size == 3 && code < 0x800) || (size == 4 && code < 0x10000);
  const bool surrogate = code >= 0xD800 && code <= 0xDFFF;
  if (overlong || surrogate || code > 0x10FFFF) return {};
  return {code, size};
}

void append_utf8(std::string& out, char32_t code) {
  const auto tail = [&](unsigned shift) { out += static_cast<char>(0x80 | ((code >> shift) & 0x3F)); };
  if (code < 0x80) {
    out += static_cast<char>(code);
  } else if (code < 0x800) {
    out += static_cast<char>(0xC0 | (code >> 6));
    tail(0);
  } else if (code < 0x10000) {
    out += static_cast<char>(0xE0 | (code >> 12));
    tail(6);
    tail(0);
  } else {
    out += static_cast<char>(0xF0 | (code >> 18));
    tail(12);
    tail(6);
    tail(0);
  }
}

Place place_at(std::string_view text, std::size_t offset) noexcept {
  offset = std::min(offset, text.size());
  Place place{1, 1};
  for (std::size_t i = 0; i < offset; ++i) {
    const bool line_ends =
        text[i] == '\n' || (text[i] == '\r' && (i + 1 == text.size() || text[i + 1] != '\n'));
    if (line_ends) {
      ++place.line;
      place.column = 1;
    } else {
      ++place.column;
    }
  }
  return place;
}

std::string shown(std::string_view text, std::size_t longest) {
  std::string out;
  std::size_t at = 0;
  while (at < text.size()) {
    if (out.size() >= longest) return out + "...";
    const Character character = decode_utf8(text, at);
    const bool control = character.code < 0x20 || (character.code >= 0x7F && character.code < 0xA0);
    if (character.size == 0 || (control && character.size == 1)) {
      switch (text[at]) {
        case '\n':
          out += "\\n";
          break;
        case '\t':
          out += "\\t";
          break;
        case '\r':
          out += "\\r";
          break;
        default:
          out += fmt::format("\\x{:02X}", static_cast<unsigned char>(text[at]));
      }
      ++at;
    } else if (control) {
      out += fmt::format("\\u{:04X}", static_cast<unsigned>(character.code));
      at += character.size;
    } else {
      out.append(text.substr(at, character.size));
      at += character.size;
    }
  }
  return out;
}

namespace {

bool looks_like_utf16(std::string_view text) {
  if (text.starts_with("\xFF\xFE") || text.starts_with("\xFE\xFF")) return true;
  return text.size() >= 4 && ((text[0] == 0 && text[1] != 0 && text[2] == 0 && text[3] != 0) ||
                              (text[0] != 0 && text[1] == 0 && text[2] != 0 && text[3] == 0));
}

// YAML admits printable characters alone; JSON forbids only raw characters below U+0020.
bool is_allowed(char32_t code, Dialect dialect) {
  if (code < 0x20) return code == '\t' || code == '\n' || code == '\r';
  if (dialect == Dialect::json) return true;
  return !(code == 0x7F || (code >= 0x80 && code < 0xA0 && code != 0x85) || code == 0xFFFE || code == 0xFFFF);
}

}  // namespace

CheckedText check_text(std::string_view text, Dialect dialect, const std::shared_ptr<const std::string>& file,
                       const DocumentLimits& limits, Diagnostics& problems) {
  CheckedText checked;
  const Position start{file, 1, 1};
  if (text.size() > limits.max_bytes) {
    problems
        .error("E705",
               fmt::format("the document has {} bytes; at most {} are read", text.size(), limits.max_bytes),
               start)
        .hint = "split it, or move data out of it";
    return checked;
  }
  if (looks_like_utf16(text)) {
    problems.error("E702", "UTF-8 expected, found what looks like UTF-16", start).hint =
        "save the file as UTF-8";
    return checked;
  }
  if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);
  checked.body = text;
  for (std::size_t at = 0; at < text.size();) {
    const unsigned char byte = static_cast<unsigned char>(text[at]);
    if (byte >= 0x20 && byte < 0x7F) {
      ++at;
      continue;
    }
    const Character character = decode_utf8(text, at);
    const Place place =
        character.size != 0 && is_allowed(character.code, dialect) ? Place{} : place_at(text, at);
    if (character.size == 0) {
      problems
          .error("E702", fmt::format("UTF-8 expected, found byte 0x{:02X}, which is not valid there", byte),
                 Position{file, place.line, place.column})
          .hint = "save the file as UTF-8";
      return checked;
    }
    if (place.line != 0) {
      problems
          .error(
              "E702",
              fmt::format("control character U+{:04X} is not allowed", static_cast<unsigned>(character.code)),
              Position{file, place.line, place.column})
          .hint = "remove it, or write it as an escape inside double quotes";
      return checked;
    }
    checked.ascii = checked.ascii && character.size == 1;
    at += character.size;
  }
  checked.valid = true;
  return checked;
}

}  // namespace nexuml
