#include "plugins_library/source_support.h"

using namespace library_tests;
using Catch::Contains;
using nexuml::Value;

namespace {

const std::string cases = std::string(NEXUML_TEST_DATA) + "/cases/";

// A table written for one test; further parameters of the source follow.
std::shared_ptr<nexuml::Dataset> open_table(const std::string& text, Value params = Value::map()) {
  const TemporaryFolder folder;
  params.set("path", folder.write("table.csv", text));
  return open("csv", params);
}
std::string table_failure(const std::string& text, Value params = Value::map()) {
  const TemporaryFolder folder;
  folder.write("table.csv", text);
  params.set("path", "table.csv");
  return failure("csv", params, folder.path());
}

}  // namespace

TEST_CASE("a table gives features, and labels as sorted classes with their names") {
  const auto dataset = open_table("a,b,kind\n1,2.5,dog\n-3,4e1,cat\n", Value::map({{"label", "kind"}}));
  const nexuml::Batch batch = all_rows(*dataset);
  CHECK(floats(batch.x.get("features")) == std::vector<float>{1, 2.5, -3, 40});
  CHECK(floats(batch.y->get("label")) == std::vector<float>{1, 0});
  CHECK(batch.y->get("label").scalar_type() == at::kLong);
  CHECK(dataset->class_names().at("label") == std::vector<std::string>{"cat", "dog"});
  CHECK(dataset->num_classes().at("label") == 2);
}

TEST_CASE("whole numbers as labels are sorted by value") {
  const auto dataset = open_table("x,y\n0,10\n0,9\n0,-1\n", Value::map({{"label", "y"}}));
  CHECK(dataset->class_names().at("label") == std::vector<std::string>{"-1", "9", "10"});
}

TEST_CASE("features are chosen by name and by range, in the order given, scaled and shaped") {
  const auto dataset = open_table(
      "a,b,c,d,e\n1,2,3,4,5\n",
      Value::map({{"features", Value::list({"e", "b..d"})}, {"scale", 0.5}, {"shape", Value::list({2, 2})}}));
  const at::Tensor features = all_rows(*dataset).x.get("features");
  CHECK(floats(features) == std::vector<float>{2.5, 1, 1.5, 2});
  CHECK(dataset->features().at("features").shape == nexuml::Shape{2, 2});
}

TEST_CASE("a table without a header names its columns by position") {
  const auto dataset = open_table("1,2,0\n3,4,1\n", Value::map({{"header", false}, {"label", "column_3"}}));
  CHECK(floats(all_rows(*dataset).x.get("features")) == std::vector<float>{1, 2, 3, 4});
}

TEST_CASE("a split column assigns rows to splits") {
  const auto dataset =
      open_table("x,y,part\n1,0,train\n2,0,val\n3,0,test\n", Value::map({{"label", "y"}, {"split", "part"}}));
  CHECK(dataset->splits() == std::vector<std::string>{"train", "val", "test"});
  CHECK(dataset->features().at("features").shape == nexuml::Shape{1});
}

TEST_CASE("a label can be a number to predict") {
  const auto dataset =
      open_table("x,y\n1,0.25\n2,-3\n", Value::map({{"label", "y"}, {"label_type", "number"}}));
  CHECK(floats(all_rows(*dataset).y->get("label")) == std::vector<float>{0.25, -3});
  CHECK(dataset->num_classes().empty());
}

TEST_CASE("line ends, blank lines, blanks around cells and quotes are read as spreadsheets write them") {
  const auto dataset = open_table("\xEF\xBB\xBF\"a\",\"the \"\"b\"\", c\"\r\n 1 ,\" 2\"\r\n\r\n3,4\r5,6",
                                  Value::map({{"features", Value::list({"a", "the \"b\", c"})}}));
  CHECK_THROWS(all_rows(*dataset).x.get("label"));
  CHECK(floats(all_rows(*dataset).x.get("features")) == std::vector<float>{1, 2, 3, 4, 5, 6});
}

TEST_CASE("every cell that is wrong is named by file, line and column") {
  const std::string text = table_failure("a,b,c\n1,,3\n4,five,6\n7,8\n1,nan,2\n");
  CHECK_THAT(text, Contains("table.csv:2:3") && Contains("column 'b'") && Contains("a cell is missing"));
  CHECK_THAT(text, Contains("table.csv:3:3") && Contains("found 'five'"));
  CHECK_THAT(text, Contains("table.csv:4:1") && Contains("2 cells; 3 are expected"));
  CHECK_THAT(text, Contains("table.csv:5:3") && Contains("finite"));
}

