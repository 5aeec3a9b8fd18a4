// Small text files of a run folder.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace nexuml {

// Nothing where the file is not there.
std::optional<std::string> file_text(const std::filesystem::path& path);

// A name as that of one file or folder: without separators, and not hidden.
std::string folder_name(std::string name);

// Written beside and renamed. Throws Error E849.
void replace_text(const std::filesystem::path& path, std::string_view text);

}  // namespace nexuml
