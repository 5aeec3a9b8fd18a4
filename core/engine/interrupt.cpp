#include "engine/interrupt.h"

#include <semaphore.h>
#include <signal.h>

#include <atomic>
#include <cerrno>

namespace nexuml {

namespace {

sem_t signalled;
std::atomic<bool> watching{false};
struct sigaction before_interrupt, before_terminate;

void on_signal(int) {
  const int saved = errno;
  sem_post(&signalled);  // one of the few calls that a handler may make
  errno = saved;
}

}  // namespace

Interrupt::Interrupt() {
  sem_init(&signalled, 0, 0);
  watching = true;
  struct sigaction action {};
  action.sa_handler = on_signal;
  sigemptyset(&action.sa_mask);
  action.sa_flags = static_cast<int>(SA_RESETHAND | SA_RESTART);  // the second signal has its usual effect
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
