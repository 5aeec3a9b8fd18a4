#include "tensor_io/npy_header.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <optional>

#include "tensor_io/dtypes.h"
#include "tensor_io/layout.h"

namespace nexuml::tensor_io {

namespace {

constexpr std::uint64_t kMaxNpyHeader = 1u << 20;
constexpr std::string_view kNpyMagic = "\x93NUMPY";

// Reads the one form of literal that headers have: {'descr': '<f4', 'fortran_order': False, 'shape': (2, 3),
// }
class LiteralReader {
 public:
  LiteralReader(std::string_view text, const std::string& file) : rest_(text), file_(file) {}

  void read(std::string& descr, bool& column_major, std::vector<std::int64_t>& shape) {
    bool has_descr = false, has_order = false, has_shape = false;
    expect('{');
    while (!accept('}')) {
      const std::string key = read_string();
      expect(':');
      if (key == "descr" && !std::exchange(has_descr, true)) {
        descr = read_descr();
      } else if (key == "fortran_order" && !std::exchange(has_order, true)) {
        column_major = read_boolean();
      } else if (key == "shape" && !std::exchange(has_shape, true)) {
        shape = read_shape();
      } else {
        malformed(fmt::format("key '{}'", key));
      }
      if (!accept(',')) {
        expect('}');
        break;
      }
    }
    skip_blanks();
    if (!rest_.empty()) malformed("text after the header's literal");
    if (!has_descr || !has_order || !has_shape) malformed("no descr, fortran_order or shape");
  }

 private:
  [[noreturn]] void malformed(std::string_view found) const {
    refuse("E759", fmt::format("{}: the NPY header is malformed: {} found", file_, found), file_);
  }

  void skip_blanks() { rest_.remove_prefix(std::min(rest_.find_first_not_of(" \t\r\n"), rest_.size())); }

  bool accept(char wanted) {
    skip_blanks();
    if (rest_.empty() || rest_.front() != wanted) return false;
    rest_.remove_prefix(1);
    return true;
  }

  bool accept(std::string_view word) {
    skip_blanks();
    if (!rest_.starts_with(word)) return false;
    rest_.remove_prefix(word.size());
    return true;
  }

  void expect(char wanted) {
    if (!accept(wanted)) malformed(rest_.empty() ? "its end" : fmt::format("no '{}'", wanted));
  }

  std::string read_string() {
    for (const char quote : {'\'', '"'}) {
      if (!accept(quote)) continue;
      const std::size_t end = rest_.find(quote);
      if (end == std::string_view::npos) malformed("a text without end");
      const std::string text(rest_.substr(0, end));
      rest_.remove_prefix(end + 1);
      return text;
    }
    malformed("no text in quotes");
  }

  std::string read_descr() {
    skip_blanks();
    if (rest_.starts_with('[')) {
      refuse("E759",
             fmt::format("{} holds a structured array with named fields, a plain array is expected", file_),
             file_, "save each field as an array of its own");
    }
    return read_string();
  }

  bool read_boolean() {
    if (accept(std::string_view("True"))) return true;
    if (!accept(std::string_view("False"))) malformed("neither True nor False");
    return false;
  }

  std::vector<std::int64_t> read_shape() {
    std::vector<std::int64_t> shape;
    expect('(');
    while (!accept(')')) {
      std::int64_t size = 0;
      skip_blanks();
      const auto [end, error] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), size);
      if (error != std::errc() || size < 0) malformed("no size from 0 to 2^63 in its shape");
      rest_.remove_prefix(static_cast<std::size_t>(end - rest_.data()));
      accept('L');  // Python 2 wrote long integers so
      shape.push_back(size);
      if (!accept(',')) {
        expect(')');
        break;
      }
    }
    return shape;
  }

  std::string_view rest_;
  const std::string& file_;
};

std::string_view kind_of_descr(char kind) {
  switch (kind) {
    case 'O':
      return "Python objects, which cannot be read without running code";
    case 'U':
    case 'S':
    case 'a':
      return "text";
    case 'M':
    case 'm':
      return "dates or time spans";
    case 'V':
      return "raw records";
    default:
      return "a dtype that has no counterpart here";
  }
}

