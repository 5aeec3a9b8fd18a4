// Libraries that do what no library should. Each is opened in a process of its own; this process, and the
// report about the others, come through unharmed.
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <chrono>
#include <cstdio>
#include <map>
#include <set>

#include "discovery/test_tree.h"
#include "loading/mapped_files.h"
#include "loading/probe.h"
#include "sanitizer.h"

using namespace nexuml;
using namespace nexuml::test;

namespace {

using Clock = std::chrono::steady_clock;

struct Expected {
  const char* folder;
  const char* code;
  const char* words;  // {} stands for the folder of the library
};

constexpr const char* missing_words =
    "a library that it needs was not found: libnowhere.so.1: cannot open shared object file: No such file or "
    "directory; the library's RUNPATH, which was searched: {}";

// Found by looking at the file.
constexpr Expected found_in_the_file[] = {{"no_entry", "E404", "nexuml_library_entry_v1"}};

// Found by opening it.
constexpr Expected found_by_opening[] = {
    {"abort_in_static_init", "E405", "SIGABRT"},
    {"abort_in_thread", "E405", "SIGABRT"},
    {"asks_the_user", "E407", "nobody accepted the licence"},
    {"bus_error", "E405", "SIGBUS"},
    {"divides_by_zero", "E405", "SIGFPE"},
    {"eats_memory", "E407", "bad_alloc"},
    {"empty_name", "E507", "no valid identity"},
    {"empty_table", "E404", "no usable table"},
    {"exit_in_registration", "E405", "exit code 17; it printed: the licence has expired"},
    {"exit_in_static_init", "E405", "exit code 0"},
    {"illegal_instruction", "E405", "SIGILL"},
    {"kills_its_process", "E405", "SIGKILL"},
    {"kills_the_worker", "E405", "the process that opens libraries ended with SIGKILL"},
    {"missing_dependency", "E403", missing_words},
    {"one_type_two_names", "E501", "layer/one_type_two_names@1 and as layer/one_type_second_name@1"},
    {"quick_exit", "E405", "exit code 0"},
    {"raises_floating_trap", "E405", "SIGFPE"},
    {"segfault_in_static_init", "E405", "SIGSEGV"},
    {"small_table", "E404", "no usable table"},
    {"stack_overflow", "E405", "SIGSEGV"},
    {"throw_in_static_init", "E405", "the table of colours is missing"},
    {"throws", "E407", "no licence file was found"},
    {"throws_a_number", "E407", "not a std::exception"},
    {"throws_in_thread", "E405", "the cache server does not answer"},
    {"twice_the_same_name", "E501", "registered twice"},
    {"undeclared", "E502", "registered but not declared: layer/registered_only@1"},
    {"undefined_symbol", "E402", "c10::function_of_another_version(int)"},
    {"writes_to_descriptors", "E405", "disturbed the answer"}};

// Stopped when their time is up.
constexpr Expected stopped[] = {{"deadlock_in_loader", "E406", "longer than"},
                                {"ignores_signals", "E406", "longer than"},
                                {"loops_for_ever", "E406", "longer than"},
                                {"prints_for_ever", "E406", "dull library"},
                                {"sleeps_for_ever", "E406", "longer than"}};

std::shared_ptr<const Catalog> scan(const TestTree& tree, const std::string& folder) {
  return discover({.roots = {TestTree::fixture_root(folder)}}, empty_environment(tree));
}

// A sanitizer takes more address space than any limit leaves.
bool needs_limited_memory(const Expected& expected) {
  return kSanitized && expected.folder == std::string_view("eats_memory");
}

void check_probe(Prober& prober, const Expected& expected) {
  if (needs_limited_memory(expected)) return;
  INFO(expected.folder);
  TestTree tree;
  const auto catalog = scan(tree, expected.folder);
  REQUIRE(catalog->libraries().size() == 1);
  INFO(catalog->diagnostics().to_text());
  REQUIRE(catalog->libraries()[0].usable());
  const Diagnostics problems = prober.probe(catalog->libraries()[0]);
  INFO(problems.to_text());
  REQUIRE(problems.size() >= 1);
  CHECK(problems.entries()[0].code == expected.code);
  const fs::path library = catalog->libraries()[0].origin.path;
  CHECK_THAT(problems.entries()[0].message,
             Catch::Contains(fmt::format(fmt::runtime(expected.words), library.parent_path().string())));
}

// What `tells_its_worker` told: the numbers after "worker" and "child".
std::pair<int, int> worker_and_child(const Diagnostics& problems) {
  const std::string text = problems.to_text();
  int worker = 0, child = 0;
  const auto at = text.find("worker ");
  if (at != text.npos) std::sscanf(text.c_str() + at, "worker %d child %d", &worker, &child);
  return {worker, child};
}

// The processes that have a file mapped.
std::vector<std::string> processes_with_open(const std::string& path) {
  std::vector<std::string> found;
  std::error_code ignored;
  for (const auto& process : fs::directory_iterator("/proc", ignored)) {
    const std::string name = process.path().filename().string();
    if (name.find_first_not_of("0123456789") != std::string::npos) continue;
    if (read_bytes("/proc/" + name + "/maps").find(path) != std::string::npos) found.push_back(name);
  }
  return found;
}

}  // namespace

