// Fetching the files of a published data set, for those who ask for it.
//
//     download_file({"https://example.org/a.gz", "9e107d9d372bb6826bd81d3542a419d6"}, root / "a.gz",
//     context);
//
// What arrived of a file lies beside it as <name>.part until its MD5 is right; a later call goes on from
// there. Two processes that want one file wait for each other. NEXUML_DOWNLOAD_MIRROR names a server that has
// all files by their last name.
#pragma once

#include <nexuml/data.h>

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace nexuml_library {

struct RemoteFile {
  std::string url;
  std::string md5;  // in hex
};

// Nothing where `target` is there. Throws nexuml::Error E831 naming the address and what went wrong.
void download_file(const RemoteFile& file, const std::filesystem::path& target,
                   const nexuml::DataContext& context);

// Throws nexuml::Error E831 where a sum is given and the file has another. `sum` is an MD5 or a SHA-256 in
// hex; null: nothing is checked.
void require_checksum(const std::filesystem::path& file, const std::optional<std::string>& sum);

// The regular files of a .tar.gz archive whose names end in one of `names`, written below `folder` by their
// last name. Throws nexuml::Error E831.
void unpack_tar(const std::filesystem::path& archive, const std::filesystem::path& folder,
                const std::vector<std::string>& names);

}  // namespace nexuml_library
