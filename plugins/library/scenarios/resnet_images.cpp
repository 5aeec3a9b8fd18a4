#include "scenarios/resnet_images.h"

#include "data/cifar.h"
#include "data/mnist.h"
#include "data/shard_loader.h"
#include "data/torch_loader.h"
#include "layers/classification_loss.h"
#include "layers/classification_metrics.h"
#include "layers/latent_head.h"
#include "scenarios/class_evaluation.h"

namespace nexuml_library {

using nexuml::Keys;
using nexuml::LayerSpec;
using nexuml::ScenarioSpec;
using nexuml::Value;

namespace {

template <class Parameters>
void describe_training(nexuml::Schema<Parameters>& s) {
  s.field("resnet_type", &Parameters::resnet_type).doc("Depth of the network.");
  s.field("max_epochs", &Parameters::max_epochs).doc("Epochs of training.").at_least(1);
  s.field("batch_size", &Parameters::batch_size).doc("Samples a step.").at_least(1);
  s.field("download", &Parameters::download).doc("Passed on to the data source.");
}

// Embeddings, a head on them, its loss and metrics.
ScenarioSpec image_classifier(std::string name, ResNet encoder, const std::string& label) {
  ScenarioSpec scenario{.name = std::move(name)};
  scenario.pipeline.stages["Encoder"] = {
      LayerSpec{.component = std::move(encoder), .keys_in = Keys{"features"}, .keys_out = {"embeddings"}}};
  scenario.pipeline.stages["Head"] = {LayerSpec{
      .component = LatentClassificationHead{}, .keys_in = Keys{"embeddings"}, .keys_out = {"class_logits"}}};
  scenario.pipeline.stages["Loss"] = {
      LayerSpec{.component = ClassificationLoss{},
                .keys_in = Keys{"class_logits"},
                .keys_out = {"classification_loss"},
                .label_key = label},
      LayerSpec{.component = ClassificationMetrics{.metrics = {{"accuracy", "f1"}}},
                .keys_in = Keys{"class_logits"},
                .keys_out = {"accuracy", "f1"},
                .label_key = label}};
  scenario.training.loss_keys = {{"classification_loss", 1.0}};
  scenario.training.metric_keys = {"accuracy", "f1"};
  scenario.data.loader.backend = TorchLoader{};
  return scenario;
}

template <class Parameters>
void set_training(ScenarioSpec& scenario, const Parameters& parameters) {
  scenario.training.max_epochs = parameters.max_epochs;
  scenario.training.batch_size = parameters.batch_size;
}

// Training images to fit, test images to test.
template <class Source>
void set_idx_data(ScenarioSpec& scenario, const std::string& root, bool download) {
  for (const bool train : {true, false})
    scenario.data.datasets.push_back({.source = Source{.root = root, .train = train, .download = download},
                                      .modality = "image",
                                      .split_type = train ? "fit" : "test"});
  scenario.data.input_shapes = {{"features", {1, 28, 28}}};
  scenario.data.num_classes = 10;
}

template <class Source, class Parameters>
ScenarioSpec idx_classifier(std::string name, const Parameters& parameters, const std::string& label) {
  ScenarioSpec scenario =
      image_classifier(std::move(name), {.resnet_type = parameters.resnet_type, .cifar_stem = true}, label);
  set_training(scenario, parameters);
  set_idx_data<Source>(scenario, parameters.root, parameters.download);
  scenario.evaluation = class_evaluation("embeddings", label);
  return scenario;
}

nexuml::CallbackSpec lightning_callback(const std::string& name, Value kwargs = Value::map()) {
  return {.factory = "lightning.pytorch.callbacks." + name, .kwargs = std::move(kwargs)};
}

}  // namespace

void MnistResnet::describe(nexuml::Schema<MnistResnet>& s) {
  s.summary("MNIST, classified by a ResNet.");
  s.field("root", &MnistResnet::root).doc("Folder of the images; relative to the data root.");
  describe_training(s);
}
ScenarioSpec mnist_resnet(const MnistResnet& parameters, const nexuml::ScenarioContext&) {
  return idx_classifier<MNISTDataset>("mnist_resnet", parameters, "digit");
}

void FashionMnistResnet::describe(nexuml::Schema<FashionMnistResnet>& s) {
  s.summary("FashionMNIST, classified by a ResNet.");
  s.field("root", &FashionMnistResnet::root).doc("Folder of the images; relative to the data root.");
  describe_training(s);
}
ScenarioSpec fashionmnist_resnet(const FashionMnistResnet& parameters, const nexuml::ScenarioContext&) {
  return idx_classifier<FashionMNISTDataset>("fashionmnist_resnet", parameters, "category");
}

void MnistResnetShards::describe(nexuml::Schema<MnistResnetShards>& s) {
  s.summary("MNIST, written to shards once and classified by a ResNet that reads them.");
  s.field("root", &MnistResnetShards::root).doc("Folder of the images; relative to the data root.");
  describe_training(s);
  s.field("preprocessed_path", &MnistResnetShards::preprocessed_path)
      .doc("Folder of the shards; relative to NEXUML_LOGS_ROOT or the current folder.");
  s.field("samples_per_shard", &MnistResnetShards::samples_per_shard).doc("Samples of a file.").at_least(1);
  s.field("shards_per_window", &MnistResnetShards::shards_per_window)
      .doc("Files in memory at once.")
      .at_least(1);
}
ScenarioSpec mnist_resnet_shards(const MnistResnetShards& parameters, const nexuml::ScenarioContext&) {
  ScenarioSpec scenario = idx_classifier<MNISTDataset>("mnist_resnet_shards", parameters, "digit");
  scenario.data.loader = {.backend = TensorShardsLoader{.shards_per_window = parameters.shards_per_window,
                                                        .shuffle_shards = true,
                                                        .shuffle_samples = true,
                                                        .seed = 42},
                          .batch_size = parameters.batch_size};
  scenario.data.preprocessing = {
      .enabled = true,
      .path = parameters.preprocessed_path,
      .writer = {.factory = "nexuml.data.export.tensor_shards:TensorShardsBackend",
                 .kwargs = Value::map({{"samples_per_shard", parameters.samples_per_shard}})}};
  return scenario;
}

void CifarResnet::describe(nexuml::Schema<CifarResnet>& s) {
  s.summary("CIFAR-10 or CIFAR-100, classified by a ResNet, with callbacks, logging and an export.");
  s.field("dataset", &CifarResnet::dataset).doc("Which of the two.");
  describe_training(s);
}
ScenarioSpec cifar_resnet(const CifarResnet& parameters, const nexuml::ScenarioContext&) {
  const bool ten = parameters.dataset == CifarDataset::cifar10;
  ScenarioSpec scenario =
      image_classifier("cifar_resnet", {.resnet_type = parameters.resnet_type}, "class_labels");
  set_training(scenario, parameters);
  nexuml::DatasetSpec images{.source = CIFAR10Dataset{.root = "cifar10", .download = parameters.download},
                             .modality = "image",
                             .split_type = "all"};
  if (!ten) images.source = CIFAR100Dataset{.root = "cifar100", .download = parameters.download};
  scenario.data.datasets = {std::move(images)};
  scenario.data.input_shapes = {{"features", {3, 32, 32}}};
  scenario.data.num_classes = ten ? 10 : 100;
  // The keys of the original's evaluation: where the data has no label `class` its class is taken, where the
  // pipeline has no `latent` what its encoder gives.
  scenario.evaluation = class_evaluation("latent", "class");
  scenario.logging =
      nexuml::LoggingSpec{.tensorboard = nexuml::TensorBoardSpec{},
                          .mlflow = nexuml::MLflowSpec{.tracking_uri = "sqlite:///./.experiments/mlflow.db",
                                                       .experiment_name = "NexuML"}};
  scenario.callbacks = {lightning_callback("early_stopping:EarlyStopping",
                                           Value::map({{"monitor", "val/loss"}, {"patience", 5}})),
                        lightning_callback("lr_monitor:LearningRateMonitor"),
                        lightning_callback("model_checkpoint:ModelCheckpoint",
                                           Value::map({{"filename", "{epoch:02d}-{val_loss:.4f}"},
                                                       {"mode", "min"},
                                                       {"monitor", "val/loss"},
                                                       {"save_last", true},
                                                       {"save_top_k", 1}})),
                        lightning_callback("progress.rich_progress:RichProgressBar"),
                        lightning_callback("device_stats_monitor:DeviceStatsMonitor")};
  scenario.tuning = nexuml::TuningSpec{.n_trials = 2};
  scenario.checkpoint = nexuml::CheckpointLoadSpec{};
  scenario.exports = {nexuml::ExportSpec{}};
  return scenario;
}

}  // namespace nexuml_library
