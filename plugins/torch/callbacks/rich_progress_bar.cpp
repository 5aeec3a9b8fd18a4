#include "callbacks/rich_progress_bar.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <sstream>

namespace nexuml_torch {

namespace {

std::optional<std::string> color_code(std::string word) {
  static constexpr std::array names{"black", "red", "green", "yellow", "blue", "magenta", "cyan", "white"};
  if (word.size() == 7 && word.front() == '#') {
    int rgb = 0;
    const char* end = word.data() + word.size();
    const auto read = std::from_chars(word.data() + 1, end, rgb, 16);
    if (read.ptr != end || read.ec != std::errc{}) return std::nullopt;
    return fmt::format("38;2;{};{};{}", rgb >> 16, rgb >> 8 & 255, rgb & 255);
  }
  const bool bright = word.starts_with("bright_");
  if (bright) word.erase(0, 7);
  const auto found = std::find(names.begin(), names.end(), word);
  if (found == names.end()) return std::nullopt;
  return fmt::format("{}", (bright ? 90 : 30) + (found - names.begin()));
}

std::optional<std::string> style_code(const std::string& word) {
  static constexpr std::array<std::pair<const char*, const char*>, 7> attributes{{{"bold", "1"},
                                                                                  {"dim", "2"},
                                                                                  {"italic", "3"},
                                                                                  {"underline", "4"},
                                                                                  {"reverse", "7"},
                                                                                  {"strike", "9"},
                                                                                  {"none", "0"}}};
  for (const auto& [name, code] : attributes)
    if (word == name) return code;
  return color_code(word);
}

// What Python's format() takes for a number and is meant here: [0][width][.precision][e|f|g|%] without the
// rest.
bool is_number_format(const std::string& text) {
  std::size_t at = 0;
  const auto digits = [&] {
    const std::size_t first = at;
    while (at < text.size() && std::isdigit(static_cast<unsigned char>(text[at])) != 0) ++at;
    return at - first;
  };
  if (digits() > 2) return false;
  if (at < text.size() && text[at] == '.') {
    ++at;
    if (const std::size_t count = digits(); count == 0 || count > 2) return false;
  }
  if (at < text.size() && std::string("efgEFG").find(text[at]) != std::string::npos) ++at;
  return at == text.size();
}

const std::array<std::pair<const char*, std::string RichProgressBarTheme::*>, 7>& styled_parts() {
  static const std::array<std::pair<const char*, std::string RichProgressBarTheme::*>, 7> parts{
      {{"description", &RichProgressBarTheme::description},
       {"progress_bar", &RichProgressBarTheme::progress_bar},
       {"progress_bar_finished", &RichProgressBarTheme::progress_bar_finished},
       {"batch_progress", &RichProgressBarTheme::batch_progress},
       {"time", &RichProgressBarTheme::time},
       {"processing_speed", &RichProgressBarTheme::processing_speed},
       {"metrics", &RichProgressBarTheme::metrics}}};
  return parts;
}

}  // namespace

std::optional<std::string> terminal_style(const std::string& style) {
  std::string codes, word;
  for (std::istringstream words(style); words >> word;) {
    std::transform(word.begin(), word.end(), word.begin(), [](unsigned char c) { return std::tolower(c); });
    const auto code = style_code(word);
    if (!code) return std::nullopt;
    codes += codes.empty() ? *code : ";" + *code;
  }
  return codes;
}

void RichProgressBarTheme::describe(nexuml::Schema<RichProgressBarTheme>& s) {
  s.summary("Styles of rich for the parts of the progress bar.");
  s.field("description", &RichProgressBarTheme::description).doc("The number of the epoch.");
  s.field("progress_bar", &RichProgressBarTheme::progress_bar).doc("The bar.");
  s.field("progress_bar_finished", &RichProgressBarTheme::progress_bar_finished)
      .doc("The bar of an epoch whose batches are done.");
  s.field("batch_progress", &RichProgressBarTheme::batch_progress).doc("Batches done of all.");
  s.field("time", &RichProgressBarTheme::time).doc("Seconds since the epoch began.");
  s.field("processing_speed", &RichProgressBarTheme::processing_speed).doc("Batches a second.");
  s.field("metrics", &RichProgressBarTheme::metrics).doc("The metrics of training.progress_bar_keys.");
  s.field("metrics_text_delimiter", &RichProgressBarTheme::metrics_text_delimiter)
      .doc("What stands between two metrics.");
  s.field("metrics_format", &RichProgressBarTheme::metrics_format).doc("Of a metric's number, such as .3f.");
  s.check([](const RichProgressBarTheme& value, nexuml::RuleProblems& problems) {
    for (const auto& [name, member] : styled_parts())
      if (!terminal_style(value.*member))
        problems.add(name, fmt::format("'{}' is no style; words such as bold, dim, italic, underline, red, "
                                       "bright_blue or #6206e0 are",
                                       value.*member));
    if (!is_number_format(value.metrics_format))
      problems.add("metrics_format", fmt::format("'{}' is no format of a number; one such as .3f or .4g is",
                                                 value.metrics_format));
  });
}

void RichConsole::describe(nexuml::Schema<RichConsole>& s) {
  s.summary("Arguments of rich's Console that mean something here.");
  s.field("force_terminal", &RichConsole::force_terminal)
      .doc("Draw as on a terminal, or as on none, whatever stderr is.");
  s.field("no_color", &RichConsole::no_color).doc("No colours.");
  s.field("width", &RichConsole::width)
      .doc("Characters of the whole line that the bar may take.")
      .at_least(40);
  s.field("stderr", &RichConsole::stderr_).doc("Has to be true: stdout carries the answer of the command.");
  s.check([](const RichConsole& value, nexuml::RuleProblems& problems) {
    if (!value.stderr_)
      problems.add("stderr", "progress goes to stderr alone, stdout carries the answer of the command");
  });
}

void RichProgressBar::describe(nexuml::Schema<RichProgressBar>& s) {
  s.summary("How the progress of a run is shown on stderr, as Lightning's RichProgressBar.");
  s.field("refresh_rate", &RichProgressBar::refresh_rate)
      .doc("Batches from one drawing of the bar to the next; 0 shows no progress at all.")
      .at_least(0);
  s.field("leave", &RichProgressBar::leave).doc("The bar of each epoch stays.");
  s.field("theme", &RichProgressBar::theme).doc("Styles of the parts.");
  s.field("console_kwargs", &RichProgressBar::console_kwargs).doc("force_terminal, no_color, width, stderr.");
}

std::shared_ptr<nexuml::Callback> RichProgressBar::build(const nexuml::CallbackBuildContext& context) const {
  if (nexuml::ProgressStyle* style = context.progress) {
    const auto code = [&](const std::string& text) { return terminal_style(text).value_or(""); };
    style->refresh_rate = refresh_rate;
    style->shown = refresh_rate > 0;
    style->leave = leave;
    style->metrics_separator = theme.metrics_text_delimiter;
    style->metrics_format = theme.metrics_format;
    style->epoch = code(theme.description);
    style->bar = code(theme.progress_bar);
    style->bar_finished = code(theme.progress_bar_finished);
    style->batches = code(theme.batch_progress);
    style->time = code(theme.time);
    style->speed = code(theme.processing_speed);
    style->metrics = code(theme.metrics);
    if (console_kwargs) {
      style->on_terminal = console_kwargs->force_terminal;
      style->colored = !console_kwargs->no_color;
      style->line_width = console_kwargs->width;
    }
  }
  return std::make_shared<nexuml::Callback>();
}

}  // namespace nexuml_torch
