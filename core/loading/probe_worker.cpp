// The worker's side: LibTorch once, a fork for each task.
#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

extern "C" {  // which this header of glibc 2.36 does not say by itself
#include <sys/pidfd.h>
}

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <thread>
#include <vector>

#include "discovery/examine.h"
#include "loading/diagnostic_value.h"
#include "loading/library_loader.h"
#include "loading/open_library.h"
#include "loading/probe.h"
#include "loading/probe_protocol.h"
#include "loading/signal_words.h"
#include "loading/type_scopes.h"

namespace nexuml {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t kept_output = 65536;  // the tail of what a library printed,
constexpr std::size_t told_output = 4096;   // and what of it is told, without the frames of an exception
constexpr std::chrono::seconds forever{24 * 3600};

std::string text_of(const Value& map, std::string_view key) {
  const Value* value = map.find(key);
  return value && value->is_string() ? value->as_string() : std::string();
}

std::size_t thread_count() {
  std::error_code ignored;
  const std::filesystem::directory_iterator tasks("/proc/self/task", ignored);
  return static_cast<std::size_t>(std::distance(begin(tasks), end(tasks)));
}

// Address space for a child: what the worker has mapped, LibTorch's several GB among it, and half of the
// machine's memory. A library that wants more is told so, before the machine is in trouble.
[[maybe_unused]] rlim_t child_memory_limit() {
  std::ifstream statm("/proc/self/statm");
  rlim_t mapped_pages = 0;
  statm >> mapped_pages;
  const auto page = static_cast<rlim_t>(::sysconf(_SC_PAGESIZE));
  const rlim_t half = static_cast<rlim_t>(::sysconf(_SC_PHYS_PAGES)) * page / 2;
  return mapped_pages * page + std::clamp<rlim_t>(half, 4ull << 30, 64ull << 30);
}

// ---- in the child

void limit_child(std::chrono::milliseconds timeout) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  ::setpgid(0, 0);
  const auto limit = [](auto resource, rlim_t value) {
    const rlimit both{value, value};
    ::setrlimit(resource, &both);
  };
  limit(RLIMIT_CORE, 0);
  // A backstop for a worker that is gone: processor time counts every thread.
  limit(RLIMIT_CPU,
        static_cast<rlim_t>(timeout.count() / 1000 + 2) * std::max(1u, std::thread::hardware_concurrency()));
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
  limit(RLIMIT_AS, child_memory_limit());
#endif
  // Should memory run out all the same, this is the process to end.
  std::ofstream("/proc/self/oom_score_adj") << 1000;
}

struct ChildEnds {
  int result, output;       // the child's own
  std::vector<int> others;  // of the worker
};

[[noreturn]] void run_child(LibraryLoader& loader, const Value& request, const ProbeTask& task,
                            std::chrono::milliseconds timeout, const ChildEnds& ends) {
  limit_child(timeout);
  for (const int descriptor : ends.others) ::close(descriptor);
  ::dup2(ends.output, STDOUT_FILENO);
  ::dup2(ends.output, STDERR_FILENO);
  const std::size_t threads_before = thread_count();
  Value answer;
  Diagnostics problems;
  try {
    answer = task(loader, request);
  } catch (const Error& failure) {
    problems.append(failure.diagnostics());
  } catch (const std::exception& failure) {
    problems.error("E407", fmt::format("opening the library failed: {}", failure.what()));
  }
  if (!answer.is_map()) answer = Value::map({{"diagnostics", to_value(problems)}});
  // A thread that the library started gets the time to show what it does.
  for (int waited = 0; thread_count() > threads_before && waited < 20; ++waited) ::usleep(10'000);
  send_message(ends.result, answer);
  ::_exit(0);
}

// ---- in the worker

struct Pipe {
  int read_end = -1, write_end = -1;

  Pipe() {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) == 0) {
      read_end = ends[0];
      write_end = ends[1];
    }
  }
  ~Pipe() {
    close_read();
    close_write();
  }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;
  void close_read() { close_end(read_end); }
  void close_write() { close_end(write_end); }

 private:
  static void close_end(int& descriptor) {
    if (descriptor >= 0) ::close(descriptor);
    descriptor = -1;
  }
};

