// DCASE challenge task 2, first-shot unsupervised anomalous sound detection, 2020 to 2026.
//
//     DatasetSpec{.source = DCASET2Dataset{.dataset_name = "DCASE2024T2", .machine_type = "bearing"}}
//
//     <root>/<dataset_name>/<data_type>_data/raw/<machine_type>/train/section_00_source_train_normal_0000.wav
//     .../test, test_rename, source_test, target_test/section_00_target_test_anomaly_0001.wav
//
// One clip a row: waveform [clip_num_samples]. Labels, all int64 []: y_true (1 anomalous, -1 not published),
// machine, target (1 in the target domain), section. The metadata has machine ("DCASE2024T2:dev:bearing"),
// target ("source", "target"), section, y_true and basename.
#pragma once

#include <nexuml/definition.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace nexuml_library {

enum class DcaseDataType { dev, eval };

// Shape: waveform [channels, clip_num_samples]; y_true, machine, target, section [].
// Source: DCASE challenge, task 2
struct DCASET2Dataset {
  std::optional<std::string> root = std::nullopt;  // null: data_root
  std::string data_root = "DCASET2";
  std::string dataset_name = "DCASE2024T2";
  std::string machine_type = "ToyCar";
  std::string section_keyword = "section";
  std::vector<std::string> section_ids = {"00"};
  DcaseDataType data_type = DcaseDataType::dev;
  bool train = true;
  std::int64_t sample_rate = 16000;
  std::optional<std::int64_t> clip_num_samples = 160000;
  std::optional<std::vector<std::string>> machine_types = std::nullopt;
  std::optional<std::int64_t> machine_id = std::nullopt;
  std::optional<std::string> machine_label = std::nullopt;
  bool download = false;
  std::optional<std::string> download_manifest = std::nullopt;
  bool keep_channels = false;  // not in NexuML 0.2.1

  static void describe(nexuml::Schema<DCASET2Dataset>& s);
  nexuml::DataDeclaration declare() const;
  std::shared_ptr<nexuml::Dataset> build(const nexuml::DataContext& context) const;
};

// With the attributes of a table as further metadata, and without the labels of an evaluation's test clips.
// Shape: waveform [channels, clip_num_samples]; y_true, machine, target, section [].
// Source: DCASE challenge 2026, task 2
struct DCASE2026T2Dataset {
  std::optional<std::string> root = std::nullopt;
  std::string data_root = "DCASET2";
  std::string dataset_name = "DCASE2026T2";
  std::string machine_type = "ToyCar";
  std::string section_keyword = "section";
  std::vector<std::string> section_ids = {"00"};
  DcaseDataType data_type = DcaseDataType::dev;
  bool train = true;
  std::int64_t sample_rate = 16000;
  std::optional<std::int64_t> clip_num_samples = 160000;
  std::optional<std::vector<std::string>> machine_types = std::nullopt;
  std::optional<std::int64_t> machine_id = std::nullopt;
  std::optional<std::string> machine_label = std::nullopt;
  bool download = false;
  std::optional<std::string> download_manifest = std::nullopt;
  std::optional<std::string> attributes_csv = std::nullopt;
  bool keep_channels = false;  // not in NexuML 0.2.1

  static void describe(nexuml::Schema<DCASE2026T2Dataset>& s);
  nexuml::DataDeclaration declare() const;
  std::shared_ptr<nexuml::Dataset> build(const nexuml::DataContext& context) const;
};

}  // namespace nexuml_library

template <>
struct nexuml::EnumText<nexuml_library::DcaseDataType> {
  using Type = nexuml_library::DcaseDataType;
  static constexpr std::pair<Type, const char*> names[] = {{Type::dev, "dev"}, {Type::eval, "eval"}};
};
