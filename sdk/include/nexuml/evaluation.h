// Evaluation: algorithms that see the outputs of a trained pipeline and answer with numbers and files.
//
//     class MeanNorm final : public nexuml::EvalAlgorithm {
//      public:
//       explicit MeanNorm(std::string key) : key_(std::move(key)) {}
//       void eval_batch(const nexuml::EvalBatch& batch) override {
//         sum_ += batch.x.get(key_).flatten(1).norm(2, 1).sum().item<double>();
//         count_ += batch.size;
//       }
//       nexuml::OrderedMap<double> results() const override { return {{"mean_norm", sum_ / count_}}; }
//       ...
//     };
//
// Life: built after training and before testing; `fit_batch` over the training rows and `fit_end` where
// `needs_fit()`; `eval_batch` over the test rows and `eval_end`; then `results` and `write_artifacts`. All
// calls come from the training thread, in eval mode, without gradients.
#pragma once

#include <nexuml/data.h>
#include <nexuml/export.h>
#include <nexuml/scenario.h>
#include <nexuml/target.h>
#include <nexuml/tensor_dict.h>
#include <torch/types.h>

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

namespace nexuml {

// What an evaluation algorithm is told when it is built.
struct NEXUML_EXPORT EvalBuildContext {
  std::string name;                        // prefix of its results
  std::optional<std::string> feature_key;  // as the scenario gives them; null: the algorithm's own default
  std::optional<std::string> label_key;
  std::vector<AxisKeySpec> axis_keys;
  OrderedMap<std::int64_t> num_classes;              // by label key
  OrderedMap<std::vector<std::string>> class_names;  // by label key
  std::filesystem::path run_folder;
  std::uint64_t seed = 0;
  std::stop_token stop;
  const Targets* targets = nullptr;  // for decision rules and losses given by name

  // Names of the classes of `label`; "0", "1", ... where the data names none. Empty when the count is
  // unknown.
  std::vector<std::string> names_of(const std::string& label) const;
};

// One batch after the pipeline ran: `x` holds every key that the pipeline was given or produced.
struct NEXUML_EXPORT EvalBatch {
  const TensorDict& x;
  const TensorDict* y = nullptr;        // null: the data has no labels
  OrderedMap<MetadataColumn> metadata;  // the rows of this batch
  std::int64_t size = 0;

  // The tensor under `key`, from the batch's features and outputs (first) or labels. Throws Error E851 naming
  // the algorithm, the key and what is there.
  const at::Tensor& tensor(const std::string& key, const std::string& algorithm) const;
  const at::Tensor& label(const std::string& key, const std::string& algorithm) const;
};

class NEXUML_EXPORT EvalAlgorithm {
 public:
  virtual ~EvalAlgorithm();
  virtual bool needs_fit() const { return false; }
  virtual void fit_batch(const EvalBatch& batch);
  virtual void fit_end();
  virtual void eval_batch(const EvalBatch& batch) = 0;
  virtual void eval_end();
  // Flat numbers, logged as eval/<name>/<key>.
  virtual OrderedMap<double> results() const = 0;
  // Files beside the numbers (tables, plots), below `folder`, which exists.
  virtual void write_artifacts(const std::filesystem::path& folder) const;
};

// Turns scores into decisions: fitted on the scores of normal data, then a threshold.
class NEXUML_EXPORT DecisionRule {
 public:
  virtual ~DecisionRule();
  virtual void fit(const at::Tensor& scores) = 0;                 // [samples]
  virtual double threshold() const = 0;                           // throws Error E852 before fit
  virtual at::Tensor decide(const at::Tensor& scores) const = 0;  // boolean of the same shape
  // What a checkpoint keeps.
  virtual Value state() const = 0;
  virtual void load_state(const Value& state) = 0;
};

struct DecisionRuleBuildContext {
  std::uint64_t seed = 0;
};

}  // namespace nexuml
