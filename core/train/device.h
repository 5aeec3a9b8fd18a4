// From the words of `training.accelerator`, `training.devices` and `training.precision` to what runs.
#pragma once

#include <nexuml/export.h>
#include <nexuml/scenario.h>
#include <torch/types.h>

namespace nexuml {

enum class Precision { float32, bfloat16_mixed };

// Throws Error E843 when the device is asked for and not there, or more than one is asked for.
NEXUML_EXPORT at::Device choose_device(const TrainingSpec& spec);
// Throws Error E844 for a precision that is not offered.
NEXUML_EXPORT Precision choose_precision(const TrainingSpec& spec);

// While alive, operators compute in the reduced precision where it is safe.
class NEXUML_EXPORT PrecisionGuard {
 public:
  PrecisionGuard(Precision precision, const at::Device& device);
  ~PrecisionGuard();
  PrecisionGuard(const PrecisionGuard&) = delete;
  PrecisionGuard& operator=(const PrecisionGuard&) = delete;

 private:
  bool active_;
  at::DeviceType type_;
  bool enabled_before_ = false;
  at::ScalarType dtype_before_ = at::kFloat;
};

}  // namespace nexuml
