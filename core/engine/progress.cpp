#include "engine/progress.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cstdio>

namespace nexuml {

namespace {

constexpr std::chrono::milliseconds between_draws{100};
constexpr int bar_width = 24;

std::string lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return std::tolower(c); });
  return text;
}

}  // namespace

Progress::Progress(std::variant<Keys, std::string> shown)
    : shown_(std::move(shown)), terminal_(::isatty(STDERR_FILENO) != 0) {}

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
    if (is_shown(name)) text += fmt::format("  {} {:.4g}", name, value);
  return text;
}

void Progress::train_epoch_start(TrainingView&) {
  epoch_start_ = std::chrono::steady_clock::now();
  last_drawn_ = {};
}

void Progress::train_batch_end(TrainingView& view) {
  if (!terminal_) return;
  const auto now = std::chrono::steady_clock::now();
  if (now - last_drawn_ < between_draws) return;
  last_drawn_ = now;
  draw(view);
}

void Progress::draw(TrainingView& view) {
  const int filled =
      static_cast<int>(bar_width * view.batch() / std::max<std::int64_t>(1, view.num_batches()));
  fmt::print(stderr, "\r\033[Kepoch {}/{} [{}{}] {}/{}{}", view.epoch() + 1, view.max_epochs(),
             std::string(static_cast<std::size_t>(filled), '='),
             std::string(static_cast<std::size_t>(bar_width - filled), ' '), view.batch(), view.num_batches(),
             text_of(view.metrics()));
  std::fflush(stderr);
  drawn_ = true;
}

void Progress::clear() {
  if (drawn_) fmt::print(stderr, "\r\033[K");
  drawn_ = false;
}

void Progress::epoch_end(TrainingView& view) {
  clear();
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - epoch_start_;
  fmt::print(stderr, "epoch {}/{}{}  {:.2f} s\n", view.epoch(), view.max_epochs(), text_of(view.metrics()),
             seconds.count());
}

void Progress::fit_end(TrainingView&) {
  clear();
}

}  // namespace nexuml
