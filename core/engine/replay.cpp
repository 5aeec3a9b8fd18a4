#include "engine/replay.h"

#include <fmt/format.h>
#include <nexuml/tensor_io.h>

#include <algorithm>
#include <cmath>

#include "checkpoint/weights.h"
#include "engine/interrupt.h"
#include "engine/scenario_input.h"
#include "engine/training_run.h"
#include "train/trainer.h"

namespace nexuml {

namespace {

constexpr std::string_view reference_format = "nexuml-kit-train-reference/1";

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

// Compares numbers and remembers the largest difference and the first that is too large.
class Comparison {
 public:
  explicit Comparison(const Value& tolerances) : tolerances_(tolerances) {}

  void number(const std::string& what, const char* kind, double expected, std::optional<double> found) {
    const double tolerance = tolerances_.at(kind).as_number() * std::max(1.0, std::abs(expected));
    ++compared_;
    const double difference = found ? std::abs(*found - expected) : std::numeric_limits<double>::infinity();
    largest_ = std::max(largest_, difference);
    if (difference <= tolerance || !failure_.empty()) return;
    failure_ =
        found ? fmt::format("{}: {} expected, found {} (tolerance {:.1e})", what, expected, *found, tolerance)
              : fmt::format("{}: {} expected, nothing found", what, expected);
  }
  std::size_t compared() const noexcept { return compared_; }
  double largest() const noexcept { return largest_; }
  const std::string& failure() const noexcept { return failure_; }

 private:
  const Value& tolerances_;
  std::size_t compared_ = 0;
  double largest_ = 0;
  std::string failure_;
};

std::optional<double> found_in(const OrderedMap<double>& metrics, const std::string& name) {
  const double* value = metrics.find(name);
  return value ? std::optional(*value) : std::nullopt;
}

// The values of every epoch's validation.
class ValidationRecord final : public Callback {
 public:
  void validation_end(TrainingView& view) override { epochs_.push_back(view.metrics()); }
  const std::vector<OrderedMap<double>>& epochs() const noexcept { return epochs_; }

 private:
  std::vector<OrderedMap<double>> epochs_;
};

void compare_steps(Comparison& comparison, const Value& expected,
                   const std::vector<OrderedMap<double>>& found) {
  for (std::size_t i = 0; i < expected.size(); ++i)
    for (const auto& entry : expected.items()[i].entries()) {
      if (entry.key == "epoch" || entry.key == "batch_size") continue;
      comparison.number(fmt::format("step {}, {}", i, entry.key), "train_steps", entry.value.as_number(),
                        i < found.size() ? found_in(found[i], entry.key) : std::nullopt);
    }
}

void compare_epochs(Comparison& comparison, const Value& expected,
                    const std::vector<OrderedMap<double>>& found) {
  for (std::size_t i = 0; i < expected.size(); ++i)
    for (const auto& entry : expected.items()[i].entries()) {
      const bool is_loss = entry.key.find("loss") != std::string::npos;
      if (!is_loss) continue;
      comparison.number(fmt::format("epoch {}, val/{}", i, entry.key), "val_epochs", entry.value.as_number(),
                        i < found.size() ? found_in(found[i], "val/" + entry.key) : std::nullopt);
    }
}

OrderedMap<double> values_of(const LossTerms& losses) {
  OrderedMap<double> values;
  for (const auto& [key, value] : losses.terms) values[key] = value.item<double>();
  values["loss"] = losses.total.item<double>();
  return values;
}

}  // namespace

bool is_training_reference(const Value& reference) {
  const Value* format = reference.find("format");
  return format && *format == Value(reference_format);
}

bool replay_training(EngineCall& call, const Value& reference, const std::filesystem::path& file) {
  const auto beside = [&](const char* extension) {
    return (file.parent_path() / (file.stem().string() + extension)).string();
  };
  const Interrupt interrupt;
  const ScenarioInput input = open_scenario_input(call, beside(".yaml"), ScenarioWork::train);
  return with_places(input, [&] {
    TrainingRun run(input, recorded_data(input, beside(".data.safetensors")), call.diagnostics(),
                    interrupt.token());
    load_state_dict(run.pipeline(), read_safetensors(beside(".init.safetensors")).tensors);
    auto record = std::make_shared<ValidationRecord>();
    run.strategy().callbacks.push_back({"record", record});
    std::vector<OrderedMap<double>> steps;
    TrainerOptions options = run.trainer_options();
    options.after_step = [&](const Batch&, const LossTerms& losses) { steps.push_back(values_of(losses)); };
    Trainer trainer(run.strategy(), run.data(), std::move(options));
    trainer.fit();
    Comparison comparison(reference.at("tolerance"));
    compare_steps(comparison, reference.at("train_steps"), steps);
    compare_epochs(comparison, reference.at("val_epochs"), record->epochs());
    const OrderedMap<double> tested = trainer.test(nullptr);
    for (const auto& entry : reference.at("final_test").entries())
      comparison.number(entry.key, "final_test", entry.value.as_number(), found_in(tested, entry.key));

    const bool passed = comparison.failure().empty();
    call.print(fmt::format("{}: {} numbers of {} steps compared, largest difference {:.2g}: {}\n",
                           file.stem().string(), comparison.compared(), steps.size(), comparison.largest(),
                           passed ? "ok" : comparison.failure()));
    Value result = Value::map({{"case", file.stem().string()},
                               {"passed", passed},
                               {"compared", static_cast<std::int64_t>(comparison.compared())}});
    if (std::isfinite(comparison.largest())) result.set("largest_difference", comparison.largest());
    if (!passed) result.set("failure", comparison.failure());
    Value* results = call.answer().find("results");
    if (!results) results = &call.answer().set("results", Value::list());
    results->push_back(std::move(result));
    return passed;
  });
}

}  // namespace nexuml
