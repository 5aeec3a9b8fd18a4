// What a person sees of a run: a bar on a terminal, one line an epoch elsewhere. On stderr.
#pragma once

#include <nexuml/scenario.h>
#include <nexuml/training.h>

#include <chrono>
#include <string>
#include <variant>

namespace nexuml {

class Progress final : public Callback {
 public:
  // `shown`: training.progress_bar_keys.
  explicit Progress(std::variant<Keys, std::string> shown);

  void train_epoch_start(TrainingView& view) override;
  void train_batch_end(TrainingView& view) override;
  void epoch_end(TrainingView& view) override;
  void fit_end(TrainingView& view) override;

 private:
  bool is_shown(const std::string& metric) const;
  std::string text_of(const OrderedMap<double>& metrics) const;
  void draw(TrainingView& view);
  void clear();

  std::variant<Keys, std::string> shown_;
  bool terminal_;
  bool drawn_ = false;
  std::chrono::steady_clock::time_point epoch_start_, last_drawn_;
};

}  // namespace nexuml
