#include "track/metrics_csv.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace nexuml {
namespace {

namespace fs = std::filesystem;

struct CsvFile {
  fs::path path = fs::temp_directory_path() / ("nexuml-metrics-" + std::to_string(::getpid()) + ".csv");
  CsvFile() { fs::remove(path); }
  ~CsvFile() { fs::remove(path); }
  std::string text() const {
    std::ifstream file(path);
    std::stringstream all;
    all << file.rdbuf();
    return all.str();
  }
};

}  // namespace

TEST_CASE("metrics.csv holds one row an epoch with the shortest text of each number") {
  CsvFile file;
  MetricsCsv csv(file.path);
  csv.add({{"epoch", 0}, {"train/loss", 0.1}});
  csv.add({{"epoch", 1}, {"train/loss", std::nan("")}});
  CHECK(file.text() == "epoch,train/loss\n0,0.1\n1,nan\n");
}

TEST_CASE("a metric that appears later adds a column") {
  CsvFile file;
  MetricsCsv csv(file.path);
  csv.add({{"epoch", 0}});
  csv.add({{"epoch", 1}, {"val/late", 2.5}});
  CHECK(file.text() == "epoch,val/late\n0,\n1,2.5\n");
}

TEST_CASE("a resumed run writes the rows after its checkpoint again") {
  CsvFile file;
  {
    MetricsCsv csv(file.path);
    for (int epoch = 0; epoch < 4; ++epoch) csv.add({{"epoch", double(epoch)}, {"loss", 1.0 / (1 + epoch)}});
  }
  const std::string whole = file.text();
  MetricsCsv csv(file.path);
  csv.drop_from(2);
  csv.add({{"epoch", 2}, {"loss", 1.0 / 3}});
  csv.add({{"epoch", 3}, {"loss", 0.25}});
  CHECK(file.text() == whole);
}

}  // namespace nexuml
