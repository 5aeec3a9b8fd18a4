#include "engine/progress.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdio>
#include <cstdlib>

namespace nexuml {

namespace {

constexpr std::chrono::milliseconds between_draws{100};
constexpr int bar_width = 24;

// https://no-color.org
bool colors_are_unwanted() {
  const char* wish = std::getenv("NO_COLOR");
  return wish && *wish;
}

std::string lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return std::tolower(c); });
  return text;
}

}  // namespace

Progress::Progress(std::variant<Keys, std::string> shown, ProgressStyle style)
    : shown_(std::move(shown)),
      style_(std::move(style)),
      terminal_(style_.on_terminal.value_or(::isatty(STDERR_FILENO) != 0)),
      colored_(terminal_ && style_.colored && !colors_are_unwanted()) {}

// Names match whole or without their stage, in any case: `loss` stands for train/loss and val/loss.
bool Progress::is_shown(const std::string& metric) const {
  if (const auto* word = std::get_if<std::string>(&shown_)) return *word == "all";
  const std::string name = lower(metric);
  const std::string bare = name.substr(name.find('/') == std::string::npos ? 0 : name.find('/') + 1);
  const Keys& keys = std::get<Keys>(shown_);
  return std::any_of(keys.begin(), keys.end(), [&](const std::string& key) {
    const std::string wanted = lower(key);
    return wanted == name || wanted == bare;
  });
}

std::string Progress::text_of(const OrderedMap<double>& metrics) const {
  std::string text;
  for (const auto& [name, value] : metrics)
    if (is_shown(name))
      text += (text.empty() ? "" : style_.metrics_separator) + name + " " +
              fmt::format(fmt::runtime("{:" + style_.metrics_format + "}"),
                          std::isnan(value) ? std::nan("") : value);  // whatever its sign
  return text;
}

std::string Progress::styled(const std::string& text, const std::string& codes) const {
  if (!colored_ || codes.empty() || text.empty()) return text;
  return "\033[" + codes + "m" + text + "\033[0m";
}

double Progress::seconds() const {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - epoch_start_).count();
}

void Progress::train_epoch_start(TrainingView& view) {
  epoch_start_ = std::chrono::steady_clock::now();
  first_batch_ = view.batch();
  last_drawn_ = {};
}

bool Progress::is_due(const TrainingView& view) {
  if (style_.refresh_rate > 0)
    return view.batch() % style_.refresh_rate == 0 || view.batch() == view.num_batches();
  const auto now = std::chrono::steady_clock::now();
  if (now - last_drawn_ < between_draws) return style_.leave && view.batch() == view.num_batches();
  last_drawn_ = now;
  return true;
}

void Progress::train_batch_end(TrainingView& view) {
  if (terminal_ && is_due(view)) draw(view);
}

// epoch 3/10 [=====     ] 12/40 0.3 s 41/s  train/loss 0.5
std::string Progress::bar_text(const TrainingView& view) const {
  const bool finished = view.batch() == view.num_batches();
  const int filled =
      static_cast<int>(bar_width * view.batch() / std::max<std::int64_t>(1, view.num_batches()));
  const std::string bar = std::string(static_cast<std::size_t>(filled), '=') +
                          std::string(static_cast<std::size_t>(bar_width - filled), ' ');
  struct Part {
    std::string before, text, style;
  };
  const double passed = seconds();
  const double speed = passed > 0 ? static_cast<double>(view.batch() - first_batch_) / passed : 0;
  const Part parts[] = {{"", fmt::format("epoch {}/{}", view.epoch() + 1, view.max_epochs()), style_.epoch},
                        {" [", bar, finished ? style_.bar_finished : style_.bar},
                        {"] ", fmt::format("{}/{}", view.batch(), view.num_batches()), style_.batches},
                        {" ", fmt::format("{:.1f} s", passed), style_.time},
                        {" ", fmt::format("{:.3g}/s", speed), style_.speed},
                        {"  ", text_of(view.metrics()), style_.metrics}};
  std::string line;
  std::size_t room = style_.line_width ? static_cast<std::size_t>(*style_.line_width) : std::string::npos;
  for (const auto& [before, text, style] : parts) {
    const std::string kept = (before + text).substr(0, room);
    if (kept.size() > before.size())
      line += before + styled(kept.substr(before.size()), style);
    else
      line += kept;
    if (room != std::string::npos) room -= kept.size();
  }
  return line;
}

void Progress::draw(const TrainingView& view) {
  fmt::print(stderr, "\r\033[K{}", bar_text(view));
  std::fflush(stderr);
  drawn_ = true;
}

void Progress::clear() {
  if (drawn_) fmt::print(stderr, "{}", style_.leave ? "\n" : "\r\033[K");
  drawn_ = false;
}

void Progress::epoch_end(TrainingView& view) {
  clear();
  const std::string metrics = text_of(view.metrics());
  fmt::print(stderr, "epoch {}/{}{}{}  {:.2f} s\n", view.epoch(), view.max_epochs(),
             metrics.empty() ? "" : "  ", metrics, seconds());
}

void Progress::fit_end(TrainingView&) {
  clear();
}

}  // namespace nexuml
