// Weights of a module by name: taken as a state dict, given back in whole or in part.
#pragma once

#include <nexuml/export.h>
#include <nexuml/scenario.h>
#include <nexuml/tensor_io.h>
#include <torch/nn/module.h>

#include <string>
#include <vector>

namespace nexuml {

// Parameters and buffers by their names in Python's state_dict. The tensors are shared with the module.
NEXUML_EXPORT TensorMap state_dict(const torch::nn::Module& module);

// What a load did, name by name.
struct LoadReport {
  std::vector<std::string> matched;
  std::vector<std::string> missing;           // in the module, not in the file
  std::vector<std::string> unexpected;        // in the file, not in the module
  std::vector<std::string> excluded;          // left out by include and exclude
  std::vector<std::string> shape_mismatched;  // "name: pipeline [8, 32], file [8, 16]"
  std::vector<std::string> converted;         // "name: Double to Float"
  std::vector<std::string> unwrapped;         // "_orig_mod. from 12 names"
};

// Everything must fit: names, shapes and dtypes; of tied weights one name is enough. Throws Error E760
// listing what does not fit, before it changes anything.
NEXUML_EXPORT void load_state_dict(torch::nn::Module& module, const TensorMap& weights);
// The same into tensors by name.
NEXUML_EXPORT void load_named_tensors(const TensorMap& own, const TensorMap& weights);

// By the rules of `checkpoint:` in a scenario: `include`, then `exclude` (globs on full names); then what
// does not match is refused or passed over as allowed. Other dtypes are converted where that loses no more
// than precision. Nothing changes when it throws Error E760.
NEXUML_EXPORT LoadReport load_weights(torch::nn::Module& module, const TensorMap& weights,
                                      const CheckpointLoadSpec& rules, const std::string& source);

// Reads a weights file: .safetensors, or a .pt, .pth, .ckpt or .bin of torch.save. `#key` behind the path
// names the dict inside that holds them: `nested.pt#model`. Throws Error E761 for other files.
NEXUML_EXPORT TensorMap read_weights(const std::string& path);

// `*` any text, `?` one character, `[abc]`, `[!abc]` a character of a set, as Python's fnmatch.
NEXUML_EXPORT bool matches_glob(std::string_view name, std::string_view pattern);

}  // namespace nexuml
