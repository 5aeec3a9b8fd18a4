// PipelineLayer: the runtime class of layers.
//
//     class ScaledReluRuntime : public nexuml::PipelineLayer {
//      public:
//       ScaledReluRuntime(const nexuml::LayerBuildContext& context, double scale)
//           : PipelineLayer(context), scale_(scale) {}
//       at::Tensor forward_tensor(const at::Tensor& input, const at::Tensor&) override {
//         return at::relu(input) * scale_;
//       }
//
//      private:
//       double scale_;
//     };
//
// A layer with one tensor in and one out overrides `forward_tensor`; any other overrides `forward`, reads its
// `keys_in()` from the batch and sets its `keys_out()`. Parameters, buffers and child modules are registered
// as in any torch module; their names in the state dict are `stages.<Stage>.<NN_Name>.<name>`.
#pragma once

#include <nexuml/export.h>
#include <nexuml/layer_context.h>
#include <nexuml/ordered_map.h>
#include <nexuml/storage.h>
#include <nexuml/tensor_dict.h>
#include <torch/nn/module.h>

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace nexuml {

// What the trainer is doing; set by the start hooks and put back by the end hooks.
enum class Mode { none, training, validating, testing, predicting };
NEXUML_EXPORT std::string_view to_string(Mode mode) noexcept;

// The moments that layers are told of. An epoch of training ends after its validation.
enum class Hook {
  fit_start,
  fit_end,
  train_start,
  train_end,
  train_epoch_start,
  train_epoch_end,
  validation_start,
  validation_epoch_start,
  validation_epoch_end,
  validation_end,
  test_start,
  test_epoch_start,
  test_epoch_end,
  test_end,
  predict_start,
  predict_end
};
NEXUML_EXPORT std::string_view to_string(Hook hook) noexcept;

class NEXUML_EXPORT PipelineLayer : public torch::nn::Module {
 public:
  // [build thread]
  explicit PipelineLayer(const LayerBuildContext& context);
  ~PipelineLayer() override;

  // Reads the batch and writes into it. By default each keys_in[i] goes through `forward_tensor` to
  // keys_out[i]; without keys_out the results are dropped. [training thread]
  virtual void forward(Batch& batch);
  // `label` is undefined where the layer reads none or the batch carries none. [training thread]
  virtual at::Tensor forward_tensor(const at::Tensor& input, const at::Tensor& label);

  // Whether the layer takes part in the current epoch: from epoch `delay_epochs` on, every
  // `update_every_n_epochs` epochs (only in epoch `delay_epochs` when that is 0 or less). The pipeline asks
  // before `forward` while it trains, validates or tests; a layer that is left out adds nothing to the batch.
  // [training thread]
  virtual bool check_update() const;

  // Named values that `meta_out` may publish to later layers, beside the fields of the definition and what
  // `infer` told. For a definition with `infer` the two have to agree. [build thread]
  virtual OrderedMap<Value> attributes() const;
  // The metrics of the epoch that ends, by name; logged as `val/<name>` or `test/<name>`. [training thread]
  virtual OrderedMap<double> epoch_metrics(Mode mode);

  // Lifecycle. All do nothing by default. [training thread]
  virtual void on_fit_start();
  virtual void on_fit_end();
  virtual void on_train_start();
  virtual void on_train_end();
  virtual void on_train_epoch_start();
  virtual void on_train_epoch_end();
  virtual void on_validation_start();
  virtual void on_validation_epoch_start();
  virtual void on_validation_epoch_end();
  virtual void on_validation_end();
  virtual void on_test_start();
  virtual void on_test_epoch_start();
  virtual void on_test_epoch_end();
  virtual void on_test_end();
  virtual void on_predict_start();
  virtual void on_predict_end();

  // Sets the mode, calls the hook, counts the epoch. The pipeline calls it. [training thread]
  void call(Hook hook);

  Mode mode() const noexcept { return modes_.empty() ? Mode::none : modes_.back(); }
  void set_mode(Mode mode) { modes_.assign(mode == Mode::none ? 0 : 1, mode); }
  // Training epochs that have ended. A resumed run sets it.
  std::int64_t epoch() const noexcept { return epoch_; }
  void set_epoch(std::int64_t epoch) noexcept { epoch_ = epoch; }

  // `Encoder/00_LinearEncoder`
  const std::string& layer_name() const noexcept { return layer_name_; }
  const std::vector<std::string>& keys_in() const noexcept { return keys_in_; }
  const std::vector<std::string>& keys_out() const noexcept { return keys_out_; }
  const std::vector<std::string>& label_keys() const noexcept { return label_keys_; }
  bool label_in_x() const noexcept { return label_in_x_; }
  std::int64_t delay_epochs() const noexcept { return delay_epochs_; }
  std::int64_t update_every_n_epochs() const noexcept { return update_every_n_epochs_; }

 protected:
  // The i-th input. Throws Error E801 naming the layer and the keys that exist.
  const at::Tensor& input(const Batch& batch, std::size_t index = 0) const;
  // The input that dictionary-form keys_in call `name` (list form: the key itself).
  const at::Tensor& input(const Batch& batch, std::string_view name) const;
  void set_output(Batch& batch, at::Tensor tensor, std::size_t index = 0) const;
  // The i-th label: from x with `label_in_x`, else from y. Undefined where the layer has no such label key or
  // the batch has no y. Throws Error E801 when y lacks the key.
  at::Tensor label(const Batch& batch, std::size_t index = 0) const;
  // All inputs concatenated along dimension 1; a single one as it is.
  at::Tensor merge_inputs(const Batch& batch) const;
  SharedStorage& storage() const;

 private:
  std::string layer_name_;
  std::vector<std::string> keys_in_, input_names_, keys_out_, label_keys_;
  bool label_in_x_ = false;
  std::int64_t delay_epochs_ = 0;
  std::int64_t update_every_n_epochs_ = 1;
  std::shared_ptr<SharedStorage> storage_;
  std::int64_t epoch_ = 0;
  std::vector<Mode> modes_;
};

// A layer that is fitted after training, on one pass over the training data. Its definition says so with
// `static constexpr bool post_train_fit = true;`. What it learns lives in buffers, so the state dict holds
// it; `fitted` is one of them.
//
// Fitted, it transforms. Armed, it collects and leaves the batch as it is. Neither, it leaves the batch as it
// is too, except in a test, which throws Error E824: numbers of an unfitted layer mean nothing.
class NEXUML_EXPORT PostTrainLayer : public PipelineLayer {
 public:
  // [build thread]
  explicit PostTrainLayer(const LayerBuildContext& context);

  // [training thread]
  virtual void collect_batch(const Batch& batch) = 0;
  virtual void finalize_fit() = 0;
  virtual void transform(Batch& batch) = 0;

  void forward(Batch& batch) final;

  void arm() noexcept { armed_ = true; }
  bool armed() const noexcept { return armed_; }
  bool fitted() const;
  // Finalises what was collected; an armed layer does so at the end of a predict pass.
  void finish_fit();
  void on_predict_end() final;

 private:
  bool armed_ = false;
};

}  // namespace nexuml
