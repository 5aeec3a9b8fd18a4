#include "data/dcase_task2.h"

#include <ATen/ops/tensor.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

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

constexpr const char* waveform_key = "waveform";
constexpr std::int64_t unpublished = -1;

// What both sources have in common.
struct Task2Clips {
  fs::path folder;  // of the machine
  std::string dataset_name, machine_type, section_keyword;
  std::vector<std::string> section_ids;
  DcaseDataType data_type;
  bool train;
  std::int64_t sample_rate;
  std::optional<std::int64_t> clip_num_samples;
  std::string machine;  // in the metadata
  std::int64_t machine_number;
  bool keep_channels, download, hides_labels;
  std::optional<fs::path> attributes;
};

const char* type_name(DcaseDataType type) {
  return type == DcaseDataType::dev ? "dev" : "eval";
}

template <class Source>
Task2Clips clips_of(const Source& source, const nexuml::DataContext& context) {
  const std::string machine =
      fmt::format("{}:{}:{}", source.dataset_name, type_name(source.data_type), source.machine_type);
  std::int64_t number = source.machine_id.value_or(0);
  if (!source.machine_id && source.machine_types) {
    const auto& all = *source.machine_types;
    const auto found = std::find_if(all.begin(), all.end(), [&](const std::string& name) {
      return name == machine || name == source.machine_type;
    });
    if (found == all.end())
      throw nexuml::Error("E831", fmt::format("machine_types does not list the machine '{}'", machine), {},
                          nexuml::did_you_mean(machine, all));
    number = std::distance(all.begin(), found);
  }
  return {.folder = context.resolve(source.root.value_or(source.data_root)) / source.dataset_name /
                    fmt::format("{}_data", type_name(source.data_type)) / "raw" / source.machine_type,
          .dataset_name = source.dataset_name,
          .machine_type = source.machine_type,
          .section_keyword = source.section_keyword,
          .section_ids = source.section_ids,
          .data_type = source.data_type,
          .train = source.train,
          .sample_rate = source.sample_rate,
          .clip_num_samples = source.clip_num_samples,
          .machine = source.machine_label.value_or(machine),
          .machine_number = number,
          .keep_channels = source.keep_channels,
          .download = source.download,
          .hides_labels = false,
          .attributes = std::nullopt};
}

[[noreturn]] void refuse_missing(const Task2Clips& clips, const std::vector<std::string>& folders) {
  const std::string year = clips.dataset_name.substr(0, std::min<std::size_t>(9, clips.dataset_name.size()));
  throw nexuml::Error(
      "E831",
      fmt::format("{} has no {} clips of {}: no *.wav with {}_{{{}}} in its name lies in {}",
                  clips.dataset_name, clips.train ? "training" : "test", clips.machine_type,
                  clips.section_keyword, fmt::join(clips.section_ids, ","), fmt::join(folders, ", ")),
      nexuml::Where::in_file(clips.folder.string()),
      fmt::format(
          "{}get the {} set of '{} Challenge Task 2' from https://zenodo.org and unpack {}.zip of it so that "
          "{} exists; relative paths are read from NEXUML_DATA_ROOT or the folder of the scenario file",
          clips.download ? "nothing is downloaded by this version: " : "",
          clips.data_type == DcaseDataType::dev ? "development" : "evaluation", year, clips.machine_type,
          (clips.folder / folders.front()).string()));
}

// The section that a file name names: `section_03_...`, `normal_id_03_...`.
std::optional<std::string> section_of(const std::string& name, const Task2Clips& clips) {
  for (const std::string& id : clips.section_ids) {
    const std::string wanted = clips.section_keyword + "_" + id;
    const std::size_t at = name.find(wanted);
    const std::size_t after = at + wanted.size();
    if (at != std::string::npos &&
        (after == name.size() || !std::isdigit(static_cast<unsigned char>(name[after]))))
      return id;
  }
  return std::nullopt;
}

