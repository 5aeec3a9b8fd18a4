// Looking for the files of a published data set, in the layouts in which people keep it.
#pragma once

#include <nexuml/data.h>

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace nexuml_library {

// What to tell a person whose files are not there.
struct Publication {
  std::string name;    // "MNIST"
  std::string where;   // where to get it
  std::string layout;  // how to lay it out below `root`
};

// The first of `candidates` that is a file, below `root`.
std::optional<std::filesystem::path> find_file(const std::filesystem::path& root,
                                               const std::vector<std::string>& candidates);
// As above; throws nexuml::Error E831 naming every place that was looked at.
std::filesystem::path require_file(const std::filesystem::path& root,
                                   const std::vector<std::string>& candidates,
                                   const Publication& publication);

// All bytes of a file, unpacked where it is gzip. Throws nexuml::Error E831 when it cannot be read, is cut
// off or holds more than `most` bytes.
std::string read_bytes(const std::filesystem::path& path, std::size_t most);
// Of a file that is no longer than `most` the whole, of others the first `most` + 1 bytes.
std::string read_first_bytes(const std::filesystem::path& path, std::size_t most);

}  // namespace nexuml_library
