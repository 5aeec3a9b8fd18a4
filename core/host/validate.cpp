// `validate PATH`: an author's test kit. Everything that the libraries at PATH owe is tried out, each
// component in a process of its own, so that a crash is one line of the report. Exit code 3 where something
// failed.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>

#include "discovery/advice.h"
#include "discovery/discover.h"
#include "discovery/elf_facts.h"
#include "host/commands.h"
#include "host/probe_tasks.h"
#include "host/validation_report.h"
#include "loading/probe.h"
#include "loading/requirement.h"

namespace nexuml {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

constexpr std::int64_t slow_to_open_ms = 100;

bool lies_in(const fs::path& path, const fs::path& folder) {
  std::error_code ignored;
  const std::string inner = fs::weakly_canonical(path, ignored).string();
  return (inner + "/").starts_with(fs::weakly_canonical(folder, ignored).string() + "/");
}

// What is looked at: a component folder, a folder of them, a library or a manifest.
struct Subject {
  fs::path folder;
  fs::path file;  // empty: everything in the folder

  bool covers(const DeclaredLibrary& library) const {
    std::error_code ignored;
    if (file.empty())
      return lies_in(library.manifest.empty() ? library.origin.path : library.manifest, folder);
    return fs::equivalent(library.origin.path, file, ignored) ||
           fs::equivalent(library.manifest, file, ignored);
  }
};

Subject subject_at(const std::string& text) {
  std::error_code ignored;
  const fs::path path = fs::absolute(text);
  if (fs::is_directory(path, ignored)) return {path, {}};
  if (fs::is_regular_file(path, ignored)) return {path.parent_path(), path};
  throw Error("E101", "there is nothing to validate: no such file or folder", Where::in_file(text));
}

// One library under validation, and where what is found goes.
class Validation {
 public:
  Validation(const Session& session, const Catalog& catalog, SearchOptions search, ValidationReport& report)
      : catalog_(catalog),
        search_(search_to_value(search)),
        report_(report),
        prober_({.timeout = std::chrono::milliseconds(timeout_of(session.invocation()))}) {}

  void validate(const DeclaredLibrary& library, const std::vector<std::string>& case_folders) {
    check_file(library);
    if (!opens(library)) return;
    for (const auto& entry : library.definitions) check_component(library, entry.identity);
    for (const auto& entry : library.scenarios) check_scenario(library, entry);
    for (const auto& file : case_files(library, case_folders)) check_case(library, file);
  }

 private:
  static std::int64_t timeout_of(const Invocation& invocation) {
    const Value* timeout = invocation.options.find("timeout");
    return timeout ? timeout->as_integer() : 60'000;
  }

  // Without opening it: what the scan found wrong, what it needs, advice.
  void check_file(const DeclaredLibrary& library) {
    Diagnostics found;
    for (const auto& entry : catalog_.diagnostics()) {
      const bool own = entry.where.file == library.origin.path || entry.where.file == library.manifest;
      if (own && entry.severity != Severity::note) found.add(entry);
    }
    if (library.usable()) opening_order(library, catalog_, found);
    const Where where = Where::in_library(library.origin.library, library.origin.path);
    const FileBytes bytes(library.origin.path);
    Diagnostics told_by_the_scan;
    if (bytes.problem().empty()) {
      if (const auto facts = read_elf_facts(bytes, where, told_by_the_scan))
        advise(*facts, read_undefined_symbols(bytes), where, found);
    }
    report_.add(library.origin.library, "its file and manifest are sound", found);
  }

  bool opens(const DeclaredLibrary& library) {
    if (!library.usable()) return false;
    Diagnostics found;
    const Value answer = ask(probe_request("open", library), found);
    const Value* took = answer.find("open_ms");
    if (took && took->as_integer() > slow_to_open_ms) {
      found
          .warning("W605",
                   fmt::format("opening it took {} ms, more than {}", took->as_integer(), slow_to_open_ms))
          .hint = "do such work when a component is built, not in NEXUML_LIBRARY or a static initialiser";
    }
    report_.add(library.origin.library, "opens and registers what it declares", found, seconds_);
    if (found.has_errors()) return false;
    check_types(library, answer);
    return true;
  }

  void check_types(const DeclaredLibrary& library, const Value& answer) {
    Diagnostics found;
    for (const Value& type : answer.at("without_namespace").items()) {
      found
          .error("E507", fmt::format("the type of {} lies in no namespace", type.as_string()),
                 Where::in_library(library.origin.library, library.origin.path))
          .hint =
          "put it into a namespace of the library's own: another library may have a type of that name";
    }
    report_.add(library.origin.library, "its types lie in namespaces", found);
  }

  void check_component(const DeclaredLibrary& library, const Identity& identity) {
    const std::string subject = to_string(identity);
    Diagnostics found;
    const Value answer = run_engine(
        library, "__contract",
        Value::map(
            {{"kind", to_string(identity.kind)}, {"name", identity.name}, {"version", identity.version}}),
        found);
    const Value* checks = answer.find("checks");
    if (!checks || found.has_errors()) report_.add(subject, "keeps its contract", found, seconds_);
    if (!checks) return;
    for (const Value& check : checks->items()) {
      report_.add({subject, check.at("check").as_string(), check.at("status").as_string(),
                   check.at("message").as_string(), "", std::exchange(seconds_, 0)});
    }
  }

