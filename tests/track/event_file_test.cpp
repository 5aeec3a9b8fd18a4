#include "track/event_file.h"

#include <catch2/catch.hpp>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <vector>

namespace nexuml {
namespace {

namespace fs = std::filesystem;

std::string bytes_of_file(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

std::uint32_t unmasked(std::uint32_t masked) {
  const std::uint32_t rotated = masked - 0xa282ead8U;
  return rotated >> 17 | rotated << 15;
}

// Whole records whose checksums are right.
std::vector<std::string> records_of(const std::string& bytes) {
  std::vector<std::string> records;
  for (std::size_t at = 0; at + 16 <= bytes.size();) {
    std::uint64_t length = 0;
    std::uint32_t crc = 0;
    std::memcpy(&length, bytes.data() + at, 8);
    std::memcpy(&crc, bytes.data() + at + 8, 4);
    if (crc32c(std::string_view(bytes).substr(at, 8)) != unmasked(crc) || at + 16 + length > bytes.size())
      break;
    const std::string record = bytes.substr(at + 12, length);
    std::memcpy(&crc, bytes.data() + at + 12 + length, 4);
    if (crc32c(record) != unmasked(crc)) break;
    records.push_back(record);
    at += 16 + length;
  }
  return records;
}

}  // namespace

TEST_CASE("checksums of events are CRC-32C") {
  CHECK(crc32c("123456789") == 0xe3069283U);
  CHECK(crc32c(std::string(32, '\0')) == 0x8a9136aaU);
  CHECK(crc32c(std::string(32, '\xff')) == 0x62a8ab43U);
  CHECK(crc32c("") == 0);
}

TEST_CASE("an event file that is cut off anywhere is readable up to the cut") {
  std::string pattern = (fs::temp_directory_path() / "nexuml-events-XXXXXX").string();
  const fs::path folder = ::mkdtemp(pattern.data());
  EventFile events(folder);
  events.scalar("train/loss", 0.5, 1);
  const std::vector<float> weights{-1, 0, 0.5F, 2};
  events.histogram("weights", weights, 1);
  events.text("note", "**bold**", 2);
  events.image("plot", "\x89PNG", 4, 3, 2);
  const std::string bytes = bytes_of_file(events.path());
  const std::vector<std::string> records = records_of(bytes);
  REQUIRE(records.size() == 5);
  CHECK(records[0].find("brain.Event:2") != std::string::npos);
  CHECK(records[1].find("train/loss") != std::string::npos);
  std::size_t whole = 0, end = 0;
  for (std::size_t cut = 0; cut <= bytes.size(); ++cut) {
    while (whole < records.size() && end + 16 + records[whole].size() <= cut)
      end += 16 + records[whole++].size();
    CHECK(records_of(bytes.substr(0, cut)).size() == whole);
  }
  EventFile second(folder);
  CHECK(second.path() != events.path());
  fs::remove_all(folder);
}

TEST_CASE("an event file in a folder that cannot be made is refused") {
  CHECK_THROWS_WITH(EventFile("/proc/nexuml"), Catch::Contains("log_dir"));
}

}  // namespace nexuml
