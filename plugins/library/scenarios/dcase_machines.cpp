#include "scenarios/dcase_machines.h"

#include <algorithm>

#include "data/shard_loader.h"
#include "evaluation/anomaly_evaluator.h"

namespace nexuml_library {

using nexuml::Value;

namespace {

constexpr const char* last_year = "DCASE2026T2";
constexpr const char* year_with_ids = "DCASE2020T2";
const std::vector<std::string> all_sections{"00", "01", "02", "03", "04", "05", "06"};

std::string machine_name(const DcaseMachines& group, const std::string& machine) {
  return group.dataset_name + (group.data_type == DcaseDataType::dev ? ":dev:" : ":eval:") + machine;
}

template <class Source>
Source clips_source(const DcaseMachines& group, const std::string& machine, bool train,
                    const DcaseClips& clips, const std::vector<std::string>& names) {
  Source source;
  source.data_root = clips.data_root;
  source.dataset_name = group.dataset_name;
  source.machine_type = machine;
  source.section_keyword = group.dataset_name == year_with_ids ? "id" : "section";
  source.section_ids = all_sections;
  source.data_type = group.data_type;
  source.train = train;
  source.sample_rate = clips.sample_rate;
  source.clip_num_samples = clips.clip_num_samples;
  source.machine_types = names;
  return source;
}

nexuml::OrderedMap<Value> merged(std::vector<std::string> columns, bool logits) {
  return {{"columns", Value(columns)}, {"logits", logits}, {"include_dataset", false}};
}

}  // namespace

// As the challenge publishes them, alphabetically within a year without regard to case.
const std::vector<DcaseMachines>& dcase_catalogue() {
  using enum DcaseDataType;
  static const std::vector<std::string> machines_2022{"bearing", "fan",      "gearbox", "slider",
                                                      "ToyCar",  "ToyTrain", "valve"};
  static const std::vector<std::string> machines_2020{"fan",    "pump",        "slider",
                                                      "ToyCar", "ToyConveyor", "valve"};
  static const std::vector<std::string> machines_2021{"fan",    "gearbox",  "pump", "slider",
                                                      "ToyCar", "ToyTrain", "valve"};
  static const std::vector<DcaseMachines> catalogue{
      {"DCASE2020T2", dev, machines_2020},
      {"DCASE2020T2", eval, machines_2020},
      {"DCASE2021T2", dev, machines_2021},
      {"DCASE2021T2", eval, machines_2021},
      {"DCASE2022T2", dev, machines_2022},
      {"DCASE2022T2", eval, machines_2022},
      {"DCASE2023T2", dev, machines_2022},
      {"DCASE2023T2", eval, {"bandsaw", "grinder", "shaker", "ToyDrone", "ToyNscale", "ToyTank", "Vacuum"}},
      {"DCASE2024T2", dev, machines_2022},
      {"DCASE2024T2",
       eval,
       {"3DPrinter", "AirCompressor", "BrushlessMotor", "HairDryer", "HoveringDrone", "RoboticArm", "Scanner",
        "ToothBrush", "ToyCircuit"}},
      {"DCASE2025T2", dev, machines_2022},
      {"DCASE2025T2",
       eval,
       {"AutoTrash", "BandSealer", "CoffeeGrinder", "HomeCamera", "Polisher", "ScrewFeeder", "ToyPet",
        "ToyRCCar"}},
      {"DCASE2026T2",
       dev,
       {"bearingEmu", "fan", "gearboxEmu", "sliderEmu", "ToyCar", "ToyCarEmu", "valveEmu"}},
      {"DCASE2026T2", eval, {"BlowerDustCollector", "Sander", "SewingMachine", "ToothBrush", "ToyDrone"}}};
  return catalogue;
}

std::vector<std::string> machine_names(const std::vector<DcaseMachines>& machines) {
  std::vector<std::string> names;
  for (const DcaseMachines& group : machines)
    for (const std::string& machine : group.machines) names.push_back(machine_name(group, machine));
  std::sort(names.begin(), names.end());
  return names;
}

void set_dcase_data(nexuml::ScenarioSpec& scenario, const std::vector<DcaseMachines>& machines,
                    const DcaseClips& clips) {
  const std::vector<std::string> names = machine_names(machines);
  for (const bool train : {true, false})
    for (const DcaseMachines& group : machines)
      for (const std::string& machine : group.machines) {
        nexuml::DatasetSpec dataset{.split_type = train ? "fit" : "test"};
        if (group.dataset_name == last_year)
          dataset.source = clips_source<DCASE2026T2Dataset>(group, machine, train, clips, names);
        else
          dataset.source = clips_source<DCASET2Dataset>(group, machine, train, clips, names);
        scenario.data.datasets.push_back(std::move(dataset));
      }
  constexpr std::int64_t domains = 2;
  scenario.data.num_classes = static_cast<std::int64_t>(names.size()) * domains;
  scenario.data.input_shapes = {{"waveform", {clips.clip_num_samples}}};
  scenario.data.merge_labels =
      nexuml::OrderedMap<nexuml::OrderedMap<Value>>{{"class", merged({"machine", "target"}, false)},
                                                    {"class_logits", merged({"machine", "target"}, true)},
                                                    {"anomaly", merged({"y_true"}, false)},
                                                    {"domain", merged({"target"}, false)}};
  scenario.data.loader = {.backend = DaliLoader{},
                          .batch_size = clips.batch_size,
                          .num_workers = clips.num_workers,
                          .persistent_workers = true};
  scenario.training.batch_size = clips.batch_size;
}

nexuml::EvaluationSpec dcase_evaluation() {
  return {
      .metrics = {"auc", "pauc_10"},
      .algorithms = {{.algorithm = AnomalyEvaluator{.decision_key = "decision", .group_keys = {{"machine"}}},
                      .name = "anomaly_eval",
                      .axis_keys = {nexuml::AxisKeySpec{.key = "machine", .source = "metadata"},
                                    nexuml::AxisKeySpec{.key = "anomaly", .source = "y"}},
                      .label_key = "anomaly"}},
      .test_result_metrics = nexuml::Keys{"auc", "pauc_10", "omega"}};
}

}  // namespace nexuml_library