TEST_CASE("what a library's file lacks is found without opening it") {
  for (const auto& expected : found_in_the_file) {
    INFO(expected.folder);
    TestTree tree;
    const auto catalog = scan(tree, expected.folder);
    REQUIRE(codes(catalog->diagnostics()) == std::vector<std::string>{expected.code});
    CHECK_THAT(catalog->diagnostics().to_text(), Catch::Contains(expected.words));
  }
}

TEST_CASE("each misbehaving library is one diagnostic, and the prober goes on to the next") {
  Prober prober({.host = NEXUML_RUN_PATH});
  TestTree tree;
  const auto good = scan(tree, "good");
  for (const auto& expected : found_by_opening) {
    check_probe(prober, expected);
    CHECK(prober.probe(good->libraries()[0]).empty());
  }
}

TEST_CASE("a library that does not come back is stopped when its time is up") {
  Prober prober({.timeout = std::chrono::milliseconds(400), .host = NEXUML_RUN_PATH});
  for (const auto& expected : stopped) {
    const auto start = Clock::now();
    check_probe(prober, expected);
    INFO(expected.folder);
    CHECK(Clock::now() - start < std::chrono::seconds(10) * kSlowdown);
  }
}

TEST_CASE("a library that ends the worker is named as what ended it, and the next gets a new worker") {
  Prober prober({.host = NEXUML_RUN_PATH});
  TestTree tree;
  const auto killer = scan(tree, "kills_the_worker"), good = scan(tree, "good");
  const auto teller = scan(tree, "tells_its_worker");
  const int before = worker_and_child(prober.probe(teller->libraries()[0])).first;
  const Diagnostics problems = prober.probe(killer->libraries()[0]);
  INFO(problems.to_text());
  REQUIRE(codes(problems) == std::vector<std::string>{"E405"});
  CHECK(problems.entries()[0].where.file == killer->libraries()[0].origin.path);
  CHECK_THAT(problems.entries()[0].hint, Catch::Contains("must not end other processes"));
  CHECK(prober.probe(good->libraries()[0]).empty());
  CHECK(worker_and_child(prober.probe(teller->libraries()[0])).first != before);
}

TEST_CASE("a worker that dies between two libraries is no fault of the next one") {
  Prober prober({.host = NEXUML_RUN_PATH});
  TestTree tree;
  const auto teller = scan(tree, "tells_its_worker"), good = scan(tree, "good");
  const int worker = worker_and_child(prober.probe(teller->libraries()[0])).first;
  REQUIRE(worker > 1);
  REQUIRE(::kill(worker, SIGKILL) == 0);
  siginfo_t ended{};
  REQUIRE(::waitid(P_PID, static_cast<id_t>(worker), &ended, WEXITED | WNOWAIT) == 0);
  CHECK(prober.probe(good->libraries()[0]).to_text() == "");
}

