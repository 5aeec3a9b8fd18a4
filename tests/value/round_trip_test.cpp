// Random trees survive writing and reading.
#include <bit>
#include <cmath>
#include <random>

#include "documents.h"

using namespace nexuml;
using namespace nexuml::testing;

namespace {

class RandomTree {
 public:
  explicit RandomTree(std::uint64_t seed) : random_(seed) {}

  Value value(int depth) {
    switch (pick(depth > 0 ? 8 : 6)) {
      case 0:
        return {};
      case 1:
        return Value(pick(2) == 0);
      case 2:
        return Value(static_cast<std::int64_t>(random_()) >> pick(64));
      case 3:
        return Value(number());
      case 6:
        return list(depth);
      case 7:
        return map(depth);
      default:
        return Value(text());
    }
  }

 private:
  std::size_t pick(std::size_t count) { return static_cast<std::size_t>(random_() % count); }
  double number() {
    if (pick(2) == 0) return static_cast<double>(pick(2000)) / 8 - 100;
    const double any_bits = std::bit_cast<double>(random_());
    return std::isfinite(any_bits) ? any_bits : 0.25;
  }
  // Mostly signs that mean something to YAML, words that readers resolve, and letters of every width.
  std::string text() {
    static const std::vector<std::string> pieces = {"a",
                                                    "Z",
                                                    "0",
                                                    "1",
                                                    "9",
                                                    ".",
                                                    "-",
                                                    "+",
                                                    "_",
                                                    ":",
                                                    "e",
                                                    "E",
                                                    "x",
                                                    "o",
                                                    " ",
                                                    "#",
                                                    "'",
                                                    "\"",
                                                    "\\",
                                                    "\n",
                                                    "\t",
                                                    "\r",
                                                    ",",
                                                    "[",
                                                    "]",
                                                    "{",
                                                    "}",
                                                    "&",
                                                    "*",
                                                    "!",
                                                    "|",
                                                    ">",
                                                    "%",
                                                    "@",
                                                    "`",
                                                    "?",
                                                    "=",
                                                    "<",
                                                    "~",
                                                    "no",
                                                    "on",
                                                    "null",
                                                    "true",
                                                    "inf",
                                                    "nan",
                                                    "---",
                                                    "...",
                                                    ": ",
                                                    " #",
                                                    "- ",
                                                    "2026-01-31",
                                                    "12:30",
                                                    "\xC3\xBC",
                                                    "\xE2\x80\xA8",
                                                    "\xC2\x85",
                                                    "\xEF\xBB\xBF",
                                                    "\xF0\x9F\x98\x80",
                                                    "\x7f",
                                                    "\x01",
                                                    std::string(1, '\0')};
    std::string built;
    for (std::size_t i = pick(6); i > 0; --i) built += pieces[pick(pieces.size())];
    return built;
  }
  Value list(int depth) {
    Value built = Value::list();
    for (std::size_t i = pick(5); i > 0; --i) built.push_back(value(depth - 1));
    return built;
  }
  Value map(int depth) {
    Value built = Value::map();
    for (std::size_t i = pick(5); i > 0; --i) built.set(text(), value(depth - 1));
    return built;
  }

  std::mt19937_64 random_;
};

}  // namespace

TEST_CASE("a random tree is the same after writing and reading YAML") {
  for (std::uint64_t seed = 0; seed < 3000; ++seed) {
    const Value tree = RandomTree(seed).value(4);
    const std::string text = write_yaml(tree);
    Diagnostics problems;
    const Value again = parse_yaml(text, "random.yaml", problems);
    if (problems.empty() && again == tree && write_yaml(again) == text) continue;
    INFO("seed " << seed << "\n" << text << problems.to_text());
    FAIL();
  }
}

TEST_CASE("a random tree is the same after writing and reading JSON") {
  for (std::uint64_t seed = 0; seed < 3000; ++seed) {
    const Value tree = RandomTree(seed).value(4);
    for (const std::string& text : {write_json(tree), canonical_json(tree)}) {
      Diagnostics problems;
      const Value again = parse_json(text, "random.json", problems);
      if (problems.empty() && again == tree) continue;
      INFO("seed " << seed << "\n" << text << problems.to_text());
      FAIL();
    }
  }
}

TEST_CASE("JSON is YAML: both readers see the same tree") {
  for (std::uint64_t seed = 0; seed < 1000; ++seed) {
    const std::string text = write_json(RandomTree(seed).value(3));
    if (text.find("\xC2\x85") != std::string::npos || text.find("\xE2\x80\xA8") != std::string::npos)
      continue;
    INFO("seed " << seed << "\n" << text);
    CHECK(read_yaml(text) == read_json(text));
  }
}
