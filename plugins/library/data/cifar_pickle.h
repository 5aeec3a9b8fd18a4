// Batches of CIFAR as Python pickles them: {data: [records, 3072] bytes, labels: [...]}.
#pragma once

#include <torch/types.h>

#include <filesystem>
#include <vector>

namespace nexuml_library {

// As the records of a binary batch: one byte for each of `labels`, then the pixels. Executes nothing. Throws
// nexuml::Error E831 and the codes of reading pickles.
at::Tensor read_pickled_records(const std::filesystem::path& file, const std::vector<const char*>& labels);

}  // namespace nexuml_library
