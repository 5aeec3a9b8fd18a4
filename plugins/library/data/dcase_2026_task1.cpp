#include <ATen/CPUGeneratorImpl.h>
#include <ATen/ops/from_blob.h>
#include <ATen/ops/randperm.h>
#include <ATen/ops/stack.h>
#include <ATen/ops/tensor.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nexuml/tensor_io.h>

#include <algorithm>
#include <charconv>
#include <map>

#include "data/audio_dataset.h"
#include "data/dcase_2026.h"
#include "data/download.h"
#include "data/found_file.h"
#include "data/label_table.h"

namespace nexuml_library {

namespace {

namespace fs = std::filesystem;

constexpr std::int64_t fold_count = 5;
constexpr const char* embedding_key = "clap_embedding";

// Clips with an embedding beside the sound.
class EmbeddedClips final : public nexuml::Dataset {
 public:
  EmbeddedClips(std::shared_ptr<const nexuml::Dataset> clips, std::vector<fs::path> embeddings)
      : clips_(std::move(clips)), embeddings_(std::move(embeddings)) {
    const nexuml::TensorInfo first = nexuml::inspect_npy(embeddings_.front().string());
    spec_ = {first.shape, nexuml::DType::float32};
  }
  std::int64_t size() const override { return clips_->size(); }
  nexuml::Batch gather(std::span<const std::int64_t> indices) const override {
    nexuml::Batch batch = clips_->gather(indices);
    std::vector<at::Tensor> rows;
    for (const std::int64_t index : indices) {
      const fs::path& file = embeddings_.at(static_cast<std::size_t>(index));
      rows.push_back(nexuml::read_npy(file.string()).to(at::kFloat));
      if (rows.back().sizes().vec() != spec_.shape)
        throw nexuml::Error(
            "E831",
            fmt::format("an embedding of another shape than the first, {}", nexuml::to_string(spec_.shape)),
            nexuml::Where::in_file(file.string()));
    }
    batch.x.set(embedding_key, at::stack(rows));
    return batch;
  }
  nexuml::OrderedMap<nexuml::TensorSpec> features() const override {
    auto specs = clips_->features();
    specs[embedding_key] = spec_;
    return specs;
  }
  nexuml::OrderedMap<nexuml::TensorSpec> labels() const override { return clips_->labels(); }
  nexuml::OrderedMap<std::int64_t> num_classes() const override { return clips_->num_classes(); }
  nexuml::OrderedMap<std::vector<std::string>> class_names() const override { return clips_->class_names(); }
  std::vector<std::string> splits() const override { return clips_->splits(); }
  nexuml::OrderedMap<nexuml::MetadataColumn> metadata() const override { return clips_->metadata(); }
  std::vector<fs::path> files() const override {
    auto all = clips_->files();
    all.insert(all.end(), embeddings_.begin(), embeddings_.end());
    return all;
  }

