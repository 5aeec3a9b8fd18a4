// Names that wrappers put around a module's own: `module.` of data-parallel, `_orig_mod.` of torch.compile,
// `pipeline.` of Lightning modules, in any order and also in the middle.
#pragma once

#include <nexuml/export.h>
#include <nexuml/tensor_io.h>

#include <string>
#include <vector>

namespace nexuml {

struct UnwrappedWeights {
  TensorMap weights;                 // under the module's own names where those were found
  std::vector<std::string> removed;  // "_orig_mod. from 12 names"
};

// A wrapper's name is taken out only where that gives a name of `own`; NnModule's own `.module.` stays.
// Throws Error E760 when two names of the file become one.
NEXUML_EXPORT UnwrappedWeights without_wrappers(const TensorMap& own, const TensorMap& weights,
                                                const std::string& source);

}  // namespace nexuml
