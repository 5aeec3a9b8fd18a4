// One run of the host: what was asked, what was found out, what is answered.
#pragma once

#include <nexuml/diagnostic.h>
#include <nexuml/value.h>

#include <memory>
#include <string_view>

#include "discovery/search.h"
#include "host/command_line.h"
#include "loading/library_loader.h"
#include "registry/catalog.h"

namespace nexuml {

class Session {
 public:
  explicit Session(const Invocation& invocation);

  const Invocation& invocation() const noexcept { return invocation_; }
  const Environment& environment() const noexcept { return environment_; }
  Diagnostics& diagnostics() noexcept { return diagnostics_; }

  // Scans when first asked for. A root named on the command line that is missing is an error of the command
  // line: throws BadCommandLine.
  const std::shared_ptr<const Catalog>& catalog();
  LibraryLoader& loader();

  // The answer: printed as JSON at the end, or text printed at once. Text of a command that was asked for
  // JSON is lost.
  Value& answer() noexcept { return answer_; }
  void print(std::string_view text) const;

  // Adds the catalog's findings to the diagnostics of this run; otherwise one line says that there are some.
  void report_libraries() { libraries_reported_ = true; }
  // Prints answer and diagnostics and returns the exit code, 1 instead of 0 when an error was reported by the
  // run.
  int finish(int exit_code);

 private:
  const Invocation& invocation_;
  Environment environment_;
  std::shared_ptr<const Catalog> catalog_;
  std::unique_ptr<LibraryLoader> loader_;
  Diagnostics diagnostics_;
  Value answer_ = Value::map();
  bool libraries_reported_ = false;
};

struct BadCommandLine {
  Diagnostics problems;
};

}  // namespace nexuml
