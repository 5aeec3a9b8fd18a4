#include "checkpoint/checkpoint_store.h"

#include <ATen/ops/arange.h>
#include <ATen/ops/complex.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/ones.h>
#include <fmt/format.h>
#include <nexuml/diagnostic.h>
#include <nexuml/tensor_serializers.h>
#include <unistd.h>

#include <array>
#include <catch2/catch.hpp>
#include <cctype>
#include <cmath>
#include <fstream>
#include <thread>

#include "checkpoint/checkpoint_manifest.h"
#include "checkpoint/checkpoint_writer.h"
#include "checkpoint/small_checkpoint.h"
#include "tensor_io/sha256.h"

namespace nexuml {
namespace {

namespace fs = std::filesystem;

struct Folder {
  fs::path path = fs::temp_directory_path() / ("nexuml-checkpoints-" + std::to_string(::getpid()));
  Folder() { fs::remove_all(path); }
  ~Folder() { fs::remove_all(path); }
};

Checkpoint small_checkpoint() {
  Checkpoint checkpoint;
  checkpoint.model.add("weight", at::arange(6, at::kFloat).reshape({2, 3}));
  checkpoint.trainer.add("optimizer/weight.exp_avg", at::arange(6, at::kFloat));
  checkpoint.trainer_state = Value::map({{"counters", Value::map({{"epoch", 3}})}});
  checkpoint.about = Value::map({{"scenario", "small"}});
  return checkpoint;
}

std::string why_refused(const fs::path& folder) {
  try {
    load_checkpoint(folder);
  } catch (const Error& error) {
    return error.what();
  }
  return "accepted";
}

}  // namespace

TEST_CASE("a checkpoint comes back as it was saved, and each save takes the next index") {
  const Folder folder;
  const CheckpointStore store(folder.path);
  CHECK(store.latest() == std::nullopt);
  CHECK(store.save(small_checkpoint()) == 0);
  CHECK(store.save(small_checkpoint()) == 1);
  CHECK(store.indices() == std::vector<std::int64_t>{0, 1});
  const Checkpoint loaded = store.load(1);
  CHECK(at::equal(loaded.model.at("weight"), small_checkpoint().model.at("weight")));
  CHECK(at::equal(loaded.trainer.at("optimizer/weight.exp_avg"), at::arange(6, at::kFloat)));
  CHECK(loaded.trainer_state == small_checkpoint().trainer_state);
  CHECK(loaded.about == small_checkpoint().about);
}

TEST_CASE("a saved folder holds its four files and nothing half-written stays beside it") {
  const Folder folder;
  const CheckpointStore store(folder.path);
  store.save(small_checkpoint());
  std::vector<std::string> names;
  for (const auto& entry : fs::recursive_directory_iterator(folder.path))
    names.push_back(entry.path().lexically_relative(folder.path).string());
  std::sort(names.begin(), names.end());
  CHECK(names == std::vector<std::string>{"0", "0/manifest.json", "0/model.safetensors", "0/trainer.json",
                                          "0/trainer.safetensors"});
}

TEST_CASE("a changed byte and a lost byte of any file are refused with the file and the reason") {
  const Folder folder;
  const CheckpointStore store(folder.path);
  for (const std::string name :
       {"manifest.json", "model.safetensors", "trainer.json", "trainer.safetensors"}) {
    INFO(name);
    const fs::path checkpoint = store.path_of(store.save(small_checkpoint()));
    const fs::path file = checkpoint / name;
    const auto size = fs::file_size(file);
    {
      std::fstream stream(file, std::ios::in | std::ios::out | std::ios::binary);
      stream.seekg(static_cast<std::streamoff>(size / 2));
      const char byte = static_cast<char>(stream.get());
      stream.seekp(static_cast<std::streamoff>(size / 2));
      stream.put(static_cast<char>(byte ^ 1));
    }
    CHECK(why_refused(checkpoint).find(name) != std::string::npos);
    fs::resize_file(file, size - 2);
    CHECK(why_refused(checkpoint).find(name) != std::string::npos);
    fs::remove(file);
    CHECK(why_refused(checkpoint).find(name) != std::string::npos);
  }
}

TEST_CASE("leftovers of a process that is gone are swept, indices are never overwritten") {
  const Folder folder;
  const CheckpointStore store(folder.path);
  store.save(small_checkpoint());
  fs::create_directories(folder.path / ".staging-999999999-0");
  fs::create_directories(folder.path / "1");  // somebody else's, not empty
  std::ofstream(folder.path / "1" / "file") << "x";
  CHECK(store.save(small_checkpoint()) == 2);
  CHECK_FALSE(fs::exists(folder.path / ".staging-999999999-0"));
  CHECK(fs::exists(folder.path / "1" / "file"));
}

TEST_CASE(
    "a leftover of an earlier process with the same id is swept, one of another machine is left alone") {
  const Folder folder;
  const CheckpointStore store(folder.path);
  std::array<char, 64> host{};
  REQUIRE(::gethostname(host.data(), host.size() - 1) == 0);
  std::string here(host.data());
  for (char& c : here)
    if (!std::isalnum(static_cast<unsigned char>(c))) c = '_';
  const auto staging = [&](const std::string& machine, long process) {
    const fs::path path = folder.path / (".staging-" + machine + "-" + std::to_string(process) + "-1000000");
    fs::create_directories(path);
    std::ofstream(path / "model.safetensors") << "half";
    return path;
  };
  const fs::path earlier = staging(here, ::getpid()), gone = staging(here, 999999999),
                 elsewhere = staging("another_" + here, 999999999);
  store.save(small_checkpoint());
  CHECK_FALSE(fs::exists(earlier));
  CHECK_FALSE(fs::exists(gone));
  CHECK(fs::exists(elsewhere));
}

TEST_CASE("two writers of one folder get two indices, and each is whole") {
  const Folder folder;
  std::vector<std::int64_t> indices(8);
  {
    std::vector<std::jthread> writers;
    for (std::size_t i = 0; i < indices.size(); ++i)
      writers.emplace_back([&, i] {
        Checkpoint own = small_checkpoint();
        own.about.set("writer", static_cast<std::int64_t>(i));
        at::Tensor(own.model.at("weight")).fill_(static_cast<double>(i));
        indices[i] = CheckpointStore(folder.path).save(own);
      });
  }
  for (std::size_t i = 0; i < indices.size(); ++i) {
    const Checkpoint loaded = CheckpointStore(folder.path).load(indices[i]);
    CHECK(loaded.about.at("writer").as_integer() == static_cast<std::int64_t>(i));
    CHECK(loaded.model.at("weight").eq(static_cast<double>(i)).all().item<bool>());
  }
  CHECK(CheckpointStore(folder.path).indices().size() == indices.size());
}

TEST_CASE("an index that is taken is never written over, not even an empty folder") {
  const Folder folder;
  const CheckpointStore store(folder.path);
  fs::create_directories(folder.path / "0");
  CHECK_THROWS_WITH(store.save_as(0, small_checkpoint()), Catch::Contains("the index is taken"));
  CHECK(fs::is_empty(folder.path / "0"));
}

TEST_CASE("tied weights are stored once and come back as one tensor, also from a save beside training") {
  const Folder folder;
  const CheckpointStore store(folder.path);
  Checkpoint tied = small_checkpoint();
  tied.model.add("head.weight", at::Tensor(tied.model.at("weight")));
  store.save(tied);
  {
    CheckpointWriter writer(store);
    writer.submit(tied);
    writer.finish();
  }
  for (const int index : {0, 1}) {
    const SafetensorsHeader header = inspect_safetensors(store.path_of(index) / "model.safetensors");
    CHECK(header.tensors.size() == 1);
    CHECK(header.metadata.at("head.weight") == "weight");  // as Python's save_model notes it
    const Checkpoint loaded = store.load(index);
    CHECK(loaded.model.at("head.weight").is_same(loaded.model.at("weight")));
    CHECK(at::equal(loaded.model.at("weight"), tied.model.at("weight")));
  }
}

TEST_CASE("a recipe is a file of its own whose bytes stay the same from index to index") {
  const Folder folder;
  const CheckpointStore store(folder.path);
  Checkpoint checkpoint = small_checkpoint();
  checkpoint.recipe = Value::map({{"cls_path", "acme.Model"}, {"hidden", 8}});
  store.save(checkpoint);
  at::Tensor(checkpoint.model.at("weight")).zero_();
  checkpoint.about.set("epoch", 9);
  store.save(checkpoint);
  const auto bytes = [&](std::int64_t index) {
    std::ifstream file(store.path_of(index) / "recipe.json", std::ios::binary);
    return std::string(std::istreambuf_iterator<char>(file), {});
  };
  CHECK_FALSE(bytes(0).empty());
  CHECK(bytes(0) == bytes(1));
  CHECK(store.load(1).recipe == checkpoint.recipe);
}

TEST_CASE("large tensors of a recipe lie in a tensor file beside it, and come back with every bit") {
  const test::ScratchFolder folder;
  const CheckpointStore store(folder.path);
  Checkpoint checkpoint = test::whole_checkpoint();
  at::Tensor large = at::arange(10'000, at::kDouble) / 3;
  large[0] = std::nan("");
  large[1] = -0.0;
  const at::Tensor complex = at::complex(large, large);
  const auto form = [](const at::Tensor& tensor) { return TypeSerializer<at::Tensor>::to_value(tensor); };
  checkpoint.recipe = Value::map({{"mean", form(large)},
                                  {"parts", Value::list({form(at::ones({2})), form(large.neg())})},
                                  {"spectrum", form(complex)}});
  const fs::path saved = store.path_of(store.save(checkpoint));
  CHECK(read_safetensors((saved / "recipe.safetensors").string()).tensors.names() ==
        std::vector<std::string>{"mean", "parts[1]"});
  const std::string text = test::bytes_of_file(saved / "recipe.json");
  CHECK_THAT(text, Catch::Contains("\"file\": \"parts[1]\""));
  CHECK(write_json(load_checkpoint(saved).recipe) == write_json(checkpoint.recipe));
  CHECK(verify_checkpoint(saved).empty());

  fs::remove(saved / "recipe.safetensors");
  CHECK_THROWS_WITH(load_checkpoint(saved), Catch::Contains("E763") && Catch::Contains("recipe.safetensors"));
}

TEST_CASE("a file of several chunks has a digest for each, and a changed byte is told with its chunk") {
  const test::ScratchFolder folder;
  const CheckpointStore store(folder.path);
  Checkpoint checkpoint = test::whole_checkpoint();
  const auto floats = static_cast<std::int64_t>(digest_chunk / 4);
  checkpoint.model.add("large", at::arange(floats * 2 + 10, at::kFloat));
  const fs::path saved = store.path_of(store.save(checkpoint));
  const ManifestFile file = *read_manifest(saved).find("model.safetensors");
  CHECK(file.chunk == digest_chunk);
  REQUIRE(file.sha256.size() == 3);
  const std::string bytes = test::bytes_of_file(saved / "model.safetensors");
  CHECK(file.sha256[2] == tensor_io::sha256_hex(std::string_view(bytes).substr(2 * digest_chunk)));
  CHECK(read_manifest(saved).find("trainer.safetensors")->chunk == 0);
  CHECK(at::equal(load_checkpoint(saved).model.at("large"), checkpoint.model.at("large")));
  CHECK(verify_checkpoint(saved).empty());

  for (const std::size_t at : {digest_chunk + 5, digest_chunk * 2, std::uint64_t{bytes.size() - 1}}) {
    std::string damaged = bytes;
    damaged[at] = static_cast<char>(damaged[at] ^ 4);
    test::write_file(saved / "model.safetensors", damaged);
    const std::uint64_t chunk = at / digest_chunk;
    const std::string place = fmt::format("between {} and {}", chunk * digest_chunk,
                                          std::min<std::uint64_t>(bytes.size(), (chunk + 1) * digest_chunk));
    CHECK_THROWS_WITH(load_checkpoint(saved), Catch::Contains("E763") &&
                                                  Catch::Contains("model.safetensors") &&
                                                  Catch::Contains(place));
    CHECK_THAT(verify_checkpoint(saved).to_text(), Catch::Contains(place));
  }
}

TEST_CASE("a manifest whose digests leave bytes out is refused") {
  const test::ScratchFolder folder;
  CheckpointManifest manifest;
  ManifestFile file;
  file.name = "model.safetensors";
  file.size = 3 * digest_chunk;
  file.chunk = digest_chunk;
  file.sha256 = {"first", "second"};
  manifest.files.push_back(file);
  test::write_file(folder.path / "manifest.json", format_manifest(manifest));
  CHECK_THROWS_WITH(read_manifest(folder.path), Catch::Contains("do not cover the file"));
}

TEST_CASE(
    "a file that the manifest does not list is refused, and every problem of a folder is told at once") {
  const Folder folder;
  const CheckpointStore store(folder.path);
  const fs::path checkpoint = store.path_of(store.save(small_checkpoint()));
  CHECK(verify_checkpoint(checkpoint).empty());
  std::ofstream(checkpoint / ".DS_Store") << "of the system";
  CHECK(verify_checkpoint(checkpoint).empty());
  std::ofstream(checkpoint / "weights.bin") << "of somebody else";
  CHECK_THAT(why_refused(checkpoint), Catch::Contains("weights.bin"));
  fs::remove(checkpoint / "model.safetensors");
  std::ofstream(checkpoint / "trainer.json", std::ios::app) << " ";
  const std::string problems = verify_checkpoint(checkpoint).to_text();
  for (const char* file : {"weights.bin", "model.safetensors", "trainer.json"})
    CHECK_THAT(problems, Catch::Contains(file));
}

TEST_CASE("a manifest cannot lead out of its folder") {
  const Folder folder;
  for (const std::string name : {"../model.safetensors", "/etc/passwd", ".hidden", ""}) {
    CheckpointManifest manifest;
    manifest.files.push_back({name, 1, 0, {"00"}});
    fs::create_directories(folder.path);
    std::ofstream(folder.path / "manifest.json", std::ios::binary) << format_manifest(manifest);
    CHECK_THROWS_WITH(read_manifest(folder.path), Catch::Contains("is no name of a file in this folder"));
  }
}

TEST_CASE("what is removed while it waits to be replaced stays when the replacement fails") {
  const Folder folder;
  const CheckpointStore store(folder.path);
  store.save(small_checkpoint());
  CheckpointWriter writer(store);
  fs::create_directories(folder.path / "1" / "somebody's");  // takes the next index
  CHECK(writer.submit(small_checkpoint()) == 1);
  writer.remove(0);
  CHECK_THROWS_WITH(writer.finish(), Catch::Contains("E762"));
  CHECK(fs::exists(folder.path / "0" / "manifest.json"));
  CHECK(writer.submit(small_checkpoint()) == 2);
  writer.finish();
  CHECK_FALSE(fs::exists(folder.path / "0"));
  CHECK(verify_checkpoint(store.path_of(2)).empty());
}

TEST_CASE("a save that fails says so and leaves nothing") {
  const Folder folder;
  std::ofstream(folder.path) << "a file where the folder should be";
  try {
    CheckpointStore(folder.path).save(small_checkpoint());
    FAIL("saved");
  } catch (const Error& error) {
    CHECK(error.diagnostics().entries().front().code == "E762");
  }
  CHECK(fs::is_regular_file(folder.path));
}

TEST_CASE("checkpoints that are written beside training hold the moment at which they were taken") {
  const Folder folder;
  const CheckpointStore store(folder.path);
  store.save(small_checkpoint());
  CheckpointWriter writer(store);
  Checkpoint moving = small_checkpoint();
  for (int i = 1; i <= 4; ++i) {
    at::Tensor(moving.model.at("weight")).fill_(i);
    CHECK(writer.submit(moving) == i);
  }
  writer.finish();
  CHECK(store.indices() == std::vector<std::int64_t>{0, 1, 2, 3, 4});
  for (int i = 1; i <= 4; ++i) CHECK(store.load(i).model.at("weight").eq(i).all().item<bool>());
}

TEST_CASE("an error of a write beside training is not lost") {
  const Folder folder;
  std::ofstream(folder.path) << "a file where the folder should be";
  CheckpointWriter writer{CheckpointStore(folder.path)};
  writer.submit(small_checkpoint());
  CHECK_THROWS_WITH(writer.finish(), Catch::Contains("E762"));
  CHECK_NOTHROW(writer.finish());
}

}  // namespace nexuml
