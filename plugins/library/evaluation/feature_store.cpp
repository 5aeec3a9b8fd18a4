#include "evaluation/feature_store.h"

#include <ATen/ops/empty.h>
#include <ATen/ops/from_file.h>
#include <fmt/format.h>
#include <nexuml/diagnostic.h>
#include <unistd.h>

#include <atomic>
#include <system_error>

#include "evaluation/random_index.h"

namespace nexuml_library {

namespace {

std::filesystem::path mapped_file(const std::optional<std::filesystem::path>& folder) {
  static std::atomic<int> files{0};
  const auto base = folder ? *folder : std::filesystem::temp_directory_path();
  std::filesystem::create_directories(base);
  return base / fmt::format("features-{}-{}.dat", ::getpid(), files++);
}

}  // namespace

FeatureStore::~FeatureStore() {
  std::error_code ignored;
  if (!file_.empty() && !options_.folder) std::filesystem::remove(file_, ignored);
}

void FeatureStore::allocate(std::int64_t width) {
  if (!options_.mapped) {
    rows_ = at::empty({options_.capacity, width}, at::kFloat);
    return;
  }
  file_ = mapped_file(options_.folder);
  rows_ = at::from_file(file_.string(), /*shared=*/true, options_.capacity * width, at::kFloat)
              .view({options_.capacity, width});
}

void FeatureStore::add(const at::Tensor& features, const std::vector<std::int64_t>& classes,
                       const std::vector<std::vector<std::string>>& texts) {
  const at::Tensor batch =
      features.detach().to(at::kCPU, at::kFloat).reshape({features.size(0), -1}).contiguous();
  if (!rows_.defined()) allocate(batch.size(1));
  if (batch.size(1) != rows_.size(1))
    throw nexuml::Error("E853",
                        fmt::format("samples of {} numbers, and of {} before", batch.size(1), rows_.size(1)));
  for (std::int64_t i = 0; i < batch.size(0); ++i) {
    const std::int64_t label = classes.empty() ? -1 : classes[static_cast<std::size_t>(i)];
    const std::int64_t place = seen_ < options_.capacity ? seen_ : random_index(random_, seen_ + 1);
    ++seen_;
    if (place >= options_.capacity) continue;
    rows_[place].copy_(batch[i]);
    const auto position = static_cast<std::size_t>(place);
    if (place == size()) {
      classes_.emplace_back();
      texts_.emplace_back();
    }
    classes_[position] = label;
    texts_[position] = texts.empty() ? std::vector<std::string>{} : texts[static_cast<std::size_t>(i)];
  }
}

at::Tensor FeatureStore::features() const {
  return rows_.defined() ? rows_.narrow(0, 0, size()) : at::empty({0, 0}, at::kFloat);
}

}  // namespace nexuml_library
