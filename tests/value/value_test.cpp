#include <limits>

#include "documents.h"

using namespace nexuml;

TEST_CASE("a value is built from plain C++ values") {
  const Value params = Value::map({{"hidden_dims", std::vector{32, 16}},
                                   {"output_dim", 8},
                                   {"scale", 0.5},
                                   {"bias", true},
                                   {"name", "net"},
                                   {"label", nullptr}});
  CHECK(params.find("hidden_dims")->items()[1].as_integer() == 16);
  CHECK(params.at("output_dim").as_integer() == 8);
  CHECK(params.at("output_dim").as_number() == 8.0);
  CHECK(params.at("scale").as_number() == 0.5);
  CHECK(params.at("bias").as_boolean());
  CHECK(params.at("name").as_string() == "net");
  CHECK(params.at("label").is_null());
  CHECK(params.size() == 6);
  CHECK(Value(std::vector<std::string>{"a"}) == Value::list({"a"}));
  CHECK(Value(std::vector<bool>{true}) == Value::list({true}));
  CHECK_FALSE(params.position().known());
}

TEST_CASE("reading a value as another kind is a broken contract") {
  CHECK_THROWS_AS(Value("1").as_integer(), std::logic_error);
  CHECK_THROWS_AS(Value(1.5).as_integer(), std::logic_error);
  CHECK_THROWS_AS(Value(true).as_number(), std::logic_error);
  CHECK_THROWS_AS(Value().items(), std::logic_error);
  CHECK_THROWS_AS(Value::list().entries(), std::logic_error);
  CHECK_THROWS_AS(Value(1).push_back(2), std::logic_error);
  CHECK_THROWS_WITH(Value::map({{"a", 1}}).at("b"), Catch::Contains("'b'"));
}

TEST_CASE("a value refuses what JSON cannot hold") {
  CHECK_THROWS_WITH(Value(std::numeric_limits<double>::quiet_NaN()), Catch::Contains("E716"));
  CHECK_THROWS_WITH(Value(std::numeric_limits<float>::infinity()), Catch::Contains("E716"));
  CHECK_THROWS_WITH(Value(std::numeric_limits<std::uint64_t>::max()), Catch::Contains("E713"));
  CHECK(Value(std::uint64_t{1} << 62).as_integer() == std::int64_t{1} << 62);
  CHECK(Value(std::uint32_t{4000000000u}).as_integer() == 4000000000);
  CHECK_THROWS_WITH(Value::map({{"a", 1}, {"b", 2}, {"a", 3}}),
                    Catch::Contains("E704") && Catch::Contains("'a'"));
}

TEST_CASE("a null grows into a map or a list") {
  Value map, list;
  map.set("b", 1);
  map.set("a", 2);
  map.set("b", 3);
  CHECK(map == Value::map({{"b", 3}, {"a", 2}}));
  CHECK(map.entries().front().key == "b");
  CHECK(map.erase("b"));
  CHECK_FALSE(map.erase("b"));
  CHECK(map.find("b") == nullptr);
  list.push_back(1);
  CHECK(list == Value::list({1}));
  CHECK(Value(1).find("a") == nullptr);
}

TEST_CASE("equality is of meaning: the order of keys and positions do not count, kinds do") {
  CHECK(Value::map({{"a", 1}, {"b", 2}}) == Value::map({{"b", 2}, {"a", 1}}));
  CHECK_FALSE(Value::map({{"a", 1}, {"b", 2}}) == Value::map({{"b", 1}, {"a", 2}}));
  CHECK_FALSE(Value::map({{"a", 1}}) == Value::map({{"a", 1}, {"b", 2}}));
  CHECK_FALSE(Value(1) == Value(1.0));
  CHECK_FALSE(Value() == Value(false));
  CHECK_FALSE(Value::list({1, 2}) == Value::list({2, 1}));
  CHECK(Value(1).at_position({nullptr, 4, 2}) == Value(1));
}

TEST_CASE("messages name the kind and show the value") {
  CHECK(describe_for_message("on") == "text 'on'");
  CHECK(describe_for_message(3) == "integer 3");
  CHECK(describe_for_message(1e-3) == "number 0.001");
  CHECK(describe_for_message(true) == "boolean true");
  CHECK(describe_for_message(nullptr) == "null");
  CHECK(describe_for_message(Value::list({1, 2})) == "list of 2");
  CHECK(describe_for_message(Value::map()) == "map of 0");
  CHECK(describe_for_message("a\nb\x1b[31m") == "text 'a\\nb\\x1B[31m'");
  CHECK(describe_for_message(std::string(500, 'x')).size() < 100);
}
