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
  Progress(std::variant<Keys, std::string> shown, ProgressStyle style);

  void train_epoch_start(TrainingView& view) override;
  void train_batch_end(TrainingView& view) override;
  void epoch_end(TrainingView& view) override;
  void fit_end(TrainingView& view) override;

 private:
  bool is_shown(const std::string& metric) const;
  bool is_due(const TrainingView& view);
  std::string text_of(const OrderedMap<double>& metrics) const;
  std::string styled(const std::string& text, const std::string& codes) const;
  std::string bar_text(const TrainingView& view) const;
  double seconds() const;
  void draw(const TrainingView& view);
  void clear();

  const std::variant<Keys, std::string> shown_;
  const ProgressStyle style_;
  const bool terminal_, colored_;
  bool drawn_ = false;
  std::int64_t first_batch_ = 0;  // of this epoch that this process trained
  std::chrono::steady_clock::time_point epoch_start_, last_drawn_;
};

}  // namespace nexuml