// Reads what is there; false at the end of the stream.
bool drain(int descriptor, std::string& into, std::size_t keep) {
  char chunk[65536];
  const ssize_t got = ::read(descriptor, chunk, sizeof chunk);
  if (got < 0) return errno == EINTR || errno == EAGAIN;
  if (got == 0) return false;
  into.append(chunk, static_cast<std::size_t>(got));
  if (into.size() > keep) into.erase(0, into.size() - keep);
  return true;
}

struct ChildEnd {
  int status = 0;
  bool timed_out = false;
  std::string answer;  // the message it sent, length and all
  std::string output;  // the tail of what it printed
};

// Ends the processes that a library left behind, also one in a session of its own: as the reaper of orphans
// this process is their parent now.
void end_orphans() {
  const std::string listing = fmt::format("/proc/self/task/{}/children", ::getpid());
  for (int round = 0; round < 1000; ++round) {
    std::ifstream children(listing);
    bool found = false;
    for (pid_t orphan = 0; children >> orphan; found = true) ::kill(orphan, SIGKILL);
    while (::waitpid(-1, nullptr, WNOHANG) > 0) {
    }
    if (!found) return;
    ::usleep(1000);
  }
}

// Becomes readable when a process ends; -1 on a system that has no such thing.
struct ProcessEnd {
  explicit ProcessEnd(pid_t process) : descriptor(::pidfd_open(process, 0)) {}
  ~ProcessEnd() {
    if (descriptor >= 0) ::close(descriptor);
  }
  ProcessEnd(const ProcessEnd&) = delete;
  ProcessEnd& operator=(const ProcessEnd&) = delete;

  const int descriptor;
};

// Waits for the child, reading both pipes so that it never blocks on them. Kills its whole group when time is
// up.
ChildEnd await_child(pid_t child, int result, int output, std::chrono::milliseconds timeout) {
  ChildEnd end;
  const auto until = Clock::now() + timeout;
  const ProcessEnd process(child);
  const int longest_sleep = process.descriptor < 0 ? 10 : 200;  // milliseconds
  bool result_open = true, output_open = true, ended = false;
  while (!ended) {
    pollfd ready[3] = {{result_open ? result : -1, POLLIN, 0},
                       {output_open ? output : -1, POLLIN, 0},
                       {process.descriptor, POLLIN, 0}};
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(until - Clock::now()).count();
    ::poll(ready, 3, static_cast<int>(std::clamp<std::int64_t>(left + 1, 1, longest_sleep)));
    if (ready[0].revents) result_open = drain(result, end.answer, max_probe_message + 4);
    if (ready[1].revents) output_open = drain(output, end.output, kept_output);
    ended = ::waitpid(child, &end.status, WNOHANG) == child;
    if (!ended && Clock::now() > until) {
      end.timed_out = true;
      ::kill(-child, SIGKILL);
      ::kill(child, SIGKILL);
      ended = ::waitpid(child, &end.status, 0) == child;
    }
  }
  ::kill(-child, SIGKILL);
  end_orphans();
  ::fcntl(result, F_SETFL, O_NONBLOCK);
  ::fcntl(output, F_SETFL, O_NONBLOCK);
  for (std::size_t before = ~0ul; before != end.answer.size();) {
    before = end.answer.size();
    drain(result, end.answer, max_probe_message + 4);
  }
  drain(output, end.output, kept_output);
  return end;
}

// The last lines that it printed, as a part of the message.
std::string printed(const std::string& output) {
  std::string text = without_backtrace(output);
  text.erase(text.find_last_not_of(" \n\t\r") + 1);
  if (text.size() > told_output) text.erase(0, text.size() - told_output);
  return text.empty() ? text : "; it printed: " + text;
}

