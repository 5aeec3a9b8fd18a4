// Text files that a command writes: whole or not at all.
#pragma once

#include <filesystem>
#include <string>

#include "tensor_io/hashing_writer.h"

namespace nexuml {

inline void write_text_file(const std::filesystem::path& path, const std::string& text) {
  tensor_io::HashingWriter file(path.string());
  file.write(text);
  file.commit();
}

}  // namespace nexuml
