// Processes that are killed, disks that are full, folders that are read-only or gone.
//
// NEXUML_SOAK_KILLS: how often a run is killed (20 when not given).
#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <spawn.h>
#include <sys/mount.h>
#include <sys/wait.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <chrono>
#include <cstdlib>
#include <random>
#include <thread>

#include "checkpoint/checkpoint_writer.h"
#include "checkpoint/small_checkpoint.h"

extern char** environ;

namespace nexuml {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

const std::string scenario = std::string(NEXUML_TEST_DATA) + "/cases/T09-resume-mid-epoch/scenario.yaml";

std::string failure_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const Error& error) {
    return error.what();
  }
  return {};
}

pid_t start_host(const std::vector<std::string>& arguments, const fs::path& log) {
  std::vector<char*> argv{const_cast<char*>(NEXUML_RUN_PATH)};
  for (const std::string& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
  argv.push_back(nullptr);
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_addopen(&files, 1, "/dev/null", O_WRONLY, 0);
  posix_spawn_file_actions_addopen(&files, 2, log.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0644);
  pid_t process = 0;
  const int failed = posix_spawn(&process, NEXUML_RUN_PATH, &files, nullptr, argv.data(), environ);
  posix_spawn_file_actions_destroy(&files);
  return failed == 0 ? process : -1;
}

// Its exit code; 128 and the signal where it was killed.
int wait_for(pid_t process) {
  int status = 0;
  ::waitpid(process, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

bool wait_until(const std::function<bool()>& there, std::chrono::milliseconds patience) {
  const auto end = std::chrono::steady_clock::now() + patience;
  while (std::chrono::steady_clock::now() < end) {
    if (there()) return true;
    std::this_thread::sleep_for(2ms);
  }
  return there();
}

std::vector<std::string> running(const fs::path& run, bool resumes, int turn, const char* epochs) {
  std::vector<std::string> arguments{"train"};
  if (resumes)
    arguments.insert(arguments.end(), {"--resume", run.string()});
  else
    arguments.insert(arguments.end(), {scenario, "--run-dir", run.string()});
  arguments.insert(arguments.end(), {"--max-epochs", epochs, "--checkpoint-every-steps", "1",
                                     "--keep-checkpoints", "4", "--threads", "1", "--log-level", "error"});
  if (turn % 2 == 1) arguments.push_back("--async-checkpoints");
  return arguments;
}

// A small file system of its own; empty where this process may not mount one.
struct SmallDisk {
  test::ScratchFolder folder;
  bool mounted = false;
  explicit SmallDisk(const char* options) {
    mounted = ::mount("tmpfs", folder.path.c_str(), "tmpfs", 0, options) == 0;
  }
  ~SmallDisk() {
    if (mounted) ::umount2(folder.path.c_str(), MNT_DETACH);
  }
};

Checkpoint checkpoint_of(std::int64_t numbers) {
  Checkpoint checkpoint = test::whole_checkpoint();
  checkpoint.model.add("large", at::arange(numbers, at::kFloat));
  return checkpoint;
}

}  // namespace

TEST_CASE("a run that is killed at any moment leaves a newest checkpoint that verifies and is resumed") {
  const char* wanted = std::getenv("NEXUML_SOAK_KILLS");
  const int kills = wanted ? std::atoi(wanted) : 20;
  const test::ScratchFolder folder;
  const fs::path run = folder.path / "run", log = folder.path / "log";
  const CheckpointStore store(run / "checkpoints");
  std::mt19937 random(static_cast<std::mt19937::result_type>(kills));
  std::int64_t newest = -1;
  for (int kill = 0; kill < kills; ++kill) {
    INFO("kill " << kill << ": " << test::bytes_of_file(log));
    const pid_t process = start_host(running(run, newest >= 0, kill, "1000000"), log);
    REQUIRE(process > 0);
    // It goes on from the newest index, then the moment of its end is anywhere in the saves that follow.
    const bool went_on = wait_until([&] { return store.latest().value_or(-1) > newest; }, 60s);
    std::this_thread::sleep_for(std::chrono::microseconds(random() % 100'000));
    ::kill(process, SIGKILL);
    const int code = wait_for(process);
    REQUIRE(went_on);
    REQUIRE(code == 128 + SIGKILL);
    const auto latest = store.latest();
    REQUIRE(latest.has_value());
    REQUIRE(*latest > newest);
    newest = *latest;
    for (const std::int64_t index : store.indices()) {
      INFO("index " << index);
      REQUIRE(verify_checkpoint(store.path_of(index)).to_text() == "");
    }
    REQUIRE(load_checkpoint(store.path_of(newest)).model.size() > 0);
  }
  // One more run to its end takes the leftovers away.
  REQUIRE(wait_for(start_host(running(run, true, 0, "1"), log)) == 0);
  for (const auto& entry : fs::directory_iterator(run / "checkpoints"))
    CHECK_FALSE(entry.path().filename().string().starts_with("."));
}

TEST_CASE(
    "a full disk is told, leaves the earlier checkpoints as they are, and saving goes on when there is "
    "room") {
  const SmallDisk disk("size=600k,mode=0755");
  if (!disk.mounted) {
    WARN("skipped: this process may not mount a small file system");
    return;
  }
  const CheckpointStore store(disk.folder.path / "checkpoints");
  CHECK(store.save(checkpoint_of(10'000)) == 0);  // 40 kB
  const std::string problem = failure_of([&] { store.save(checkpoint_of(1'000'000)); });
  CHECK_THAT(problem, Catch::Contains("E762") && Catch::Contains("No space left"));
  CHECK(store.indices() == std::vector<std::int64_t>{0});
  CHECK(verify_checkpoint(store.path_of(0)).empty());
  CHECK(std::distance(fs::directory_iterator(store.folder()), {}) == 1);  // nothing half-written
  CHECK(store.save(checkpoint_of(10'000)) == 1);
  CHECK(verify_checkpoint(store.path_of(1)).empty());

  CheckpointWriter writer(store);
  writer.submit(checkpoint_of(1'000'000));
  CHECK_THAT(failure_of([&] { writer.finish(); }), Catch::Contains("No space left"));
  writer.submit(checkpoint_of(1'000));
  CHECK_NOTHROW(writer.finish());
  CHECK(store.indices() == std::vector<std::int64_t>{0, 1, 3});
}

TEST_CASE("a first save that meets a full disk leaves not even the folder of the checkpoints") {
  const SmallDisk disk("size=100k,mode=0755");
  if (!disk.mounted) {
    WARN("skipped: this process may not mount a small file system");
    return;
  }
  const CheckpointStore store(disk.folder.path / "checkpoints");
  CHECK_THAT(failure_of([&] { store.save(checkpoint_of(1'000'000)); }), Catch::Contains("E762"));
  CHECK(fs::is_empty(disk.folder.path));
}

TEST_CASE("a training goes on past a full disk and says which saves failed") {
  const SmallDisk disk("size=700k,mode=0755");
  if (!disk.mounted) {
    WARN("skipped: this process may not mount a small file system");
    return;
  }
  const fs::path run = disk.folder.path / "run", filler = disk.folder.path / "filler";
  const test::ScratchFolder elsewhere;
  const fs::path log = elsewhere.path / "log";
  // A checkpoint takes about 60 kB: after some of them the disk is full. The filler is taken away meanwhile.
  test::write_file(filler, std::string(450'000, 'x'));
  const pid_t process = start_host({"train", scenario, "--run-dir", run.string(), "--max-epochs", "140",
                                    "--checkpoint-every-epochs", "20", "--threads", "1"},
                                   log);
  REQUIRE(process > 0);
  const bool failed =
      wait_until([&] { return test::bytes_of_file(log).find("E762") != std::string::npos; }, 60s);
  fs::remove(filler);
  const int code = wait_for(process);
  INFO(test::bytes_of_file(log));
  CHECK(failed);
  CHECK(code == 0);
  const CheckpointStore store(run / "checkpoints");
  REQUIRE(store.latest());
  for (const std::int64_t index : store.indices()) CHECK(verify_checkpoint(store.path_of(index)).empty());
  CHECK(store.load(*store.latest()).about.at("epoch").as_integer() == 140);
}

TEST_CASE(
    "a training goes on past a disk without a byte of room, and writes its metrics when there is room") {
  const SmallDisk disk("size=2m,mode=0755");
  if (!disk.mounted) {
    WARN("skipped: this process may not mount a small file system");
    return;
  }
  const fs::path run = disk.folder.path / "run", filler = disk.folder.path / "filler";
  const test::ScratchFolder elsewhere;
  const fs::path log = elsewhere.path / "log";
  const pid_t process = start_host(
      {"train", scenario, "--run-dir", run.string(), "--max-epochs", "400", "--threads", "1"}, log);
  REQUIRE(process > 0);
  const auto rows = [&] {
    const std::string text = test::bytes_of_file(run / "metrics.csv");
    return std::count(text.begin(), text.end(), '\n');
  };
  REQUIRE(wait_until([&] { return rows() > 3; }, 60s));
  {
    std::ofstream file(filler, std::ios::binary);
    const std::string block(4096, 'x');
    while (file.write(block.data(), static_cast<std::streamsize>(block.size())).flush()) continue;
  }
  const bool told =
      wait_until([&] { return test::bytes_of_file(log).find("E849") != std::string::npos; }, 60s);
  fs::remove(filler);
  const int code = wait_for(process);
  INFO(test::bytes_of_file(log));
  CHECK(told);
  CHECK(code == 0);
  CHECK(rows() == 401);  // with the line of names
}

TEST_CASE("a folder that may not be written to is told, and what lies in it stays") {
  const test::ScratchFolder folder;
  const CheckpointStore store(folder.path / "checkpoints");
  store.save(test::whole_checkpoint());
  fs::permissions(store.folder(), fs::perms(0555));
  // The superuser may write anywhere, so another user tries.
  const pid_t child = ::fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    if (::geteuid() == 0 && ::setuid(65534) != 0) ::_exit(2);
    const std::string problem = failure_of([&] { store.save(test::whole_checkpoint()); });
    const bool told =
        problem.find("E762") != std::string::npos && problem.find("Permission denied") != std::string::npos;
    if (!told) fmt::print(stderr, "{}\n", problem);
    ::_exit(told ? 0 : 1);
  }
  const int code = wait_for(child);
  fs::permissions(store.folder(), fs::perms::owner_all);
  if (code == 2) {
    WARN("skipped: this process may not become another user");
    return;
  }
  CHECK(code == 0);
  CHECK(verify_checkpoint(store.path_of(0)).empty());
  CHECK(store.indices() == std::vector<std::int64_t>{0});
  CHECK(store.save(test::whole_checkpoint()) == 1);
}

TEST_CASE("a folder that vanished is made again, and a file in its place is told") {
  const test::ScratchFolder folder;
  const CheckpointStore store(folder.path / "run" / "checkpoints");
  store.save(test::whole_checkpoint());
  fs::remove_all(folder.path / "run");
  CHECK(store.save(test::whole_checkpoint()) == 0);
  fs::remove_all(folder.path / "run");
  test::write_file(folder.path / "run", "a file");
  CHECK_THAT(failure_of([&] { store.save(test::whole_checkpoint()); }), Catch::Contains("E762"));
  fs::remove(folder.path / "run");
  CHECK(store.save(test::whole_checkpoint()) == 0);
  CHECK(verify_checkpoint(store.path_of(0)).empty());
}

TEST_CASE("a training goes on when its checkpoints vanish under it") {
  const test::ScratchFolder folder;
  const fs::path run = folder.path / "run", log = folder.path / "log";
  const CheckpointStore store(run / "checkpoints");
  const pid_t process = start_host({"train", scenario, "--run-dir", run.string(), "--max-epochs", "120",
                                    "--checkpoint-every-epochs", "10", "--threads", "1"},
                                   log);
  REQUIRE(process > 0);
  REQUIRE(wait_until([&] { return store.latest().has_value(); }, 60s));
  fs::rename(run / "checkpoints", folder.path / "away");
  test::write_file(run / "checkpoints", "in its place");
  const bool told =
      wait_until([&] { return test::bytes_of_file(log).find("E762") != std::string::npos; }, 60s);
  fs::remove(run / "checkpoints");
  const int code = wait_for(process);
  INFO(test::bytes_of_file(log));
  CHECK(told);
  CHECK(code == 0);
  REQUIRE(store.latest());
  CHECK(store.load(*store.latest()).about.at("epoch").as_integer() == 120);
  CHECK(verify_checkpoint(folder.path / "away" / "0").empty());
}

TEST_CASE("SIGTERM ends a run after the step in progress and saves what was reached") {
  const test::ScratchFolder folder;
  const fs::path run = folder.path / "run", log = folder.path / "log";
  const CheckpointStore store(run / "checkpoints");
  const pid_t process = start_host(
      {"train", scenario, "--run-dir", run.string(), "--max-epochs", "1000000", "--checkpoint-every-steps",
       "5", "--keep-checkpoints", "1", "--async-checkpoints", "--threads", "1"},
      log);
  REQUIRE(process > 0);
  REQUIRE(wait_until([&] { return store.latest().has_value(); }, 60s));
  ::kill(process, SIGTERM);
  CHECK(wait_for(process) == 1);
  INFO(test::bytes_of_file(log));
  CHECK_THAT(test::bytes_of_file(log), Catch::Contains("W845") && Catch::Contains("--resume"));
  REQUIRE(store.latest());
  CHECK(verify_checkpoint(store.path_of(*store.latest())).empty());
}

}  // namespace nexuml
