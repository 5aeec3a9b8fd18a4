// Class numbers of a batch, however the pipeline and the data hold them.
#pragma once

#include <nexuml/evaluation.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace nexuml_library {

// Of logits, probabilities or one-hot labels [batch, classes] the largest; of [batch] or [batch, 1] the
// number itself. Throws nexuml::Error E853 for another rank and for numbers that are not whole.
std::vector<std::int64_t> class_numbers(const at::Tensor& tensor, const std::string& key);

// The label by which samples are told apart: the wanted one, or, where the batch has no such label, the first
// that is a class. Nothing for data without classes.
struct ClassLabel {
  std::string key;
  at::Tensor values;
};
std::optional<ClassLabel> class_label(const nexuml::EvalBatch& batch,
                                      const nexuml::EvalBuildContext& context);

// `context.label_key`, or the first label that is a class. Throws nexuml::Error E851 when there is none.
std::string class_label_key(const nexuml::EvalBuildContext& context);

}  // namespace nexuml_library
