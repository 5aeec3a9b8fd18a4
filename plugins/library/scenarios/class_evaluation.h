// Evaluation that the classifying scenarios share.
#pragma once

#include <nexuml/scenario.h>

#include <string>

namespace nexuml_library {

// Histogram of the classes and the latent space by t-SNE and by UMAP; accuracy and F1.
nexuml::EvaluationSpec class_evaluation(const std::string& latent_key, const std::string& label_key);

}  // namespace nexuml_library
