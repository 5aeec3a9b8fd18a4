// Ctrl-C as a stop token.
#pragma once

#include <stop_token>
#include <thread>

namespace nexuml {

// While alive, SIGINT and SIGTERM request a stop; a second one ends the process as usual. The signal handler
// only posts a semaphore; a thread turns that into the request.
class Interrupt {
 public:
  Interrupt();
  ~Interrupt();
  Interrupt(const Interrupt&) = delete;
  Interrupt& operator=(const Interrupt&) = delete;

  std::stop_token token() const { return source_.get_token(); }

 private:
  std::stop_source source_;
  std::thread watcher_;
};

}  // namespace nexuml
