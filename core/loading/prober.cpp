// The prober's side: starts the worker, asks, and tells a worker that is gone.
#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "loading/diagnostic_value.h"
#include "loading/probe.h"
#include "loading/probe_protocol.h"
#include "loading/signal_words.h"

extern char** environ;

namespace nexuml {
namespace {

using Clock = std::chrono::steady_clock;

// The worker's ends of both pipes, as it finds them.
constexpr int worker_requests = 3;
constexpr int worker_responses = 4;
// LibTorch is opened in this time, or the machine is in a state in which nothing can be said.
constexpr std::chrono::seconds start_timeout{60};

void close_descriptor(int& descriptor) {
  if (descriptor >= 0) ::close(descriptor);
  descriptor = -1;
}

void report_no_worker(const std::string& why, Diagnostics& problems) {
  problems.error("E401", "the worker that opens libraries in a process of its own is not there: " + why)
      .hint = "nothing was opened; check that nexuml-run can execute itself, then try again";
}

// The worker was there before it opened this library: what became of it is the library's doing.
void report_lost_worker(const std::optional<int>& status, const std::string& library, Diagnostics& problems) {
  const Where where = Where::in_file(library);
  if (!status) {
    problems
        .error("E406", "while the library was opened, the process that opens libraries stopped answering",
               where)
        .hint = "a library must not stop or trace other processes; look for kill() and ptrace() in it";
    return;
  }
  const std::string end = WIFSIGNALED(*status) ? signal_words(WTERMSIG(*status))
                                               : fmt::format("exit code {}", WEXITSTATUS(*status));
  problems
      .error("E405",
             fmt::format("while the library was opened, the process that opens libraries ended with {}", end),
             where)
      .hint = "a library must not end other processes; look for kill() in its static initialisers";
}

}  // namespace

Prober::Prober(ProbeOptions options) : options_(std::move(options)) {}

Prober::~Prober() {
  stop();
}

bool Prober::start(Diagnostics& problems) {
  if (worker_ > 0) return true;
  int to_worker[2], from_worker[2];
  if (::pipe2(to_worker, O_CLOEXEC) != 0) {
    report_no_worker(std::strerror(errno), problems);
    return false;
  }
  if (::pipe2(from_worker, O_CLOEXEC) != 0) {
    report_no_worker(std::strerror(errno), problems);
    ::close(to_worker[0]);
    ::close(to_worker[1]);
    return false;
  }
  // Descriptors that happen to be 3 or 4 would be overwritten before they are used: move both out of the way
  // first.
  const int read_end = ::fcntl(to_worker[0], F_DUPFD_CLOEXEC, 10),
            write_end = ::fcntl(from_worker[1], F_DUPFD_CLOEXEC, 10);
  ::close(to_worker[0]);
  ::close(from_worker[1]);
  requests_ = ::fcntl(to_worker[1], F_DUPFD_CLOEXEC, 10);
  responses_ = ::fcntl(from_worker[0], F_DUPFD_CLOEXEC, 10);
  ::close(to_worker[1]);
  ::close(from_worker[0]);
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_adddup2(&actions, read_end, worker_requests);
  ::posix_spawn_file_actions_adddup2(&actions, write_end, worker_responses);
  char name[] = "nexuml-run", command[] = "__probe";
  char* arguments[] = {name, command, nullptr};
  pid_t process = -1;
  const int failed = ::posix_spawn(&process, options_.host.c_str(), &actions, nullptr, arguments, environ);
  ::posix_spawn_file_actions_destroy(&actions);
  ::close(read_end);
  ::close(write_end);
  if (failed != 0) {
    report_no_worker(fmt::format("{} cannot be executed: {}", options_.host, std::strerror(failed)),
                     problems);
    close_descriptor(requests_);
    close_descriptor(responses_);
    return false;
  }
  worker_ = process;
  const auto greeting = receive_message(responses_, Clock::now() + start_timeout);
  const Value* version = greeting ? greeting->find("probe_protocol") : nullptr;
  if (!version || *version != Value(probe_protocol_version)) {
    report_no_worker(greeting ? "it speaks another protocol" : "it ended or said nothing", problems);
    stop();
    return false;
  }
  return true;
}

std::optional<int> Prober::stop() {
  if (worker_ <= 0) return std::nullopt;
  close_descriptor(requests_);  // the worker ends at the end of its requests
  close_descriptor(responses_);
  int status = 0, waited = 0;
  for (; ::waitpid(worker_, &status, WNOHANG) == 0; ++waited) {
    if (waited == 100) ::kill(worker_, SIGKILL);
    ::usleep(5'000);
  }
  worker_ = -1;
  return waited > 100 ? std::nullopt : std::optional(status);
}

Value probe_request(std::string_view task, const DeclaredLibrary& library) {
  return Value::map(
      {{"task", std::string(task)}, {"manifest", library.manifest}, {"library", library.origin.path}});
}

Diagnostics Prober::probe(const DeclaredLibrary& library) {
  Diagnostics problems;
  ask(probe_request("open", library), problems);
  return problems;
}

bool Prober::send(const Value& request) {
  // A worker that died must not take this process with it.
  struct sigaction ignore {
  }, before{};
  ignore.sa_handler = SIG_IGN;
  ::sigaction(SIGPIPE, &ignore, &before);
  const bool sent = send_message(requests_, request);
  ::sigaction(SIGPIPE, &before, nullptr);
  return sent;
}

Value Prober::ask(Value request, Diagnostics& problems) {
  if (!start(problems)) return {};
  request.set("timeout_ms", options_.timeout.count());
  bool sent = send(request);
  if (!sent) {  // something ended the worker between two libraries: this one is not to blame
    stop();
    if (!start(problems)) return {};
    sent = send(request);
  }
  auto response =
      sent ? receive_message(responses_, Clock::now() + options_.timeout + options_.patience) : std::nullopt;
  const Value* list = response ? response->find("diagnostics") : nullptr;
  if (!list || !list->is_list()) {
    report_lost_worker(stop(), request.at("library").as_string(), problems);
    return {};
  }
  for (const Value& entry : list->items()) problems.add(diagnostic_from_value(entry));
  return std::move(*response);
}

}  // namespace nexuml
