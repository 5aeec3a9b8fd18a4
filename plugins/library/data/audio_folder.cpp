#include "data/audio_folder.h"

#include "data/audio_dataset.h"
#include "data/class_folders.h"

namespace nexuml_library {

void AudioFolder::describe(nexuml::Schema<AudioFolder>& s) {
  s.summary(
      "Audio files in one folder a class, below one folder a split where there are any; resampled, cut or "
      "filled "
      "with silence to one length.\nshape: waveform [num_samples], or [channels, num_samples]; label [] "
      "int64");
  s.field("root", &AudioFolder::root).doc("The folder; relative to the data root.").required();
  s.field("sample_rate", &AudioFolder::sample_rate)
      .doc("In Hz; files of another rate are resampled.")
      .at_least(1000);
  s.field("num_samples", &AudioFolder::num_samples).doc("Length of every clip.").at_least(1);
  s.field("keep_channels", &AudioFolder::keep_channels).doc("Keep the channels instead of their mean.");
  s.field("feature_key", &AudioFolder::feature_key).doc("Key of the samples.");
  s.field("label_key", &AudioFolder::label_key).doc("Key of the class.");
}

nexuml::DataDeclaration AudioFolder::declare() const {
  nexuml::Shape shape{num_samples};
  if (keep_channels) shape.insert(shape.begin(), nexuml::unknown_size);
  return {.features = {{feature_key, {std::move(shape), nexuml::DType::float32}}},
          .labels = {{label_key, {{}, nexuml::DType::int64}}}};
}

std::shared_ptr<nexuml::Dataset> AudioFolder::build(const nexuml::DataContext& context) const {
  ClassFolders found =
      find_class_folders(context.resolve(root), {".wav", ".flac", ".aiff", ".aif", ".au", ".ogg"},
                         "audio_folder", context.advice);
  AudioClips clips{.files = std::move(found.files),
                   .sample_rate = sample_rate,
                   .num_samples = num_samples,
                   .keep_channels = keep_channels,
                   .feature_key = feature_key};
  clips.labels.set(label_key, at::tensor(at::ArrayRef<std::int64_t>(found.classes), at::kLong));
  clips.info.num_classes[label_key] = static_cast<std::int64_t>(found.class_names.size());
  clips.info.class_names[label_key] = std::move(found.class_names);
  clips.info.splits = std::move(found.splits);
  return std::make_shared<AudioDataset>(std::move(clips), context);
}

}  // namespace nexuml_library
