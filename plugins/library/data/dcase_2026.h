// DCASE 2026, tasks 1 and 7: classes of sounds, in two levels or in domains that come one after another.
//
//     DatasetSpec{.source = DCASE2026T1Dataset{.root = "bsd", .metadata_csv = "bsd/metadata.csv", .fold_id =
//     0}} DatasetSpec{.source = DCASE2026T7Dataset{.root = "t7", .domains = {"D2"}}}
#pragma once

#include <nexuml/data.h>
#include <nexuml/definition.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace nexuml_library {

enum class DownloadMode { disabled, dry_run, manual, already_downloaded, download };

// Says in `context.advice` that nothing is downloaded, where a mode asks for it.
void warn_of_download(DownloadMode mode, const std::string& parameter, const nexuml::DataContext& context);

// <root>/audio/<sound_id>.wav and a table with sound_id (or file), class ("top-second") or class_top and
// class_second, and optionally class_idx, the number of the class, and confidence. Features: waveform, and
// clap_embedding where a folder of <sound_id>.npy is given. Labels: class_second and class_top, int64 [];
// confidence, float32 []. Rows are dealt to five folds by `fold_seed`; with `fold_id` that fold tests. Shape:
// waveform [channels, clip_num_samples]; class_top, class_second, confidence []. Source: DCASE challenge
// 2026, task 1
struct DCASE2026T1Dataset {
  std::string root = "DCASE2026T1";
  std::optional<std::string> metadata_csv = std::nullopt;  // null: where BSD10k and BSD35k-CS have it
  DownloadMode download_mode = DownloadMode::disabled;
  std::optional<std::string> checksum = std::nullopt;
  std::optional<std::string> clap_embeddings_dir = std::nullopt;
  std::int64_t fold_seed = 42;
  std::optional<std::int64_t> fold_id = std::nullopt;
  std::string split = "fit";
  std::int64_t sample_rate = 32000;
  std::optional<std::int64_t> clip_num_samples = std::nullopt;  // null: ten seconds

  static void describe(nexuml::Schema<DCASE2026T1Dataset>& s);
  nexuml::DataDeclaration declare() const;
  std::shared_ptr<nexuml::Dataset> build(const nexuml::DataContext& context) const;
};

// <root>/evaluation_setup/*train*.{txt,csv} and *test*.{txt,csv}, each with a file, a class, a domain and
// optionally the number of the class on a line, and the files below <root>; or the same in a folder a domain,
// <root>/<domain>/evaluation_setup, without the domain. Labels, int64 []: class, and domain, its place in
// `domains`.
// Shape: waveform [channels, clip_num_samples]; class, domain [].
// Source: DCASE challenge 2026, task 7
struct DCASE2026T7Dataset {
  std::string root = "DCASE2026T7";
  std::vector<std::string> domains = {"D2", "D3"};
  DownloadMode download_mode = DownloadMode::disabled;
  std::optional<std::string> checksum = std::nullopt;
  std::optional<std::string> d1_baseline_dir = std::nullopt;  // folder of the domain D1
  std::int64_t sample_rate = 32000;
  std::optional<std::int64_t> clip_num_samples = std::nullopt;

  static void describe(nexuml::Schema<DCASE2026T7Dataset>& s);
  nexuml::DataDeclaration declare() const;
  std::shared_ptr<nexuml::Dataset> build(const nexuml::DataContext& context) const;
};

}  // namespace nexuml_library

template <>
struct nexuml::EnumText<nexuml_library::DownloadMode> {
  using Mode = nexuml_library::DownloadMode;
  static constexpr std::pair<Mode, const char*> names[] = {{Mode::disabled, "disabled"},
                                                           {Mode::dry_run, "dry_run"},
                                                           {Mode::manual, "manual"},
                                                           {Mode::already_downloaded, "already_downloaded"},
                                                           {Mode::download, "download"}};
};
