// The scenario files that NexuML 0.2.1 writes.
#include <algorithm>
#include <filesystem>
#include <set>

#include "scenario/scenario_fixtures.h"

using namespace scenario_fixtures;

namespace {

std::vector<std::string> peer_files() {
  std::vector<std::string> files;
  for (const auto& entry : std::filesystem::directory_iterator(data_path("scenarios")))
    files.push_back(entry.path().string());
  std::ranges::sort(files);
  return files;
}

// The first place where two equal trees have their keys in another order; empty where there is none.
// Arguments are stored sorted by NexuML and carry no order.
std::string other_order(const Value& left, const Value& right, const std::string& path) {
  if (left.is_list()) {
    for (std::size_t i = 0; i < left.size(); ++i)
      if (std::string found = other_order(left.items()[i], right.items()[i], path + "[]"); !found.empty())
        return found;
  }
  if (!left.is_map()) return {};
  for (std::size_t i = 0; i < left.size(); ++i) {
    const Value::Entry& entry = left.entries()[i];
    if (entry.key != right.entries()[i].key) return path + "." + entry.key;
    if (std::string found = other_order(entry.value, right.entries()[i].value, path + "." + entry.key);
        !found.empty())
      return found;
  }
  return {};
}

// A name of a component with its key path, as `data.loader.backend.type: dali`.
void collect_names(const Value& value, const std::string& path, std::set<std::string>& names) {
  if (value.is_list())
    for (std::size_t i = 0; i < value.size(); ++i)
      collect_names(value.items()[i], path + "[" + std::to_string(i) + "]", names);
  if (!value.is_map()) return;
  if (value.find("type") && value.find("version") && value.find("params"))
    names.insert(path + ".type: " + value.at("type").as_string());
  for (const auto& entry : value.entries())
    collect_names(entry.value, path.empty() ? entry.key : path + "." + entry.key, names);
}

}  // namespace

TEST_CASE("every file that NexuML resolves is read and written back equal, field by field and in order") {
  const AnyNames names;
  REQUIRE(peer_files().size() == 15);
  for (const std::string& path : peer_files()) {
    INFO(path);
    Diagnostics problems;
    const Value document = read_document(path, problems);
    const Value scenario = check_scenario(document, {.names = &names}, problems);
    INFO(problems.to_text());
    REQUIRE(problems.empty());

    const Value again = parse_yaml(write_yaml(scenario), "again.yaml", problems);
    REQUIRE(problems.empty());
    CHECK(again == document);
    CHECK(other_order(document, again, "") == "");
  }
}

TEST_CASE("each component that is not there is named with its place in the file") {
  for (const std::string& path : peer_files()) {
    if (path.find("dcase-conv") != std::string::npos) continue;  // a thousand data sources each
    INFO(path);
    Diagnostics problems;
    const Value document = read_document(path, problems);
    (void)check_scenario(document, {.names = &registry()}, problems);
    std::set<std::string> named;
    for (const Diagnostic& problem : problems) {
      INFO(problem.to_text());
      CHECK(problem.where.line > 0);
      CHECK(problem.where.file == path);
      if (problem.code != "E730" && problem.code != "E731") continue;
      const auto quote = problem.message.find('\'');
      if (problem.code == "E730")
        named.insert(problem.where.key_path + ": " +
                     problem.message.substr(quote + 1, problem.message.rfind('\'') - quote - 1));
    }
    std::set<std::string> unknown;
    collect_names(document, "", unknown);
    const std::set<std::string> known{"LinearEncoder", "ReconstructionLoss", "NnModule", "synthetic",
                                      "torch"};
    std::erase_if(unknown,
                  [&](const std::string& name) { return known.contains(name.substr(name.find(": ") + 2)); });
    CHECK(named == unknown);
  }
}
