// AudioDataset: audio files of one length, decoded when a batch needs them.
#pragma once

#include <nexuml/data.h>

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "data/audio_file.h"

namespace nexuml_library {

struct AudioClips {
  std::vector<std::filesystem::path> files;
  std::int64_t sample_rate = 16000;   // Hz
  std::int64_t num_samples = 160000;  // of every clip
  bool keep_channels = false;         // [channels, num_samples] instead of [num_samples]
  std::string feature_key = "waveform";
  bool inspect = true;        // read the header of every file when the data is opened
  nexuml::TensorDict labels;  // [files, ...] each
  nexuml::TensorDatasetInfo info;
};

class AudioDataset final : public nexuml::Dataset {
 public:
  // Reads the header of every file, where that is asked for. Throws nexuml::Error E831 naming all that cannot
  // be used; files without a single frame become silence and are named in `advice`.
  AudioDataset(AudioClips clips, const nexuml::DataContext& context);

  std::int64_t size() const override { return static_cast<std::int64_t>(clips_.files.size()); }
  nexuml::Batch gather(std::span<const std::int64_t> indices) const override;
  nexuml::OrderedMap<nexuml::TensorSpec> features() const override;
  nexuml::OrderedMap<nexuml::TensorSpec> labels() const override;
  nexuml::OrderedMap<std::int64_t> num_classes() const override { return clips_.info.num_classes; }
  nexuml::OrderedMap<std::vector<std::string>> class_names() const override {
    return clips_.info.class_names;
  }
  std::vector<std::string> splits() const override { return clips_.info.splits; }
  nexuml::OrderedMap<nexuml::MetadataColumn> metadata() const override { return clips_.info.metadata; }
  std::vector<std::filesystem::path> files() const override { return clips_.files; }

 private:
  AudioClips clips_;
  std::int64_t channels_ = 1;
};

}  // namespace nexuml_library
