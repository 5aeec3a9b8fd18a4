// The machines of DCASE challenge task 2, 2020 to 2026, and the data of a scenario that uses some of them.
#pragma once

#include <nexuml/scenario.h>

#include <cstdint>
#include <string>
#include <vector>

#include "data/dcase_task2.h"

namespace nexuml_library {

struct DcaseMachines {
  std::string dataset_name;  // DCASE2024T2
  DcaseDataType data_type;
  std::vector<std::string> machines;
};

// Every machine of every year.
const std::vector<DcaseMachines>& dcase_catalogue();

// "DCASE2024T2:dev:bearing" of each, sorted.
std::vector<std::string> machine_names(const std::vector<DcaseMachines>& machines);

struct DcaseClips {
  std::string data_root = "DCASET2";
  std::int64_t sample_rate = 16000;
  std::int64_t clip_num_samples = 160000;
  std::int64_t batch_size = 16;
  std::int64_t num_workers = 4;
};

// Training clips of all machines to fit, then their test clips to test; merged labels class, class_logits,
// anomaly and domain; a decoding loader.
void set_dcase_data(nexuml::ScenarioSpec& scenario, const std::vector<DcaseMachines>& machines,
                    const DcaseClips& clips);
// AUC, partial AUC and omega of the scores by machine.
nexuml::EvaluationSpec dcase_evaluation();

}  // namespace nexuml_library
