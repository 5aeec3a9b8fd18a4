// The JSON header of a safetensors file, checked so that every tensor lies inside the data section, fills
// exactly its shape, and no byte belongs to two tensors or to none.
//
// Layout: 8 bytes header length n (little-endian), n bytes JSON, data section.
// Format: https://github.com/huggingface/safetensors#format
#pragma once

#include <nexuml/tensor_io.h>

#include "tensor_io/input_file.h"

namespace nexuml::tensor_io {

// Throws E751 for a file that is cut off or something else, E752 with everything that is wrong in the header.
SafetensorsHeader read_safetensors_header(const Input& input);

// Tensors in the order of their data.
std::vector<const TensorInfo*> in_data_order(const SafetensorsHeader& header);

}  // namespace nexuml::tensor_io
