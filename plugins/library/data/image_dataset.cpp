#include "data/image_dataset.h"

#include <ATen/ops/div.h>
#include <nexuml/batch_rows.h>

namespace nexuml_library {

ImageDataset::ImageDataset(at::Tensor images, std::vector<ImageLabels> labels, std::string split,
                           std::vector<std::filesystem::path> files)
    : images_(std::move(images)),
      labels_(std::move(labels)),
      split_(std::move(split)),
      files_(std::move(files)) {}

nexuml::Batch ImageDataset::gather(std::span<const std::int64_t> indices) const {
  const at::Tensor bytes = nexuml::gather_rows(images_, indices);
  at::Tensor images = nexuml::empty_batch(bytes.sizes(), at::kFloat);
  images.copy_(bytes).div_(255);
  nexuml::Batch batch;
  batch.x.set(image_key, std::move(images));
  batch.y.emplace();
  for (const ImageLabels& label : labels_)
    batch.y->set(label.key, nexuml::gather_rows(label.numbers, indices));
  return batch;
}

nexuml::OrderedMap<nexuml::TensorSpec> ImageDataset::features() const {
  return {{image_key, {images_.sizes().slice(1).vec(), nexuml::DType::float32}}};
}

nexuml::OrderedMap<nexuml::TensorSpec> ImageDataset::labels() const {
  nexuml::OrderedMap<nexuml::TensorSpec> specs;
  for (const ImageLabels& label : labels_) specs[label.key] = {{}, nexuml::DType::int64};
  return specs;
}

nexuml::OrderedMap<std::int64_t> ImageDataset::num_classes() const {
  nexuml::OrderedMap<std::int64_t> counts;
  for (const ImageLabels& label : labels_)
    counts[label.key] = static_cast<std::int64_t>(label.class_names.size());
  return counts;
}

nexuml::OrderedMap<std::vector<std::string>> ImageDataset::class_names() const {
  nexuml::OrderedMap<std::vector<std::string>> names;
  for (const ImageLabels& label : labels_) names[label.key] = label.class_names;
  return names;
}

std::vector<std::string> ImageDataset::splits() const {
  return std::vector<std::string>(static_cast<std::size_t>(size()), split_);
}

}  // namespace nexuml_library
