#include "documents.h"

using namespace nexuml;
using namespace nexuml::testing;

TEST_CASE("JSON keeps kinds, order and positions") {
  const Value value = read_json("{\n \"b\": 12,\r\n \"a\": [1.5, \"x\\\"y\", true, null],\n\"c\": {}}\n");
  CHECK(value.entries()[0].key == "b");
  CHECK(place(value.position()) == "1:1");
  CHECK(place(value.entries()[0].key_position) == "2:2");
  CHECK(place(value.at("b").position()) == "2:7");
  CHECK(place(value.at("a").position()) == "3:7");
  CHECK(place(value.at("a").items()[1].position()) == "3:13");
  CHECK(place(value.at("a").items()[2].position()) == "3:21");
  CHECK(place(value.at("a").items()[3].position()) == "3:27");
  CHECK(place(value.at("c").position()) == "4:6");
  CHECK(*value.at("c").position().file == "test.json");
  CHECK(value.at("a").items()[1].as_string() == "x\"y");
  CHECK(read_json("-3").as_integer() == -3);
  CHECK(read_json("1e2").as_number() == 100.0);
  CHECK(read_json("9223372036854775807").as_integer() == std::numeric_limits<std::int64_t>::max());
  CHECK(read_json("\"\\u00e4\\ud83d\\ude00\"").as_string() == "\xC3\xA4\xF0\x9F\x98\x80");
}

TEST_CASE("a byte order mark and Windows line ends are tolerated") {
  CHECK(read_json("\xEF\xBB\xBF{\r\n\"a\": 1\r\n}\r\n") == Value::map({{"a", 1}}));
}

TEST_CASE("a JSON key that is given twice is refused with both positions") {
  const Diagnostic problem = refused_json("{\"t\": {\"lr\": 1,\n \"lr\": 2}}");
  CHECK(problem.code == "E704");
  CHECK(problem.where.key_path == "t.lr");
  CHECK(place(problem) == "2:2");
  CHECK_THAT(problem.message, Catch::Contains("t.lr") && Catch::Contains("1:8") && Catch::Contains("2:2"));
}

TEST_CASE("duplicate keys are found among many") {
  std::string text = "{\"k3\": 0";
  for (int i = 0; i < 1000; ++i) text += ", \"k" + std::to_string(i) + "\": 0";
  const Diagnostic problem = refused_json(text + "}");
  CHECK_THAT(problem.message, Catch::Contains("k3 is given twice"));
}

TEST_CASE("all duplicate keys of a document are reported, up to a hundred") {
  CHECK(all_refusals(parse_json, "{\"a\": 1, \"a\": 2, \"b\": [{\"c\": 1, \"c\": 2}]}").size() == 2);
  CHECK(all_refusals(parse_json, "{\"a\": 1" + repeated(", \"a\": 1", 1000) + "}").size() == 100);
}

TEST_CASE("NaN and infinities are not JSON") {
  for (const char* text : {"{\"p\": NaN}", "{\"p\": Infinity}", "{\"p\": -Infinity}"}) {
    const Diagnostic problem = refused_json(text);
    CHECK(problem.code == "E716");
    CHECK(problem.where.key_path == "p");
    CHECK(place(problem) == "1:7");
  }
}

TEST_CASE("a JSON number beyond its range is refused at its place") {
  for (const char* text :
       {"9223372036854775808", "-9223372036854775809", "18446744073709551616", "1e400", "-1e400"}) {
    const Diagnostic problem = refused_json("{\"a\":\n [" + std::string(text) + "]}");
    CHECK(problem.code == "E713");
    CHECK(place(problem) == "2:3");
    CHECK(problem.where.key_path == "a[0]");
    CHECK_THAT(problem.message, Catch::Contains(text) && Catch::Contains("out of range"));
  }
  CHECK(read_json("1e-400").as_number() == 0.0);
}

TEST_CASE("text after the JSON document is refused") {
  for (const char* text : {"{} x", "{}\n{}", "1 2", "[] ]"}) {
    const Diagnostic problem = refused_json(text);
    CHECK(problem.code == "E703");
    CHECK_THAT(problem.message, Catch::Contains("follows the document"));
  }
}

TEST_CASE("broken JSON is refused where it breaks") {
  const auto refused_at = [](std::string_view text) {
    const Diagnostic problem = refused_json(text);
    CHECK(problem.code == "E703");
    CHECK_FALSE(problem.hint.empty());
    CHECK_THAT(problem.message, !Catch::Contains("json.exception"));
    return place(problem);
  };
  CHECK(refused_at("{\"a\": \"bc\n}") == "1:7");
  CHECK(refused_at("{\"a\": 1,\n}") == "2:1");
  CHECK(refused_at("{\"a\": 'x'}") == "1:7");
  CHECK(refused_at("{\"a\": 1 // x\n}") == "1:9");
  CHECK(refused_at("[1, 2") == "1:6");
  CHECK(refused_at("{\"a\" 1}") == "1:6");
  CHECK(refused_at("[tru]") == "1:5");
  CHECK(refused_at("[\"\\ud800\"]") == "1:9");
  CHECK(refused_at("{1: 2}") == "1:2");
}

TEST_CASE("an empty JSON document is refused as empty") {
  for (const char* text : {"", " \n\t", "\xEF\xBB\xBF"}) CHECK(refused_json(text).code == "E707");
}

TEST_CASE("JSON in other encodings is refused at the first wrong byte") {
  CHECK(refused_json("{\"a\": \"\xFF\"}").code == "E702");
  CHECK(place(refused_json("[\n \"\xC3\x28\"]")) == "2:3");
  CHECK(refused_json(std::string_view("[\0]", 3)).code == "E702");
  CHECK_THAT(refused_json(std::string_view("\xFF\xFE[\0]\0", 6)).message, Catch::Contains("UTF-16"));
  CHECK_THAT(refused_json(std::string_view("[\0001\0]\0", 6)).message, Catch::Contains("UTF-16"));
}

TEST_CASE("depth, size and number of values of a JSON document are bounded") {
  CHECK(read_json(repeated("[", 100) + repeated("]", 100)).is_list());
  const Diagnostic deep = refused_json(repeated("[", 1'000'000));
  CHECK(deep.code == "E705");
  CHECK_THAT(deep.message, Catch::Contains("depth"));
  CHECK(place(deep) == "1:101");
  CHECK(refused_json("[1, 2, 3, 4, 5]", {.max_bytes = 1000, .max_depth = 5, .max_nodes = 5}).code == "E705");
  CHECK(refused_json("[1, 2]", {.max_bytes = 5}).code == "E705");
}
