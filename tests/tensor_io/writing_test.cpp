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
using nexuml::tensor_io::HashingWriter;
using nexuml::tensor_io::Sha256;
using nexuml::tensor_io::StreamDigests;

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
  StreamDigests hash;
  const auto bytes = std::as_bytes(std::span(text));
  hash.push(bytes.first(5));
  hash.push(bytes.subspan(5, 4'000'000));
  hash.update(bytes.subspan(4'000'005));
  const std::string expected = nexuml::tensor_io::sha256_hex(text);
  CHECK(hash.finish() == std::vector{expected});
  CHECK(nexuml::tensor_io::sha256_of_file(folder.write("a", text)) == expected);
  CHECK(nexuml::tensor_io::sha256_of_file(folder.write("b", "")) == nexuml::tensor_io::sha256_hex(""));
}

TEST_CASE("digests of chunks are those of the chunks, however the bytes come") {
  const TemporaryFolder folder;
  std::string text(1'000'003, 'x');
  for (std::size_t i = 0; i < text.size(); ++i) text[i] = static_cast<char>(i * 131 >> 3);
  const auto bytes = std::as_bytes(std::span(text));
  for (const std::uint64_t chunk : {1'000u, 65'536u, 250'001u, 1'000'003u, 2'000'000u}) {
    std::vector<std::string> expected;
    for (std::size_t at = 0; at < text.size(); at += chunk)
      expected.push_back(nexuml::tensor_io::sha256_hex(std::string_view(text).substr(at, chunk)));
    for (const std::size_t piece : {700u, 70'000u, 1'000'003u}) {
      StreamDigests digests(chunk);
      for (std::size_t at = 0, turn = 0; at < text.size(); at += piece, ++turn) {
        const auto part = bytes.subspan(at, std::min(piece, text.size() - at));
        if (turn % 5 == 4)
          digests.update(part);
        else
          digests.push(part);
      }
      CHECK(digests.finish() == expected);
    }
    CHECK(nexuml::tensor_io::sha256_of_chunks(folder.write("a", text), chunk) == expected);
  }
  CHECK(StreamDigests(7).finish() == std::vector{nexuml::tensor_io::sha256_hex("")});
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
  CHECK(written.whole().sha256 == nexuml::tensor_io::sha256_hex("new " + std::string(200'000, 'y')));
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
