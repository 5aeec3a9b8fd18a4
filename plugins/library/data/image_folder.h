// ImageFolder: a folder of PNG and JPEG images whose sub-folders are the classes.
//
//     root/cat/a.png  root/cat/b.jpg  root/dog/c.png             -> label 0 = cat, 1 = dog
//     root/train/cat/a.png  root/test/dog/b.png                  -> with the splits train and test
#pragma once

#include <nexuml/definition.h>

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

namespace nexuml_library {

// Shape: features [channels, height, width] in [0, 1]; label [].
struct ImageFolder {
  std::string root;
  std::int64_t channels = 3;
  std::optional<std::array<std::int64_t, 2>> size = std::nullopt;
  std::string feature_key = "features";
  std::string label_key = "label";

  static void describe(nexuml::Schema<ImageFolder>& s);
  nexuml::DataDeclaration declare() const;
  std::shared_ptr<nexuml::Dataset> build(const nexuml::DataContext& context) const;
};

}  // namespace nexuml_library
