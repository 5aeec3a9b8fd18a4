// Inputs made after failure reports; expected.json beside each says what must happen.
#include <filesystem>

#include "scenario/scenario_fixtures.h"

using namespace scenario_fixtures;

namespace {

Checked check_file(const std::string& path) {
  Checked checked;
  Value document = read_document(path, checked.problems);
  if (!checked.problems.has_errors())
    checked.value = check_scenario(std::move(document), {.names = &registry()}, checked.problems);
  return checked;
}

void must_be_refused(const Checked& checked, const Value& expected) {
  CHECK(checked.problems.has_errors());
  const std::string text = checked.problems.to_text();
  for (const Value& word : expected.at("must_mention").items())
    CHECK(text.find(word.as_string()) != std::string::npos);
  if (const Value* count = expected.find("count"))
    CHECK(checked.problems.size() == static_cast<std::size_t>(count->as_integer()));
  for (const Diagnostic& problem : checked.problems) CHECK(problem.where.line > 0);
}

void must_be_accepted(const Checked& checked, const Value& expected) {
  REQUIRE(!checked.problems.has_errors());
  Diagnostics problems;
  const Value again = parse_yaml(write_yaml(checked.value), "again.yaml", problems);
  REQUIRE(problems.empty());
  CHECK(again == checked.value);
  if (const Value* values = expected.find("values"))
    for (const Value::Entry& entry : values->entries()) CHECK(value_at(again, entry.key) == entry.value);
  if (const Value* same = expected.find("same_as"))
    CHECK(checked.value == check_file(data_path("cases/" + same->as_string())).value);
}

}  // namespace

TEST_CASE("scenario files of the reported failures are refused or accepted as they should be") {
  std::size_t files = 0;
  for (const auto& folder : std::filesystem::directory_iterator(data_path("cases"))) {
    const std::string name = folder.path().filename().string();
    if (name.front() != 'Y' && !name.starts_with("R05")) continue;
    Diagnostics problems;
    const std::string expected_path = (folder.path() / "expected.json").string();
    const Value expected = parse_json(text_of(expected_path), expected_path, problems);
    REQUIRE(problems.empty());
    for (const Value::Entry& entry : expected.entries()) {
      INFO(name << "/" << entry.key);
      const Checked checked = check_file((folder.path() / entry.key).string());
      INFO(checked.problems.to_text());
      if (entry.value.at("verdict").as_string() == "reject")
        must_be_refused(checked, entry.value);
      else
        must_be_accepted(checked, entry.value);
      ++files;
    }
  }
  CHECK(files >= 26);
}

TEST_CASE("an unknown component is refused at its place with one thing to do") {
  const auto problem = [](const std::string& name) {
    const Checked checked = check_file(data_path("cases/R05-unknown-near-names/" + name));
    INFO(checked.problems.to_text());
    REQUIRE(checked.problems.size() == 1);
    return checked.problems.entries().front();
  };
  for (const char* name : {"case.yaml", "typo.yaml", "blank.yaml"}) {
    INFO(name);
    CHECK(problem(name).code == "E730");
    CHECK(problem(name).where.key_path == "pipeline.stages.Encoder[0].component.type");
    CHECK(problem(name).where.line == 6);
    CHECK(problem(name).where.column == 15);
    CHECK(problem(name).hint.find("did you mean LinearEncoder") != std::string::npos);
  }
  CHECK(problem("dotted.yaml").hint.find("type is a registered name: LinearEncoder") != std::string::npos);
  CHECK(problem("kind.yaml").message == "synthetic is a data_source, a layer is needed here");
  CHECK(problem("version2.yaml").message.find("LinearEncoder exists in version 1") != std::string::npos);
}

TEST_CASE("what is no scenario file is refused with one clear message") {
  const auto refused = [](const std::string& path) {
    Diagnostics problems;
    CHECK(read_document(path, problems).is_null());
    INFO(problems.to_text());
    REQUIRE(problems.size() == 1);
    return problems.entries().front().code;
  };
  CHECK(refused(data_path("scenarios")) == "E701");
  CHECK(refused(data_path("no-such-file.yaml")) == "E701");
  const auto written = [&](const std::string& text) {
    const auto path = std::filesystem::temp_directory_path() / "nexuml-scenario-test.yaml";
    std::ofstream(path, std::ios::binary) << text;
    const std::string code = refused(path.string());
    std::filesystem::remove(path);
    return code;
  };
  CHECK(written("") == "E707");
  CHECK(written("# only a comment\n") == "E707");
  CHECK(written("name: a\n---\nname: b\n") == "E706");
  CHECK(written("name: 'a\n") == "E703");
  CHECK(written("name: \xff\n") == "E702");

  CHECK(only_problem("- name: a\n").code == "E712");
  CHECK(only_problem("digits").code == "E712");
}
