// Class numbers of a batch, however the pipeline and the data hold them.
#pragma once

#include <nexuml/evaluation.h>

#include <cstdint>
#include <string>
#include <vector>

namespace nexuml_library {

// Of logits, probabilities or one-hot labels [batch, classes] the largest; of [batch] or [batch, 1] the
// number itself. Throws nexuml::Error E853 for another rank and for numbers that are not whole.
std::vector<std::int64_t> class_numbers(const at::Tensor& tensor, const std::string& key);

// `context.label_key`, or the first label that is a class. Throws nexuml::Error E851 when there is none.
std::string class_label_key(const nexuml::EvalBuildContext& context);

}  // namespace nexuml_library
