// TensorFileSource: tensors of a safetensors, NPY or NPZ file, the first dimension being the samples.
//
//     DatasetSpec{.source = TensorFileSource{.path = "train.safetensors",
//                                            .features = {{"features", "images"}},
//                                            .labels = {{"digit", "labels"}}}}
//
// Safetensors and NPY files stay on the disk: they are mapped, or, above 256 MiB, read batch by batch, so a
// data set may be larger than memory. Labels keep their dtype.
#pragma once

#include <nexuml/definition.h>

#include <filesystem>
#include <memory>
#include <optional>
#include <string>

namespace nexuml_library {

// Shape: each tensor without its first dimension, which counts the samples.
struct TensorFileSource {
  std::string path;
  std::optional<std::string> label_path = std::nullopt;
  nexuml::OrderedMap<std::string> features = {};
  nexuml::OrderedMap<std::string> labels = {};
  std::optional<double> scale = std::nullopt;
  std::optional<std::string> split = std::nullopt;

  static void describe(nexuml::Schema<TensorFileSource>& s);
  std::shared_ptr<nexuml::Dataset> build(const nexuml::DataContext& context) const;

 private:
  std::shared_ptr<nexuml::Dataset> build_streamed(const std::filesystem::path& file,
                                                  const nexuml::DataContext& context) const;
};

}  // namespace nexuml_library
