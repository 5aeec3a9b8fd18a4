#include "host/session.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>

#include "discovery/discover.h"
#include "loading/diagnostic_value.h"

namespace nexuml {
namespace {

void write(std::FILE* stream, std::string_view text) {
  std::fwrite(text.data(), 1, text.size(), stream);
}

// Advice about shadowed libraries is for listings, not for the log of every run.
bool worth_a_line(const Diagnostic& diagnostic) {
  return diagnostic.severity != Severity::note;
}

}  // namespace

Session::Session(const Invocation& invocation)
    : invocation_(invocation), environment_(process_environment()) {}

const std::shared_ptr<const Catalog>& Session::catalog() {
  if (catalog_) return catalog_;
  catalog_ = discover(invocation_.search, environment_);
  Diagnostics wrong;
  for (const auto& entry : catalog_->diagnostics()) {
    const bool named =
        entry.code == "E105" || entry.code == "E881" || (entry.code == "E505" && entry.where.file.empty());
    if (named && entry.severity == Severity::error) wrong.add(entry);
  }
  if (!wrong.empty()) throw BadCommandLine{std::move(wrong)};
  return catalog_;
}

LibraryLoader& Session::loader() {
  if (!loader_) loader_ = std::make_unique<LibraryLoader>(catalog(), environment_);
  return *loader_;
}

void Session::print(std::string_view text) const {
  if (!invocation_.json) write(stdout, text);
}

int Session::finish(int exit_code) {
  if (exit_code == 0 && diagnostics_.has_errors()) exit_code = 1;
  Diagnostics all = diagnostics_;
  if (catalog_ && (libraries_reported_ || invocation_.json)) all.append(catalog_->diagnostics());
  all.sort();
  if (invocation_.json) {
    answer_.set("diagnostics", to_value(all));
    write(stdout, write_json(answer_) + "\n");
    return exit_code;
  }
  std::fflush(stdout);
  for (const auto& entry : all)
    if (worth_a_line(entry)) write(stderr, entry.to_text() + "\n");
  if (catalog_ && !libraries_reported_) {
    const auto problems = std::ranges::count_if(catalog_->diagnostics(), worth_a_line);
    if (problems > 0) {
      write(stderr,
            fmt::format("note: {} about libraries that this run did not use; `nexuml-run doctor` shows {}\n",
                        problems == 1 ? "1 problem" : fmt::format("{} problems", problems),
                        problems == 1 ? "it" : "them"));
    }
  }
  return exit_code;
}

}  // namespace nexuml
