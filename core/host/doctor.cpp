// `doctor`: what this host is, where it looks, what it found, and what is wrong with it. Libraries are opened
// in a process of their own.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "discovery/abi.h"
#include "discovery/advice.h"
#include "host/commands.h"
#include "host/version.h"
#include "loading/libtorch.h"
#include "loading/probe.h"
#include "loading/requirement.h"

namespace nexuml {
namespace {

void describe_host(Session& session) {
  const AbiFacts& abi = host_abi();
  session.print(fmt::format(
      "nexuml-run {}\n  interface  {}\n  abi        {}\n  compiler   {}\n  prefix     {}\n", host_version,
      abi.interface_version, abi.tag, abi.compiler, session.environment().host_prefix));
  session.answer().set("host", Value::map({{"version", host_version},
                                           {"nexuml", abi.interface_version},
                                           {"abi", abi.tag},
                                           {"compiler", abi.compiler},
                                           {"prefix", session.environment().host_prefix}}));
}

void describe_libtorch(Session& session) {
  Diagnostics problems;
  const auto place = find_libtorch(session.environment(), problems);
  if (place) check_libtorch_version(*place, problems);
  session.diagnostics().append(problems);
  const std::string version = place && !place->version.empty() ? place->version : "unknown version";
  session.print(
      place ? fmt::format("  LibTorch   {} at {} (from {})\n", version, place->library_dir, place->source)
            : std::string("  LibTorch   none\n"));
  if (place) {
    session.answer().set(
        "libtorch",
        Value::map({{"version", version}, {"path", place->library_dir}, {"source", place->source}}));
  }
}

void describe_environment(Session& session) {
  std::string text;
  Value set = Value::map();
  for (const auto& [name, value] : session.environment().variables) {
    if (!name.starts_with("NEXUML_")) continue;
    text += fmt::format("  {}={}\n", name, value);
    set.set(name, value);
  }
  if (session.environment().elevated) text += "  ignored: this process has more rights than its user\n";
  session.print("\nenvironment\n" + (text.empty() ? "  nothing set\n" : text));
  session.answer().set("environment", std::move(set));
}

void describe_roots(Session& session) {
  Diagnostics reported_by_the_scan;
  session.print("\nplaces, in order\n");
  Value places = Value::list();
  for (const auto& place :
       search_places(session.environment(), session.invocation().search, reported_by_the_scan)) {
    std::error_code ignored;
    const bool there = std::filesystem::is_directory(place.path, ignored);
    session.print(fmt::format("  {} ({}){}\n", place.path, place.source, there ? "" : ", not there"));
    places.push_back(Value::map({{"path", place.path}, {"source", place.source}, {"exists", there}}));
  }
  session.answer().set("places", std::move(places));
}

// What opening it in a process of its own shows; nothing where that was not asked for or makes no sense.
Diagnostics probe(Session& session, Prober& prober, const DeclaredLibrary& library) {
  if (!library.usable() || session.invocation().flag("no_probe")) return {};
  Diagnostics found, advice, told_by_the_scan;
  const Where where = Where::in_library(library.origin.library, library.origin.path);
  if (const FileBytes bytes(library.origin.path); bytes.problem().empty())
    if (const auto facts = read_elf_facts(bytes, where, told_by_the_scan))
      advise(*facts, read_undefined_symbols(bytes), where, advice);
  for (Diagnostic entry : advice) {
    entry.severity = Severity::note;  // nothing that its user could mend
    found.add(std::move(entry));
  }
  opening_order(library, *session.catalog(), found);
  for (Diagnostic entry : prober.probe(library)) {
    if (entry.where.library.empty()) entry.where.library = library.origin.library;
    found.add(std::move(entry));
  }
  return found;
}

void describe_libraries(Session& session) {
  session.print("\nlibraries\n");
  const Value* timeout = session.invocation().options.find("timeout");
  Prober prober({.timeout = std::chrono::milliseconds(timeout ? timeout->as_integer() : 10'000)});
  Value libraries = Value::list();
  for (const auto& library : session.catalog()->libraries()) {
    const Diagnostics found = probe(session, prober, library);
    session.diagnostics().append(found);
    const bool harmless = library.state == EntryState::shadowed || library.state == EntryState::disabled;
    const bool fine = library.usable() && !found.has_errors();
    const std::string& path = library.origin.path.empty() ? library.manifest : library.origin.path;
    session.print(fmt::format("  {:5}  {} {}  {}\n",
                              fine       ? "OK"
                              : harmless ? "note"
                                         : "ERROR",
                              library.origin.library, library.origin.version, path));
    if (!library.usable())
      session.print(fmt::format("         {}: {}\n", to_string(library.state), library.reason));
    for (const auto& entry : found)
      session.print(fmt::format("         {}: {}\n", entry.code, entry.message));
    libraries.push_back(Value::map({{"id", library.origin.library},
                                    {"version", library.origin.version},
                                    {"path", path},
                                    {"state", to_string(library.state)},
                                    {"reason", library.reason},
                                    {"opens", fine}}));
  }
  session.answer().set("libraries", std::move(libraries));
}

}  // namespace

// What is no problem, and explains why something that lies in a root is not used.
void describe_notes(Session& session) {
  std::string text;
  for (const auto& entry : session.catalog()->diagnostics())
    if (entry.severity == Severity::note && entry.code != "W601")
      text += fmt::format("  {}: {} ({})\n", entry.code, entry.message, entry.where.file);
  if (!text.empty()) session.print("\nnotes\n" + text);
}

int doctor(Session& session) {
  session.report_libraries();
  describe_host(session);
  describe_libtorch(session);
  describe_environment(session);
  describe_roots(session);
  describe_libraries(session);
  describe_notes(session);
  const auto is_problem = [](const Diagnostic& entry) { return entry.severity != Severity::note; };
  const auto problems = std::ranges::count_if(session.catalog()->diagnostics(), is_problem) +
                        std::ranges::count_if(session.diagnostics(), is_problem);
  session.print(fmt::format("\n{}\n", problems == 0
                                          ? "no problems"
                                          : fmt::format("{} problem{}", problems, problems == 1 ? "" : "s")));
  return problems == 0 ? 0 : 3;
}

}  // namespace nexuml