TEST_CASE("a file full of mistakes ends with the first twenty") {
  std::string text = "a\n";
  for (int row = 0; row < 1000; ++row) text += "x\n";
  CHECK_THAT(table_failure(text), Contains("stopped after 20 problems") && !Contains(":30:"));
}

TEST_CASE("quotes that stay open and text after a quote are named by their place") {
  CHECK_THAT(table_failure("a,b\n1,\"2\n3,4\n"), Contains("table.csv:2:3") && Contains("never closed"));
  CHECK_THAT(table_failure("a,b\n\"1\"x,2\n"), Contains("table.csv:2:4") && Contains("closing quote"));
}

TEST_CASE("a label of a test row that training never sees is refused, unless all classes are listed") {
  const std::string text = "x,y,part\n1,cat,train\n2,bird,test\n";
  Value params = Value::map({{"label", "y"}, {"split", "part"}});
  CHECK_THAT(table_failure(text, params),
             Contains("table.csv:3:3") && Contains("'bird'") && Contains("never seen in training"));
  params.set("classes", Value::list({"cat", "bird"}));
  CHECK(floats(all_rows(*open_table(text, params)).y->get("label")) == std::vector<float>{0, 1});
}

TEST_CASE("a label outside of the listed classes is refused with the near name") {
  CHECK_THAT(
      table_failure("x,y\n1,cats\n", Value::map({{"label", "y"}, {"classes", Value::list({"cat", "dog"})}})),
      Contains("table.csv:2:3") && Contains("'cats'") && Contains("did you mean cat"));
}

TEST_CASE("labels listed as anomalies only test, and a second label tells them apart") {
  const auto dataset =
      open_table("x,y\n1,3\n2,9\n3,4\n", Value::map({{"label", "y"}, {"anomalies", Value::list({"9"})}}));
  CHECK(dataset->splits() == std::vector<std::string>{"all", "test", "all"});
  CHECK(floats(all_rows(*dataset).y->get("anomaly")) == std::vector<float>{0, 1, 0});
  CHECK(dataset->num_classes().at("anomaly") == 2);
  CHECK_THAT(
      table_failure("x,y\n1,3\n2,9\n", Value::map({{"label", "y"}, {"anomalies", Value::list({"8"})}})),
      Contains("'8'") && Contains("no row"));
  CHECK_THROWS_WITH(source("csv", Value::map({{"path", "a.csv"}, {"anomalies", Value::list({"9"})}})),
                    Contains("need a `label` column"));
}

TEST_CASE("a split that is none is refused") {
  CHECK_THAT(table_failure("x,part\n1,dev\n", Value::map({{"split", "part"}})),
             Contains("table.csv:2:3") && Contains("found 'dev'"));
}

TEST_CASE("names that the table lacks are refused with the near name") {
  CHECK_THAT(table_failure("alpha,beta\n1,2\n", Value::map({{"label", "betta"}})),
             Contains("'betta'") && Contains("did you mean beta"));
  CHECK_THAT(table_failure("alpha,beta\n1,2\n", Value::map({{"features", Value::list({"beta..alpha"})}})),
             Contains("last column stands before its first"));
}

TEST_CASE("a shape that does not hold the columns is refused") {
  CHECK_THAT(table_failure("a,b,c\n1,2,3\n", Value::map({{"shape", Value::list({2, 2})}})),
             Contains("[2, 2]") && Contains("3 columns"));
}

TEST_CASE("a missing file says where relative paths are read from") {
  CHECK_THAT(failure("csv", Value::map({{"path", "none.csv"}}), "/nowhere/at/all"),
             Contains("E701") && Contains("none.csv") && Contains("/nowhere/at/all"));
}

TEST_CASE("a folder, an empty file and a header alone are refused as tables") {
  const TemporaryFolder folder;
  CHECK_THAT(failure("csv", Value::map({{"path", "."}}), folder.path()), Contains("directory"));
  CHECK_THAT(table_failure(""), Contains("empty file"));
  CHECK_THAT(table_failure("a,b\n"), Contains("no rows"));
}

