// AudioSet (Gemmeke et al., 2017): clips whose file names carry their labels.
//
//     DatasetSpec{.source = AudiosetDataset{.data_dir = "audioset/bal_train", .meta_dir =
//     "audioset/metadata"}}
//
//     <data_dir>/<id>__<labels>.wav       labels are names or machine ids, with ";" or "," between
//     <meta_dir>/class_labels_indices.csv index,mid,display_name
//     <meta_dir>/<data_dir name>_meta.csv file[,labels], optional: the clips that are read and their labels
//
// Features: waveform [len_seconds * sample_rate], the mean of the channels; or, for .npy files, features as
// they are. Labels: class, int64 [], the first of a clip, and class_logits, float32 [classes], 1 for each of
// them.
#pragma once

#include <nexuml/definition.h>

#include <cstdint>
#include <memory>
#include <string>

namespace nexuml_library {

// Shape: waveform [1, len_seconds sample_rate], or features as the NPY file has them; class [],
// class_logits [527].
// Source: Gemmeke et al., Audio Set: An ontology and human-labeled dataset for audio events, 2017
struct AudiosetDataset {
  std::string data_dir = "audioset";
  std::string meta_dir = "audioset/metadata";
  bool perform_checks = true;
  double len_seconds = 5;
  std::int64_t sample_rate = 16000;

  static void describe(nexuml::Schema<AudiosetDataset>& s);
  nexuml::DataDeclaration declare() const;
  std::shared_ptr<nexuml::Dataset> build(const nexuml::DataContext& context) const;
};

}  // namespace nexuml_library
