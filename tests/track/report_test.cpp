#include "track/report.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <filesystem>
#include <fstream>

using namespace nexuml;
using Catch::Contains;

namespace {

class RunFolderForReport {
 public:
  RunFolderForReport() {
    std::string pattern = (std::filesystem::temp_directory_path() / "nexuml-report-XXXXXX").string();
    path_ = ::mkdtemp(pattern.data());
    write("summary.json",
          R"({"scenario": "a <b>", "test/accuracy": 0.97251, "epochs": 2, "test/loss": "nan"})");
    write("metrics.csv", "epoch,step,train/loss,val/loss\n0,10,1.5,\n1,20,0.5,0.75\n");
    write("scenario.yaml", "name: a <b>\n");
    write("provenance.json", R"({"seed": 7, "libraries": [{"id": "nexuml.library", "version": "0.1.0"}]})");
    write("evaluation/report/scores.csv", "class,f1\n\"ant, red\",0.123456789\nbee,\n");
    write("evaluation/report/scores.json", R"({"accuracy": 0.5})");
    write("evaluation/report/plot.png", "Man");
  }
  ~RunFolderForReport() { std::filesystem::remove_all(path_); }

  const std::filesystem::path& path() const { return path_; }

 private:
  void write(const std::string& name, const std::string& text) const {
    std::filesystem::create_directories((path_ / name).parent_path());
    std::ofstream(path_ / name, std::ios::binary) << text;
  }
  std::filesystem::path path_;
};

std::string text_in(const std::filesystem::path& path) {
  Diagnostics problems;
  return read_text_file(path.string(), problems);
}

}  // namespace

TEST_CASE(
    "a report page shows numbers, curves, tables, plots, diagram, scenario and libraries, and names no other "
    "host") {
  const RunFolderForReport run;
  write_report(run.path(), "<svg id=\"pipeline\"></svg>");
  const std::string page = text_in(run.path() / "report.html");
  CHECK_THAT(page, Contains("0.9725") && Contains("test/accuracy"));
  CHECK_THAT(page, Contains("class=\"curve\"") && Contains(">train</text>") && Contains(">val</text>"));
  CHECK_THAT(page, Contains("<td>ant, red</td><td>0.1235</td>"));
  CHECK_THAT(page, Contains("data:image/png;base64,TWFu"));
  CHECK_THAT(page, Contains("<svg id=\"pipeline\">") && Contains("nexuml.library"));
  CHECK_THAT(page, Contains("name: a &lt;b&gt;") && !Contains("a <b>"));
  CHECK_THAT(page, !Contains("http://") && !Contains("https://"));
}

TEST_CASE("a page shows the numbers of each algorithm, a confusion matrix in shades and each curve once") {
  const RunFolderForReport run;
  std::filesystem::create_directories(run.path() / "evaluation/matrix");
  std::ofstream(run.path() / "evaluation/matrix/confusion_matrix.csv") << "label,0,1\n0,3,1\n1,0,0\n";
  std::filesystem::create_directories(run.path() / "evaluation/plot#1");
  std::ofstream(run.path() / "evaluation/plot#1/a b.txt") << "x";
  std::ofstream(run.path() / "summary.json")
      << R"({"scenario": "x", "eval/matrix/accuracy": 0.75, "eval/scores/machine/fan/auc": 0.875, "eval/mse": 0.125})";
  std::ofstream(run.path() / "metrics.csv")
      << "epoch,lr,train/loss,train/only_term,val/loss,val/only_term\n0,0.001,2,2,3,3\n1,0.001,1,1,2,2\n";
  write_report(run.path(), "");
  const std::string page = text_in(run.path() / "report.html");
  CHECK_THAT(page, Contains("Confusion matrix") && Contains("rgba(0,114,178,0.64)") &&
                       Contains("rgba(0,114,178,0.00)"));
  CHECK_THAT(page, Contains("<td>accuracy</td><td>0.75</td>") && Contains("<h2>scores</h2>") &&
                       Contains("<td>machine/fan/auc</td><td>0.875</td>"));
  CHECK_THAT(page, Contains("href=\"evaluation/plot%231/a%20b.txt\""));
  CHECK_THAT(page, Contains("<b>0.125</b>eval/mse") && !Contains(">only_term</text>"));
  CHECK_THAT(page, Contains(">0.001</text>") && Contains("style=\"fill:#0072b2\""));
}

