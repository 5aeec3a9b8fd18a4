// EventFile: numbers, histograms, images and texts of a run as TensorBoard reads them.
//
//     EventFile events(folder);                       // <folder>/events.out.tfevents.<time>.nexuml
//     events.scalar("train/loss", 0.5, step);
//     events.histogram("weights/fc", values, step);
//     events.image("latent", png_bytes, 640, 480, step);
//     events.text("scenario", "name: demo", step);
//
// Each call appends whole records, so a file that was cut off is readable up to the cut. Throws Error E849.
#pragma once

#include <nexuml/export.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <span>
#include <string>
#include <string_view>

namespace nexuml {

// CRC-32C (Castagnoli), of which the records hold a masked form.
NEXUML_EXPORT std::uint32_t crc32c(std::string_view bytes) noexcept;

class NEXUML_EXPORT EventFile {
 public:
  explicit EventFile(const std::filesystem::path& folder);

  void scalar(const std::string& tag, double value, std::int64_t step);
  // 30 bins of equal width; values that are not finite are left out.
  void histogram(const std::string& tag, std::span<const float> values, std::int64_t step);
  void image(const std::string& tag, std::string_view png, std::int64_t width, std::int64_t height,
             std::int64_t step);
  void text(const std::string& tag, std::string_view markdown, std::int64_t step);

  const std::filesystem::path& path() const noexcept { return path_; }

 private:
  void add_summary(const std::string& value, std::int64_t step);
  void write_record(const std::string& event);

  std::filesystem::path path_;
  std::ofstream file_;
};

}  // namespace nexuml
