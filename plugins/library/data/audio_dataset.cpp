#include "data/audio_dataset.h"

#include <fmt/format.h>
#include <nexuml/batch_rows.h>

namespace nexuml_library {

namespace {
constexpr std::size_t most_unusable_files = 20;
}

AudioDataset::AudioDataset(AudioClips clips, const nexuml::DataContext& context) : clips_(std::move(clips)) {
  nexuml::Diagnostics problems;
  std::optional<std::int64_t> channels;
  std::vector<std::filesystem::path> inspected = clips_.files;
  if (!clips_.inspect) inspected.resize(clips_.keep_channels && !inspected.empty() ? 1 : 0);
  for (const auto& file : inspected) {
    if (context.stop.stop_requested())
      throw nexuml::Error("E831", "looking through the audio files was stopped");
    if (problems.size() >= most_unusable_files) break;
    try {
      const AudioInfo info = inspect_audio(file);
      if (info.frames == 0 && context.advice)
        context.advice->warning("W831", "the audio file has no frames; it is read as silence",
                                nexuml::Where::in_file(file.string()));
      if (info.cut_off && context.advice)
        context.advice->warning("W831",
                                fmt::format("the audio file is cut off; its {} frames are read", info.frames),
                                nexuml::Where::in_file(file.string()));
      if (!channels) channels = info.channels;
      if (clips_.keep_channels && info.channels != *channels)
        problems.error("E831", fmt::format("{} channels; the files before have {}", info.channels, *channels),
                       nexuml::Where::in_file(file.string()));
    } catch (const nexuml::Error& error) {
      problems.append(error.diagnostics());
    }
  }
  if (problems.has_errors()) throw nexuml::Error(std::move(problems));
  if (clips_.keep_channels) channels_ = channels.value_or(1);
}

nexuml::Batch AudioDataset::gather(std::span<const std::int64_t> indices) const {
  const AudioShape shape{clips_.sample_rate, clips_.num_samples, !clips_.keep_channels};
  std::vector<std::int64_t> sizes{static_cast<std::int64_t>(indices.size()), clips_.num_samples};
  if (clips_.keep_channels) sizes.insert(sizes.begin() + 1, channels_);
  const at::Tensor waves = nexuml::empty_batch(sizes, at::kFloat);
  for (std::size_t i = 0; i < indices.size(); ++i)
    read_audio_into(clips_.files.at(static_cast<std::size_t>(indices[i])), shape,
                    waves.select(0, static_cast<std::int64_t>(i)));
  nexuml::Batch batch;
  batch.x.set(clips_.feature_key, waves);
  if (clips_.labels.empty()) return batch;
  batch.y.emplace();
  for (const auto& [key, tensor] : clips_.labels) batch.y->set(key, nexuml::gather_rows(tensor, indices));
  return batch;
}

nexuml::OrderedMap<nexuml::TensorSpec> AudioDataset::features() const {
  nexuml::Shape shape{clips_.num_samples};
  if (clips_.keep_channels) shape.insert(shape.begin(), channels_);
  return {{clips_.feature_key, {std::move(shape), nexuml::DType::float32}}};
}

nexuml::OrderedMap<nexuml::TensorSpec> AudioDataset::labels() const {
  nexuml::OrderedMap<nexuml::TensorSpec> specs;
  for (const auto& [key, tensor] : clips_.labels)
    specs[key] = {tensor.sizes().slice(1).vec(), nexuml::dtype_of(tensor.scalar_type())};
  return specs;
}

}  // namespace nexuml_library
