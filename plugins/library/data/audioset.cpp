#include "data/audioset.h"

#include <ATen/ops/stack.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/zeros.h>
#include <fmt/format.h>
#include <nexuml/batch_rows.h>
#include <nexuml/tensor_io.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <map>
#include <system_error>

#include "data/audio_dataset.h"
#include "data/label_table.h"

namespace nexuml_library {

namespace {

namespace fs = std::filesystem;

constexpr const char* class_key = "class";
constexpr const char* logits_key = "class_logits";

// Letters and digits alone, in lower case: what survives of a label in a file name.
std::string label_word(std::string_view text) {
  std::string word;
  for (const char c : text)
    if (std::isalnum(static_cast<unsigned char>(c)) != 0)
      word += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return word;
}

struct LabelIndex {
  std::vector<std::string> names;             // by class
  std::map<std::string, std::int64_t> words;  // of names and of machine ids

  const std::int64_t* find(std::string_view text) const {
    const auto found = words.find(label_word(text));
    return found == words.end() ? nullptr : &found->second;
  }
};

LabelIndex read_index(const fs::path& meta_dir) {
  const fs::path file = meta_dir / "class_labels_indices.csv";
  if (!fs::is_regular_file(file))
    throw nexuml::Error("E831", "the classes of AudioSet are not there: class_labels_indices.csv is missing",
                        nexuml::Where::in_file(file.string()),
                        "get it from http://storage.googleapis.com/us_audioset/youtube_corpus/v1/csv/"
                        "class_labels_indices.csv and put it into meta_dir");
  const LabelTable table = read_label_table(file);
  const std::size_t mid = table.require({"mid"}), name = table.require({"display_name"});
  LabelIndex index;
  for (const auto& row : table.rows) {
    const auto number = static_cast<std::int64_t>(index.names.size());
    index.names.push_back(row[name]);
    index.words.emplace(label_word(row[name]), number);
    index.words.emplace(label_word(row[mid]), number);
  }
  return index;
}

std::vector<std::string> parted(std::string_view text, char separator) {
  std::vector<std::string> parts(1);
  for (const char c : text) {
    if (c == separator)
      parts.emplace_back();
    else
      parts.back() += c;
  }
  return parts;
}

// Names hold commas themselves ("Child speech, kid speaking"): the longest run of parts that is a class
// counts.
std::vector<std::int64_t> classes_in(std::string_view labels, const LabelIndex& index) {
  std::vector<std::int64_t> classes;
  for (const std::string& group : parted(labels, ';')) {
    const std::vector<std::string> parts = parted(group, ',');
    for (std::size_t begin = 0; begin < parts.size();) {
      std::size_t end = parts.size();
      const std::int64_t* found = nullptr;
      for (; end > begin && !found; --end) {
        std::string run;
        for (std::size_t i = begin; i < end; ++i) run += parts[i];
        found = index.find(run);
        if (found) break;
      }
      if (found && std::find(classes.begin(), classes.end(), *found) == classes.end())
        classes.push_back(*found);
      begin = found ? end : begin + 1;
    }
  }
  return classes;
}

struct Clip {
  fs::path file;
  std::string labels;
};

// What follows the id of eleven characters and two underscores.
std::string labels_of(const fs::path& file) {
  const std::string stem = file.stem().string();
  constexpr std::size_t id_length = 11;
  std::size_t at = stem.find("__", std::min(id_length, stem.size()));
  if (at == std::string::npos) at = stem.find("__");
  return at == std::string::npos ? std::string() : stem.substr(at + 2);
}

bool is_clip(const fs::path& file) {
  const std::string ending = file.extension().string();
  return ending == ".wav" || ending == ".npy" || ending == ".flac";
}

std::vector<Clip> clips_of_table(const fs::path& file, const fs::path& data_dir,
                                 const nexuml::DataContext& context) {
  const LabelTable table = read_label_table(file);
  const std::size_t path = table.require({"file", "path", "filename"});
  const auto labels = table.find({"labels", "class", "positive_labels"});
  std::vector<Clip> clips;
  std::size_t missing = 0;
  for (const auto& row : table.rows) {
    const auto found = rerooted(row[path], file, {data_dir});
    if (found)
      clips.push_back({*found, labels ? row[*labels] : labels_of(*found)});
    else
      ++missing;
  }
  if (missing > 0 && context.advice)
    context.advice->warning(
        "W831",
        fmt::format("{} of {} clips of the table are not there and are left out", missing, table.rows.size()),
        nexuml::Where::in_file(file.string()));
  return clips;
}

std::vector<Clip> clips_of_folder(const fs::path& data_dir) {
  std::vector<Clip> clips;
  std::error_code missing;
  for (const auto& entry : fs::recursive_directory_iterator(data_dir, missing))
    if (entry.is_regular_file() && is_clip(entry.path()))
      clips.push_back({entry.path(), labels_of(entry.path())});
  std::sort(clips.begin(), clips.end(),
            [](const Clip& left, const Clip& right) { return left.file < right.file; });
  return clips;
}

// Features that were computed before: one NPY file a clip.
class NpyClips final : public nexuml::Dataset {
 public:
  NpyClips(std::vector<fs::path> files, nexuml::TensorDict labels, nexuml::TensorDatasetInfo info,
           std::string key)
      : files_(std::move(files)), labels_(std::move(labels)), info_(std::move(info)), key_(std::move(key)) {
    const nexuml::TensorInfo first = nexuml::inspect_npy(files_.front().string());
    spec_ = {first.shape, nexuml::dtype_of(first.dtype)};
  }
  std::int64_t size() const override { return static_cast<std::int64_t>(files_.size()); }
  nexuml::Batch gather(std::span<const std::int64_t> indices) const override {
    std::vector<at::Tensor> samples;
    for (const std::int64_t index : indices) {
      const fs::path& file = files_.at(static_cast<std::size_t>(index));
      samples.push_back(nexuml::read_npy(file.string()));
      if (samples.back().sizes().vec() != spec_.shape ||
          nexuml::dtype_of(samples.back().scalar_type()) != spec_.dtype)
        throw nexuml::Error(
            "E831",
            fmt::format("the file holds another shape or dtype than the first, {}", nexuml::to_string(spec_)),
            nexuml::Where::in_file(file.string()));
    }
    nexuml::Batch batch;
    batch.x.set(key_, at::stack(samples));
    batch.y.emplace();
    for (const auto& [key, tensor] : labels_) batch.y->set(key, nexuml::gather_rows(tensor, indices));
    return batch;
  }
  nexuml::OrderedMap<nexuml::TensorSpec> features() const override { return {{key_, spec_}}; }
  nexuml::OrderedMap<nexuml::TensorSpec> labels() const override {
    nexuml::OrderedMap<nexuml::TensorSpec> specs;
    for (const auto& [key, tensor] : labels_)
      specs[key] = {tensor.sizes().slice(1).vec(), nexuml::dtype_of(tensor.scalar_type())};
    return specs;
  }
  nexuml::OrderedMap<std::int64_t> num_classes() const override { return info_.num_classes; }
  nexuml::OrderedMap<std::vector<std::string>> class_names() const override { return info_.class_names; }
  nexuml::OrderedMap<nexuml::MetadataColumn> metadata() const override { return info_.metadata; }
  std::vector<fs::path> files() const override { return files_; }

