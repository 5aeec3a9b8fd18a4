// ImageDataset: images kept as bytes, handed out as float32 in [0, 1].
#pragma once

#include <nexuml/data.h>

#include <cstdint>
#include <string>
#include <vector>

namespace nexuml_library {

inline constexpr const char* image_key = "features";

struct ImageLabels {
  std::string key;
  at::Tensor numbers;                    // [samples] int64
  std::vector<std::string> class_names;  // as many as there are classes
};

class ImageDataset final : public nexuml::Dataset {
 public:
  // `images` are uint8 of [samples, channels, height, width]; `split` is that of every sample.
  ImageDataset(at::Tensor images, std::vector<ImageLabels> labels, std::string split,
               std::vector<std::filesystem::path> files = {});

  std::int64_t size() const override { return images_.size(0); }
  nexuml::Batch gather(std::span<const std::int64_t> indices) const override;
  nexuml::OrderedMap<nexuml::TensorSpec> features() const override;
  nexuml::OrderedMap<nexuml::TensorSpec> labels() const override;
  nexuml::OrderedMap<std::int64_t> num_classes() const override;
  nexuml::OrderedMap<std::vector<std::string>> class_names() const override;
  std::vector<std::string> splits() const override;
  std::vector<std::filesystem::path> files() const override { return files_; }

 private:
  at::Tensor images_;
  std::vector<ImageLabels> labels_;
  std::string split_;
  std::vector<std::filesystem::path> files_;
};

}  // namespace nexuml_library
