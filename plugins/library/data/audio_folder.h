// AudioFolder: a folder of audio files whose sub-folders are the classes.
//
//     root/siren/a.wav  root/siren/b.wav  root/engine/c.wav             -> label 0 = engine, 1 = siren
//     root/train/siren/a.wav  root/test/siren/b.wav                     -> with the splits train and test
#pragma once

#include <nexuml/definition.h>

#include <cstdint>
#include <memory>
#include <string>

namespace nexuml_library {

// Shape: waveform [channels, samples] in [-1, 1].
struct AudioFolder {
  std::string root;
  std::int64_t sample_rate = 16000;
  std::int64_t num_samples = 16000;
  bool keep_channels = false;
  std::string feature_key = "waveform";
  std::string label_key = "label";

  static void describe(nexuml::Schema<AudioFolder>& s);
  nexuml::DataDeclaration declare() const;
  std::shared_ptr<nexuml::Dataset> build(const nexuml::DataContext& context) const;
};

}  // namespace nexuml_library
