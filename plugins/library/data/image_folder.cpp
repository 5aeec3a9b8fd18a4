#include "data/image_folder.h"

#include <ATen/ops/tensor.h>
#include <fmt/format.h>
#include <nexuml/batch_rows.h>

#include "data/class_folders.h"
#include "data/image_file.h"

namespace nexuml_library {

namespace {

constexpr std::size_t most_unusable_images = 20;

class ImageFiles final : public nexuml::Dataset {
 public:
  ImageFiles(ClassFolders found, const ImageFolder& settings, std::pair<std::int64_t, std::int64_t> size)
      : found_(std::move(found)),
        settings_(settings),
        size_(size),
        classes_(at::tensor(at::ArrayRef<std::int64_t>(found_.classes), at::kLong)) {}

  std::int64_t size() const override { return classes_.size(0); }
  nexuml::Batch gather(std::span<const std::int64_t> indices) const override {
    const at::Tensor images = nexuml::empty_batch(
        {static_cast<std::int64_t>(indices.size()), settings_.channels, size_.first, size_.second},
        at::kFloat);
    for (std::size_t i = 0; i < indices.size(); ++i)
      images.select(0, static_cast<std::int64_t>(i))
          .copy_(read_image(found_.files.at(static_cast<std::size_t>(indices[i])),
                            {.channels = settings_.channels, .size = size_}));
    nexuml::Batch batch;
    batch.x.set(settings_.feature_key, images.div_(255));
    batch.y = nexuml::TensorDict{{settings_.label_key, nexuml::gather_rows(classes_, indices)}};
    return batch;
  }
  nexuml::OrderedMap<nexuml::TensorSpec> features() const override {
    return {{settings_.feature_key,
             {nexuml::Shape{settings_.channels, size_.first, size_.second}, nexuml::DType::float32}}};
  }
  nexuml::OrderedMap<nexuml::TensorSpec> labels() const override {
    return {{settings_.label_key, {{}, nexuml::DType::int64}}};
  }
  nexuml::OrderedMap<std::int64_t> num_classes() const override {
    return {{settings_.label_key, static_cast<std::int64_t>(found_.class_names.size())}};
  }
  nexuml::OrderedMap<std::vector<std::string>> class_names() const override {
    return {{settings_.label_key, found_.class_names}};
  }
  std::vector<std::string> splits() const override { return found_.splits; }
  std::vector<std::filesystem::path> files() const override { return found_.files; }

 private:
  const ClassFolders found_;
  const ImageFolder settings_;
  const std::pair<std::int64_t, std::int64_t> size_;
  const at::Tensor classes_;
};

// The size of all images; refuses those that cannot be read, and another size where none is asked for.
std::pair<std::int64_t, std::int64_t> inspect_images(const ClassFolders& found, const ImageFolder& settings,
                                                     const nexuml::DataContext& context) {
  nexuml::Diagnostics problems;
  std::optional<ImageInfo> first;
  for (const auto& file : found.files) {
    if (context.stop.stop_requested()) throw nexuml::Error("E831", "looking through the images was stopped");
    if (problems.size() >= most_unusable_images) break;
    try {
      const ImageInfo info = inspect_image(file);
      if (!first) first = info;
      if (!settings.size && (info.height != first->height || info.width != first->width))
        problems
            .error("E831",
                   fmt::format("an image of {} x {} pixels; the first has {} x {}", info.width, info.height,
                               first->width, first->height),
                   nexuml::Where::in_file(file.string()))
            .hint = "set size: [height, width], to which all images are scaled";
    } catch (const nexuml::Error& error) {
      problems.append(error.diagnostics());
    }
  }
  if (problems.has_errors()) throw nexuml::Error(std::move(problems));
  if (settings.size) return {(*settings.size)[0], (*settings.size)[1]};
  return {first->height, first->width};
}

}  // namespace

void ImageFolder::describe(nexuml::Schema<ImageFolder>& s) {
  s.summary(
      "PNG and JPEG images in one folder a class, below one folder a split where there are any.\n"
      "shape: features [channels, height, width] in [0, 1]; label [] int64");
  s.field("root", &ImageFolder::root).doc("The folder; relative to the data root.").required();
  s.field("channels", &ImageFolder::channels).doc("1 for grey, 3 for colours.").at_least(1).at_most(3);
  s.field("size", &ImageFolder::size)
      .doc("Height and width to which all images are scaled; null: they have one size.")
      .at_least(1);
  s.field("feature_key", &ImageFolder::feature_key).doc("Key of the image.");
  s.field("label_key", &ImageFolder::label_key).doc("Key of the class.");
  s.check([](const ImageFolder& value, nexuml::RuleProblems& problems) {
    if (value.channels == 2) problems.add("channels", "1 or 3 expected, found 2");
  });
}

nexuml::DataDeclaration ImageFolder::declare() const {
  const nexuml::Shape shape = size ? nexuml::Shape{channels, (*size)[0], (*size)[1]}
                                   : nexuml::Shape{channels, nexuml::unknown_size, nexuml::unknown_size};
  return {.features = {{feature_key, {shape, nexuml::DType::float32}}},
          .labels = {{label_key, {{}, nexuml::DType::int64}}}};
}

std::shared_ptr<nexuml::Dataset> ImageFolder::build(const nexuml::DataContext& context) const {
  ClassFolders found =
      find_class_folders(context.resolve(root), {".png", ".jpg", ".jpeg"}, "image_folder", context.advice);
  const auto common = inspect_images(found, *this, context);
  return std::make_shared<ImageFiles>(std::move(found), *this, common);
}

}  // namespace nexuml_library
