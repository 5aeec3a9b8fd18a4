#include "host/validation_report.h"

#include <fmt/format.h>

#include <algorithm>

#include "value/text.h"

namespace nexuml {
namespace {

constexpr std::string_view statuses[] = {"passed", "failed", "crashed", "skipped", "advice"};

bool is_problem(const ValidationLine& line) {
  return line.status == "failed" || line.status == "crashed";
}

// What XML 1.0 may hold. Other characters cannot be written at all, not even as references.
bool is_xml(char32_t c) {
  return c == '\t' || c == '\n' || c == '\r' || (c >= 0x20 && c != 0xfffe && c != 0xffff);
}

// For text and attributes. What cannot be written, bytes that are no UTF-8 among it, becomes a question mark.
std::string escaped(std::string_view text) {
  std::string result;
  for (std::size_t at = 0; at < text.size();) {
    const Character c = decode_utf8(text, at);
    const std::string_view bytes = text.substr(at, std::max(c.size, 1u));
    at += bytes.size();
    if (c.size == 0 || !is_xml(c.code))
      result += '?';
    else if (std::string_view("&<>\"\n\r\t").find(bytes) != std::string_view::npos)
      result += fmt::format("&#{};", static_cast<unsigned>(c.code));
    else
      result += bytes;
  }
  return result;
}

std::string junit_outcome(const ValidationLine& line) {
  if (line.status == "failed") return fmt::format("<failure message=\"{}\"/>", escaped(line.message));
  if (line.status == "crashed") return fmt::format("<error message=\"{}\"/>", escaped(line.message));
  if (line.status == "skipped") return fmt::format("<skipped message=\"{}\"/>", escaped(line.message));
  return line.message.empty() ? "" : fmt::format("<system-out>{}</system-out>", escaped(line.message));
}

// Lines of one subject stand together.
template <class Lines, class Each>
void each_subject(const Lines& lines, Each each) {
  for (auto first = lines.begin(); first != lines.end();) {
    const auto last =
        std::find_if(first, lines.end(), [&](const auto& line) { return line.subject != first->subject; });
    each(first, last);
    first = last;
  }
}

}  // namespace

void ValidationReport::add(const std::string& subject, const std::string& check, const Diagnostics& found,
                           double seconds) {
  bool told = false;
  for (const auto& entry : found) {
    if (entry.severity == Severity::note) continue;
    const bool crashed = entry.code == "E405" || entry.code == "E406";
    const char* status = entry.severity == Severity::warning ? "advice" : crashed ? "crashed" : "failed";
    std::string message = fmt::format("{}: {}", entry.code, entry.message);
    if (!entry.where.key_path.empty()) message += fmt::format(" (at {})", entry.where.key_path);
    if (!entry.hint.empty()) message += fmt::format("; {}", entry.hint);
    add({subject, check, status, std::move(message), entry.code, told ? 0 : seconds});
    told = told || entry.severity == Severity::error;
  }
  if (!told) add({subject, check, "passed", "", "", seconds});
}

bool ValidationReport::has_problems() const noexcept {
  return std::ranges::any_of(lines_, is_problem);
}

std::size_t ValidationReport::count(std::string_view status) const noexcept {
  return static_cast<std::size_t>(
      std::ranges::count_if(lines_, [&](const ValidationLine& line) { return line.status == status; }));
}

std::string ValidationReport::to_text(bool only_failed) const {
  std::string text;
  each_subject(lines_, [&](auto first, auto last) {
    if (only_failed && std::none_of(first, last, is_problem)) return;
    text += first->subject + "\n";
    for (auto line = first; line != last; ++line) {
      if (only_failed && !is_problem(*line)) continue;
      text += fmt::format("  {:8} {}{}{}\n",
                          is_problem(*line) ? line->status == "failed" ? "FAILED" : "CRASHED" : line->status,
                          line->check, line->message.empty() ? "" : ": ", line->message);
    }
  });
  text += fmt::format("{} checks", lines_.size());
  for (const auto status : statuses)
    if (const auto number = count(status)) text += fmt::format(", {} {}", number, status);
  return text + "\n";
}

Value ValidationReport::to_value() const {
  Value list = Value::list();
  for (const auto& line : lines_) {
    Value entry = Value::map({{"subject", line.subject},
                              {"check", line.check},
                              {"status", line.status},
                              {"message", line.message},
                              {"seconds", line.seconds}});
    if (!line.code.empty()) entry.set("code", line.code);
    list.push_back(std::move(entry));
  }
  return list;
}

std::string ValidationReport::to_junit() const {
  std::string suites;
  each_subject(lines_, [&](auto first, auto last) {
    const auto number = [&](std::string_view status) {
      return std::count_if(first, last, [&](const auto& line) { return line.status == status; });
    };
    double seconds = 0;
    std::string cases;
    for (auto line = first; line != last; ++line) {
      seconds += line->seconds;
      cases += fmt::format("    <testcase classname=\"{}\" name=\"{}\" time=\"{:.3f}\">{}</testcase>\n",
                           escaped(line->subject), escaped(line->check), line->seconds, junit_outcome(*line));
    }
    suites += fmt::format(
        "  <testsuite name=\"{}\" tests=\"{}\" failures=\"{}\" errors=\"{}\" skipped=\"{}\" "
        "time=\"{:.3f}\">\n",
        escaped(first->subject), last - first, number("failed"), number("crashed"), number("skipped"),
        seconds);
    suites += cases + "  </testsuite>\n";
  });
  return fmt::format(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites tests=\"{}\" failures=\"{}\" errors=\"{}\" "
      "skipped=\"{}\">\n{}</testsuites>\n",
      lines_.size(), count("failed"), count("crashed"), count("skipped"), suites);
}

}  // namespace nexuml
