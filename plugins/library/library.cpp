// The shipped component library: layers, data sources, evaluation algorithms, scenarios.
#include <nexuml/registration.h>

#include "data/audio_folder.h"
#include "data/audioset.h"
#include "data/cifar.h"
#include "data/csv_source.h"
#include "data/dcase_2026.h"
#include "data/dcase_task2.h"
#include "data/image_folder.h"
#include "data/mnist.h"
#include "data/shard_loader.h"
#include "data/super_dataset.h"
#include "data/synthetic.h"
#include "data/tensor_file.h"
#include "data/torch_loader.h"
#include "decision/threshold_rules.h"
#include "evaluation/anomaly_evaluator.h"
#include "evaluation/anomaly_visualizer.h"
#include "evaluation/class_histogram.h"
#include "evaluation/classification_report.h"
#include "evaluation/latent_visualizer.h"
#include "evaluation/reconstruction_visualizer.h"
#include "layers/additive_noise.h"
#include "layers/anomaly_score.h"
#include "layers/attention_pool.h"
#include "layers/attentive_statistics_pool.h"
#include "layers/classification_loss.h"
#include "layers/classification_metrics.h"
#include "layers/conv1d_projector.h"
#include "layers/convolutional_decoder.h"
#include "layers/convolutional_encoder.h"
#include "layers/decision_rule_layer.h"
#include "layers/l2_normalize.h"
#include "layers/latent_head.h"
#include "layers/linear.h"
#include "layers/linear_encoder.h"
#include "layers/lmbe.h"
#include "layers/logits_to_class.h"
#include "layers/low_rank_projector.h"
#include "layers/merge_layer.h"
#include "layers/reconstruction_loss.h"
#include "layers/regression_loss.h"
#include "layers/resnet.h"
#include "layers/token_pool.h"
#include "layers/variational_latent.h"
#include "metrics/metric_functions.h"
#include "scenarios/digits.h"
#include "scenarios/resnet_images.h"
#include "scenarios/sound_autoencoders.h"
#include "scenarios/synthetic_conv.h"
#include "scenarios/synthetic_linear.h"

using namespace nexuml_library;

