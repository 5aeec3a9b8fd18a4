#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "documents.h"

using namespace nexuml;
namespace fs = std::filesystem;

namespace {

struct ScratchFolder {
  fs::path path;
  ScratchFolder() {
    std::string name = (fs::temp_directory_path() / "nexuml-value-XXXXXX").string();
    REQUIRE(mkdtemp(name.data()) != nullptr);
    path = name;
  }
  ~ScratchFolder() { fs::remove_all(path); }
};

Diagnostic refused_file_read(const std::string& path, std::size_t max_bytes = 1000) {
  Diagnostics problems;
  CHECK(read_text_file(path, problems, max_bytes).empty());
  REQUIRE(problems.size() == 1);
  CHECK(problems.entries().front().code == "E701");
  CHECK(problems.entries().front().where.file == path);
  return problems.entries().front();
}

}  // namespace

TEST_CASE("a file is read byte for byte") {
  const ScratchFolder folder;
  const std::string text("a: 1\r\n\0\xFF", 8);
  std::ofstream(folder.path / "a.yaml", std::ios::binary) << text;
  Diagnostics problems;
  CHECK(read_text_file((folder.path / "a.yaml").string(), problems) == text);
  CHECK(problems.empty());
}

TEST_CASE("a file that cannot be read is named with the reason") {
  const ScratchFolder folder;
  CHECK_THAT(refused_file_read((folder.path / "no.yaml").string()).message,
             Catch::Contains("does not exist"));
  CHECK_THAT(refused_file_read("").message, Catch::Contains("does not exist"));
  CHECK_THAT(refused_file_read(folder.path.string()).message, Catch::Contains("directory"));
  std::ofstream(folder.path / "big.yaml") << std::string(1001, 'x');
  CHECK_THAT(refused_file_read((folder.path / "big.yaml").string()).message, Catch::Contains("1000 bytes"));
  if (geteuid() != 0) {
    std::ofstream(folder.path / "secret.yaml") << "a: 1";
    fs::permissions(folder.path / "secret.yaml", fs::perms::none);
    CHECK_THAT(refused_file_read((folder.path / "secret.yaml").string()).message,
               Catch::Contains("Permission denied"));
  }
}

TEST_CASE("a pipe is refused instead of waited for") {
  const ScratchFolder folder;
  const std::string pipe = (folder.path / "pipe").string();
  REQUIRE(mkfifo(pipe.c_str(), 0600) == 0);
  CHECK_THAT(refused_file_read(pipe).message, Catch::Contains("regular file"));
}
