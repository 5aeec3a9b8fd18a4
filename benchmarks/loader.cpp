// Loaders: batches of tensors in memory, and of 16-bit WAV files against a bare loop that reads and decodes
// them with as many threads. `loader_side_by_side.py` puts the first beside the DataLoader of Python's torch.
#include <ATen/Parallel.h>
#include <ATen/ops/randint.h>
#include <ATen/ops/randn.h>
#include <benchmark/benchmark.h>
#include <nexuml/data.h>
#include <sndfile.h>

#include <atomic>
#include <cmath>
#include <filesystem>
#include <numeric>
#include <thread>

#include "discovery/discover.h"
#include "loading/library_loader.h"

namespace {

namespace fs = std::filesystem;

constexpr std::int64_t rows = 20000, width = 784, batch_size = 64;
constexpr std::int64_t wav_files = 400, wav_frames = 32000, wav_rate = 16000, wav_batch = 16;

std::vector<std::int64_t> all_rows(std::int64_t count) {
  std::vector<std::int64_t> numbers(static_cast<std::size_t>(count));
  std::iota(numbers.begin(), numbers.end(), std::int64_t{0});
  return numbers;
}

std::int64_t walk(nexuml::DataLoader& loader, std::int64_t epoch) {
  std::int64_t samples = 0;
  loader.start_epoch(epoch);
  while (const auto batch = loader.next()) samples += batch->batch_size();
  return samples;
}

void in_memory(benchmark::State& state) {
  at::set_num_threads(1);
  static const auto dataset = std::make_shared<nexuml::TensorDataset>(
      nexuml::TensorDict{{"features", at::randn({rows, width})}},
      nexuml::TensorDict{{"class", at::randint(10, {rows}, at::kLong)}});
  const auto loader = nexuml::make_torch_loader_backend()->create_loader({.dataset = dataset,
                                                                          .indices = all_rows(rows),
                                                                          .split = "train",
                                                                          .batch_size = batch_size,
                                                                          .shuffle = true,
                                                                          .num_workers = state.range(0)});
  std::int64_t samples = 0, epoch = 0;
  for (auto _ : state) samples += walk(*loader, epoch++);
  state.SetItemsProcessed(samples);
}
BENCHMARK(in_memory)->Arg(0)->Arg(2)->UseRealTime()->Unit(benchmark::kMillisecond);

// A folder of WAV files, written once and removed at the end.
class WavFolder {
 public:
  WavFolder() {
    std::string pattern = (fs::temp_directory_path() / "nexuml-wav-XXXXXX").string();
    root_ = ::mkdtemp(pattern.data());
    fs::create_directory(root_ / "x");
    std::vector<short> samples(wav_frames);
    for (std::int64_t file = 0; file < wav_files; ++file) {
      for (std::size_t i = 0; i < samples.size(); ++i)
        samples[i] = static_cast<short>(
            8000 * std::sin(0.01 * static_cast<double>(i) * static_cast<double>(file % 7 + 1)));
      SF_INFO info{};
      info.samplerate = wav_rate;
      info.channels = 1;
      info.format = SF_FORMAT_WAV | SF_FORMAT_PCM_16;
      files_.push_back(root_ / "x" / (std::to_string(1000 + file) + ".wav"));
      SNDFILE* out = sf_open(files_.back().c_str(), SFM_WRITE, &info);
      sf_writef_short(out, samples.data(), wav_frames);
      sf_close(out);
    }
  }
  ~WavFolder() { fs::remove_all(root_); }
  const fs::path& root() const { return root_; }
  const std::vector<fs::path>& files() const { return files_; }

 private:
  fs::path root_;
  std::vector<fs::path> files_;
};
const WavFolder& wav_folder() {
  static const WavFolder folder;
  return folder;
}

std::shared_ptr<nexuml::Dataset> wav_dataset() {
  nexuml::Environment environment = nexuml::process_environment();
  environment.host_prefix = fs::path(NEXUML_RUN_PATH).parent_path().parent_path().string();
  environment.components_dir = (fs::path(environment.host_prefix) / "lib/nexuml/components").string();
  nexuml::LibraryLoader loader(nexuml::discover({.builtin_only = true}, environment), environment);
  nexuml::Diagnostics problems;
  loader.load_all(problems);
  static const nexuml::ComponentRegistry registry = loader.registry();
  const nexuml::AnyDataSource source = registry.definition(
      {nexuml::ComponentKind::data_source, "audio_folder", "1"},
      nexuml::Value::map({{"root", "."}, {"num_samples", wav_frames}, {"sample_rate", wav_rate}}));
  return source->build(nexuml::DataContext{.data_root = wav_folder().root()});
}

void wav_loader(benchmark::State& state) {
  at::set_num_threads(1);
  const std::shared_ptr<nexuml::Dataset> dataset = wav_dataset();
  const auto loader = nexuml::make_torch_loader_backend()->create_loader({.dataset = dataset,
                                                                          .indices = all_rows(wav_files),
                                                                          .split = "train",
                                                                          .batch_size = wav_batch,
                                                                          .num_workers = state.range(0)});
  std::int64_t samples = 0, epoch = 0;
  for (auto _ : state) samples += walk(*loader, epoch++);
  state.SetItemsProcessed(samples);
}
BENCHMARK(wav_loader)->Arg(1)->Arg(2)->UseRealTime()->Unit(benchmark::kMillisecond);

// Opens, decodes to float and closes each file; nothing is kept.
void wav_bare(benchmark::State& state) {
  const std::vector<fs::path>& files = wav_folder().files();
  for (auto _ : state) {
    std::atomic<std::size_t> next = 0;
    std::vector<std::thread> threads;
    for (std::int64_t i = 0; i < state.range(0); ++i)
      threads.emplace_back([&] {
        std::vector<float> samples(wav_frames);
        for (std::size_t file = next++; file < files.size(); file = next++) {
          SF_INFO info{};
          SNDFILE* in = sf_open(files[file].c_str(), SFM_READ, &info);
          benchmark::DoNotOptimize(sf_readf_float(in, samples.data(), wav_frames));
          sf_close(in);
        }
      });
    for (std::thread& thread : threads) thread.join();
  }
  state.SetItemsProcessed(state.iterations() * wav_files);
}
BENCHMARK(wav_bare)->Arg(1)->Arg(2)->UseRealTime()->Unit(benchmark::kMillisecond);

}  // namespace

BENCHMARK_MAIN();
