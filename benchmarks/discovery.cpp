// What it costs that libraries lie in a root: the scan of 1,000 to 10,000 component folders, in this process
// and as `registry list`, and `doctor` over 100 libraries that are linked with LibTorch.
#include <benchmark/benchmark.h>
#include <fmt/format.h>
#include <unistd.h>

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

// Manifest, file check and catalog, for each folder.
void scan(benchmark::State& state) {
  const Root& root = small_libraries(state.range(0));
  for (auto _ : state) {
    const auto catalog = discover({.roots = {root.path().string()}}, empty_environment());
    if (static_cast<std::int64_t>(catalog->libraries().size()) != state.range(0) ||
        catalog->diagnostics().size() > 0)
      state.SkipWithError(catalog->diagnostics().to_text().substr(0, 300).c_str());
  }
  state.counters["us_a_folder"] =
      benchmark::Counter(static_cast<double>(state.range(0)) / 1e6,
                         benchmark::Counter::kIsIterationInvariantRate | benchmark::Counter::kInvert);
  state.SetComplexityN(state.range(0));
}

// The whole process: start, scan, listing.
void registry_list(benchmark::State& state) {
  const Root& root = small_libraries(state.range(0));
  const std::string command =
      fmt::format("XDG_CONFIG_HOME=/nowhere '{}' registry list --root '{}' >/dev/null 2>&1", NEXUML_RUN_PATH,
                  root.path().string());
  for (auto _ : state)
    if (std::system(command.c_str()) != 0) state.SkipWithError("registry list failed");
  state.SetComplexityN(state.range(0));
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
  for (auto _ : state) {
    std::FILE* output = ::popen(command.c_str(), "r");
    int opened = 0;
    if (!output || std::fscanf(output, "%d", &opened) != 1 || opened != state.range(0))
      state.SkipWithError(fmt::format("{} of {} libraries were opened", opened, state.range(0)).c_str());
    if (output) ::pclose(output);
  }
}
BENCHMARK(doctor)->Arg(100)->Unit(benchmark::kMillisecond)->Iterations(3);
#endif

BENCHMARK(scan)->Arg(1000)->Arg(3000)->Arg(10000)->Unit(benchmark::kMillisecond)->Complexity();
BENCHMARK(registry_list)->Arg(1000)->Arg(10000)->Unit(benchmark::kMillisecond)->Complexity(benchmark::oN);

}  // namespace

BENCHMARK_MAIN();
