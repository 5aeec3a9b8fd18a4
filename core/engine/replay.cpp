#include "engine/replay.h"

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/Parallel.h>
#include <fmt/format.h>
#include <nexuml/tensor_io.h>
#include <torch/utils.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

#include "checkpoint/weights.h"
#include "engine/interrupt.h"
#include "engine/replay_figures.h"
#include "engine/scenario_input.h"
#include "engine/training_run.h"
#include "train/trainer.h"

namespace nexuml {

namespace {

constexpr std::array<std::string_view, 2> reference_formats{"nexuml-training-reference/1",
                                                            "nexuml-kit-train-reference/1"};
// How often a run is repeated from other last bits to see what rounding alone changes, and how many times
// that change two runs may be apart: both are draws, so their distance can exceed the largest of a few.
constexpr int rounding_trials = 4;
constexpr double rounding_factor = 3;

std::vector<std::int64_t> indices_of(const TensorMap& tensors, const std::string& name) {
  const at::Tensor indices = tensors.at(name).to(at::kLong).contiguous();
  return {indices.const_data_ptr<std::int64_t>(), indices.const_data_ptr<std::int64_t>() + indices.numel()};
}

TensorDict with_prefix(const TensorMap& tensors, std::string_view prefix) {
  TensorDict found;
  for (const auto& [name, tensor] : tensors)
    if (name.starts_with(prefix)) found.set(name.substr(prefix.size()), tensor);
  return found;
}

std::unique_ptr<DataModule> recorded_data(const ScenarioInput& input, const std::string& path) {
  const TensorMap tensors = read_safetensors(path).tensors;
  TensorDict labels = with_prefix(tensors, "y.");
  auto dataset = std::make_shared<TensorDataset>(
      with_prefix(tensors, "x."), labels.empty() ? std::nullopt : std::optional(std::move(labels)));
  Splits splits{indices_of(tensors, "split.train"), indices_of(tensors, "split.val"),
                indices_of(tensors, "split.test")};
  return std::make_unique<DataModule>(input.spec.data, batch_size_of(input.spec), std::move(dataset),
                                      std::move(splits), DataModuleOptions{.registry = &input.registry});
}

// `step_seed` of a reference: the number of the first step, or a text that holds it.
std::optional<std::uint64_t> first_step_seed(const Value& reference) {
  const Value* seed = reference.find("step_seed");
  if (!seed) return std::nullopt;
  if (seed->is_integer()) return static_cast<std::uint64_t>(seed->as_integer());
  if (!seed->is_string()) return std::nullopt;
  const std::string& text = seed->as_string();
  const std::size_t digit = text.find_first_of("0123456789");
  if (digit == std::string::npos) return std::nullopt;
  return std::stoull(text.substr(digit, 18));
}

// Seeds every step as the recorded run did, and keeps the values of every validation.
class ReplayCallback final : public Callback {
 public:
  ReplayCallback(std::optional<std::uint64_t> first_seed, Figures& figures)
      : first_seed_(first_seed), figures_(figures) {}

  void train_epoch_start(TrainingView& view) override { seed(view); }
  void train_batch_end(TrainingView& view) override { seed(view); }
  void validation_end(TrainingView& view) override {
    for (const auto& [name, value] : view.metrics())
      if (name.starts_with("val/"))
        add_number(figures_, "val_epochs", fmt::format("epoch {}", view.epoch()), name, value);
  }

 private:
  void seed(const TrainingView& view) const {
    if (first_seed_) torch::manual_seed(*first_seed_ + static_cast<std::uint64_t>(view.global_step()));
  }

  const std::optional<std::uint64_t> first_seed_;
  Figures& figures_;
};

// Moves every weight to the next number above or below it.
void nudge_weights(const CompiledPipeline& pipeline, std::uint64_t seed) {
  const at::AutoGradMode no_grad(false);
  at::Generator generator = at::detail::createCPUGenerator(seed);
  for (const at::Tensor& weight : pipeline.parameters()) {
    const at::Tensor up = at::rand(weight.sizes(), generator, at::kDouble).ge(0.5).to(weight.device());
    const at::Tensor far = at::where(up, at::full({}, std::numeric_limits<double>::infinity()),
                                     at::full({}, -std::numeric_limits<double>::infinity()));
    weight.copy_(at::nextafter(weight, far.to(weight.scalar_type())));
  }
}

class Replay {
 public:
  Replay(EngineCall& call, const ScenarioInput& input, const Value& reference, std::filesystem::path file)
      : call_(call), input_(input), reference_(reference), file_(std::move(file)) {}

