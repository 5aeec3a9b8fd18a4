#include <cmath>

#include "documents.h"

using namespace nexuml;
using namespace nexuml::testing;

TEST_CASE("YAML keeps kinds, order and positions") {
  const Value value = read_yaml("b: 12\na:\n- 1.5\n- {x: 'y', z: [true, ~]}\nc:\n  d: text # comment\n");
  CHECK(value.entries()[0].key == "b");
  CHECK(place(value.position()) == "1:1");
  CHECK(place(value.entries()[1].key_position) == "2:1");
  CHECK(place(value.at("b").position()) == "1:4");
  CHECK(place(value.at("a").position()) == "3:1");
  CHECK(place(value.at("a").items()[1].position()) == "4:3");
  CHECK(place(value.at("a").items()[1].at("z").items()[1].position()) == "4:22");
  CHECK(place(value.at("c").at("d").position()) == "6:6");
  CHECK(*value.at("c").position().file == "test.yaml");
  CHECK(value ==
        Value::map({{"b", 12},
                    {"a", Value::list({1.5, Value::map({{"x", "y"}, {"z", Value::list({true, nullptr})}})})},
                    {"c", Value::map({{"d", "text"}})}}));
}

TEST_CASE("a view of no bytes at all is read as an empty text is") {
  const auto outcome = [](std::string_view text) {
    Diagnostics problems;
    const Value value = parse_yaml(text, "test.yaml", problems);
    return describe_for_message(value) + problems.to_text();
  };
  CHECK(outcome(std::string_view()) == outcome(""));
}

TEST_CASE("columns count bytes, also behind letters that take several") {
  const Value value = read_yaml("# \xC3\xBC\na: {\xC3\xBC: 1, \xF0\x9F\x98\x80: [2, 3]}\nlast: 4\n");
  const Value& inner = value.at("a");
  CHECK(place(inner.entries()[0].key_position) == "2:5");
  CHECK(place(inner.entries()[0].value.position()) == "2:9");
  CHECK(place(inner.entries()[1].key_position) == "2:12");
  CHECK(place(inner.entries()[1].value.items()[1].position()) == "2:22");
  CHECK(place(value.at("last").position()) == "3:7");
}

TEST_CASE("plain scalars mean what the YAML 1.2 core schema says") {
  for (const char* text : {"1e-3", "1E-3", "1.e-3", ".001", "0.001", "+1.0e-3"}) {
    INFO(text);
    CHECK(read_yaml(text) == Value(0.001));
  }
  CHECK(read_yaml("1e0") == Value(1.0));
  CHECK(read_yaml("5E-4") == Value(0.0005));
  CHECK(read_yaml("1.e-8") == Value(1e-8));
  CHECK(read_yaml("-0.0") == Value(-0.0));
  CHECK(read_yaml("1.") == Value(1.0));
  CHECK(read_yaml("4.9e-324") == Value(4.9e-324));
  CHECK(read_yaml("0x1F") == Value(31));
  CHECK(read_yaml("0o17") == Value(15));
  CHECK(read_yaml("017") == Value(17));
  CHECK(read_yaml("+3") == Value(3));
  CHECK(read_yaml("-9223372036854775808") == Value(std::numeric_limits<std::int64_t>::min()));
  for (const char* text : {"true", "True", "TRUE"}) CHECK(read_yaml(text) == Value(true));
  for (const char* text : {"false", "False", "FALSE"}) CHECK(read_yaml(text) == Value(false));
  for (const char* text : {"~", "null", "Null", "NULL"}) CHECK(read_yaml(text) == Value());
  CHECK(read_yaml("a:") == Value::map({{"a", nullptr}}));
  CHECK(read_yaml("-") == Value::list({nullptr}));
}