NEXUML_LIBRARY(registry) {
  registry.add<AdditiveNoise>("AdditiveNoise");
  registry.add<AnomalyScore>("AnomalyScore");
  registry.add<AttentionPool>("AttentionPool");
  registry.add<AttentiveStatisticsPool>("AttentiveStatisticsPool");
  registry.add<ClassificationLoss>("ClassificationLoss");
  registry.add<ClassificationMetrics>("ClassificationMetrics");
  registry.add<Conv1dProjector>("Conv1dProjector");
  registry.add<ConvolutionalDecoder>("ConvolutionalDecoder");
  registry.add<ConvolutionalEncoder>("ConvolutionalEncoder");
  registry.add<DecisionRuleLayer>("decision_rule_pipeline_layer");
  registry.add<L2Normalize>("L2Normalize");
  registry.add<LMBE>("LMBE");
  registry.add<LatentClassificationHead>("LatentClassificationHead");
  registry.add<LatentRegressionHead>("LatentRegressionHead");
  registry.add<Linear>("Linear");
  registry.add<LinearEncoder>("LinearEncoder");
  registry.add<LogitsToClass>("LogitsToClass");
  registry.add<LowRankProjector>("LowRankProjector");
  registry.add<MergeLayer>("MergeLayer");
  registry.add<MultiLabelMAPMetrics>("MultiLabelMAPMetrics");
  registry.add<ReconstructionLoss>("ReconstructionLoss");
  registry.add<RegressionLoss>("RegressionLoss");
  registry.add<ResNet>("ResNet");
  registry.add<TokenPool>("TokenPool");
  registry.add<VariationalLatent>("VariationalLatent");

  registry.add<AudioFolder>("audio_folder");
  registry.add<AudiosetDataset>("AudiosetDataset");
  registry.add<CIFAR100Dataset>("CIFAR100Dataset");
  registry.add<CIFAR10Dataset>("CIFAR10Dataset");
  registry.add<CsvSource>("csv");
  registry.add<DaliLoader>("dali");
  registry.add<DCASE2026T1Dataset>("DCASE2026T1Dataset");
  registry.add<DCASE2026T2Dataset>("DCASE2026T2Dataset");
  registry.add<DCASE2026T7Dataset>("DCASE2026T7Dataset");
  registry.add<DCASET2Dataset>("DCASET2Dataset");
  registry.add<FashionMNISTDataset>("FashionMNISTDataset");
  registry.add<ImageFolder>("image_folder");
  registry.add<MNISTDataset>("MNISTDataset");
  registry.add<SuperDataset>("SuperDataset");
  registry.add<Synthetic>("synthetic");
  registry.add<TensorFileSource>("tensor_file");
  registry.add<TensorShardsLoader>("tensor_shards");
  registry.add<TorchLoader>("torch");

  registry.add<AnomalyEvaluator>("anomaly_evaluator");
  registry.add<AnomalyVisualizer>("anomaly_visualizer");
  registry.add<ClassHistogram>("class_histogram");
  registry.add<ClassificationReport>("classification_report");
  registry.add<LatentVisualizer>("latent_visualizer");
  registry.add<ReconstructionVisualizer>("reconstruction_visualizer");

  registry.add_scenario<AudiosetConvAe>("audioset-conv-ae-clshead", audioset_conv_ae_clshead);
  registry.add_scenario<CifarResnet>("cifar-resnet", cifar_resnet);
  registry.add_scenario<ConvAeToyCarEmu>("conv-ae-toycaremu", conv_ae_toycaremu);
  registry.add_scenario<DcaseConvAe>("dcase-conv-ae", dcase_conv_ae);
  registry.add_scenario<DcaseConvCvae>("dcase-conv-cvae", dcase_conv_cvae);
  registry.add_scenario<DigitsClassifierParameters>("digits-classifier", digits_classifier);
  registry.add_scenario<FashionMnistResnet>("fashionmnist-resnet", fashionmnist_resnet);
  registry.add_scenario<LinearAeToyCarEmu>("linear-ae-toycaremu", linear_ae_toycaremu);
  registry.add_scenario<MnistResnet>("mnist-resnet", mnist_resnet);
  registry.add_scenario<MnistResnetShards>("mnist-resnet-shards", mnist_resnet_shards);
  registry.add_scenario<SyntheticConvAnomaly>("synthetic-conv-ae-anomaly", synthetic_conv_anomaly);
  registry.add_scenario<SyntheticVariationalAnomaly>("synthetic-conv-cvae-anomaly",
                                                     synthetic_variational_anomaly);
  registry.add_scenario<SyntheticMulticlass>("synthetic-linear-ae-multiclass", synthetic_multiclass);
  registry.add_scenario<SyntheticMultilabel>("synthetic-linear-ae-multilabel", synthetic_multilabel);
  registry.add_scenario<SyntheticReconstruction>("synthetic-linear-ae-reconstruction",
                                                 synthetic_reconstruction);
  registry.add_scenario<SyntheticRegression>("synthetic-linear-ae-regression", synthetic_regression);

  register_metric_functions(registry);
  registry.add_target<NumpyBackend>("nexuml.data.export.numpy_files:NumpyBackend");
  registry.add_target<NumpyMmapBackend>("nexuml.data.export.numpy_mmap:NumpyMmapBackend");
  registry.add_target<TensorShardsBackend>("nexuml.data.export.tensor_shards:TensorShardsBackend");
  registry.add_target<GammaPercentileRule>(gamma_rule_path);
  registry.add_target<PercentileThresholdRule>(percentile_rule_path);
  registry.add_target<QuantileThresholdRule>(quantile_rule_path);
}
