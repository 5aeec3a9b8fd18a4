#include <fmt/format.h>
#include <nexuml/scenario.h>

#include "scenario/key_choice.h"

namespace nexuml {

void AutoBatchSizeSpec::describe(Schema<AutoBatchSizeSpec>& s) {
  s.summary("Finds the largest batch size that fits the device.");
  s.field("mode", &AutoBatchSizeSpec::mode).doc("Always auto.").one_of({"auto"});
  s.field("min", &AutoBatchSizeSpec::min).doc("Smallest size tried, in samples.").greater_than(0);
  s.field("max", &AutoBatchSizeSpec::max).doc("Largest size tried, in samples.").greater_than(0);
  s.field("candidates", &AutoBatchSizeSpec::candidates)
      .doc("Which sizes are tried.")
      .one_of({"power_of_two"});
  s.field("safety", &AutoBatchSizeSpec::safety).doc("What is taken of the largest size that fitted.");
  s.field("margin", &AutoBatchSizeSpec::margin).doc("Share of that size taken with safety: margin.");
  s.check([](const AutoBatchSizeSpec& spec, RuleProblems& problems) {
    if (spec.min > spec.max)
      problems.add("min",
                   fmt::format("min must be at most max, found min {} and max {}", spec.min, spec.max));
    if (spec.safety == Safety::margin && !(spec.margin > 0 && spec.margin <= 1))
      problems.add("margin",
                   fmt::format("margin must be greater than 0 and at most 1, found {}", spec.margin));
  });
}

void TrainingSpec::describe(Schema<TrainingSpec>& s) {
  s.summary("How the pipeline is trained.");
  s.field("optimizer", &TrainingSpec::optimizer).doc("Its lr is replaced by training.lr.");
  s.field("scheduler", &TrainingSpec::scheduler).doc("Steps once an epoch.");
  s.field("loss_keys", &TrainingSpec::loss_keys).doc("Loss key -> weight in the sum that is minimised.");
  s.field("metric_keys", &TrainingSpec::metric_keys).doc("Keys whose epoch means are recorded.");
  s.field("progress_bar_keys", &TrainingSpec::progress_bar_keys)
      .doc("Metrics that the progress bar shows: a list, all or none.");
  s.field("max_epochs", &TrainingSpec::max_epochs).doc("Epochs to train.").at_least(0);
  s.field("batch_size", &TrainingSpec::batch_size)
      .doc("Samples a batch, or {mode: auto} to find it.")
      .greater_than(0);
  s.field("lr", &TrainingSpec::lr).doc("Learning rate; it replaces the optimizer's own.");
  s.field("accelerator", &TrainingSpec::accelerator).doc("auto, cpu, cuda or gpu.");
  s.field("devices", &TrainingSpec::devices).doc("auto, or how many devices.");
  s.field("strategy", &TrainingSpec::strategy).doc("auto, the name of a strategy, or a target.");
  s.field("precision", &TrainingSpec::precision).doc("Numbers that the model computes in.");
  s.field("seed", &TrainingSpec::seed)
      .doc("Seed of every random stream; --seed wins; 0 when neither is given.")
      .written_when_set();
  s.field("scheduler_interval", &TrainingSpec::scheduler_interval)
      .doc("When the scheduler steps.")
      .one_of({"epoch", "step"})
      .written_when_set();
  s.check([](const TrainingSpec& spec, RuleProblems& problems) {
    check_key_choice("progress_bar_keys", spec.progress_bar_keys, problems);
  });
}

}  // namespace nexuml