  std::string beside(const char* extension) const {
    return (file_.parent_path() / (file_.stem().string() + extension)).string();
  }

  // All numbers of one run; with `nudge` from first weights whose last bits differ.
  Figures figures(std::optional<std::uint64_t> nudge, std::stop_token stop) const {
    TrainingRun run(input_, recorded_data(input_, beside(".data.safetensors")), call_.diagnostics(), stop);
    load_state_dict(run.pipeline(), read_safetensors(beside(".init.safetensors")).tensors);
    if (nudge) nudge_weights(run.pipeline(), *nudge);
    Figures found;
    run.strategy().callbacks.push_back(
        {"replay", std::make_shared<ReplayCallback>(first_step_seed(reference_), found)});
    std::size_t steps = 0;
    TrainerOptions options = run.trainer_options();
    options.after_step = [&](const Batch&, const LossTerms& losses) {
      const std::string place = fmt::format("step {}", steps++);
      for (const auto& [key, value] : losses.terms)
        add_number(found, "train_steps", place, key, value.item<double>());
      add_number(found, "train_steps", place, "loss", losses.total.item<double>());
    };
    Trainer trainer(run.strategy(), run.data(), std::move(options));
    trainer.fit();
    for (const auto& [name, value] : trainer.test(nullptr)) add_number(found, "final_test", "", name, value);
    add_outputs(run, found);
    return found;
  }

 private:
  // What every layer writes for the test rows, in eval mode.
  static void add_outputs(const TrainingRun& run, Figures& found) {
    if (run.data().rows(Split::test).empty()) return;
    const at::AutoGradMode no_grad(false);
    run.pipeline().eval();
    OrderedMap<std::vector<at::Tensor>> parts;
    const std::unique_ptr<DataLoader> loader = run.data().make_ordered_loader(Split::test);
    loader->start_epoch(0);
    while (std::optional<Batch> batch = loader->next()) {
      run.pipeline().forward(*batch);
      for (const auto& [key, value] : batch->x) parts[key].push_back(value);
    }
    for (const auto& [key, values] : parts)
      if (values.front().dim() > 0) add_output(found, key, at::cat(values));
  }

  EngineCall& call_;
  const ScenarioInput& input_;
  const Value& reference_;
  const std::filesystem::path file_;
};

// Found against recorded numbers: the largest relative difference, and the first that is too large.
class Comparison {
 public:
  Comparison(const Value& tolerances, const Figures& expected, const Figures& found)
      : tolerances_(tolerances), expected_(expected), found_(found) {}

  void compare(const OrderedMap<double>& rounding) {
    failure_.clear();
    largest_ = 0;
    beyond_ = 0;
    for (const auto& [name, figure] : expected_) {
      const Figure* found = found_.find(name);
      const double difference =
          found ? relative_difference(found->value, figure.value) : std::numeric_limits<double>::infinity();
      if (difference > largest_ || at_.empty()) largest_ = difference, at_ = name;
      const double tolerance = tolerances_.at(figure.kind).as_number();
      if (difference <= tolerance) continue;
      ++beyond_;
      const double* noise = rounding.find(name);
      if (noise && std::isfinite(difference) && difference <= tolerance + rounding_factor * *noise) continue;
      if (failure_.empty()) failure_ = failure_text(name, figure, found, difference, tolerance);
    }
  }

  std::size_t compared() const noexcept { return expected_.size(); }
  double largest() const noexcept { return largest_; }
  const std::string& at() const noexcept { return at_; }
  std::size_t beyond() const noexcept { return beyond_; }
  const std::string& failure() const noexcept { return failure_; }

 private:
  static std::string failure_text(const std::string& name, const Figure& figure, const Figure* found,
                                  double difference, double tolerance) {
    if (!found) return name + ": nothing found";
    if (figure.value.dim() > 0 || found->value.dim() > 0)
      return fmt::format("{}: relative difference {:.1e} (tolerance {:.1e})", name, difference, tolerance);
    return fmt::format("{}: {} expected, found {}, relative difference {:.1e} (tolerance {:.1e})", name,
                       figure.value.item<double>(), found->value.item<double>(), difference, tolerance);
  }

