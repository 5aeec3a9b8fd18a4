// Every byte of a small checkpoint changed, and every length cut, one at a time.
#include <ATen/ops/equal.h>

#include <catch2/catch.hpp>

#include "checkpoint/small_checkpoint.h"
#include "checkpoint/weights.h"
#include "train/small_training.h"

namespace nexuml {
namespace {

namespace fs = std::filesystem;
using test::bytes_of_file;
using test::write_file;

const std::vector<std::string> file_names{"manifest.json", "model.safetensors", "recipe.json", "trainer.json",
                                          "trainer.safetensors"};

// The file that the refusal names, and whether it gives a reason; empty where nothing was refused.
std::string refusal_of(const fs::path& checkpoint) {
  try {
    load_checkpoint(checkpoint);
  } catch (const Error& error) {
    const Diagnostic& problem = error.diagnostics().entries().front();
    if (problem.code != "E763" || problem.message.size() < 40)
      return "without a reason: " + problem.to_text();
    return fs::path(problem.where.file).filename();
  }
  return {};
}

// Files vouch for each other: a changed manifest may be noticed in the file that it no longer fits.
bool refused(const fs::path& checkpoint, const std::string& name) {
  const std::string found = refusal_of(checkpoint);
  return found == name;
}

// A training whose objects are watched while a damaged checkpoint is offered to it.
struct Watched {
  test::SmallTraining training{5};
  StrategyState before;

  Watched() {
    training.options.max_epochs = 1;
    training.trainer().fit();
    const StrategyState state = training.strategy.state();
    for (const auto& [name, tensor] : state.model) before.model.add(name, tensor.detach().clone());
    for (const auto& [name, tensor] : state.tensors) before.tensors.add(name, tensor.clone());
    before.scalars = state.scalars;
  }
  bool unchanged() const {
    const StrategyState now = training.strategy.state();
    const auto same = [](const TensorMap& left, const TensorMap& right) {
      for (const auto& [name, tensor] : left)
        if (!right.contains(name) || !at::equal(tensor, right.at(name))) return false;
      return left.size() == right.size();
    };
    return same(before.model, now.model) && same(before.tensors, now.tensors) &&
           before.scalars == now.scalars;
  }
};

}  // namespace

TEST_CASE("every changed bit of every byte of a checkpoint is refused with the file and the reason") {
  const test::ScratchFolder folder;
  const CheckpointStore store(folder.path / "checkpoints");
  const fs::path checkpoint = store.path_of(store.save(test::whole_checkpoint()));
  REQUIRE(refusal_of(checkpoint).empty());
  std::size_t tried = 0;
  for (const std::string& name : file_names) {
    INFO(name);
    const std::string whole = bytes_of_file(checkpoint / name);
    REQUIRE(whole.size() > 30);
    for (std::size_t at = 0; at < whole.size(); ++at) {
      std::string damaged = whole;
      damaged[at] = static_cast<char>(damaged[at] ^ (1 << (at % 8)));
      write_file(checkpoint / name, damaged);
      ++tried;
      if (!refused(checkpoint, name)) FAIL("byte " << at << ": " << refusal_of(checkpoint));
    }
    write_file(checkpoint / name, whole);
  }
  CHECK(tried > 1000);
  CHECK(refusal_of(checkpoint).empty());
}

TEST_CASE("every length to which a file of a checkpoint can be cut is refused with the file and the reason") {
  const test::ScratchFolder folder;
  const CheckpointStore store(folder.path / "checkpoints");
  const fs::path checkpoint = store.path_of(store.save(test::whole_checkpoint()));
  for (const std::string& name : file_names) {
    INFO(name);
    const std::string whole = bytes_of_file(checkpoint / name);
    for (std::size_t length = 0; length < whole.size(); ++length) {
      write_file(checkpoint / name, std::string_view(whole).substr(0, length));
      if (!refused(checkpoint, name)) FAIL("cut to " << length << ": " << refusal_of(checkpoint));
    }
    write_file(checkpoint / name, whole + '\n');
    CHECK(refused(checkpoint, name));
    fs::remove(checkpoint / name);
    CHECK(refused(checkpoint, name));
    write_file(checkpoint / name, whole);
  }
  CHECK(refusal_of(checkpoint).empty());
}

TEST_CASE("a damaged checkpoint changes nothing in the objects that it should be loaded into") {
  const test::ScratchFolder folder;
  const CheckpointStore store(folder.path / "checkpoints");
  test::SmallTraining other(6);
  other.trainer().fit();
  const StrategyState state = other.strategy.state();
  const fs::path checkpoint = store.path_of(
      store.save({.model = state.model, .trainer = state.tensors, .trainer_state = state.scalars}));
  Watched watched;
  for (const std::string name :
       {"model.safetensors", "trainer.safetensors", "trainer.json", "manifest.json"}) {
    const std::string whole = bytes_of_file(checkpoint / name);
    for (std::size_t at = 0; at < whole.size(); at += 1 + whole.size() / 40) {
      std::string damaged = whole;
      damaged[at] = static_cast<char>(damaged[at] ^ 0x10);
      write_file(checkpoint / name, damaged);
      const auto restore = [&] {
        const Checkpoint loaded = load_checkpoint(checkpoint);
        watched.training.strategy.restore({loaded.model, loaded.trainer, loaded.trainer_state});
      };
      CHECK_THROWS_AS(restore(), Error);
    }
    write_file(checkpoint / name, whole);
  }
  CHECK(watched.unchanged());
}

}  // namespace nexuml
