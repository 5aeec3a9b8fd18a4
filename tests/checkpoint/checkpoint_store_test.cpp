#include "checkpoint/checkpoint_store.h"

#include <ATen/ops/arange.h>
#include <ATen/ops/equal.h>
#include <nexuml/diagnostic.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <fstream>

#include "checkpoint/checkpoint_writer.h"

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