  const Value& tolerances_;
  const Figures &expected_, &found_;
  std::string failure_, at_;
  double largest_ = 0;
  std::size_t beyond_ = 0;
};

// How far each number moves when the last bits of the first weights change: the largest of a few trials, and
// of the numbers before it in its series, since a training run never forgets.
OrderedMap<double> rounding_of(const Replay& replay, const Figures& found, const std::stop_token& stop) {
  OrderedMap<double> rounding, series;
  std::vector<Figures> trials;
  for (int trial = 0; trial < rounding_trials; ++trial)
    trials.push_back(replay.figures(static_cast<std::uint64_t>(trial), stop));
  for (const auto& [name, figure] : found) {
    double& largest = series[figure.series];
    for (const Figures& trial : trials)
      if (const Figure* moved = trial.find(name))
        largest = std::max(largest, relative_difference(moved->value, figure.value));
    rounding[name] = largest;
  }
  return rounding;
}

double largest_of(const OrderedMap<double>& values) {
  double largest = 0;
  for (const auto& [name, value] : values) largest = std::max(largest, value);
  return largest;
}

// The threads of the recorded run, unless the command line names others.
class RecordedThreads {
 public:
  RecordedThreads(const EngineCall& call, const Value& reference) : before_(at::get_num_threads()) {
    const Value* recorded = reference.find("torch_threads");
    if (!call.integer("threads") && recorded && recorded->is_integer() && recorded->as_integer() > 0)
      at::set_num_threads(static_cast<int>(recorded->as_integer()));
  }
  ~RecordedThreads() { at::set_num_threads(before_); }
  RecordedThreads(const RecordedThreads&) = delete;
  RecordedThreads& operator=(const RecordedThreads&) = delete;

 private:
  int before_;
};

TensorMap recorded_outputs(const std::string& path) {
  return std::filesystem::exists(path) ? read_safetensors(path).tensors : TensorMap{};
}

void report(EngineCall& call, const std::string& name, const Comparison& comparison,
            const OrderedMap<double>& rounding) {
  const bool passed = comparison.failure().empty();
  std::string line = fmt::format("{}: {} numbers, largest relative difference {:.1e} ({}): {}\n", name,
                                 comparison.compared(), comparison.largest(), comparison.at(),
                                 passed ? "ok" : comparison.failure());
  if (!rounding.empty())
    line += fmt::format(
        "    {} beyond the tolerance; the last bits of the first weights alone move the numbers by up to "
        "{:.1e}\n",
        comparison.beyond(), largest_of(rounding));
  call.print(line);
  Value result = Value::map({{"case", name},
                             {"passed", passed},
                             {"compared", static_cast<std::int64_t>(comparison.compared())},
                             {"beyond_tolerance", static_cast<std::int64_t>(comparison.beyond())},
                             {"at", comparison.at()}});
  if (std::isfinite(comparison.largest())) result.set("largest_relative_difference", comparison.largest());
  if (!rounding.empty()) result.set("rounding", largest_of(rounding));
  if (!passed) result.set("failure", comparison.failure());
  Value* results = call.answer().find("results");
  if (!results) results = &call.answer().set("results", Value::list());
  results->push_back(std::move(result));
}

}  // namespace

bool is_training_reference(const Value& reference) {
  const Value* format = reference.find("format");
  return format && format->is_string() &&
         std::ranges::find(reference_formats, format->as_string()) != reference_formats.end();
}

bool replay_training(EngineCall& call, const Value& reference, const std::filesystem::path& file) {
  const Interrupt interrupt;
  const RecordedThreads threads(call, reference);
  const std::string scenario = (file.parent_path() / (file.stem().string() + ".yaml")).string();
  const ScenarioInput input = open_scenario_input(call, scenario, ScenarioWork::train);
  return with_places(input, [&] {
    const Replay replay(call, input, reference, file);
    const Figures expected =
        recorded_figures(reference, recorded_outputs(replay.beside(".test_outputs.safetensors")));
    const Figures found = replay.figures(std::nullopt, interrupt.token());
    Comparison comparison(reference.at("tolerance"), expected, found);
    comparison.compare({});
    OrderedMap<double> rounding;
    if (!comparison.failure().empty()) {
      rounding = rounding_of(replay, found, interrupt.token());
      comparison.compare(rounding);
    }
    report(call, file.stem().string(), comparison, rounding);
    return comparison.failure().empty();
  });
}

}  // namespace nexuml
