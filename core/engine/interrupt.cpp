#include "engine/interrupt.h"

#include <semaphore.h>
#include <signal.h>
#include <time.h>

#include <atomic>
#include <cerrno>
#include <cstdint>

namespace nexuml {

namespace {

sem_t signalled;
std::atomic<bool> watching{false};
struct sigaction before_interrupt, before_terminate;

std::atomic<std::int64_t> first_signal{0};  // seconds; 0: none yet

std::int64_t now_in_seconds() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec + 1;
}

// Only calls that a handler may make. Wrappers often pass a signal on that the whole group got: what follows
// at once is no second wish. A later one ends the process as usual.
void on_signal(int signal) {
  const int saved = errno;
  std::int64_t first = 0;
  if (first_signal.compare_exchange_strong(first, now_in_seconds())) {
    sem_post(&signalled);
  } else if (now_in_seconds() - first >= 2) {
    struct sigaction usual {};
    usual.sa_handler = SIG_DFL;
    sigaction(signal, &usual, nullptr);
    raise(signal);
  }
  errno = saved;
}

}  // namespace

Interrupt::Interrupt() {
  sem_init(&signalled, 0, 0);
  watching = true;
  first_signal = 0;
  struct sigaction action {};
  action.sa_handler = on_signal;
  sigemptyset(&action.sa_mask);
  action.sa_flags = SA_RESTART;
  sigaction(SIGINT, &action, &before_interrupt);
  sigaction(SIGTERM, &action, &before_terminate);
  watcher_ = std::thread([this] {
    while (sem_wait(&signalled) != 0) {
    }
    if (watching) source_.request_stop();
  });
}

Interrupt::~Interrupt() {
  sigaction(SIGINT, &before_interrupt, nullptr);
  sigaction(SIGTERM, &before_terminate, nullptr);
  watching = false;
  sem_post(&signalled);
  watcher_.join();
  sem_destroy(&signalled);
}

}  // namespace nexuml