TEST_CASE("what only older YAML takes for something else is text") {
  for (const char* text : {"on",   "off",      "yes",   "no",         "y",
                           "n",    "On",       "NO",    "tRue",       "nULL",
                           "1:20", "12:30:45", "1_000", "2026-01-31", "2026-01-31T10:00:00Z",
                           "0b11", "-0x1F",    "1e",    "e5",         ".",
                           "+",    "1.2.3",    "=",     "32-true",    "0x",
                           "0o8",  "--1",      "1e+",   "nan",        "inf",
                           "-.nan"}) {
    INFO(text);
    CHECK(read_yaml(text) == Value(text));
  }
}

TEST_CASE("a scalar in quotes or in a block is text whatever it looks like") {
  CHECK(read_yaml("'1e-3'") == Value("1e-3"));
  CHECK(read_yaml("\"true\"") == Value("true"));
  CHECK(read_yaml("''") == Value(""));
  CHECK(read_yaml("a: |\n  1\nb: >-\n  2\n") == Value::map({{"a", "1\n"}, {"b", "2"}}));
  CHECK(read_yaml("'it''s'") == Value("it's"));
  CHECK(read_yaml("\"a\\n\\u00e4\\x41\\0\"") == Value(std::string("a\n\xC3\xA4"
                                                                  "A\0",
                                                                  6)));
  CHECK(read_yaml("'1'").quoted());
  CHECK_FALSE(read_yaml("1").quoted());
  CHECK(read_yaml("plain text\n  over two lines") == Value("plain text over two lines"));
}

TEST_CASE("infinities and NaN are refused at their place") {
  for (const char* text : {".inf", "-.INF", "+.Inf", ".nan", ".NaN"}) {
    const Diagnostic problem = refused_yaml("a:\n- 1\n- " + std::string(text));
    CHECK(problem.code == "E716");
    CHECK(place(problem) == "3:3");
    CHECK(problem.where.key_path == "a[1]");
  }
}

TEST_CASE("numbers out of range are refused and the range is named") {
  for (const char* text : {"9223372036854775808", "-9223372036854775809", "0xFFFFFFFFFFFFFFFF"}) {
    const Diagnostic problem = refused_yaml("a: " + std::string(text));
    CHECK(problem.code == "E713");
    CHECK_THAT(problem.message, Catch::Contains("9223372036854775807"));
  }
  CHECK(refused_yaml("a: 1e400").code == "E713");
  CHECK(refused_yaml("a: -" + std::string(400, '9') + ".0").code == "E713");
  CHECK(read_yaml("1e-400") == Value(0.0));
  CHECK(read_yaml("0e999") == Value(0.0));
  CHECK(read_yaml("0." + std::string(400, '0') + "1") == Value(0.0));
}

TEST_CASE("keys are text as they are written") {
  const Value value = read_yaml("on: 1\n1: 2\n1.50: 3\ntrue: 4\n'': 5\n~: 6\n? long key\n: 7\n");
  std::string keys;
  for (const auto& entry : value.entries()) keys += entry.key + '|';
  CHECK(keys == "on|1|1.50|true||~|long key|");
}

TEST_CASE("a key that is no text is refused") {
  CHECK(refused_yaml("{a: 1}: 2").code == "E703");
  CHECK(refused_yaml("? [a]\n: 2").code == "E703");
  CHECK(refused_yaml(": 2").code == "E703");
}

TEST_CASE("a key that is given twice is refused with its path and both positions") {
  const Diagnostic problem = refused_yaml("training:\n  lr: 0.1\n  batch_size: 4\n  \"lr\": 0.2\n");
  CHECK(problem.code == "E704");
  CHECK(problem.where.key_path == "training.lr");
  CHECK(place(problem) == "4:3");
  CHECK_THAT(problem.message,
             Catch::Contains("training.lr") && Catch::Contains("2:3") && Catch::Contains("4:3"));
  CHECK(refused_yaml("a:\n- b: {c: 1, d: 2, c: 3}\n").where.key_path == "a[0].b.c");
  CHECK(all_refusals(parse_yaml, "a: 1\na: 2\nb: {c: 1, c: 2}\nd: .inf\n").size() == 3);
}

