// Scenarios: a pipeline, its data, training and evaluation as one value.
//
//     ScenarioSpec scenario{.name = "digits"};
//     scenario.pipeline.stages["Encoder"] = {
//         {.component = LinearEncoder{.hidden_dims = {{32}}, .output_dim = 8},
//          .keys_in = Keys{"features"}, .keys_out = {"latent"}},
//         {.component = nn_module("torch.nn:Dropout", 0.1),
//          .keys_in = Keys{"latent"}, .keys_out = {"latent"}}};
//     scenario.training.loss_keys = {{"reconstruction_loss", 1.0}};
//
// Every struct is a plain aggregate with the fields, defaults and rules of NexuML 0.2.1; documents are read
// and written through their descriptions. Fields that NexuML 0.2.1 lacks are written only when set. No
// LibTorch header is included.
#pragma once

#include <nexuml/definition.h>
#include <nexuml/nn_module.h>
#include <nexuml/ordered_map.h>
#include <nexuml/schema.h>

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace nexuml {

using Keys = std::vector<std::string>;
using NamedKeys = OrderedMap<std::string>;  // name inside the layer -> key

// ---- pipeline

struct LayerSpec {
  AnyLayer component;
  std::variant<Keys, NamedKeys> keys_in;
  Keys keys_out;
  std::optional<std::variant<std::string, Keys>> label_key;
  bool label_in_x = false;
  std::optional<OrderedMap<std::string>> meta_in;   // build parameter -> metadata key
  std::optional<OrderedMap<std::string>> meta_out;  // attribute of the layer -> metadata key
  std::int64_t delay_epochs = 0;
  std::int64_t update_every_n_epochs = 1;

  NEXUML_EXPORT static void describe(Schema<LayerSpec>& s);
  NEXUML_EXPORT Keys input_keys() const;
  NEXUML_EXPORT Keys label_keys() const;
  bool operator==(const LayerSpec&) const = default;
};

struct PipelineSpec {
  OrderedMap<std::vector<LayerSpec>> stages;  // run in this order

  NEXUML_EXPORT static void describe(Schema<PipelineSpec>& s);
  bool operator==(const PipelineSpec&) const = default;
};

// ---- portable constructor calls

struct OptimizerSpec {
  std::string factory = "torch.optim.adam:Adam";
  Value args = Value::list();
  Value kwargs = Value::map({{"lr", 1e-3}});

  NEXUML_EXPORT static void describe(Schema<OptimizerSpec>& s);
  bool operator==(const OptimizerSpec&) const = default;
};

struct SchedulerSpec {
  std::string factory = "torch.optim.lr_scheduler:ConstantLR";
  Value args = Value::list();
  Value kwargs = Value::map({{"factor", 1.0}, {"total_iters", 0}});
  std::optional<std::variant<std::int64_t, std::string>> warmup;  // epochs, or "5%" of max_epochs

  NEXUML_EXPORT static void describe(Schema<SchedulerSpec>& s);
  bool operator==(const SchedulerSpec&) const = default;
};

struct StrategySpec {
  std::string factory;
  Value args = Value::list();
  Value kwargs = Value::map();

  NEXUML_EXPORT static void describe(Schema<StrategySpec>& s);
  bool operator==(const StrategySpec&) const = default;
};

struct WriterSpec {
  std::string factory = "nexuml.data.export.numpy_files:NumpyBackend";
  Value args = Value::list();
  Value kwargs = Value::map();

  NEXUML_EXPORT static void describe(Schema<WriterSpec>& s);
  bool operator==(const WriterSpec&) const = default;
};

struct CallbackSpec {
  std::string factory;
  Value args = Value::list();
  Value kwargs = Value::map();

  NEXUML_EXPORT static void describe(Schema<CallbackSpec>& s);
  bool operator==(const CallbackSpec&) const = default;
};

// ---- training

struct AutoBatchSizeSpec {
  enum class Safety { largest, previous_power_of_two, margin };
  std::string mode = "auto";
  std::int64_t min = 1;
  std::int64_t max = 128;
  std::string candidates = "power_of_two";
  Safety safety = Safety::previous_power_of_two;
  double margin = 0.8;

  NEXUML_EXPORT static void describe(Schema<AutoBatchSizeSpec>& s);
  bool operator==(const AutoBatchSizeSpec&) const = default;
};
template <>
struct EnumText<AutoBatchSizeSpec::Safety> {
  static constexpr std::pair<AutoBatchSizeSpec::Safety, const char*> names[] = {
      {AutoBatchSizeSpec::Safety::largest, "largest"},
      {AutoBatchSizeSpec::Safety::previous_power_of_two, "previous_power_of_two"},
      {AutoBatchSizeSpec::Safety::margin, "margin"}};
};

struct TrainingSpec {
  OptimizerSpec optimizer;
  SchedulerSpec scheduler;
  OrderedMap<double> loss_keys;  // key -> weight
  Keys metric_keys;
  std::variant<Keys, std::string> progress_bar_keys = Keys{"loss"};  // or "all", "none"
  std::int64_t max_epochs = 10;
  std::variant<std::int64_t, AutoBatchSizeSpec> batch_size = std::int64_t{64};
  double lr = 1e-3;
  std::string accelerator = "auto";
  std::variant<std::int64_t, std::string> devices = std::string("auto");
  std::variant<std::string, StrategySpec> strategy = std::string("auto");
  std::variant<std::string, std::int64_t> precision = std::string("32-true");
  // Not in NexuML 0.2.1; written only when set.
  std::optional<std::int64_t> seed;
  std::string scheduler_interval = "epoch";  // or "step"

  NEXUML_EXPORT static void describe(Schema<TrainingSpec>& s);
  bool operator==(const TrainingSpec&) const = default;
};

// ---- execution

struct LocalExecutionSpec {
  std::string kind = "local";

  NEXUML_EXPORT static void describe(Schema<LocalExecutionSpec>& s);
  bool operator==(const LocalExecutionSpec&) const = default;
};

struct RayClusterTarget {
  std::string kind = "cluster";
  std::string address = "auto";
  std::optional<std::string> working_dir = ".";
  std::optional<std::string> py_executable;

  NEXUML_EXPORT static void describe(Schema<RayClusterTarget>& s);
  bool operator==(const RayClusterTarget&) const = default;
};

struct RayExecutionSpec {
  std::string kind = "ray";
  RayClusterTarget target;
  std::variant<std::int64_t, std::pair<std::int64_t, std::int64_t>> workers = std::int64_t{1};
  OrderedMap<double> resources_per_worker{{"CPU", 1.0}};
  std::optional<std::string> storage_path;

  NEXUML_EXPORT static void describe(Schema<RayExecutionSpec>& s);
  bool operator==(const RayExecutionSpec&) const = default;
};

// ---- data

struct TargetSpec {  // describes a label, for export metadata
  std::string type;
  std::string key;
  std::optional<std::int64_t> num_classes;
  std::optional<std::int64_t> num_outputs;
  std::optional<double> positive_fraction;

  NEXUML_EXPORT static void describe(Schema<TargetSpec>& s);
  bool operator==(const TargetSpec&) const = default;
};

struct DatasetSpec {
  AnyDataSource source;
  std::string modality = "audio";
  std::optional<std::int64_t> max_samples;
  std::string split_type = "fit";

  NEXUML_EXPORT static void describe(Schema<DatasetSpec>& s);
  bool operator==(const DatasetSpec&) const = default;
};

struct LoaderSpec {
  AnyLoaderBackend backend;  // empty: the loader `torch`, version 1
  std::optional<std::int64_t> batch_size;
  std::int64_t num_workers = 0;
  std::optional<std::int64_t> prefetch_factor;
  bool persistent_workers = false;
  bool weighted_sampling = false;
  bool shuffle_train = true;
  bool drop_last = false;  // not in NexuML 0.2.1; written only when set

  NEXUML_EXPORT static void describe(Schema<LoaderSpec>& s);
  bool operator==(const LoaderSpec&) const = default;
};

struct PreprocessingSpec {
  bool enabled = false;
  std::string source_view = "raw";
  std::string target_view = "prepared";
  std::optional<std::string> path;
  Keys until_x_keys;
  Keys until_y_keys;
  std::optional<Keys> x_keys;
  std::optional<Keys> y_keys;
  bool include_labels = true;
  std::string label_prefix = "label__";
  WriterSpec writer;
  bool overwrite = false;

  NEXUML_EXPORT static void describe(Schema<PreprocessingSpec>& s);
  bool operator==(const PreprocessingSpec&) const = default;
};

struct DataSpec {
  std::optional<AnyDataSource> source;
  std::vector<TargetSpec> targets;
  double train_split = 0.7;
  double val_split = 0.15;
  double test_split = 0.15;
  std::vector<DatasetSpec> datasets;
  LoaderSpec loader;
  OrderedMap<std::vector<std::int64_t>> input_shapes;
  std::optional<std::int64_t> num_classes;
  std::optional<OrderedMap<OrderedMap<Value>>> merge_labels;
  std::string feature_key = "features";
  Keys skip_pipeline_stages;
  PreprocessingSpec preprocessing;

  NEXUML_EXPORT static void describe(Schema<DataSpec>& s);
  bool operator==(const DataSpec&) const = default;
};

// ---- evaluation

struct AxisKeySpec {
  std::string key;
  std::string source = "y";  // x, y or metadata

  NEXUML_EXPORT static void describe(Schema<AxisKeySpec>& s);
  bool operator==(const AxisKeySpec&) const = default;
};

struct EvalAlgorithmSpec {
  AnyEvalAlgorithm algorithm;
  std::optional<std::string> name;  // prefix of its results; else the component's name
  bool enabled = true;
  std::vector<std::variant<AxisKeySpec, std::string>> axis_keys;
  std::optional<std::string> feature_key;
  std::optional<std::string> label_key;

  NEXUML_EXPORT static void describe(Schema<EvalAlgorithmSpec>& s);
  bool operator==(const EvalAlgorithmSpec&) const = default;
};

struct EvaluationSpec {
  Keys metrics{"mse", "mae"};
  std::vector<EvalAlgorithmSpec> algorithms;
  std::variant<Keys, std::string> test_result_metrics = std::string("none");  // or "all"

  NEXUML_EXPORT static void describe(Schema<EvaluationSpec>& s);
  bool operator==(const EvaluationSpec&) const = default;
};

// ---- logging, tuning, checkpoints, exports

struct TensorBoardSpec {
  std::string log_dir = ".experiments/tensorboard";

  NEXUML_EXPORT static void describe(Schema<TensorBoardSpec>& s);
  bool operator==(const TensorBoardSpec&) const = default;
};

struct DVCLiveSpec {
  std::string dir = ".experiments/dvclive";

  NEXUML_EXPORT static void describe(Schema<DVCLiveSpec>& s);
  bool operator==(const DVCLiveSpec&) const = default;
};

struct MLflowSpec {
  std::string tracking_uri = "file:./.experiments/mlflow";
  std::optional<std::string> artifact_location;
  std::optional<std::string> experiment_name;
  bool log_model = false;
  std::optional<std::string> run_id;
  std::optional<std::string> parent_run_id;
  bool auto_nested_runs = true;
  OrderedMap<Value> tags;
  std::optional<bool> synchronous;

  NEXUML_EXPORT static void describe(Schema<MLflowSpec>& s);
  bool operator==(const MLflowSpec&) const = default;
};

struct DiagramSpec {
  bool enabled = true;
  std::int64_t depth = 2;
  std::string direction = "TB";
  bool show_params = true;
  bool show_shapes = true;
  bool show_metrics = true;
  std::string output_dir = ".experiments/diagrams";

  NEXUML_EXPORT static void describe(Schema<DiagramSpec>& s);
  bool operator==(const DiagramSpec&) const = default;
};

struct LoggingSpec {
  std::optional<TensorBoardSpec> tensorboard;
  std::optional<DVCLiveSpec> dvclive;
  std::optional<MLflowSpec> mlflow;
  std::optional<DiagramSpec> diagram = DiagramSpec{};
  std::string temp_artifact_dir = "/tmp/mlruns";
  std::string experiment_name = "NexuML";
  std::optional<std::string> run_name;
  bool log_system_metrics = false;

  NEXUML_EXPORT static void describe(Schema<LoggingSpec>& s);
  bool operator==(const LoggingSpec&) const = default;
};

struct TuningSpec {
  std::int64_t n_trials = 50;
  std::vector<std::string> directions{"minimize"};
  std::string metric_key = "val/loss";
  std::string storage = ".experiments/optuna/optuna.log";
  bool prune = false;

  NEXUML_EXPORT static void describe(Schema<TuningSpec>& s);
  bool operator==(const TuningSpec&) const = default;
};

struct CheckpointLoadSpec {
  std::optional<std::string> source;
  Keys include;  // globs on full parameter names
  Keys exclude;
  bool allow_missing = true;
  bool allow_shape_mismatch = true;
  bool freeze_loaded = false;

  NEXUML_EXPORT static void describe(Schema<CheckpointLoadSpec>& s);
  bool operator==(const CheckpointLoadSpec&) const = default;
};

struct ExportSpec {
  enum class Kind { train_package, onnx, safetensors };
  Kind kind = Kind::train_package;
  std::optional<std::string> output;
  Keys include;
  Keys exclude;

  NEXUML_EXPORT static void describe(Schema<ExportSpec>& s);
  bool operator==(const ExportSpec&) const = default;
};
template <>
struct EnumText<ExportSpec::Kind> {
  static constexpr std::pair<ExportSpec::Kind, const char*> names[] = {
      {ExportSpec::Kind::train_package, "train_package"},
      {ExportSpec::Kind::onnx, "onnx"},
      {ExportSpec::Kind::safetensors, "safetensors"}};
};

// ---- the whole

struct ScenarioSpec {
  std::string name;
  PipelineSpec pipeline;
  TrainingSpec training;
  DataSpec data;
  EvaluationSpec evaluation;
  std::optional<LoggingSpec> logging;
  std::vector<CallbackSpec> callbacks;
  std::optional<TuningSpec> tuning;
  std::optional<CheckpointLoadSpec> checkpoint;
  std::vector<ExportSpec> exports;
  std::variant<LocalExecutionSpec, RayExecutionSpec> execution;

  NEXUML_EXPORT static void describe(Schema<ScenarioSpec>& s);
  bool operator==(const ScenarioSpec&) const = default;
};

// What a scenario function is given: components of other libraries, by identity.
//     context.layer("LinearEncoder", {{"hidden_dims", std::vector{32}}, {"output_dim", 8}})
class NEXUML_EXPORT ScenarioContext {
 public:
  using Params = std::initializer_list<std::pair<std::string, Value>>;

  virtual ~ScenarioContext();
  // Looked up exactly and validated at once; throws Error E730 and the codes of reading.
  virtual Definition definition(const Identity& identity, const Value& params) const = 0;

  AnyLayer layer(std::string name, Params params = {}, std::string version = "1") const {
    return definition({ComponentKind::layer, std::move(name), std::move(version)}, Value::map(params));
  }
  AnyDataSource data_source(std::string name, Params params = {}, std::string version = "1") const {
    return definition({ComponentKind::data_source, std::move(name), std::move(version)}, Value::map(params));
  }
  AnyEvalAlgorithm eval_algorithm(std::string name, Params params = {}, std::string version = "1") const {
    return definition({ComponentKind::eval_algorithm, std::move(name), std::move(version)},
                      Value::map(params));
  }
  AnyLoaderBackend loader_backend(std::string name, Params params = {}, std::string version = "1") const {
    return definition({ComponentKind::loader_backend, std::move(name), std::move(version)},
                      Value::map(params));
  }
};

}  // namespace nexuml
