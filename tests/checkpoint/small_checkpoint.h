// A small checkpoint with everything in it, and a folder that is removed after the test.
#pragma once

#include <ATen/ops/arange.h>
#include <nexuml/diagnostic.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <string>

#include "checkpoint/checkpoint_store.h"

namespace nexuml::test {

struct ScratchFolder {
  std::filesystem::path path;
  ScratchFolder() {
    static std::atomic<int> count{0};
    path = std::filesystem::temp_directory_path() /
           ("nexuml-checkpoint-faults-" + std::to_string(::getpid()) + "-" + std::to_string(count++));
    std::filesystem::create_directories(path);
  }
  ~ScratchFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path, ignored);
  }
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;
};

inline Checkpoint whole_checkpoint() {
  Checkpoint checkpoint;
  const at::Tensor weight = at::arange(6, at::kFloat).reshape({2, 3});
  checkpoint.model.add("embed.weight", weight);
  checkpoint.model.add("head.weight", weight);
  checkpoint.trainer.add("optimizer/embed.weight.exp_avg", at::arange(6, at::kFloat));
  checkpoint.trainer_state = Value::map({{"counters", Value::map({{"epoch", 3}, {"lr", 0.1}})}});
  checkpoint.recipe = Value::map({{"cls_path", "acme.Model"}, {"hidden", 3}});
  checkpoint.about = Value::map({{"scenario", "small"}});
  return checkpoint;
}

inline std::string bytes_of_file(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return std::string(std::istreambuf_iterator<char>(file), {});
}

inline void write_file(const std::filesystem::path& path, std::string_view bytes) {
  std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes;
}

}  // namespace nexuml::test