TEST_CASE("an alias stands for a copy of its anchor") {
  CHECK(read_yaml("a: &x [1, 2]\nb: *x\nc: {d: *x}\n") ==
        read_yaml("{a: [1, 2], b: [1, 2], c: {d: [1, 2]}}"));
  CHECK(read_yaml("a: &x 1\nb: *x\nc: &x 2\nd: *x\n") == read_yaml("{a: 1, b: 1, c: 2, d: 2}"));
  CHECK(read_yaml("&k key: 1\nother: *k\n") == read_yaml("{key: 1, other: key}"));
  CHECK(read_yaml("a: &k key\n*k : 1\n") == read_yaml("{a: key, key: 1}"));
  const Value value = read_yaml("a: &x\n  p: 1\nb: *x\n");
  CHECK(place(value.at("b").position()) == "3:4");
  CHECK(place(value.at("b").at("p").position()) == "2:6");
}

TEST_CASE("an alias without an anchor is refused with a near name") {
  const Diagnostic problem = refused_yaml("base: &defaults {a: 1}\nb: *default\n");
  CHECK(problem.code == "E703");
  CHECK(place(problem) == "2:4");
  CHECK_THAT(problem.hint, Catch::Contains("defaults"));
}

TEST_CASE("an alias inside its own anchor is a loop") {
  for (const char* text : {"a: &x [*x]", "&x a: &y {b: {c: *y}}", "a: &x 1\nb: &x [*x]"}) {
    const Diagnostic problem = refused_yaml(text);
    CHECK(problem.code == "E705");
    CHECK_THAT(problem.message, Catch::Contains("alias") && Catch::Contains("loop"));
  }
}

TEST_CASE("merge keys work as readers of YAML 1.1 have them") {
  CHECK(read_yaml("x: &x {a: 1, b: 2}\ny:\n  <<: *x\n  b: 3\n").at("y") == read_yaml("{a: 1, b: 3}"));
  CHECK(read_yaml("x: &x {a: 1, b: 2}\ny:\n  b: 3\n  <<: *x\n").at("y") == read_yaml("{a: 1, b: 3}"));
  CHECK(read_yaml("x: &x {a: 1, b: 2}\nz: &z {a: 5, c: 6}\ny:\n  <<: [*x, *z]\n").at("y") ==
        read_yaml("{a: 1, b: 2, c: 6}"));
  CHECK(read_yaml("<<: {a: 1}\nb: 2\n") == read_yaml("{a: 1, b: 2}"));
  CHECK(read_yaml("x: &x {a: 1}\ny: &y {<<: *x, b: 2}\nz: {<<: *y}\n").at("z") == read_yaml("{a: 1, b: 2}"));
  CHECK(read_yaml("'<<': 1") == Value::map({{"<<", 1}}));
  CHECK(read_yaml("x: &x {a: 1}\ny: {<<: *x, own: 2}\n").at("y").entries().front().key == "own");
}

TEST_CASE("a merge of anything but maps is refused") {
  CHECK(refused_yaml("a: {<<: 1}").code == "E703");
  CHECK(refused_yaml("a: {<<: [1]}").where.key_path == "a.<<");
  CHECK(refused_yaml("a: {<<: {b: 1}, <<: {c: 1}}").code == "E704");
}

