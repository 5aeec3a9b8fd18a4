// `library add|delete|list`: the roots in libraries.json.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "host/commands.h"
#include "host/table.h"

namespace nexuml {
namespace {

std::string absolute_root(const Session& session) {
  return std::filesystem::absolute(session.invocation().text("path")).lexically_normal().string();
}

// `/a/b/` and `/a/b` are one root.
std::string without_slash(std::string path) {
  while (path.size() > 1 && path.ends_with('/')) path.pop_back();
  return path;
}

std::string config_path(const Session& session) {
  const std::string path = session.environment().library_config_path();
  if (path.empty())
    throw Error("E108", "there is no place for the configuration: neither HOME nor XDG_CONFIG_HOME is set");
  return path;
}

// The configuration, or an error: changing a damaged file would lose what stands in it.
LibraryConfig read_config(Session& session) {
  Diagnostics damaged;
  LibraryConfig config = LibraryConfig::read(config_path(session), damaged);
  if (!damaged.empty()) {
    Diagnostic problem = damaged.entries().front();
    problem.code = "E107";
    problem.severity = Severity::error;
    throw Error(problem);
  }
  return config;
}

}  // namespace

int add_root(Session& session) {
  LibraryConfig config = read_config(session);
  const std::string root = without_slash(absolute_root(session));
  if (std::ranges::find(config.roots, root) == config.roots.end()) {
    config.roots.push_back(root);
    config.write(config_path(session));
  }
  session.print(fmt::format("searched from now on: {}\n", root));
  session.answer().set("roots", Value(config.roots));
  return 0;
}

int delete_root(Session& session) {
  LibraryConfig config = read_config(session);
  const std::string root = without_slash(absolute_root(session));
  const auto is_root = [&](const std::string& one) { return without_slash(one) == root; };
  if (std::erase_if(config.roots, is_root) == 0) {
    session.diagnostics()
        .error("E109", fmt::format("{} is no configured root", root), Where::in_file(config_path(session)))
        .hint = "`nexuml-run library list` shows them";
    return 1;
  }
  config.write(config_path(session));
  session.print(fmt::format("searched no more: {}\n", root));
  session.answer().set("roots", Value(config.roots));
  return 0;
}

int list_libraries(Session& session) {
  session.report_libraries();
  Table roots({"ROOT", "FROM", ""});
  Value root_list = Value::list();
  Diagnostics reported_by_the_scan;
  for (const auto& place :
       search_places(session.environment(), session.invocation().search, reported_by_the_scan)) {
    std::error_code ignored;
    const bool there = std::filesystem::is_directory(place.path, ignored);
    roots.add({place.path, place.source, there ? "" : "missing"});
    root_list.push_back(Value::map({{"path", place.path}, {"source", place.source}, {"exists", there}}));
  }
  Table libraries({"LIBRARY", "VERSION", "STATE", "FROM", "PATH"});
  Value library_list = Value::list();
  for (const auto& library : session.catalog()->libraries()) {
    const std::string& path = library.origin.path.empty() ? library.manifest : library.origin.path;
    libraries.add({library.origin.library, library.origin.version, std::string(to_string(library.state)),
                   library.source, path});
    library_list.push_back(Value::map({{"id", library.origin.library},
                                       {"version", library.origin.version},
                                       {"state", to_string(library.state)},
                                       {"reason", library.reason},
                                       {"source", library.source},
                                       {"path", path},
                                       {"build_id", library.origin.build_id}}));
  }
  session.print(roots.to_text() + "\n" + libraries.to_text());
  session.answer().set("roots", std::move(root_list));
  session.answer().set("libraries", std::move(library_list));
  return 0;
}

}  // namespace nexuml
