// MNIST and FashionMNIST: images of 28x28 in IDX files, raw or gzip.
//
//     DatasetSpec{.source = MNISTDataset{.root = "mnist", .train = true}, .modality = "image"}
//
// The files may lie in `root`, in `root`/raw or, as torchvision has them, in `root`/MNIST/raw.
#pragma once

#include <nexuml/definition.h>

#include <memory>
#include <optional>
#include <string>

namespace nexuml_library {

// Shape: features [1, 28, 28] in [0, 1].
// Source: LeCun, Cortes and Burges, The MNIST database
struct MNISTDataset {
  std::string root = "mnist";
  bool train = true;
  bool download = false;
  std::optional<std::string> split = std::nullopt;

  static void describe(nexuml::Schema<MNISTDataset>& s);
  nexuml::DataDeclaration declare() const;
  std::shared_ptr<nexuml::Dataset> build(const nexuml::DataContext& context) const;
};

// Shape: features [1, 28, 28] in [0, 1].
// Source: Xiao, Rasul and Vollgraf, arXiv 1708.07747
struct FashionMNISTDataset {
  std::string root = "fashionmnist";
  bool train = true;
  bool download = false;
  std::optional<std::string> split = std::nullopt;

  static void describe(nexuml::Schema<FashionMNISTDataset>& s);
  nexuml::DataDeclaration declare() const;
  std::shared_ptr<nexuml::Dataset> build(const nexuml::DataContext& context) const;
};

}  // namespace nexuml_library