TEST_CASE("aliases that stand for too much are refused soon") {
  std::string bomb = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n";
  for (int i = 1; i < 12; ++i) {
    bomb += "a" + std::to_string(i) + ": &a" + std::to_string(i) + " [" +
            repeated("*a" + std::to_string(i - 1) + ", ", 10) + "]\n";
  }
  const Diagnostic problem = refused_yaml(bomb);
  CHECK(problem.code == "E705");
  CHECK_THAT(problem.message, Catch::Contains("alias"));
  const std::string long_text =
      "a: &a '" + std::string(1'000'000, 'x') + "'\nb: [" + repeated("*a, ", 10'000) + "]\n";
  CHECK(refused_yaml(long_text).code == "E705");
  std::string chain = "a0: &a0 [x]\n";
  for (int i = 1; i < 200; ++i) {
    chain += "a" + std::to_string(i) + ": &a" + std::to_string(i) + " [*a" + std::to_string(i - 1) + "]\n";
  }
  CHECK_THAT(refused_yaml(chain).message, Catch::Contains("depth") && Catch::Contains("alias"));
}

TEST_CASE("depth, size and number of values of a YAML document are bounded") {
  CHECK(read_yaml(repeated("[", 100) + repeated("]", 100)).is_list());
  for (const std::string& text :
       {repeated("[", 100'000), repeated("- ", 100'000), repeated("a: {b: ", 1) + repeated("[", 200)}) {
    const Diagnostic problem = refused_yaml(text);
    CHECK(problem.code == "E705");
    CHECK_THAT(problem.message, Catch::Contains("depth"));
  }
  CHECK(refused_yaml("[1, 2, 3, 4, 5]", {.max_bytes = 1000, .max_depth = 5, .max_nodes = 5}).code == "E705");
  CHECK(refused_yaml("[1, 2]", {.max_bytes = 5}).code == "E705");
}

TEST_CASE("brackets without end cost little") {
  for (const char* text : {"{a,", "? ", "[{", "a: [", "&a [", "!!seq [", "- - ", ": "}) {
    INFO(text);
    all_refusals(parse_yaml, repeated(text, 200'000));
  }
}

TEST_CASE("a tab in the indentation is named at its place") {
  const auto refused_at = [](std::string_view text) {
    const Diagnostic problem = refused_yaml(text);
    CHECK(problem.code == "E703");
    CHECK_THAT(problem.message, Catch::Contains("tab"));
    CHECK(problem.hint == "use spaces");
    return place(problem);
  };
  CHECK(refused_at("a:\n\tb: 1\n") == "2:1");
  CHECK(refused_at("a:\n  b: 1\n\tc: 2\n") == "3:1");
  CHECK(refused_at("a:\n  \tb: 1\n") == "2:3");
  CHECK(refused_at("a:\n  b: 1\n  \tc: 2\n") == "3:3");
  CHECK(refused_at("a:\n-\tb: 1\n") == "2:2");
  CHECK(refused_at("a: '\xC3\xBC'\n\tb: 1\n") == "2:1");
}

TEST_CASE("tabs elsewhere are no problem") {
  CHECK(read_yaml("a:\t1\t\nb: 'x\ty' \t# c\n") == Value::map({{"a", 1}, {"b", "x\ty"}}));
}

TEST_CASE("syntax errors are told in words, at the place to look at") {
  const auto refused_at = [](std::string_view text, const char* word) {
    const Diagnostic problem = refused_yaml(text);
    INFO(problem.to_text());
    CHECK(problem.code == "E703");
    CHECK_FALSE(problem.hint.empty());
    CHECK_THAT(problem.message, Catch::Contains(word));
    return place(problem);
  };
  CHECK(refused_at("a: 1\nb: \"abc\nc: 2\n", "unterminated quote") == "2:4");
  CHECK(refused_at("a: 'abc\n", "unterminated quote") == "1:4");
  CHECK(refused_at("a: 1\n  b: 2\n", "':'") == "2:4");
  CHECK(refused_at("a: b: c\n", "':'") == "1:5");
  CHECK(refused_at("a: 1\nfoo\nb: 2\n", "no ':'") == "2:1");
  CHECK(refused_at("a: [1, 2\nb: 3\n", "not closed") == "1:4");
  CHECK(refused_at("a: {b: 1\n", "not closed") == "1:4");
  CHECK(refused_at("a: @x\n", "cannot start with '@'") == "1:4");
  CHECK(refused_at("a: `x`\n", "cannot start with '`'") == "1:4");
  CHECK(refused_at("a: \"\\q\"\n", "escape") == "1:5");
  CHECK(refused_at("a:\n  - 1\n  b: 2\n", "'- '") == "3:3");
  CHECK(refused_at("a: 'x' y\n", "key") == "1:8");
  CHECK(refused_at("a: &\n", "name") == "1:5");
}

TEST_CASE("tags are honoured for the core kinds and refused otherwise") {
  CHECK(read_yaml("!!str 1") == Value("1"));
  CHECK(read_yaml("!!float 1") == Value(1.0));
  CHECK(read_yaml("!!int '3'") == Value(3));
  CHECK(read_yaml("!!bool true") == Value(true));
  CHECK(read_yaml("a: !!null ''") == Value::map({{"a", nullptr}}));
  CHECK(read_yaml("!!map {a: !!seq [1]}") == read_yaml("{a: [1]}"));
  CHECK(refused_yaml("!!int 1.5").code == "E703");
  CHECK(refused_yaml("!!bool yes").code == "E703");
  for (const char* text : {"a: !!python/object:os.system x", "a: !local {b: 1}", "a: !!set {b}",
                           "a: !!binary AAAA", "a: !!timestamp 2026-01-31"}) {
    const Diagnostic problem = refused_yaml(text);
    CHECK(problem.code == "E703");
    CHECK_THAT(problem.message, Catch::Contains("tag"));
    CHECK(place(problem) == "1:4");
  }
}

TEST_CASE("a second YAML document is refused where it starts") {
  CHECK(place(refused_yaml("a: 1\n---\nb: 2\n")) == "2:1");
  CHECK(refused_yaml("a: 1\n---\nb: 2\n").code == "E706");
  CHECK(refused_yaml("---\n---\n").code == "E706");
  CHECK(read_yaml("%YAML 1.2\n---\na: 1\n...\n") == Value::map({{"a", 1}}));
  CHECK_THAT(refused_yaml("%YAML 1.1\n---\na: on\n").message, Catch::Contains("1.1"));
}

TEST_CASE("an empty YAML document is refused as empty") {
  for (const char* text : {"", "\n", "# nothing\n", "---\n", "---\n...\n", "\xEF\xBB\xBF"}) {
    INFO(text);
    CHECK(refused_yaml(text).code == "E707");
  }
}

TEST_CASE("bytes that are no text are refused at the first wrong one") {
  const auto refused_at = [](std::string_view text) {
    const Diagnostic problem = refused_yaml(text);
    CHECK(problem.code == "E702");
    return place(problem);
  };
  CHECK(refused_at("a: 1\nb: \x07\n") == "2:4");
  CHECK(refused_at(std::string_view("a: b\0c\n", 7)) == "1:5");
  CHECK(refused_at("a: \"\xC3\x28\"\n") == "1:5");
  CHECK(refused_at("a: \xED\xA0\x80\n") == "1:4");
  CHECK(refused_at("a: \xC0\xAF\n") == "1:4");
  CHECK(refused_at("a: \xF4\x90\x80\x80\n") == "1:4");
  CHECK(refused_at("a: \xE2\x82") == "1:4");
  CHECK(refused_at("a: \x7F\n") == "1:4");
  CHECK_THAT(refused_yaml(std::string_view("\xFF\xFE"
                                           "a\0:\0",
                                           6))
                 .message,
             Catch::Contains("UTF-16"));
  CHECK_THAT(refused_yaml(std::string_view("a\0:\0 \0", 6)).message, Catch::Contains("UTF-16"));
}

TEST_CASE("Windows and old Mac line ends, byte order mark and trailing blanks are tolerated") {
  const Value value = read_yaml(
      "\xEF\xBB\xBF"
      "a: 1  \r\nb:  \r\n- x\r\n\r\nc: 2");
  CHECK(value == Value::map({{"a", 1}, {"b", Value::list({"x"})}, {"c", 2}}));
  CHECK(place(value.at("a").position()) == "1:4");
  CHECK(place(value.at("c").position()) == "5:4");
  CHECK(read_yaml("a: 1\rb: 2\r") == Value::map({{"a", 1}, {"b", 2}}));
}