void read_dtype(const std::string& descr, NpyHeader& header, const std::string& file) {
  const std::size_t order = descr.find_first_of("<>=|") == 0 ? 1 : 0;
  const DtypeNames* dtype = find_numpy_dtype(std::string_view(descr).substr(order));
  if (!dtype) {
    refuse("E759",
           fmt::format("{} holds {} (dtype '{}'), numbers or booleans are expected", file,
                       kind_of_descr(descr.size() > order ? descr[order] : ' '), descr),
           file, "convert it with .astype before saving");
  }
  header.dtype = dtype->dtype;
  header.big_endian = descr[0] == '>';
}

// The length field has 2 bytes in version 1 and 4 in versions 2 and 3.
std::uint64_t read_literal_place(const Input& input, std::uint64_t& literal) {
  const std::string head = input.read_text(0, std::min<std::uint64_t>(input.size(), 12));
  if (!head.starts_with(kNpyMagic)) {
    const std::string kind = describe_foreign(input);
    refuse("E759",
           fmt::format("{} ({}) is no NPY file{}{}", input.name(), byte_count(input.size()),
                       kind.empty() ? "" : ": ", kind),
           input.name());
  }
  const auto byte = [&](std::size_t i) {
    return static_cast<std::uint64_t>(static_cast<unsigned char>(head[i]));
  };
  if (head.size() < 12) {
    refuse("E759", fmt::format("{} is cut off: it has {}", input.name(), byte_count(input.size())),
           input.name());
  }
  if (byte(6) < 1 || byte(6) > 3) {
    refuse("E759",
           fmt::format("{} has NPY version {}.{}, versions 1 to 3 are read", input.name(), byte(6), byte(7)),
           input.name());
  }
  literal = byte(6) == 1 ? 10 : 12;
  const std::uint64_t low = byte(8) | byte(9) << 8;
  return byte(6) == 1 ? low : low | byte(10) << 16 | byte(11) << 24;
}

}  // namespace

NpyHeader read_npy_header(const Input& input) {
  std::uint64_t literal = 0;
  const std::uint64_t length = read_literal_place(input, literal);
  if (length > kMaxNpyHeader || literal + length > input.size()) {
    refuse("E759",
           fmt::format("{} is cut off or damaged: its header would have {}, the file has {}", input.name(),
                       byte_count(length), byte_count(input.size())),
           input.name());
  }
  NpyHeader header;
  header.data_offset = literal + length;
  std::string descr;
  const std::string text = input.read_text(literal, length);
  LiteralReader(text, input.name()).read(descr, header.column_major, header.shape);
  read_dtype(descr, header, input.name());
  const auto needed = checked_bytes(header.shape, c10::elementSize(header.dtype));
  const std::uint64_t present = input.size() - header.data_offset;
  if (!needed || *needed != present) {
    refuse("E759",
           fmt::format("{}: an array of shape {} and dtype {} needs {}, the file holds {}{}", input.name(),
                       shape_text(header.shape), dtype_name(header.dtype),
                       needed ? byte_count(*needed) : "more than 2^63 bytes", byte_count(present),
                       needed && *needed < present ? "" : ": it is cut off"),
           input.name());
  }
  header.data_size = *needed;
  return header;
}

std::string format_npy_header(at::ScalarType dtype, at::IntArrayRef shape, std::string_view name) {
  const auto* known = find_dtype(dtype);
  if (!known || known->numpy.empty())
    throw Error("E753", fmt::format("'{}' is {}, which NPY files cannot hold", name, dtype_name(dtype)), {},
                "convert it to float32, or write safetensors");
  const std::string_view numpy_dtype = known->numpy;
  const std::string sizes =
      fmt::format("{}{}", fmt::join(shape.begin(), shape.end(), ", "), shape.size() == 1 ? "," : "");
  const char order = numpy_dtype.ends_with("1") ? '|' : '<';
  std::string literal =
      fmt::format("{{'descr': '{}{}', 'fortran_order': False, 'shape': ({}), }}", order, numpy_dtype, sizes);
  // numpy leaves room for the first size to grow and ends the header at a multiple of 64 bytes.
  constexpr std::size_t kGrowthDigits = 21;
  if (!shape.empty()) literal.append(kGrowthDigits - fmt::formatted_size("{}", shape[0]), ' ');
  constexpr std::size_t kPrefix = 10;
  literal.append(64 - (kPrefix + literal.size() + 1) % 64, ' ');
  literal += '\n';
  std::string header(kNpyMagic);
  header += {'\1', '\0', static_cast<char>(literal.size() & 255), static_cast<char>(literal.size() >> 8)};
  return header + literal;
}

}  // namespace nexuml::tensor_io
