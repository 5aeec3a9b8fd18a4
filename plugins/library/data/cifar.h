// CIFAR-10 and CIFAR-100: colour images of 32x32 in binary batches, or in those of Python, of which no code
// runs.
//
//     DatasetSpec{.source = CIFAR10Dataset{.root = "cifar10", .train = true}, .modality = "image"}
//
// The files may lie in `root` or in the folder that the archive makes (cifar-10-batches-bin,
// cifar-100-binary, cifar-10-batches-py, cifar-100-python).
#pragma once

#include <nexuml/definition.h>

#include <memory>
#include <optional>
#include <string>

namespace nexuml_library {

// Shape: features [3, 32, 32] in [0, 1].
// Source: Krizhevsky, Learning multiple layers of features from tiny images, 2009
struct CIFAR10Dataset {
  std::string root = "cifar10";
  bool train = true;
  bool download = false;
  std::optional<std::string> split = std::nullopt;

  static void describe(nexuml::Schema<CIFAR10Dataset>& s);
  nexuml::DataDeclaration declare() const;
  std::shared_ptr<nexuml::Dataset> build(const nexuml::DataContext& context) const;
};

// The fine labels are `class_labels`, the 20 groups of them `coarse_labels`.
// Shape: features [3, 32, 32] in [0, 1].
// Source: Krizhevsky, Learning multiple layers of features from tiny images, 2009
struct CIFAR100Dataset {
  std::string root = "cifar100";
  bool train = true;
  bool download = false;
  std::optional<std::string> split = std::nullopt;

  static void describe(nexuml::Schema<CIFAR100Dataset>& s);
  nexuml::DataDeclaration declare() const;
  std::shared_ptr<nexuml::Dataset> build(const nexuml::DataContext& context) const;
};

}  // namespace nexuml_library