TEST_CASE("a table with the mark of UTF-8 keeps its first column") {
  for (const char* file : {"bom.csv", "bom_quoted.csv"}) {
    const auto dataset = open("csv", Value::map({{"path", cases + "D05-csv-bom/" + file},
                                                 {"features", Value::list({"value"})},
                                                 {"label", "sensor"}}));
    CHECK(floats(all_rows(*dataset).x.get("features")) == std::vector<float>{1.5, 2.5});
    CHECK(dataset->class_names().at("label") == std::vector<std::string>{"a", "b"});
  }
  CHECK_THAT(failure("csv", Value::map({{"path", cases + "D05-csv-bom/bom_only.csv"}})), Contains("empty"));
  CHECK_THAT(failure("csv", Value::map({{"path", cases + "D05-csv-bom/utf16.csv"}})), Contains("UTF-16"));
}

TEST_CASE("columns of one name are refused by their positions, names that differ in case are two columns") {
  const std::string folder = cases + "D07-csv-duplicate-header/";
  CHECK_THAT(failure("csv", Value::map({{"path", folder + "dup.csv"}})),
             Contains("'name'") && Contains("1, 3"));
  CHECK_THAT(failure("csv", Value::map({{"path", folder + "suffix_clash.csv"}})),
             Contains("'c'") && Contains("1, 2, 3"));
  CHECK_THAT(failure("csv", Value::map({{"path", folder + "blank_names.csv"}})),
             Contains("column 2") && Contains("column 3") && Contains("no name"));
  CHECK(open("csv", Value::map({{"path", folder + "case.csv"}}))->features().at("features").shape ==
        nexuml::Shape{2});
}

TEST_CASE("a first line of numbers is advised against as a header, and is data where there is none") {
  const std::string path = cases + "D07-csv-duplicate-header/no_header.csv";
  nexuml::Diagnostics advice;
  CHECK(open("csv", Value::map({{"path", path}}), {}, &advice)->size() == 1);
  REQUIRE(advice.size() == 1);
  CHECK_THAT(advice.to_text(), Contains("W833") && Contains("no header?") && Contains("header: false"));
  CHECK(open("csv", Value::map({{"path", path}, {"header", false}}))->size() == 2);
}

TEST_CASE("decimal commas are read when they are asked for, and never guessed") {
  const std::string folder = cases + "D09-csv-decimal-comma/";
  Value german = Value::map({{"path", folder + "german.csv"}});
  CHECK_THAT(failure("csv", german), Contains("E833") && Contains("Valence;Arousal;Label") &&
                                         Contains("delimiter: ';'") && Contains("decimal: ','"));
  german.set("delimiter", ";");
  CHECK_THAT(failure("csv", german), Contains("'0,435'") && Contains("decimal: ','"));
  german.set("decimal", ",");
  german.set("label", "Label");
  CHECK(floats(all_rows(*open("csv", german)).x.get("features")) ==
        std::vector<float>{0.435F, 2.87F, 1.286F, 4, 0.118F, 2.059F});
  CHECK_THAT(failure("csv", Value::map({{"path", folder + "thousands.csv"}})),
             Contains("thousands.csv:2:3") && Contains("'value'") && Contains("1,234.5"));
  CHECK_THAT(failure("csv", Value::map({{"path", folder + "sep_line.csv"}})), Contains("sep=;"));
  CHECK(open("csv", Value::map({{"path", folder + "tab.csv"}, {"delimiter", "\t"}}))->size() == 1);
}

TEST_CASE("the delimiter is one character and not the decimal mark") {
  CHECK_THROWS_WITH(source("csv", Value::map({{"path", "a.csv"}, {"delimiter", ";;"}})),
                    Contains("one character"));
  CHECK_THROWS_WITH(source("csv", Value::map({{"path", "a.csv"}, {"decimal", ","}})),
                    Contains("same character"));
}

TEST_CASE("the shipped digits are read whole") {
  const auto dataset = open("csv",
                            Value::map({{"path", "examples/data/digits/digits.csv"},
                                        {"features", Value::list({"pixel_0..pixel_63"})},
                                        {"label", "label"}}),
                            NEXUML_SOURCE_ROOT);
  CHECK(dataset->size() == 1797);
  CHECK(dataset->num_classes().at("label") == 10);
  CHECK(dataset->features().at("features").shape == nexuml::Shape{64});
}
