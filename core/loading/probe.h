// Probing: a library is opened in a child process, where nothing it does can harm this one.
//
//     Prober prober({.timeout = std::chrono::seconds(10)});
//     Diagnostics found = prober.probe(library);   // empty: it opened, registered, and matches its manifest
//
// nexuml-run executes itself (`__probe`). That worker opens LibTorch once and forks for each task, so a
// hundred libraries cost the start of LibTorch once. A child has limits on time, memory and core files, and
// no standard input; what it prints is read to the end and its tail kept; processes that it leaves behind are
// ended with it. A crash, an abort in a thread, exit(), a deadlock or endless output is one diagnostic: E405
// with the signal or exit code, E406 for the time limit. A library that ends the worker is one diagnostic, too,
// and the next library gets a new worker. There is no in-process fallback: without a worker the answer is E401.
#pragma once

#include <nexuml/diagnostic.h>
#include <nexuml/value.h>

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "registry/catalog.h"

namespace nexuml {

class LibraryLoader;

struct ProbeOptions {
  std::chrono::milliseconds timeout{10'000};  // for one task
  // What the worker has beyond it, to end the child and what that left behind.
  std::chrono::milliseconds patience{60'000};
  std::string host = "/proc/self/exe";  // the program that is executed as worker
};

// What the worker is asked: {"task": "open", "library": path, ...}. The worker reads `library`, for messages,
// and `timeout_ms`; the rest is the task's own.
Value probe_request(std::string_view task, const DeclaredLibrary& library);

class Prober {
 public:
  explicit Prober(ProbeOptions options = {});
  ~Prober();
  Prober(const Prober&) = delete;
  Prober& operator=(const Prober&) = delete;

  // The task `open`.
  Diagnostics probe(const DeclaredLibrary& library);
  // Any task: the map that it answered; `diagnostics` of it, or what ended the child, go to `problems`.
  Value ask(Value request, Diagnostics& problems);

 private:
  bool start(Diagnostics& problems);
  bool send(const Value& request);
  // How the worker ended by itself; nothing for one that had to be killed, or was not there.
  std::optional<int> stop();

  ProbeOptions options_;
  int worker_ = -1;     // process id
  int requests_ = -1;   // pipe to the worker
  int responses_ = -1;  // pipe from the worker
};

// The worker's side: reads requests from `requests`, writes responses to `responses`, until there are none.
// Each runs `task` in a child, which answers with a map that holds `diagnostics`. Returns the exit code of
// the process.
using ProbeTask = std::function<Value(LibraryLoader& loader, const Value& request)>;
int run_probe_worker(int requests, int responses, const ProbeTask& task);

// The task `open`: after the libraries whose paths `beside` lists, the library is opened, lets itself register
// and is compared with its manifest. The answer tells in `open_ms` how long that took, and in
// `without_namespace` which of its types lie outside every namespace.
Value open_for_probe(LibraryLoader& loader, const Value& request);

}  // namespace nexuml