std::vector<fs::path> find_clips(const Task2Clips& clips) {
  const std::vector<std::string> folders =
      clips.train ? std::vector<std::string>{"train"}
                  : std::vector<std::string>{"test", "test_rename", "source_test", "target_test"};
  std::vector<fs::path> found;
  for (const std::string& name : folders) {
    std::error_code missing;
    for (const auto& entry : fs::directory_iterator(clips.folder / name, missing)) {
      std::string ending = entry.path().extension().string();
      std::transform(ending.begin(), ending.end(), ending.begin(),
                     [](unsigned char c) { return std::tolower(c); });
      if (ending == ".wav" && section_of(entry.path().stem().string(), clips)) found.push_back(entry.path());
    }
  }
  if (found.empty()) refuse_missing(clips, folders);
  std::sort(found.begin(), found.end());
  return found;
}

// Columns of the attributes, one cell a clip; clips without a row have empty cells.
void add_attributes(const fs::path& file, const std::vector<fs::path>& clips,
                    nexuml::TensorDatasetInfo& info) {
  const LabelTable table = read_label_table(file);
  const std::size_t name_column = table.require({"file_name", "filename", "basename", "file"});
  std::map<std::string, std::size_t> rows;
  for (std::size_t i = 0; i < table.rows.size(); ++i)
    rows.emplace(fs::path(table.rows[i][name_column]).filename().string(), i);
  for (std::size_t column = 0; column < table.columns.size(); ++column) {
    if (column == name_column || info.metadata.contains(table.columns[column])) continue;
    std::vector<std::string> cells;
    for (const fs::path& clip : clips) {
      const auto row = rows.find(clip.filename().string());
      cells.push_back(row == rows.end() ? std::string() : table.rows[row->second][column]);
    }
    info.metadata[table.columns[column]] = std::move(cells);
  }
}

std::shared_ptr<nexuml::Dataset> open_clips(const Task2Clips& clips, const nexuml::DataContext& context) {
  AudioClips audio{.files = find_clips(clips),
                   .sample_rate = clips.sample_rate,
                   .num_samples = clips.clip_num_samples.value_or(clips.sample_rate * 10),
                   .keep_channels = clips.keep_channels,
                   .feature_key = waveform_key};
  const auto count = static_cast<std::int64_t>(audio.files.size());
  std::vector<std::int64_t> anomalous, target, sections;
  std::vector<std::string> domains, section_texts, basenames;
  for (const fs::path& file : audio.files) {
    const std::string name = file.stem().string();
    const bool in_target =
        name.find("target") != std::string::npos || file.parent_path().filename() == "target_test";
    const bool published = clips.train || !clips.hides_labels;
    anomalous.push_back(published ? (name.find("anomaly") != std::string::npos ? 1 : 0) : unpublished);
    target.push_back(in_target ? 1 : 0);
    domains.emplace_back(in_target ? "target" : "source");
    section_texts.push_back(section_of(name, clips).value());
    sections.push_back(std::stoll(section_texts.back()));
    basenames.push_back(file.filename().string());
  }
  const at::Tensor y_true = at::tensor(anomalous, at::kLong);
  audio.labels.set("y_true", y_true);
  audio.labels.set("machine", at::full({count}, clips.machine_number, at::kLong));
  audio.labels.set("target", at::tensor(target, at::kLong));
  audio.labels.set("section", at::tensor(sections, at::kLong));
  nexuml::TensorDatasetInfo& info = audio.info;
  info.num_classes = {{"y_true", 2}, {"target", 2}};
  info.class_names = {{"y_true", {"normal", "anomaly"}}, {"target", {"source", "target"}}};
  info.splits.assign(audio.files.size(), clips.train ? "fit" : "test");
  info.metadata["machine"] = std::vector<std::string>(audio.files.size(), clips.machine);
  info.metadata["target"] = domains;
  info.metadata["domain"] = std::move(domains);
  info.metadata["section"] = std::move(section_texts);
  // What is not published is no number, so that merged labels leave it out.
  info.metadata["y_true"] = y_true.to(at::kDouble).masked_fill(y_true.eq(unpublished), std::nan(""));
  info.metadata["basename"] = std::move(basenames);
  if (clips.attributes) add_attributes(*clips.attributes, audio.files, info);
  return std::make_shared<AudioDataset>(std::move(audio), context);
}