TEST_CASE("report.json holds the same for programs") {
  const RunFolderForReport run;
  write_report(run.path(), "");
  Diagnostics problems;
  const Value report = parse_json(text_in(run.path() / "report.json"), "report.json", problems);
  REQUIRE_FALSE(problems.has_errors());
  CHECK(report.at("summary").at("test/accuracy") == Value(0.97251));
  CHECK(report.at("epochs").size() == 2);
  CHECK_FALSE(report.at("epochs").items()[0].find("val/loss"));
  CHECK(report.at("evaluations").items()[0].at("scores").at("accuracy") == Value(0.5));
}

TEST_CASE("the report of a folder with nothing in it is a page with a title") {
  const RunFolderForReport run;
  std::filesystem::remove_all(run.path());
  std::filesystem::create_directories(run.path());
  CHECK_NOTHROW(write_report(run.path(), ""));
  CHECK_THAT(text_in(run.path() / "report.html"), Contains("<h1>nexuml-report-"));
}

TEST_CASE("a report says first that a run was interrupted, or that its loss is no number") {
  RunReport report{.folder = "run"};
  report.summary = Value::map({{"interrupted", true}, {"train/loss", "nan"}});
  report.metrics = {{"epoch", "train/loss"}, {{0, std::nan("")}}};
  const std::string page = report_page(report);
  CHECK_THAT(page, Contains("was interrupted") && Contains("train/loss is nan"));
  CHECK(page.find("notice\">") < page.find("<h2>Result"));
  CHECK_THAT(page, Contains("no finite value") && Contains("<td>interrupted</td><td>yes</td>"));
  CHECK(report_json(report).at("epochs").items().front().at("train/loss") == Value("nan"));
  report.summary = Value::map({{"train/loss", 0.5}});
  CHECK_THAT(report_page(report), !Contains("class=\"notice\""));
}

TEST_CASE("a report of many metrics shows the first and folds the others, with titles that fit") {
  RunReport report{.folder = "run"};
  report.metrics.columns = {"epoch"};
  report.metrics.rows = {{0.0}, {1.0}};
  for (int i = 0; i < 200; ++i) {
    report.metrics.columns.push_back("val/metric_with_a_name_that_is_longer_than_its_chart_is_wide_" +
                                     std::to_string(i));
    report.metrics.rows[0].push_back(i);
    report.metrics.rows[1].push_back(2.0 * i);
  }
  const std::string page = report_page(report);
  CHECK_THAT(page, Contains("188 more curves"));
  CHECK(page.find("longer_than_its_chart_is_wide_199</title>") > page.find("<details>"));
  CHECK_THAT(page, Contains("\u2026<title>"));
}

TEST_CASE("report.json holds the scenario as a tree") {
  const RunFolderForReport run;
  write_report(run.path(), "");
  Diagnostics problems;
  const Value report = parse_json(text_in(run.path() / "report.json"), "report.json", problems);
  CHECK(report.at("scenario").at("name") == Value("a <b>"));
}

TEST_CASE("the curve of one epoch is a dot, and long tables are folded") {
  RunReport report{.folder = "run"};
  report.metrics = {{"epoch", "train/loss"}, {{0, 0.5}}};
  CHECK_THAT(report_page(report), Contains("<circle fill="));
  report.metrics.rows.push_back({1, 0.25});
  CHECK_THAT(report_page(report), !Contains("<circle fill="));
  const RunFolderForReport run;
  std::string rows = "class,f1\n";
  for (int i = 0; i < 60; ++i) rows += std::to_string(i) + ",1\n";
  std::ofstream(run.path() / "evaluation/report/scores.csv") << rows;
  CHECK_THAT(report_page(read_run(run.path(), "")), Contains("<summary>60 rows</summary>"));
}
