// RichProgressBar: how the progress of a run is shown, in Lightning's words.
#pragma once

#include <nexuml/schema.h>
#include <nexuml/training.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

namespace nexuml_torch {

// Styles are those of rich: "bold", "red", "bright_blue", "#6206e0", "dim underline"; empty: plain.
struct RichProgressBarTheme {
  std::string description;
  std::string progress_bar = "#6206E0";
  std::string progress_bar_finished = "#6206E0";
  std::string batch_progress;
  std::string time = "dim";
  std::string processing_speed = "dim underline";
  std::string metrics = "italic";
  std::string metrics_text_delimiter = "  ";
  std::string metrics_format = ".4g";

  static void describe(nexuml::Schema<RichProgressBarTheme>& s);
};

// Of the arguments of rich's Console those that mean something here.
struct RichConsole {
  std::optional<bool> force_terminal;
  bool no_color = false;
  std::optional<std::int64_t> width;
  bool stderr_ = true;

  static void describe(nexuml::Schema<RichConsole>& s);
};

struct RichProgressBar {
  std::int64_t refresh_rate = 1;
  bool leave = false;
  RichProgressBarTheme theme;
  std::optional<RichConsole> console_kwargs;

  static void describe(nexuml::Schema<RichProgressBar>& s);
  std::shared_ptr<nexuml::Callback> build(const nexuml::CallbackBuildContext& context) const;
};

// The parameters of ECMA-48's SGR for a style: "1;38;2;98;6;224". Null for a word that is no style.
std::optional<std::string> terminal_style(const std::string& style);

}  // namespace nexuml_torch