nexuml::DataDeclaration clips_declaration(std::optional<std::int64_t> length, std::int64_t rate,
                                          bool keep_channels) {
  nexuml::Shape shape{length.value_or(rate * 10)};
  if (keep_channels) shape.insert(shape.begin(), nexuml::unknown_size);
  nexuml::DataDeclaration declared;
  declared.features[waveform_key] = {std::move(shape), nexuml::DType::float32};
  for (const char* label : {"y_true", "machine", "target", "section"})
    declared.labels[label] = {{}, nexuml::DType::int64};
  declared.num_classes = {{"y_true", 2}, {"target", 2}};
  return declared;
}

template <class Source>
void describe_clips(nexuml::Schema<Source>& s) {
  s.field("root", &Source::root).doc("Folder of the data sets; null for data_root.");
  s.field("data_root", &Source::data_root).doc("Folder of the data sets; relative to the data root.");
  s.field("dataset_name", &Source::dataset_name).doc("Folder of one year, such as DCASE2024T2.");
  s.field("machine_type", &Source::machine_type).doc("Folder of one machine.");
  s.field("section_keyword", &Source::section_keyword)
      .doc("What stands before the section in a file name: section, in 2020 id.");
  s.field("section_ids", &Source::section_ids).doc("Sections that are read.").min_size(1);
  s.field("data_type", &Source::data_type).doc("dev_data or eval_data.");
  s.field("train", &Source::train).doc("The training clips, else the test clips.");
  s.field("sample_rate", &Source::sample_rate)
      .doc("In Hz; clips of another rate are resampled.")
      .at_least(1000);
  s.field("clip_num_samples", &Source::clip_num_samples)
      .doc("Length of every clip, cut or filled with silence; null for ten seconds.")
      .at_least(1);
  s.field("machine_types", &Source::machine_types)
      .doc("All machines; the place of this one is its number in the label machine.");
  s.field("machine_id", &Source::machine_id).doc("The number itself.");
  s.field("machine_label", &Source::machine_label)
      .doc("Name in the metadata; null for dataset_name:data_type:machine_type.");
  s.field("download", &Source::download).doc("Accepted; this version downloads nothing.");
  s.field("download_manifest", &Source::download_manifest).doc("Accepted; has no effect.");
}

}  // namespace

void DCASET2Dataset::describe(nexuml::Schema<DCASET2Dataset>& s) {
  s.summary(
      "Clips of one machine of DCASE challenge task 2: waveform, labels y_true, machine, target and "
      "section.\n"
      "shape: waveform [clip_num_samples], or [channels, clip_num_samples]; labels [] int64");
  describe_clips(s);
  s.field("keep_channels", &DCASET2Dataset::keep_channels)
      .doc("Keep the channels instead of their mean.")
      .written_when_set();
}
nexuml::DataDeclaration DCASET2Dataset::declare() const {
  return clips_declaration(clip_num_samples, sample_rate, keep_channels);
}
std::shared_ptr<nexuml::Dataset> DCASET2Dataset::build(const nexuml::DataContext& context) const {
  return open_clips(clips_of(*this, context), context);
}

void DCASE2026T2Dataset::describe(nexuml::Schema<DCASE2026T2Dataset>& s) {
  s.summary(
      "Clips of one machine of DCASE 2026 task 2, with its attributes; test clips of the evaluation set have "
      "no "
      "label: y_true is -1 there.\n"
      "shape: waveform [clip_num_samples], or [channels, clip_num_samples]; labels [] int64");
  describe_clips(s);
  s.field("attributes_csv", &DCASE2026T2Dataset::attributes_csv)
      .doc("Table with a column file_name; its other columns become metadata. Relative to the data root.");
  s.field("keep_channels", &DCASE2026T2Dataset::keep_channels)
      .doc("Keep the channels instead of their mean.")
      .written_when_set();
}
nexuml::DataDeclaration DCASE2026T2Dataset::declare() const {
  return clips_declaration(clip_num_samples, sample_rate, keep_channels);
}
std::shared_ptr<nexuml::Dataset> DCASE2026T2Dataset::build(const nexuml::DataContext& context) const {
  Task2Clips clips = clips_of(*this, context);
  clips.hides_labels = data_type == DcaseDataType::eval;
  if (attributes_csv) clips.attributes = context.resolve(*attributes_csv);
  return open_clips(clips, context);
}

}  // namespace nexuml_library
