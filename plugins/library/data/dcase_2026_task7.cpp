#include <ATen/ops/tensor.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <system_error>

#include "data/audio_dataset.h"
#include "data/csv_reader.h"
#include "data/dcase_2026.h"
#include "data/found_file.h"
#include "data/label_table.h"

namespace nexuml_library {

namespace {

namespace fs = std::filesystem;

struct SetupRow {
  fs::path file;
  std::string class_name, split;
  std::int64_t domain;
  std::int64_t number;  // of the class; -1 where the setup gives none
};

// Where the setups of one domain lie, and the rows that belong to it: all, or those that name it.
struct DomainSetup {
  fs::path folder;
  std::string name;
  bool in_column;
  std::int64_t place;
};

std::string split_of_setup(const std::string& name) {
  for (const char* split : {"train", "val", "test"})
    if (name.find(split) != std::string::npos) return split;
  return name.find("evaluate") != std::string::npos ? "test" : "";
}

std::vector<fs::path> setup_files(const fs::path& folder) {
  std::vector<fs::path> files;
  std::error_code missing;
  for (const auto& entry : fs::directory_iterator(folder / "evaluation_setup", missing)) {
    const std::string ending = entry.path().extension().string();
    if ((ending == ".txt" || ending == ".csv" || ending == ".tsv") &&
        !split_of_setup(entry.path().stem().string()).empty())
      files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

std::int64_t class_number(const CsvRow& row, const CsvReader& reader) {
  constexpr std::size_t column = 3;
  if (row.cells.size() <= column) return -1;
  const std::string_view text = row.cells[column].text;
  std::int64_t number = -1;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), number);
  if (read.ptr != text.data() + text.size() || read.ec != std::errc{} || number < 0)
    throw nexuml::Error("E833", fmt::format("'{}' is no number of a class", text),
                        reader.where(row.cells[column]));
  return number;
}

// A file and a class on each line, then a domain and the number of the class where the setup has them, with a
// tab, a comma or a semicolon between; a header is passed over.
void read_setup(const fs::path& file, const DomainSetup& domain, std::vector<SetupRow>& rows) {
  const std::string text = read_bytes(file, std::size_t{1} << 28);
  const std::string_view first = std::string_view(text).substr(0, text.find_first_of("\r\n"));
  const char delimiter = first.find('\t') != std::string_view::npos  ? '\t'
                         : first.find(';') != std::string_view::npos ? ';'
                                                                     : ',';
  CsvReader reader(text, {.file = file.string(), .delimiter = delimiter});
  const std::string split = split_of_setup(file.stem().string());
  CsvRow row;
  for (bool header_allowed = true; reader.next(row); header_allowed = false) {
    const std::size_t needed = domain.in_column ? 3 : 2;
    if (row.cells.size() < needed)
      throw nexuml::Error("E833",
                          fmt::format("a line of a setup holds a file and a class{}",
                                      domain.in_column ? ", and a domain where all domains share it" : ""),
                          reader.where(row));
    const std::string name(row.cells[0].text);
    if (header_allowed && fs::path(name).extension().empty()) continue;
    if (domain.in_column && row.cells[2].text != domain.name) continue;
    const auto found = rerooted(name, file, {domain.folder, domain.folder / "audio"});
    if (!found)
      throw nexuml::Error(
          "E831", fmt::format("'{}' of the setup does not exist below {}", name, domain.folder.string()),
          reader.where(row.cells[0]));
    rows.push_back({*found, std::string(row.cells[1].text), split == "train" ? "fit" : split, domain.place,
                    class_number(row, reader)});
  }
}

// The numbers that the setups give, else the place in sorted order. Throws nexuml::Error E833 where a class
// has two numbers, or a number two classes.
std::map<std::string, std::int64_t> numbers_of_classes(const std::vector<SetupRow>& rows,
                                                       const fs::path& root) {
  std::map<std::string, std::int64_t> numbers;
  const bool given =
      std::all_of(rows.begin(), rows.end(), [](const SetupRow& row) { return row.number >= 0; });
  for (const SetupRow& row : rows) numbers.emplace(row.class_name, row.number);
  if (!given) {
    std::int64_t next = 0;
    for (auto& [name, number] : numbers) number = next++;
    return numbers;
  }
  std::map<std::int64_t, std::string> names;
  for (const SetupRow& row : rows) {
    const auto& [number, name] = *names.emplace(row.number, row.class_name).first;
    if (name != row.class_name || numbers.at(row.class_name) != row.number)
      throw nexuml::Error("E833",
                          fmt::format("the setups give the class '{}' the number {}, and '{}' {}",
                                      row.class_name, row.number, name, numbers.at(name)),
                          nexuml::Where::in_file(root.string()));
  }
  return numbers;
}

}  // namespace

void DCASE2026T7Dataset::describe(nexuml::Schema<DCASE2026T7Dataset>& s) {
  s.summary(
      "Sounds of DCASE 2026 task 7 in domains that are learned one after another.\n"
      "shape: waveform [clip_num_samples]; class, domain [] int64");
  s.field("root", &DCASE2026T7Dataset::root).doc("Folder of the domains; relative to the data root.");
  s.field("domains", &DCASE2026T7Dataset::domains)
      .doc("The domains that are read, one for an increment.")
      .min_size(1);
  s.field("download_mode", &DCASE2026T7Dataset::download_mode)
      .doc("Nothing is downloaded; where another mode than disabled is meant, a warning says so.");
  s.field("checksum", &DCASE2026T7Dataset::checksum).doc("Has to be null: nothing is downloaded.");
  s.field("d1_baseline_dir", &DCASE2026T7Dataset::d1_baseline_dir).doc("Folder of D1; null for D1 in root.");
  s.field("sample_rate", &DCASE2026T7Dataset::sample_rate)
      .doc("In Hz; sounds of another rate are resampled.")
      .at_least(1000);
  s.field("clip_num_samples", &DCASE2026T7Dataset::clip_num_samples)
      .doc("Length of every clip, cut or filled with silence; null for ten seconds.")
      .at_least(1);
}

nexuml::DataDeclaration DCASE2026T7Dataset::declare() const {
  nexuml::DataDeclaration declared;
  declared.features["waveform"] = {{clip_num_samples.value_or(sample_rate * 10)}, nexuml::DType::float32};
  declared.labels["class"] = {{}, nexuml::DType::int64};
  declared.labels["domain"] = {{}, nexuml::DType::int64};
  declared.num_classes["domain"] = static_cast<std::int64_t>(domains.size());
  return declared;
}

std::shared_ptr<nexuml::Dataset> DCASE2026T7Dataset::build(const nexuml::DataContext& context) const {
  const fs::path common = context.resolve(root);
  std::vector<SetupRow> rows;
  if (checksum)
    throw nexuml::Error("E831", "`checksum` has nothing to check: nothing is downloaded",
                        nexuml::Where::in_file(common.string()), "leave it out");
  warn_of_download(download_mode, "download_mode", context);
  for (std::size_t i = 0; i < domains.size(); ++i) {
    const bool is_first = domains[i] == "D1" && d1_baseline_dir;
    const fs::path own = is_first ? context.resolve(*d1_baseline_dir) : common / domains[i];
    const bool shared = !is_first && setup_files(own).empty();
    const DomainSetup domain{shared ? common : own, domains[i], shared, static_cast<std::int64_t>(i)};
    const std::size_t before = rows.size();
    for (const fs::path& setup : setup_files(domain.folder)) read_setup(setup, domain, rows);
    if (rows.size() == before)
      throw nexuml::Error(
          "E831",
          fmt::format("the domain {} of DCASE 2026 task 7 is not there: no *train*.txt and no *test*.txt "
                      "lies in {}, and none in {} names it",
                      domains[i], (own / "evaluation_setup").string(),
                      (common / "evaluation_setup").string()),
          nexuml::Where::in_file(common.string()),
          "get the development set of DCASE 2026 task 7 (dcase.community says where) and unpack it so that "
          "<root>/audio and <root>/evaluation_setup exist; nothing is downloaded");
  }
  const std::map<std::string, std::int64_t> numbers = numbers_of_classes(rows, common);
  std::int64_t class_count = 0;
  for (const auto& [name, number] : numbers) class_count = std::max(class_count, number + 1);
  std::vector<std::string> names(static_cast<std::size_t>(class_count));
  for (const auto& [name, number] : numbers) names[static_cast<std::size_t>(number)] = name;
  AudioClips audio{
      .files = {}, .sample_rate = sample_rate, .num_samples = clip_num_samples.value_or(sample_rate * 10)};
  std::vector<std::int64_t> classes, domain_numbers;
  std::vector<std::string> domain_names;
  for (const SetupRow& row : rows) {
    audio.files.push_back(row.file);
    audio.info.splits.push_back(row.split);
    classes.push_back(numbers.at(row.class_name));
    domain_numbers.push_back(row.domain);
    domain_names.push_back(domains[static_cast<std::size_t>(row.domain)]);
  }
  audio.labels.set("class", at::tensor(classes, at::kLong));
  audio.labels.set("domain", at::tensor(domain_numbers, at::kLong));
  audio.info.num_classes = {{"class", static_cast<std::int64_t>(names.size())},
                            {"domain", static_cast<std::int64_t>(domains.size())}};
  audio.info.class_names = {{"class", names}, {"domain", domains}};
  audio.info.metadata["domain"] = std::move(domain_names);
  return std::make_shared<AudioDataset>(std::move(audio), context);
}

}  // namespace nexuml_library