TEST_CASE("a worker that a library stopped is given up after a while, and the next library gets a new one") {
  Prober prober({.timeout = std::chrono::milliseconds(400),
                 .patience = std::chrono::milliseconds(1000),
                 .host = NEXUML_RUN_PATH});
  TestTree tree;
  const auto stopper = scan(tree, "stops_the_worker"), throws = scan(tree, "throws");
  const auto start = Clock::now();
  CHECK(codes(prober.probe(stopper->libraries()[0])) == std::vector<std::string>{"E406"});
  CHECK(Clock::now() - start < std::chrono::seconds(10) * kSlowdown);
  Prober patient({.host = NEXUML_RUN_PATH});
  CHECK(codes(patient.probe(throws->libraries()[0])) == std::vector<std::string>{"E407"});
}

TEST_CASE("one worker opens LibTorch and the runtime, and forks for each library") {
  Prober prober({.host = NEXUML_RUN_PATH});
  TestTree tree;
  std::set<int> workers, children;
  const auto runtime = fs::path(NEXUML_COMPONENTS_ROOT).parent_path().parent_path() / "libnexuml-runtime.so";
  for (const char* folder : {"one", "two", "three"}) {
    tree.copy_fixture("tells_its_worker", folder);
    const auto catalog = discover({.roots = {tree.path(folder)}}, empty_environment(tree));
    const Diagnostics problems = prober.probe(catalog->libraries()[0]);
    const auto [worker, child] = worker_and_child(problems);
    INFO(problems.to_text());
    REQUIRE(worker > 1);
    workers.insert(worker);
    children.insert(child);
    CHECK_THAT(problems.to_text(),
               Catch::Contains(fs::exists(runtime) ? " with the runtime" : " without the runtime"));
  }
  CHECK(workers.size() == 1);
  CHECK(children.size() == 3);
  CHECK_FALSE(workers.contains(::getpid()));
}

TEST_CASE("a symbol that is nowhere comes with the advice to rebuild") {
  Prober prober({.host = NEXUML_RUN_PATH});
  TestTree tree;
  const auto catalog = scan(tree, "undefined_symbol");
  const Diagnostics problems = prober.probe(catalog->libraries()[0]);
  REQUIRE(codes(problems) == std::vector<std::string>{"E402"});
  CHECK_THAT(problems.entries()[0].hint, Catch::Contains("rebuild it with this host's SDK"));
}

TEST_CASE("a library that closes every descriptor cannot pass for a good one") {
  Prober prober({.host = NEXUML_RUN_PATH});
  TestTree tree;
  const auto catalog = scan(tree, "closes_descriptors");
  const Diagnostics problems = prober.probe(catalog->libraries()[0]);
  CHECK(codes(problems) == std::vector<std::string>{"E405"});
}

TEST_CASE("a process that a library leaves behind is ended with it") {
  Prober prober({.timeout = std::chrono::milliseconds(3000), .host = NEXUML_RUN_PATH});
  TestTree tree;
  for (const char* folder : {"leaves_a_process", "starts_a_daemon"}) {
    INFO(folder);
    const auto catalog = scan(tree, folder);
    const auto start = std::chrono::steady_clock::now();
    CHECK(prober.probe(catalog->libraries()[0]).empty());
    CHECK(std::chrono::steady_clock::now() - start < std::chrono::seconds(60));
    CHECK(processes_with_open(catalog->libraries()[0].origin.path).empty());
  }
}

TEST_CASE("without a worker nothing is opened, and that is said") {
  TestTree tree;
  tree.copy_fixture("good", "root");  // at a path where no other test opens it
  const auto good = discover({.roots = {tree.path("root")}}, empty_environment(tree));
  for (const char* host : {"/no/such/program", "/bin/true", "/bin/cat"}) {
    Prober prober({.host = host});
    CHECK(codes(prober.probe(good->libraries()[0])) == std::vector<std::string>{"E401"});
    CHECK_FALSE(is_mapped(good->libraries()[0].origin.path));
  }
}
