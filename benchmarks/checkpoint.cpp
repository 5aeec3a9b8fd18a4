// What a checkpoint costs beside plainly writing and reading the same bytes: medians of pairs that are
// measured in turn, so that both meet the same disk.
//
//     nexuml-benchmark-checkpoint [FOLDER] [MEGABYTES] [PAIRS]      (., 1024, 5)
//
//     save       against writing the bytes and fsync
//     load cold  against reading them, the pages of the files dropped before
//     load warm  against reading them from memory
//     submit     what an asynchronous save costs the training thread, against copying the tensors
#include <ATen/ops/randint.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "checkpoint/checkpoint_store.h"
#include "checkpoint/checkpoint_writer.h"

namespace {

namespace fs = std::filesystem;
using namespace nexuml;

constexpr std::size_t chunk = 8u << 20;

double seconds_of(const std::function<void()>& work) {
  const auto begin = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

void require(bool fine, const char* what) {
  if (fine) return;
  std::perror(what);
  std::exit(1);
}

// A third of it weights, the rest moments of the optimizer, in tensors of 16 MB.
Checkpoint checkpoint_of(std::int64_t megabytes) {
  Checkpoint checkpoint;
  const std::int64_t tensors = std::max<std::int64_t>(3, megabytes / 16);
  for (std::int64_t i = 0; i < tensors; ++i) {
    const at::Tensor numbers = at::randint(0, 1 << 20, {4, 1 << 20}, at::kFloat);
    (i % 3 == 0 ? checkpoint.model : checkpoint.trainer).add(fmt::format("layer.{}.weight", i), numbers);
  }
  return checkpoint;
}

void write_plainly(const fs::path& path, const Checkpoint& checkpoint) {
  const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0644);
  require(file >= 0, "open");
  for (const TensorMap* tensors : {&checkpoint.model, &checkpoint.trainer})
    for (const auto& [name, tensor] : *tensors) {
      const char* bytes = static_cast<const char*>(tensor.const_data_ptr());
      for (std::size_t done = 0; done < tensor.nbytes();) {
        const ssize_t written = ::write(file, bytes + done, std::min(chunk, tensor.nbytes() - done));
        require(written > 0, "write");
        done += static_cast<std::size_t>(written);
      }
    }
  require(::fsync(file) == 0, "fsync");
  ::close(file);
}

// Into fresh memory, as a load has to.
void read_plainly(const fs::path& folder) {
  for (const auto& entry : fs::directory_iterator(folder)) {
    const int file = ::open(entry.path().c_str(), O_RDONLY);
    require(file >= 0, "open");
    const std::unique_ptr<char[]> memory(new char[entry.file_size()]);
    for (std::size_t done = 0; done < entry.file_size();) {
      const ssize_t got = ::read(file, memory.get() + done, std::min(chunk, entry.file_size() - done));
      require(got > 0, "read");
      done += static_cast<std::size_t>(got);
    }
    ::close(file);
  }
}

void drop_pages(const fs::path& folder) {
  for (const auto& entry : fs::directory_iterator(folder)) {
    const int file = ::open(entry.path().c_str(), O_RDONLY);
    ::posix_fadvise(file, 0, 0, POSIX_FADV_DONTNEED);
    ::close(file);
  }
}

// Both sides once a pair; prints medians, and the ratio plain / own with the least that is expected of it.
void compare(const char* what, int pairs, double wanted, const std::function<double()>& plain,
             const std::function<double()>& own) {
  std::vector<double> plain_seconds, own_seconds, ratios;
  for (int pair = 0; pair < pairs; ++pair) {
    plain_seconds.push_back(plain());
    own_seconds.push_back(own());
    ratios.push_back(plain_seconds.back() / own_seconds.back());
  }
  fmt::print("{:10}  plain {:7.3f} s   own {:7.3f} s   ratio {:5.2f}   (wanted {:.1f})\n", what,
             median(plain_seconds), median(own_seconds), median(ratios), wanted);
  std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
  const fs::path folder = fs::path(argc > 1 ? argv[1] : ".") / "nexuml-benchmark-checkpoint";
  const std::int64_t megabytes = argc > 2 ? std::atoll(argv[2]) : 1024;
  const int pairs = argc > 3 ? std::atoi(argv[3]) : 5;
  fs::remove_all(folder);
  fs::create_directories(folder);
  const Checkpoint checkpoint = checkpoint_of(megabytes);
  const CheckpointStore store(folder / "checkpoints");

  compare(
      "save", pairs, 0.8,
      [&] {
        const double seconds = seconds_of([&] { write_plainly(folder / "plain", checkpoint); });
        fs::remove(folder / "plain");
        return seconds;
      },
      [&] {
        std::int64_t index = 0;
        const double seconds = seconds_of([&] { index = store.save(checkpoint); });
        store.remove(index);
        return seconds;
      });

  const fs::path saved = store.path_of(store.save(checkpoint));
  const auto load = [&] { load_checkpoint(saved); };
  const auto read = [&] { read_plainly(saved); };
  const auto cold = [&](const std::function<void()>& work) {
    drop_pages(saved);
    return seconds_of(work);
  };
  compare(
      "load cold", pairs, 0.8, [&] { return cold(read); }, [&] { return cold(load); });
  read();
  compare(
      "load warm", pairs, 0.3, [&] { return seconds_of(read); }, [&] { return seconds_of(load); });

  compare(
      "submit", pairs, 0.8,
      [&] {
        TensorMap copies;
        return seconds_of([&] {
          for (const TensorMap* tensors : {&checkpoint.model, &checkpoint.trainer})
            for (const auto& [name, tensor] : *tensors) copies.add(name, tensor.clone());
        });
      },
      [&] {
        CheckpointWriter writer(store);
        std::int64_t index = 0;
        const double seconds = seconds_of([&] { index = writer.submit(checkpoint); });
        writer.finish();
        store.remove(index);
        return seconds;
      });
  fs::remove_all(folder);
  return 0;
}