 private:
  const std::vector<fs::path> files_;
  const nexuml::TensorDict labels_;
  const nexuml::TensorDatasetInfo info_;
  const std::string key_;
  nexuml::TensorSpec spec_;
};

}  // namespace

void AudiosetDataset::describe(nexuml::Schema<AudiosetDataset>& s) {
  s.summary(
      "Clips of AudioSet with all their labels.\n"
      "shape: waveform [len_seconds * sample_rate]; class [] int64, class_logits [classes] float32");
  s.field("data_dir", &AudiosetDataset::data_dir).doc("Folder of the clips; relative to the data root.");
  s.field("meta_dir", &AudiosetDataset::meta_dir)
      .doc("Folder of class_labels_indices.csv and, where there is one, of the table of the clips.");
  s.field("perform_checks", &AudiosetDataset::perform_checks)
      .doc(
          "Read the header of every file before training; else an unreadable file ends the run when it "
          "comes.");
  s.field("len_seconds", &AudiosetDataset::len_seconds)
      .doc("Length of every clip, cut or filled with silence.")
      .greater_than(0);
  s.field("sample_rate", &AudiosetDataset::sample_rate)
      .doc("In Hz; clips of another rate are resampled.")
      .at_least(1000);
}

nexuml::DataDeclaration AudiosetDataset::declare() const {
  nexuml::DataDeclaration declared;
  declared.labels[class_key] = {{}, nexuml::DType::int64};
  declared.labels[logits_key] = {{nexuml::unknown_size}, nexuml::DType::float32};
  declared.complete = false;  // waveform or features: the files say
  return declared;
}

std::shared_ptr<nexuml::Dataset> AudiosetDataset::build(const nexuml::DataContext& context) const {
  const fs::path folder = context.resolve(data_dir).lexically_normal(), meta = context.resolve(meta_dir);
  const LabelIndex index = read_index(meta);
  fs::path named = folder;
  if (!named.has_filename()) named = named.parent_path();
  const fs::path table = meta / (named.filename().string() + "_meta.csv");
  const std::vector<Clip> clips =
      fs::is_regular_file(table) ? clips_of_table(table, folder, context) : clips_of_folder(folder);
  if (clips.empty())
    throw nexuml::Error(
        "E831",
        fmt::format("AudioSet has no clips here: {} names none that exists, and no <id>__<labels>.wav "
                    "or .npy lies in {}",
                    table.string(), folder.string()),
        nexuml::Where::in_file(folder.string()),
        "get AudioSet as audio files (research.google.com/audioset says which clips it has) and name "
        "each <id>__<labels>.wav; relative paths are read from NEXUML_DATA_ROOT or the folder of the "
        "scenario file");
  std::vector<fs::path> files;
  std::vector<std::int64_t> first;
  at::Tensor logits =
      at::zeros({static_cast<std::int64_t>(clips.size()), static_cast<std::int64_t>(index.names.size())});
  for (std::size_t i = 0; i < clips.size(); ++i) {
    const std::vector<std::int64_t> classes = classes_in(clips[i].labels, index);
    if (classes.empty())
      throw nexuml::Error(
          "E831", fmt::format("'{}' is no label of class_labels_indices.csv", clips[i].labels),
          nexuml::Where::in_file(clips[i].file.string()),
          "name the file <id>__<labels>, with the display names or machine ids of the classes");
    files.push_back(clips[i].file);
    first.push_back(*std::min_element(classes.begin(), classes.end()));
    for (const std::int64_t number : classes) logits[static_cast<std::int64_t>(i)][number] = 1;
  }
  nexuml::TensorDict labels{{class_key, at::tensor(first, at::kLong)}, {logits_key, logits}};
  nexuml::TensorDatasetInfo info;
  const auto count = static_cast<std::int64_t>(index.names.size());
  info.num_classes = {{class_key, count}, {logits_key, count}};
  info.class_names = {{class_key, index.names}, {logits_key, index.names}};
  if (files.front().extension() == ".npy")
    return std::make_shared<NpyClips>(std::move(files), std::move(labels), std::move(info), "features");
  AudioClips audio{
      .files = std::move(files),
      .sample_rate = sample_rate,
      .num_samples = std::max<std::int64_t>(1, std::llround(len_seconds * static_cast<double>(sample_rate))),
      .inspect = perform_checks,
      .labels = std::move(labels),
      .info = std::move(info)};
  return std::make_shared<AudioDataset>(std::move(audio), context);
}

}  // namespace nexuml_library