 private:
  const std::shared_ptr<const nexuml::Dataset> clips_;
  const std::vector<fs::path> embeddings_;
  nexuml::TensorSpec spec_;
};

// Texts as class numbers in sorted order.
at::Tensor numbered(const std::vector<std::string>& texts, const std::string& label,
                    nexuml::TensorDatasetInfo& info) {
  std::map<std::string, std::int64_t> numbers;
  for (const std::string& text : texts) numbers.emplace(text, 0);
  std::vector<std::string> names;
  for (auto& [text, number] : numbers) {
    number = static_cast<std::int64_t>(names.size());
    names.push_back(text);
  }
  std::vector<std::int64_t> classes;
  for (const std::string& text : texts) classes.push_back(numbers.at(text));
  info.num_classes[label] = static_cast<std::int64_t>(names.size());
  info.class_names[label] = std::move(names);
  return at::tensor(classes, at::kLong);
}

// Texts as the class numbers that the table gives them.
at::Tensor numbered_by_table(const std::vector<std::string>& texts, const std::vector<std::int64_t>& numbers,
                             const std::string& label, nexuml::TensorDatasetInfo& info) {
  const std::int64_t count = *std::max_element(numbers.begin(), numbers.end()) + 1;
  std::vector<std::string> names(static_cast<std::size_t>(count));
  for (std::size_t i = 0; i < texts.size(); ++i) names[static_cast<std::size_t>(numbers[i])] = texts[i];
  info.num_classes[label] = count;
  info.class_names[label] = std::move(names);
  return at::tensor(numbers, at::kLong);
}

struct SoundRow {
  std::string id, top, second;
  std::int64_t number = -1;  // of the class of the second level, where the table has class_idx
  double confidence = 1;
  fs::path file;
};

// A number in a cell of the table; nothing of it may be left over.
template <class Number>
Number cell_number(const std::string& cell, const fs::path& table, std::size_t row, Number lowest) {
  Number number{};
  const char* end = cell.data() + cell.size();
  const auto read = std::from_chars(cell.data(), end, number);
  if (read.ptr != end || read.ec != std::errc{} || !(number >= lowest))
    throw nexuml::Error("E833", fmt::format("'{}' in row {} is no number from {} on", cell, row + 1, lowest),
                        nexuml::Where::in_file(table.string()));
  return number;
}

// Where the published archives of BSD10k and BSD35k-CS unpack their tables to, and where people put them.
const std::vector<std::string>& table_places() {
  static const std::vector<std::string> places{"metadata.csv", "metadata/BSD10k_metadata.csv",
                                               "BSD10k_metadata.csv", "metadata/BSD35k-CS_metadata.csv",
                                               "BSD35k-CS_metadata.csv"};
  return places;
}

std::vector<SoundRow> read_sounds(const fs::path& root, const fs::path& table_file,
                                  const nexuml::DataContext& context) {
  const LabelTable table = read_label_table(table_file);
  const std::size_t name = table.require({"sound_id", "file", "filename", "id"});
  const auto joined = table.find({"class", "class_idx_name"});
  const auto top = table.find({"class_top", "top"});
  const auto second =
      joined && !top ? joined : std::optional(table.require({"class_second", "second", "class"}));
  const auto confidence = table.find({"confidence"});
  const auto number = table.find({"class_idx"});
  std::vector<SoundRow> sounds;
  std::size_t missing = 0;
  for (std::size_t i = 0; i < table.rows.size(); ++i) {
    const auto& cells = table.rows[i];
    SoundRow row{
        .id = fs::path(cells[name]).stem().string(), .top = {}, .second = cells[*second], .file = {}};
    row.top = top ? cells[*top] : row.second.substr(0, row.second.find('-'));
    if (confidence) row.confidence = cell_number<double>(cells[*confidence], table_file, i, 0);
    if (number) row.number = cell_number<std::int64_t>(cells[*number], table_file, i, 0);
    std::string file = cells[name];
    if (fs::path(file).extension().empty()) file += ".wav";
    const auto found = rerooted(file, table_file, {root / "audio", root});
    if (!found) {
      ++missing;
      continue;
    }
    row.file = *found;
    sounds.push_back(std::move(row));
  }
  if (missing > 0 && context.advice)
    context.advice->warning("W831",
                            fmt::format("{} of {} sounds of the table are not there and are left out",
                                        missing, table.rows.size()),
                            nexuml::Where::in_file(table_file.string()));
  return sounds;
}

}  // namespace

void warn_of_download(DownloadMode mode, const std::string& parameter, const nexuml::DataContext& context) {
  if ((mode != DownloadMode::download && mode != DownloadMode::dry_run) || !context.advice) return;
  context.advice->warning("W831", fmt::format("`{}` has no effect: nothing is downloaded", parameter)).hint =
      "fetch the data yourself, and set it to already_downloaded";
}

void DCASE2026T1Dataset::describe(nexuml::Schema<DCASE2026T1Dataset>& s) {
  s.summary(
      "Sounds of DCASE 2026 task 1 with classes of two levels.\n"
      "shape: waveform [clip_num_samples]; class_second, class_top [] int64, confidence [] float32");
  s.field("root", &DCASE2026T1Dataset::root).doc("Folder with audio/; relative to the data root.");
  s.field("metadata_csv", &DCASE2026T1Dataset::metadata_csv)
      .doc("The table; null: metadata.csv, or that of BSD10k or BSD35k-CS in root or root/metadata.");
  s.field("download_mode", &DCASE2026T1Dataset::download_mode)
      .doc("Nothing is downloaded; where another mode than disabled is meant, a warning says so.");
  s.field("checksum", &DCASE2026T1Dataset::checksum)
      .doc("MD5 or SHA-256 of the table in hex, as you know it; null: not checked.");
  s.field("clap_embeddings_dir", &DCASE2026T1Dataset::clap_embeddings_dir)
      .doc("Folder of one <sound_id>.npy a sound, given as clap_embedding.");
  s.field("fold_seed", &DCASE2026T1Dataset::fold_seed).doc("Seed of the five folds.").at_least(0);
  s.field("fold_id", &DCASE2026T1Dataset::fold_id)
      .doc("The fold that tests; null for none.")
      .at_least(0)
      .at_most(fold_count - 1);
  s.field("split", &DCASE2026T1Dataset::split).doc("Split of the other folds.");
  s.field("sample_rate", &DCASE2026T1Dataset::sample_rate)
      .doc("In Hz; sounds of another rate are resampled.")
      .at_least(1000);
  s.field("clip_num_samples", &DCASE2026T1Dataset::clip_num_samples)
      .doc("Length of every clip, cut or filled with silence; null for ten seconds.")
      .at_least(1);
}

nexuml::DataDeclaration DCASE2026T1Dataset::declare() const {
  nexuml::DataDeclaration declared;
  declared.features["waveform"] = {{clip_num_samples.value_or(sample_rate * 10)}, nexuml::DType::float32};
  declared.labels["class_second"] = {{}, nexuml::DType::int64};
  declared.labels["class_top"] = {{}, nexuml::DType::int64};
  declared.labels["confidence"] = {{}, nexuml::DType::float32};
  declared.complete = !clap_embeddings_dir;
  return declared;
}

std::shared_ptr<nexuml::Dataset> DCASE2026T1Dataset::build(const nexuml::DataContext& context) const {
  const fs::path folder = context.resolve(root);
  const fs::path table = metadata_csv
                             ? context.resolve(*metadata_csv)
                             : find_file(folder, table_places()).value_or(folder / table_places().front());
  const auto refuse = [&](const std::string& message, const fs::path& place) {
    throw nexuml::Error(
        "E831", message, nexuml::Where::in_file(place.string()),
        fmt::format(
            "get BSD10k or BSD35k-CS of DCASE 2026 task 1 (dcase.community says where) and lay it out as "
            "{0}/audio/<sound_id>.wav with the table in one of {0}/{{{1}}}; nothing is downloaded",
            folder.string(), fmt::join(table_places(), ",")));
  };
  if (!fs::is_regular_file(table)) refuse("DCASE 2026 task 1 is not there: its table is missing", table);
  require_checksum(table, checksum);
  warn_of_download(download_mode, "download_mode", context);
  const std::vector<SoundRow> sounds = read_sounds(folder, table, context);
  if (sounds.empty()) refuse("no sound of the table exists", folder);

  AudioClips audio{
      .files = {}, .sample_rate = sample_rate, .num_samples = clip_num_samples.value_or(sample_rate * 10)};
  std::vector<std::string> tops, seconds, ids;
  std::vector<double> confidences;
  std::vector<std::int64_t> numbers;
  std::vector<fs::path> embeddings;
  for (const SoundRow& row : sounds) {
    audio.files.push_back(row.file);
    tops.push_back(row.top);
    seconds.push_back(row.second);
    ids.push_back(row.id);
    confidences.push_back(row.confidence);
    numbers.push_back(row.number);
    if (clap_embeddings_dir) embeddings.push_back(context.resolve(*clap_embeddings_dir) / (row.id + ".npy"));
  }
  const auto count = static_cast<std::int64_t>(sounds.size());
  audio.labels.set("class_second", numbers.front() >= 0
                                       ? numbered_by_table(seconds, numbers, "class_second", audio.info)
                                       : numbered(seconds, "class_second", audio.info));
  audio.labels.set("class_top", numbered(tops, "class_top", audio.info));
  audio.labels.set("confidence", at::tensor(confidences, at::kDouble).to(at::kFloat));
  const at::Tensor order =
      at::randperm(count, at::detail::createCPUGenerator(static_cast<std::uint64_t>(fold_seed)), at::kLong);
  audio.info.splits.assign(sounds.size(), split);
  at::Tensor folds = at::zeros({count}, at::kLong);
  for (std::int64_t i = 0; i < count; ++i) {
    const auto row = order[i].item<std::int64_t>();
    folds[row] = i % fold_count;
    if (fold_id && i % fold_count == *fold_id) audio.info.splits[static_cast<std::size_t>(row)] = "test";
  }
  audio.info.metadata["fold"] = folds;
  audio.info.metadata["sound_id"] = std::move(ids);
  audio.info.metadata["class_top"] = std::move(tops);
  audio.info.metadata["class_second"] = std::move(seconds);
  auto clips = std::make_shared<AudioDataset>(std::move(audio), context);
  if (embeddings.empty()) return clips;
  return std::make_shared<EmbeddedClips>(std::move(clips), std::move(embeddings));
}

}  // namespace nexuml_library
