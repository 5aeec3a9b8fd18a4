#include <nexuml/diagnostic.h>

#include <catch2/catch.hpp>

using namespace nexuml;

TEST_CASE("a diagnostic is written with its place, its code and its hint") {
  Where where;
  where.file = "run.yaml";
  where.line = 3;
  where.column = 7;
  where.key_path = "training.lr";
  where.library = "org.acme.audio";
  where.layer = "Encoder/00_LinearEncoder";
  const Diagnostic diagnostic{"E712", Severity::error, "number expected, got text '1e-3'", where,
                              "remove the quotes"};
  CHECK(diagnostic.to_text() ==
        "run.yaml:3:7: error E712: number expected, got text '1e-3'\n"
        "    key: training.lr\n"
        "    layer: Encoder/00_LinearEncoder\n"
        "    library: org.acme.audio\n"
        "    hint: remove the quotes");
}

TEST_CASE("a diagnostic without a place is one line") {
  CHECK(Diagnostic{"W601", Severity::warning, "slow", {}, {}}.to_text() == "warning W601: slow");
  CHECK(Diagnostic{"W601", Severity::note, "slow", Where::in_file("a.so"), {}}.to_text() ==
        "a.so: note W601: slow");
}

TEST_CASE("warnings and notes are no errors") {
  Diagnostics problems;
  CHECK(problems.empty());
  problems.warning("W601", "slow");
  problems.note("W601", "really");
  CHECK_FALSE(problems.has_errors());
  problems.error("E712", "wrong").hint = "do right";
  CHECK(problems.has_errors());
  CHECK(problems.size() == 3);
  CHECK(problems.entries().back().hint == "do right");
}

TEST_CASE("sorting orders by place and removes exact repetitions alone") {
  Diagnostics problems;
  Where late, early;
  late.file = early.file = "a.yaml";
  late.line = 9;
  early.line = 2;
  problems.error("E712", "third", late);
  problems.error("E711", "first", early);
  problems.error("E712", "second", early);
  problems.error("E712", "other words", early);
  problems.error("E712", "second", early);
  problems.sort();
  std::string order;
  for (const Diagnostic& problem : problems) order += problem.message + ';';
  CHECK(order == "first;second;other words;third;");
}

TEST_CASE("diagnostics can be appended to themselves") {
  Diagnostics problems;
  problems.error("E712", "one");
  problems.append(problems);
  CHECK(problems.size() == 2);
}

TEST_CASE("an error says what its diagnostics say") {
  const Error error("E701", "the file does not exist", Where::in_file("a.yaml"), "check the path");
  CHECK(std::string(error.what()) == "a.yaml: error E701: the file does not exist\n    hint: check the path");
  CHECK(error.diagnostics().size() == 1);
  const Error copy = error;
  CHECK(&copy.diagnostics() == &error.diagnostics());
}
