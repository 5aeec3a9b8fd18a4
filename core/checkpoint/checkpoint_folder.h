// One checkpoint folder, wherever it lies: read, verified, and told about.
//
//     Checkpoint checkpoint = load_checkpoint("run/checkpoints/3");   // verified as a whole, or Error E763
//     // Every problem; none where it is whole.
//     Diagnostics problems = verify_checkpoint("run/checkpoints/3");
#pragma once

#include <nexuml/diagnostic.h>
#include <nexuml/export.h>
#include <nexuml/tensor_io.h>
#include <nexuml/value.h>

#include <filesystem>

namespace nexuml {

struct Checkpoint {
  TensorMap model;                     // the state dict; tied weights are one tensor under several names
  TensorMap trainer;                   // moments, random streams
  Value trainer_state = Value::map();  // counters, learning rates
  Value recipe;                        // how to build what the state belongs to; null: not recorded
  Value about = Value::map();          // scenario, epoch, step, libraries: kept in the manifest
};

// Reads one checkpoint folder. Throws Error E763 naming the file that is missing, cut off, changed or does
// not belong there, and why.
NEXUML_EXPORT Checkpoint load_checkpoint(const std::filesystem::path& folder);

// Reads every byte and keeps nothing.
NEXUML_EXPORT Diagnostics verify_checkpoint(const std::filesystem::path& folder);

// Whether the folder looks like a checkpoint: it holds a manifest.
NEXUML_EXPORT bool is_checkpoint_folder(const std::filesystem::path& folder);

}  // namespace nexuml