  void check_scenario(const DeclaredLibrary& library, const DeclaredScenario& scenario) {
    Diagnostics found;
    run_engine(
        library, "check",
        Value::map({{"scenarios", Value::list({scenario.file.empty() ? scenario.name : scenario.file})}}),
        found);
    report_.add("scenario " + scenario.name, "has no mistake", found, seconds_);
  }

  void check_case(const DeclaredLibrary& library, const std::string& file) {
    Diagnostics found;
    const Value answer = run_engine(library, "try", Value::map({{"cases", Value::list({file})}}), found);
    if (const Value* cases = answer.find("cases")) {
      for (const Value& one : cases->items())
        for (const Value& failure : one.at("failures").items()) found.error("E873", failure.as_string());
    }
    report_.add("case " + fs::path(file).filename().string(), "gives the recorded numbers", found, seconds_);
  }

  // `cases` in the component folder, and what the command line names.
  static std::vector<std::string> case_files(const DeclaredLibrary& library,
                                             const std::vector<std::string>& folders) {
    std::vector<std::string> files;
    std::vector<fs::path> places(folders.begin(), folders.end());
    places.push_back(fs::path(library.origin.path).parent_path() / "cases");
    for (const auto& place : places) {
      std::error_code ignored;
      if (fs::is_regular_file(place, ignored)) files.push_back(place.string());
      for (const auto& entry : fs::directory_iterator(place, ignored))
        if (entry.path().extension() == ".json" && entry.path().filename() != "index.json")
          files.push_back(entry.path().string());
    }
    std::ranges::sort(files);
    return files;
  }

  Value run_engine(const DeclaredLibrary& library, const char* command, Value options, Diagnostics& found) {
    options.set("json", true);
    options.set("log_level", "warning");
    Value request = probe_request("engine", library);
    request.set("search", search_);
    request.set("command", command);
    request.set("options", std::move(options));
    const Value response = ask(std::move(request), found);
    const Value* answer = response.find("answer");
    return answer ? *answer : Value();
  }

  Value ask(Value request, Diagnostics& found) {
    const auto start = Clock::now();
    Value answer = prober_.ask(std::move(request), found);
    seconds_ = std::chrono::duration<double>(Clock::now() - start).count();
    return answer;
  }

  const Catalog& catalog_;
  const Value search_;
  ValidationReport& report_;
  Prober prober_;
  double seconds_ = 0;  // of the last question
};

// What is wrong with files that gave no library at all.
void report_unreadable(const Subject& subject, const Catalog& catalog, ValidationReport& report) {
  const auto known = [&](const std::string& file) {
    return std::ranges::any_of(catalog.libraries(), [&](const DeclaredLibrary& library) {
      return library.origin.path == file || library.manifest == file;
    });
  };
  for (const auto& entry : catalog.diagnostics()) {
    const bool here = subject.file.empty() ? lies_in(entry.where.file, subject.folder)
                                           : entry.where.file == subject.file.string();
    if (entry.severity != Severity::error || entry.where.file.empty() || !here || known(entry.where.file))
      continue;
    Diagnostics one;
    one.add(entry);
    report.add(entry.where.file, "can be read", one);
  }
}

void write_junit(const std::string& path, const ValidationReport& report) {
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file << report.to_junit();
  file.close();
  if (!file) throw Error("E108", "the file cannot be written", Where::in_file(path));
}

}  // namespace

int validate(Session& session) {
  const auto& invocation = session.invocation();
  const Subject subject = subject_at(invocation.text("path"));
  SearchOptions search = invocation.search;
  search.first_roots = {subject.folder.string()};
  const auto catalog = discover(search, session.environment());
  const std::vector<std::string> cases = invocation.texts("cases");
  for (const auto& place : cases) {
    std::error_code ignored;
    if (!fs::exists(place, ignored))
      throw Error("E101", "there are no cases: no such file or folder", Where::in_file(place));
  }
  ValidationReport report;
  report_unreadable(subject, *catalog, report);
  Validation validation(session, *catalog, search, report);
  std::size_t libraries = 0;
  for (const auto& library : catalog->libraries()) {
    if (!subject.covers(library)) continue;
    validation.validate(library, cases);
    ++libraries;
  }
  if (libraries == 0 && !report.has_problems()) {
    throw Error("E101", "there is no component library in it", Where::in_file(invocation.text("path")),
                "name a component folder, its manifest or its library; nexuml_add_library writes one to "
                "<build>/components/<id>");
  }
  if (const std::string junit = invocation.text("junit"); !junit.empty()) write_junit(junit, report);
  session.print(report.to_text(invocation.flag("only_failed")));
  session.answer().set("checks", report.to_value());
  return report.has_problems() ? 3 : 0;
}

}  // namespace nexuml
