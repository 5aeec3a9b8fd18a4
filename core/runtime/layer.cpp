#include <ATen/ops/cat.h>
#include <fmt/format.h>
#include <nexuml/diagnostic.h>
#include <nexuml/layer.h>

#include <utility>

namespace nexuml {
namespace {

using HookFunction = void (PipelineLayer::*)();

struct HookEntry {
  const char* name;
  HookFunction function;
};

// In the order of Hook.
constexpr HookEntry hook_table[] = {{"fit_start", &PipelineLayer::on_fit_start},
                                    {"fit_end", &PipelineLayer::on_fit_end},
                                    {"train_start", &PipelineLayer::on_train_start},
                                    {"train_end", &PipelineLayer::on_train_end},
                                    {"train_epoch_start", &PipelineLayer::on_train_epoch_start},
                                    {"train_epoch_end", &PipelineLayer::on_train_epoch_end},
                                    {"validation_start", &PipelineLayer::on_validation_start},
                                    {"validation_epoch_start", &PipelineLayer::on_validation_epoch_start},
                                    {"validation_epoch_end", &PipelineLayer::on_validation_epoch_end},
                                    {"validation_end", &PipelineLayer::on_validation_end},
                                    {"test_start", &PipelineLayer::on_test_start},
                                    {"test_epoch_start", &PipelineLayer::on_test_epoch_start},
                                    {"test_epoch_end", &PipelineLayer::on_test_epoch_end},
                                    {"test_end", &PipelineLayer::on_test_end},
                                    {"predict_start", &PipelineLayer::on_predict_start},
                                    {"predict_end", &PipelineLayer::on_predict_end}};

const HookEntry& entry_of(Hook hook) {
  return hook_table[static_cast<std::size_t>(hook)];
}

// The mode that a start hook begins; none for every other hook.
Mode begun_by(Hook hook) {
  switch (hook) {
    case Hook::train_start:
      return Mode::training;
    case Hook::validation_start:
      return Mode::validating;
    case Hook::test_start:
      return Mode::testing;
    case Hook::predict_start:
      return Mode::predicting;
    default:
      return Mode::none;
  }
}

bool ends_a_mode(Hook hook) {
  return hook == Hook::train_end || hook == Hook::validation_end || hook == Hook::test_end ||
         hook == Hook::predict_end;
}

}  // namespace

std::string_view to_string(Mode mode) noexcept {
  constexpr std::string_view names[] = {"none", "training", "validating", "testing", "predicting"};
  return names[static_cast<std::size_t>(mode)];
}

std::string_view to_string(Hook hook) noexcept {
  return entry_of(hook).name;
}

PipelineLayer::PipelineLayer(const LayerBuildContext& context)
    : layer_name_(context.layer),
      keys_in_(context.keys_in),
      input_names_(context.input_names.empty() ? context.keys_in : context.input_names),
      keys_out_(context.keys_out),
      label_keys_(context.label_keys),
      label_in_x_(context.label_in_x),
      delay_epochs_(context.delay_epochs),
      update_every_n_epochs_(context.update_every_n_epochs),
      storage_(context.storage ? context.storage : std::make_shared<SharedStorage>()) {}

PipelineLayer::~PipelineLayer() = default;

void PipelineLayer::forward(Batch& batch) {
  if (label_keys_.size() > 1)
    throw Error("E824", fmt::format("forward_tensor takes one label, label_key lists {}", label_keys_.size()),
                Where::in_layer(layer_name_), "name one label key, or override forward in the layer");
  if (!keys_out_.empty() && keys_out_.size() != keys_in_.size())
    throw Error("E824",
                fmt::format("forward_tensor makes one output of each input; {} inputs, {} outputs",
                            keys_in_.size(), keys_out_.size()),
                Where::in_layer(layer_name_), "list as many keys_out as keys_in, or override forward");
  const at::Tensor label_tensor = label(batch);
  for (std::size_t i = 0; i < keys_in_.size(); ++i) {
    at::Tensor output = forward_tensor(input(batch, i), label_tensor);
    if (i < keys_out_.size()) set_output(batch, std::move(output), i);
  }
}

at::Tensor PipelineLayer::forward_tensor(const at::Tensor&, const at::Tensor&) {
  throw Error("E824", "the layer overrides neither forward nor forward_tensor", Where::in_layer(layer_name_));
}

bool PipelineLayer::check_update() const {
  if (epoch_ < delay_epochs_) return false;
  if (update_every_n_epochs_ <= 0) return epoch_ == delay_epochs_;
  return (epoch_ - delay_epochs_) % update_every_n_epochs_ == 0;
}

OrderedMap<Value> PipelineLayer::attributes() const {
  return {};
}

OrderedMap<double> PipelineLayer::epoch_metrics(Mode) {
  return {};
}

void PipelineLayer::on_fit_start() {}
void PipelineLayer::on_fit_end() {}
void PipelineLayer::on_train_start() {}
void PipelineLayer::on_train_end() {}
void PipelineLayer::on_train_epoch_start() {}
void PipelineLayer::on_train_epoch_end() {}
void PipelineLayer::on_validation_start() {}
void PipelineLayer::on_validation_epoch_start() {}
void PipelineLayer::on_validation_epoch_end() {}
void PipelineLayer::on_validation_end() {}
void PipelineLayer::on_test_start() {}
void PipelineLayer::on_test_epoch_start() {}
void PipelineLayer::on_test_epoch_end() {}
void PipelineLayer::on_test_end() {}
void PipelineLayer::on_predict_start() {}
void PipelineLayer::on_predict_end() {}

void PipelineLayer::call(Hook hook) {
  if (const Mode mode = begun_by(hook); mode != Mode::none) modes_.push_back(mode);
  (this->*entry_of(hook).function)();
  // A layer sees its mode still set in the end hook.
  if (ends_a_mode(hook) && !modes_.empty()) modes_.pop_back();
  if (hook == Hook::train_epoch_end) ++epoch_;
}

const at::Tensor& PipelineLayer::input(const Batch& batch, std::size_t index) const {
  if (index >= keys_in_.size())
    throw Error("E824", fmt::format("input {} is needed, keys_in lists {}", index + 1, keys_in_.size()),
                Where::in_layer(layer_name_));
  return batch.x.get(keys_in_[index]);
}

const at::Tensor& PipelineLayer::input(const Batch& batch, std::string_view name) const {
  for (std::size_t i = 0; i < input_names_.size(); ++i)
    if (input_names_[i] == name) return input(batch, i);
  throw Error("E824", fmt::format("no input is called '{}'", name), Where::in_layer(layer_name_),
              did_you_mean(name, input_names_));
}

void PipelineLayer::set_output(Batch& batch, at::Tensor tensor, std::size_t index) const {
  if (index >= keys_out_.size())
    throw Error("E824", fmt::format("output {} is made, keys_out lists {}", index + 1, keys_out_.size()),
                Where::in_layer(layer_name_));
  batch.x.set(keys_out_[index], std::move(tensor));
}

at::Tensor PipelineLayer::label(const Batch& batch, std::size_t index) const {
  if (index >= label_keys_.size()) return {};
  if (label_in_x_) return batch.x.get(label_keys_[index]);
  return batch.y ? batch.y->get(label_keys_[index]) : at::Tensor();
}

at::Tensor PipelineLayer::merge_inputs(const Batch& batch) const {
  if (keys_in_.size() == 1) return input(batch);
  std::vector<at::Tensor> tensors;
  tensors.reserve(keys_in_.size());
  for (std::size_t i = 0; i < keys_in_.size(); ++i) tensors.push_back(input(batch, i));
  return at::cat(tensors, 1);
}

SharedStorage& PipelineLayer::storage() const {
  return *storage_;
}

}  // namespace nexuml
