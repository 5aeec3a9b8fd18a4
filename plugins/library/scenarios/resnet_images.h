// ResNets on small images: MNIST, FashionMNIST and CIFAR.
#pragma once

#include <nexuml/scenario.h>

#include <cstdint>
#include <string>

#include "layers/resnet.h"

namespace nexuml_library {

enum class CifarDataset { cifar10, cifar100 };

struct MnistResnet {
  std::string root = "mnist";
  ResNetType resnet_type = ResNetType::resnet18;
  std::int64_t max_epochs = 10;
  std::int64_t batch_size = 64;
  bool download = true;

  static void describe(nexuml::Schema<MnistResnet>& s);
};
nexuml::ScenarioSpec mnist_resnet(const MnistResnet& parameters, const nexuml::ScenarioContext& context);

struct FashionMnistResnet {
  std::string root = "fashionmnist";
  ResNetType resnet_type = ResNetType::resnet18;
  std::int64_t max_epochs = 10;
  std::int64_t batch_size = 64;
  bool download = true;

  static void describe(nexuml::Schema<FashionMnistResnet>& s);
};
nexuml::ScenarioSpec fashionmnist_resnet(const FashionMnistResnet& parameters,
                                         const nexuml::ScenarioContext& context);

// MNIST written to shards first.
struct MnistResnetShards {
  std::string root = "mnist";
  ResNetType resnet_type = ResNetType::resnet18;
  std::int64_t max_epochs = 10;
  std::int64_t batch_size = 64;
  bool download = true;
  std::string preprocessed_path = "preprocessed/mnist_resnet_shards/prepared/tensor_shards";
  std::int64_t samples_per_shard = 4096;
  std::int64_t shards_per_window = 6;

  static void describe(nexuml::Schema<MnistResnetShards>& s);
};
nexuml::ScenarioSpec mnist_resnet_shards(const MnistResnetShards& parameters,
                                         const nexuml::ScenarioContext& context);

struct CifarResnet {
  CifarDataset dataset = CifarDataset::cifar10;
  ResNetType resnet_type = ResNetType::resnet18;
  std::int64_t max_epochs = 10;
  std::int64_t batch_size = 64;
  bool download = true;

  static void describe(nexuml::Schema<CifarResnet>& s);
};
nexuml::ScenarioSpec cifar_resnet(const CifarResnet& parameters, const nexuml::ScenarioContext& context);

}  // namespace nexuml_library

template <>
struct nexuml::EnumText<nexuml_library::CifarDataset> {
  using Type = nexuml_library::CifarDataset;
  static constexpr std::pair<Type, const char*> names[] = {{Type::cifar10, "cifar10"},
                                                           {Type::cifar100, "cifar100"}};
};
