// What it costs that libraries lie in a root: the scan of 1,000 to 10,000 component folders, in this process
// and as `registry list`, and `doctor` over 100 libraries that are linked with LibTorch. What takes longer than
// the limits below is an error of the benchmark and of its exit code; they are for an optimised build.
#include <benchmark/benchmark.h>
#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <string>

#include "discovery/discover.h"

namespace {

namespace fs = std::filesystem;
using namespace nexuml;
using Clock = std::chrono::steady_clock;

constexpr double most_seconds_a_folder = 100e-6, most_seconds_of_doctor = 5;
// A folder of 10,000 may cost so much more than one of 1,000: the cost is linear but for caches.
constexpr double most_growth = 1.5;

bool failed = false;

void fail(benchmark::State& state, const std::string& words) {
  failed = true;
  state.SkipWithError(words.c_str());
}

std::string bytes_of(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

void write(const fs::path& path, const std::string& text) {
  fs::create_directories(path.parent_path());
  std::ofstream(path, std::ios::binary) << text;
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  for (std::size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size())
    text.replace(at, from.size(), to);
  return text;
}

// A root of `count` component folders, removed at the end of the process.
class Root {
 public:
  explicit Root(const std::string& name)
      : path_(fs::temp_directory_path() / fmt::format("nexuml-benchmark-{}-{}", name, ::getpid())) {}
  ~Root() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

// Small libraries with our note, each with an id of its own.
const Root& small_libraries(std::int64_t count) {
  static std::map<std::int64_t, Root> roots;
  const auto [found, made] = roots.try_emplace(count, fmt::format("small-{}", count));
  if (!made) return found->second;
  const std::string library = bytes_of(NEXUML_SMALL_LIBRARY);
  for (std::int64_t index = 0; index < count; ++index) {
    const std::string id = fmt::format("org.bench.lib.{:05}", index);  // as long as the id in the file
    const fs::path folder = found->second.path() / id;
    write(folder / "lib.so", replaced(library, "org.example.windows", id));
    write(folder / "lib.nexuml.json",
          fmt::format(
              R"({{"manifest_version": 1, "library": {{"id": "{}", "version": "1.2.0", "path": "lib.so"}},)"
              R"( "abi": {{"nexuml": "1.0", "tag": "x86_64-linux-gnu;libstdcxx-cxx11"}},)"
              R"( "provides": [{{"kind": "layer", "name": "layer{}", "version": "1", "hash": "0f"}}]}})",
              id, index));
  }
  return found->second;
}

Environment empty_environment() {
  return {.host_prefix = "/nowhere", .components_dir = "/nowhere/components", .variables = {}};
}

// Compares what a folder cost with the limit, and with what it cost in the smallest root.
void check_cost(benchmark::State& state, const std::string& name, Clock::duration took) {
  static std::map<std::string, std::map<std::int64_t, double>> seconds_a_folder;
  auto& costs = seconds_a_folder[name];
  const double cost =
      std::chrono::duration<double>(took).count() / static_cast<double>(state.iterations() * state.range(0));
  costs[state.range(0)] = cost;
  state.counters["us_a_folder"] = 1e6 * cost;
  const auto& [smallest, least] = *costs.begin();
  if (cost > most_seconds_a_folder)
    fail(state,
         fmt::format("{:.0f} us a folder, the limit is {:.0f}", 1e6 * cost, 1e6 * most_seconds_a_folder));
  else if (cost > most_growth * least)
    fail(state, fmt::format("{:.0f} us a folder among {}, {:.0f} among {}: not linear", 1e6 * cost,
                            state.range(0), 1e6 * least, smallest));
}

// Manifest, file check and catalog, for each folder.
void scan(benchmark::State& state) {
  const Root& root = small_libraries(state.range(0));
  const auto start = Clock::now();
  for (auto _ : state) {
    const auto catalog = discover({.roots = {root.path().string()}}, empty_environment());
    if (static_cast<std::int64_t>(catalog->libraries().size()) != state.range(0) ||
        catalog->diagnostics().size() > 0)
      return fail(state, catalog->diagnostics().to_text().substr(0, 300));
  }
  check_cost(state, "scan", Clock::now() - start);
}

// The whole process: start, scan, listing.
void registry_list(benchmark::State& state) {
  const Root& root = small_libraries(state.range(0));
  const std::string command =
      fmt::format("XDG_CONFIG_HOME=/nowhere '{}' registry list --root '{}' >/dev/null 2>&1", NEXUML_RUN_PATH,
                  root.path().string());
  const auto start = Clock::now();
  for (auto _ : state)
    if (std::system(command.c_str()) != 0) return fail(state, "registry list failed");
  check_cost(state, "registry_list", Clock::now() - start);
}

#if defined(NEXUML_LINKED_LIBRARY)
// Copies of one library that is linked with LibTorch, under other ids of the same length.
void doctor(benchmark::State& state) {
  const Root root("linked");
  const std::string id = "org.bench.linked.000";
  const fs::path built = NEXUML_LINKED_LIBRARY;
  const std::string library = bytes_of(built), stem = "bench_linked";
  for (std::int64_t index = 0; index < state.range(0); ++index) {
    const std::string own = fmt::format("org.bench.linked.{:03}", index);
    write(root.path() / own / built.filename(), replaced(library, id, own));
    for (const char* suffix : {".nexuml.json", ".nexuml-schemas.json"})
      write(root.path() / own / (stem + suffix),
            replaced(bytes_of(built.parent_path() / (stem + suffix)), id, own));
  }
  const std::string command =
      fmt::format("XDG_CONFIG_HOME=/nowhere '{}' doctor --root '{}' | grep -c ' OK  *org.bench'",
                  NEXUML_RUN_PATH, root.path().string());
  const auto start = Clock::now();
  for (auto _ : state) {
    std::FILE* output = ::popen(command.c_str(), "r");
    int opened = 0;
    const bool told = output && std::fscanf(output, "%d", &opened) == 1;
    if (output) ::pclose(output);
    if (!told || opened != state.range(0))
      return fail(state, fmt::format("{} of {} libraries were opened", opened, state.range(0)));
  }
  const double seconds =
      std::chrono::duration<double>(Clock::now() - start).count() / static_cast<double>(state.iterations());
  if (seconds > most_seconds_of_doctor)
    fail(state, fmt::format("{:.1f} s, the limit is {:.0f}", seconds, most_seconds_of_doctor));
}
BENCHMARK(doctor)->Arg(100)->Unit(benchmark::kMillisecond)->Iterations(3);
#endif

BENCHMARK(scan)->Arg(1000)->Arg(3000)->Arg(10000)->Unit(benchmark::kMillisecond);
BENCHMARK(registry_list)->Arg(1000)->Arg(10000)->Unit(benchmark::kMillisecond);

}  // namespace

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
  return failed ? 1 : 0;
}
