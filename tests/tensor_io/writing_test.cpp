#include <nexuml/tensor_io.h>
#include <sys/resource.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <csignal>
#include <filesystem>

#include "tensor_io/hashing_writer.h"
#include "tensor_io/sha256.h"
#include "tensor_io/support.h"

using namespace tensor_io_tests;
using Catch::Matchers::Contains;
using nexuml::tensor_io::HashingThread;
using nexuml::tensor_io::HashingWriter;
using nexuml::tensor_io::Sha256;

TEST_CASE("SHA-256 gives the published digests, also in pieces") {
  // FIPS 180-4 examples.
  CHECK(nexuml::tensor_io::sha256_hex("") ==
        "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  CHECK(nexuml::tensor_io::sha256_hex("abc") ==
        "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  Sha256 digest;
  digest.update("a");
  digest.update("");
  digest.update("bc");
  CHECK(digest.hex() == nexuml::tensor_io::sha256_hex("abc"));
  CHECK(digest.hex() == nexuml::tensor_io::sha256_hex(""));  // starts anew
}

TEST_CASE("a digest beside other work equals one in one go") {
  const TemporaryFolder folder;
  const std::string text(9'000'001, 'x');
  HashingThread hash;
  const auto bytes = std::as_bytes(std::span(text));
  hash.push(bytes.first(5));
  hash.push(bytes.subspan(5, 4'000'000));
  hash.update(bytes.subspan(4'000'005));
  const std::string expected = nexuml::tensor_io::sha256_hex(text);
  CHECK(hash.finish() == expected);
  CHECK(nexuml::tensor_io::sha256_of_file(folder.write("a", text)) == expected);
  CHECK(nexuml::tensor_io::sha256_of_file(folder.write("b", "")) == nexuml::tensor_io::sha256_hex(""));
}

TEST_CASE("a file appears when it is committed and not before") {
  const TemporaryFolder folder;
  folder.write("a", "old");
  {
    HashingWriter abandoned(folder.file("a"));
    abandoned.write("half of the new");
    CHECK(folder.entries() == 2);
  }
  CHECK(folder.entries() == 1);
  CHECK(file_bytes(folder.file("a")) == "old");

  HashingWriter file(folder.file("a"));
  file.write("new ");
  file.write(std::string(200'000, 'y'));
  CHECK(file_bytes(folder.file("a")) == "old");
  const auto written = file.commit();
  CHECK(written.size == 200'004);
  CHECK(written.sha256 == nexuml::tensor_io::sha256_hex("new " + std::string(200'000, 'y')));
  CHECK(file_bytes(folder.file("a")) == "new " + std::string(200'000, 'y'));
  CHECK(folder.entries() == 1);
}

TEST_CASE("a folder that is not there is named") {
  const TemporaryFolder folder;
  const std::string path = folder.file("no/such/folder/a.safetensors");
  CHECK_THAT(refusal([&] { nexuml::write_safetensors(path, {}); }), Contains("E755") && Contains(path));
}

TEST_CASE("a write that meets a limit names the file and leaves the old one") {
  const TemporaryFolder folder;
  folder.write("a", "old");
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  rlimit before{};
  REQUIRE(getrlimit(RLIMIT_FSIZE, &before) == 0);
  const rlimit small{100'000, before.rlim_max};
  REQUIRE(setrlimit(RLIMIT_FSIZE, &small) == 0);
  const std::string text = refusal([&] {
    nexuml::write_safetensors(folder.file("a"), {{"w", at::ones(1'000'000)}});
  });
  REQUIRE(setrlimit(RLIMIT_FSIZE, &before) == 0);
  std::signal(SIGXFSZ, handler);
  CHECK_THAT(text, Contains("E755") && Contains(folder.file("a")));
  CHECK(file_bytes(folder.file("a")) == "old");
  CHECK(folder.entries() == 1);
}
