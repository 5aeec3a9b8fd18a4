// Function: a computation on named tensors that answers with a value, such as a metric.
//
//     struct MeanGap {                                     // a target of kind function
//       double scale = 1.0;
//       static void describe(nexuml::Schema<MeanGap>& s) { s.field("scale", &MeanGap::scale); }
//       std::shared_ptr<nexuml::Function> build(const nexuml::FunctionBuildContext&) const;
//     };
//     registry.add_target<MeanGap>("acme.metrics:mean_gap");
//
// `nexuml-run try` calls functions by their name on the tensors of a case.
#pragma once

#include <nexuml/export.h>
#include <nexuml/target.h>
#include <nexuml/tensor_dict.h>
#include <nexuml/value.h>

namespace nexuml {

class NEXUML_EXPORT Function {
 public:
  virtual ~Function();
  // Numbers that are undefined are null in the answer. Throws Error E801 for a missing tensor. [any thread]
  virtual Value operator()(const TensorDict& inputs) const = 0;
};

struct FunctionBuildContext {};

}  // namespace nexuml
