// Probing: a library is opened in a child process, where nothing it does can harm this one.
//
//     Prober prober({.timeout = std::chrono::seconds(10)});
//     Diagnostics found = prober.probe(library);          // empty: it opened, registered, and matches its
//     manifest
//
// nexuml-run executes itself (`__probe`). That worker opens LibTorch once and forks for each library, so a
// hundred libraries cost the start of LibTorch once. A child has limits on time, memory and core files; what
// it prints is read to the end and its tail kept. A crash, an abort in a thread, exit(), a deadlock or
// endless output is one diagnostic: E405 with the signal or exit code, E406 for the time limit. There is no
// in-process fallback: without a worker the answer is E401.
#pragma once

#include <nexuml/diagnostic.h>
#include <nexuml/value.h>

#include <chrono>
#include <memory>
#include <optional>
#include <string>

#include "registry/catalog.h"

namespace nexuml {

struct ProbeOptions {
  std::chrono::milliseconds timeout{10'000};  // for one library
  std::string host = "/proc/self/exe";        // the program that is executed as worker
};

class Prober {
 public:
  explicit Prober(ProbeOptions options = {});
  ~Prober();
  Prober(const Prober&) = delete;
  Prober& operator=(const Prober&) = delete;

  Diagnostics probe(const DeclaredLibrary& library);

 private:
  bool start(Diagnostics& problems);
  void stop();

  ProbeOptions options_;
  int worker_ = -1;     // process id
  int requests_ = -1;   // pipe to the worker
  int responses_ = -1;  // pipe from the worker
};

// The worker's side: reads requests from `requests`, writes responses to `responses`, until there are none.
// Returns the exit code of the process.
int run_probe_worker(int requests, int responses);

}  // namespace nexuml