Value answer_of(const ChildEnd& end, const Value& request, std::chrono::milliseconds timeout) {
  const Where where = Where::in_file(text_of(request, "library"));
  Diagnostics problems;
  if (end.timed_out) {
    problems
        .error("E406",
               fmt::format("opening the library took longer than {} ms and was stopped{}", timeout.count(),
                           printed(end.output)),
               where)
        .hint =
        "look for work, locks or threads in its static initialisers; register in NEXUML_LIBRARY instead";
  } else if (WIFSIGNALED(end.status)) {
    problems
        .error("E405",
               fmt::format("opening the library ended its process with {}{}",
                           signal_words(WTERMSIG(end.status)), printed(end.output)),
               where)
        .hint =
        "an exception or a crash in a static initialiser cannot be caught; register in NEXUML_LIBRARY "
        "instead";
  } else if (end.answer.size() > 4) {
    Diagnostics syntax;
    const Value answer = parse_json(std::string_view(end.answer).substr(4), "probe", syntax);
    if (!syntax.has_errors() && answer.find("diagnostics")) return answer;
    problems.error("E405", "the library disturbed the answer of its process", where);
  } else {
    problems
        .error("E405",
               fmt::format("the library ended its process with exit code {}{}", WEXITSTATUS(end.status),
                           printed(end.output)),
               where)
        .hint = "a library must not call exit()";
  }
  return Value::map({{"diagnostics", to_value(problems)}});
}

Value probe_one(LibraryLoader& loader, const Value& request, const ProbeTask& task, int requests,
                int responses) {
  const Value* limit = request.find("timeout_ms");
  const std::chrono::milliseconds timeout(limit && limit->is_integer() ? limit->as_integer() : 10'000);
  Pipe result, output;
  const pid_t child = ::fork();
  if (child == 0) {
    run_child(loader, request, task, timeout,
              {result.write_end, output.write_end, {requests, responses, result.read_end, output.read_end}});
  }
  result.close_write();
  output.close_write();
  if (child < 0) {
    Diagnostics problems;
    problems.error("E401", fmt::format("no process can be started: {}", std::strerror(errno)));
    return Value::map({{"diagnostics", to_value(problems)}});
  }
  return answer_of(await_child(child, result.read_end, output.read_end, timeout), request, timeout);
}

}  // namespace

Value open_for_probe(LibraryLoader& loader, const Value& request) {
  Diagnostics problems;
  const Candidate candidate{.manifest = text_of(request, "manifest"),
                            .library = text_of(request, "library"),
                            .source = "probe",
                            .place = 0,
                            .entry_point = true};
  auto examined = examine(candidate, host_abi(), problems);
  if (const Value* beside = request.find("beside"))
    for (const Value& path : beside->items())
      open_shared(path.as_string(), Where::in_file(path.as_string()), problems);
  const auto start = Clock::now();
  if (examined && !problems.has_errors()) {
    examined->library.origin.path = candidate.library;
    examined->library.requirements.clear();  // what it needs is probed on its own
    loader.load(examined->library, problems);
  }
  const auto took = std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - start);
  Value answer = Value::map({{"diagnostics", to_value(problems)}, {"open_ms", took.count()}});
  if (examined) {
    answer.set("without_namespace",
               Value(types_without_namespace(loader.registry(), examined->library.origin.library)));
  }
  return answer;
}

int run_probe_worker(int requests, int responses, const ProbeTask& task) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);
  // A library's prints go to its own pipe; these two belong to the protocol and to no library. Nor does any
  // question of a library reach the person at the terminal.
  ::fcntl(requests, F_SETFD, FD_CLOEXEC);
  ::fcntl(responses, F_SETFD, FD_CLOEXEC);
  if (const int nothing = ::open("/dev/null", O_RDONLY | O_CLOEXEC); nothing >= 0)
    ::dup2(nothing, STDIN_FILENO);
  LibraryLoader loader(std::make_shared<const Catalog>(std::vector<DeclaredLibrary>{}, Diagnostics{}, 0),
                       process_environment());
  Diagnostics told_for_each_library;
  loader.open_runtime(told_for_each_library);
  // Forking is only sound from a single thread.
  if (thread_count() != 1) return 1;
  if (!send_message(responses, Value::map({{"probe_protocol", probe_protocol_version}}))) return 1;
  while (const auto request = receive_message(requests, Clock::now() + forever)) {
    if (!send_message(responses, probe_one(loader, *request, task, requests, responses))) return 1;
  }
  return 0;
}

}  // namespace nexuml
