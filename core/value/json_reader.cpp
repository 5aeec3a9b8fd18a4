// parse_json: nlohmann's SAX reader, with positions from a cursor that walks over the tokens in step with it.
#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "value/key_path.h"
#include "value/scalar.h"
#include "value/tree_builder.h"

namespace nexuml {
namespace {

using Json = nlohmann::json;

// Finds where the tokens of a text that is valid JSON so far begin. The SAX reader reports each value and key
// after it has read it; one call of `next` a report keeps both in step.
class JsonTokens {
 public:
  explicit JsonTokens(std::string_view text) : text_(text) {}

  Place next() {
    skip_separators();
    token_ = at_;
    const Place place{line_, static_cast<std::uint32_t>(at_ - line_start_ + 1)};
    skip_token();
    return place;
  }
  std::string_view token() const { return text_.substr(token_, at_ - token_); }
  // The offset behind the last token and the blanks after it.
  std::size_t rest() {
    skip_separators();
    return at_;
  }

 private:
  void skip_separators() {
    for (; at_ < text_.size(); ++at_) {
      const char sign = text_[at_];
      if (sign == '\n' || (sign == '\r' && text_.substr(at_ + 1, 1) != "\n")) {
        ++line_;
        line_start_ = at_ + 1;
      } else if (sign != ' ' && sign != '\t' && sign != ',' && sign != ':' && sign != '\r') {
        return;
      }
    }
  }
  void skip_token() {
    if (at_ == text_.size()) return;
    const char first = text_[at_++];
    if (first == '"') {
      while (at_ < text_.size() && text_[at_] != '"') at_ += text_[at_] == '\\' ? 2 : 1;
      at_ = std::min(at_ + 1, text_.size());
    } else if (first != '{' && first != '}' && first != '[' && first != ']') {
      at_ = std::min(text_.find_first_of(" \t\r\n,:{}[]\"", at_), text_.size());
    }
  }

  std::string_view text_;
  std::size_t at_ = 0;
  std::size_t token_ = 0;
  std::size_t line_start_ = 0;
  std::uint32_t line_ = 1;
};

class JsonReader final : public nlohmann::json_sax<Json> {
 public:
  JsonReader(const CheckedText& text, std::shared_ptr<const std::string> file, Diagnostics& problems,
             const DocumentLimits& limits)
      : body_(text.body), tokens_(text.body), builder_(std::move(file), problems, limits) {}

  Value read() {
    Json::sax_parse(body_.begin(), body_.end(), this);
    return builder_.take();
  }

  bool null() override { return scalar(Value()); }
  bool boolean(bool value) override { return scalar(Value(value)); }
  bool number_integer(Json::number_integer_t value) override { return scalar(Value(value)); }
  bool number_unsigned(Json::number_unsigned_t value) override {
    if (value > static_cast<Json::number_unsigned_t>(std::numeric_limits<std::int64_t>::max()))
      return out_of_range();
    return scalar(Value(value));
  }
  // Integers beyond 64 bits arrive here too; they have neither a fraction nor an exponent.
  bool number_float(Json::number_float_t value, const std::string& text) override {
    const bool is_integer = text.find_first_of(".eE") == std::string::npos;
    if (is_integer || !std::isfinite(value)) return out_of_range();
    return scalar(Value(value));
  }
  bool string(std::string& value) override { return scalar(Value(std::move(value))); }
  bool binary(Json::binary_t&) override { return false; }
  bool start_object(std::size_t) override { return builder_.open_map(tokens_.next()); }
  bool key(std::string& key) override {
    const Place place = tokens_.next();
    return builder_.key(std::move(key), place);
  }
  bool start_array(std::size_t) override { return builder_.open_list(tokens_.next()); }
  bool end_object() override { return close(); }
  bool end_array() override { return close(); }
  bool parse_error(std::size_t position, const std::string&,
                   const nlohmann::detail::exception& problem) override;

 private:
  bool scalar(Value value) { return builder_.scalar(std::move(value), tokens_.next()); }
  bool close() {
    tokens_.next();
    builder_.close();
    return true;
  }
  bool out_of_range() {
    const Place place = tokens_.next();
    const std::string_view text = tokens_.token();
    const bool is_integer = text.find_first_of(".eE") == std::string_view::npos;
    const ScalarProblem problem = is_integer ? ScalarProblem::integer_range : ScalarProblem::number_range;
    ScalarProblemText words = explain(problem, text);
    return builder_.problem(words.code, std::move(words.message), place, words.hint, builder_.path()) &&
           builder_.scalar(Value(), place);
  }
  void report(const char* code, std::size_t offset, std::string message, std::string hint) {
    const Place place = place_at(body_, offset);
    builder_.problem(code, std::move(message), place, std::move(hint), builder_.path());
  }

  std::string_view body_;
  JsonTokens tokens_;
  TreeBuilder builder_;
};

// `[json.exception.parse_error.101] parse error at line 1, column 3: syntax error while parsing value - …`:
// only what follows the position is for a person.
std::string_view plain_reason(std::string_view what) {
  const std::size_t column = what.find(", column ");
  const std::size_t colon = column == std::string_view::npos ? column : what.find(": ", column);
  return colon == std::string_view::npos ? what : what.substr(colon + 2);
}

// Is always the end of the reading; the return value is what the SAX reader then returns.
bool JsonReader::parse_error(std::size_t position, const std::string&,
                             const nlohmann::detail::exception& problem) {
  if (problem.id == 406) return out_of_range(), false;
  const std::size_t at = tokens_.rest();
  const std::string_view rest = body_.substr(at);
  for (const std::string_view word : {"NaN", "nan", "Infinity", "-Infinity", "inf", "-inf", "-NaN"}) {
    if (!rest.starts_with(word)) continue;
    const ScalarProblemText words = explain(ScalarProblem::not_finite, word);
    return report(words.code, at, words.message, "write a finite number or null"), false;
  }
  const std::string_view reason = plain_reason(problem.what());
  const std::size_t last_read = position == 0 ? 0 : position - 1;
  if (reason.find("expected end of input") != std::string_view::npos) {
    report("E703", at, "text follows the document", "remove what follows the last bracket");
  } else if (reason.find("missing closing quote") != std::string_view::npos) {
    report("E703", at, "unterminated quote: the text that starts here never ends", "close the quotes");
  } else if (rest.starts_with('"') && reason.find("control character") != std::string_view::npos) {
    report("E703", at, "the text in quotes that starts here runs over the end of the line",
           "close the quotes; a line break inside a text is written \\n, a tab \\t");
  } else if (rest.empty()) {
    report("E703", body_.size(), "the document ends too early",
           "close the brackets; the file may be cut off");
  } else if (rest.starts_with('\'')) {
    report("E703", at, "JSON knows no single quotes", "use double quotes");
  } else if (rest.starts_with("//") || rest.starts_with("/*") || rest.starts_with('#')) {
    report("E703", at, "JSON knows no comments", "remove the comment");
  } else {
    report("E703", std::max(at, last_read), fmt::format("not valid JSON: {}", shown(reason, 200)),
           "check this place and the one before");
  }
  return false;
}

}  // namespace

Value parse_json(std::string_view text, const std::string& name, Diagnostics& problems,
                 const DocumentLimits& limits) {
  const auto file = std::make_shared<const std::string>(name);
  const CheckedText checked = check_text(text, Dialect::json, file, limits, problems);
  if (!checked.valid) return {};
  if (checked.body.find_first_not_of(" \t\r\n") == std::string_view::npos) {
    problems.error("E707", "the document is empty", Position{file, 1, 1}).hint =
        "check that this is the right file and that it was saved";
    return {};
  }
  return JsonReader(checked, file, problems, limits).read();
}

}  // namespace nexuml
