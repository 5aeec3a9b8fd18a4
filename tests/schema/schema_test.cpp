#include <nexuml/schema.h>

#include <catch2/catch.hpp>

#include "schema/fake_components.h"

using namespace nexuml;
using fake::Scale;

namespace {

Value parsed(const std::string& yaml) {
  Diagnostics problems;
  Value value = parse_yaml(yaml, "file.yaml", problems);
  INFO(problems.to_text());
  REQUIRE(problems.empty());
  return value;
}

Diagnostics problems_of(const std::string& yaml) {
  Diagnostics problems;
  const auto result = read<Scale>(parsed(yaml), {nullptr, nullptr, "layer"}, problems);
  CHECK(result.has_value() == !problems.has_errors());
  return problems;
}

}  // namespace

TEST_CASE("a missing field takes its default and every default is written out") {
  Diagnostics problems;
  const auto scale = read<Scale>(parsed("factor: 2"), {}, problems);
  REQUIRE(scale.has_value());
  CHECK(scale->factor == 2.0);
  CHECK(write(*scale) ==
        Value::map({{"factor", 2.0}, {"dims", std::vector{8, 4}}, {"label", nullptr}, {"pooling", "mean"}}));
}

TEST_CASE("an integer is accepted for a double, nothing else changes its kind") {
  CHECK(problems_of("factor: 2").empty());
  const auto text = problems_of("factor: '2'");
  REQUIRE(text.size() == 1);
  CHECK(text.entries()[0].code == "E712");
  CHECK(text.entries()[0].hint == "remove the quotes");
  CHECK(problems_of("dims: [true]").entries()[0].code == "E712");
  CHECK(problems_of("dims: [1.5]").entries()[0].code == "E712");
  CHECK(problems_of("label: 3").entries()[0].code == "E712");
}

TEST_CASE("all problems of a document are reported at once with key path and position") {
  const auto problems = problems_of("factor: -1\ndims: [4, 0, x]\npooling: maxx\nlabell: a\nlabel: [1]\n");
  REQUIRE(problems.size() == 6);
  std::vector<std::string> codes;
  for (const Diagnostic& problem : problems) {
    codes.push_back(problem.code);
    CHECK(problem.where.file == "file.yaml");
    CHECK(problem.where.line > 0);
    CHECK(problem.where.column > 0);
  }
  CHECK(codes == std::vector<std::string>{"E710", "E713", "E713", "E712", "E712", "E715"});
  CHECK(problems.entries()[0].where.key_path == "layer.labell");
  CHECK(problems.entries()[0].hint.find("label") != std::string::npos);
  CHECK(problems.entries()[2].where.key_path == "layer.dims[1]");
  CHECK(problems.entries()[2].where.line == 2);
  CHECK(problems.entries()[2].where.column == 11);
  CHECK(problems.entries()[5].hint.find("max") != std::string::npos);
}

TEST_CASE("null is refused where the field is not optional and the hint says how to get the default") {
  const auto problems = problems_of("factor:\nlabel:\n");
  REQUIRE(problems.size() == 1);
  CHECK(problems.entries()[0].code == "E714");
  CHECK(problems.entries()[0].hint.find("remove the line") != std::string::npos);
}

TEST_CASE("a rule over several fields runs once each field is right") {
  const auto problems = problems_of("pooling: max\ndims: [1, 2, 3]\n");
  REQUIRE(problems.size() == 1);
  CHECK(problems.entries()[0].code == "E717");
  CHECK(problems.entries()[0].where.key_path == "layer.dims");
  CHECK(problems.entries()[0].where.line == 2);
}

TEST_CASE("a bound of a list holds for its elements and a size for the list") {
  CHECK(problems_of("dims: []").entries()[0].code == "E713");
  CHECK(problems_of("dims: [1]").empty());
}

TEST_CASE("a missing required field is named with what is expected") {
  Diagnostics problems;
  (void)read<fake::LinearArguments>(parsed("out_features: 3"), {}, problems);
  REQUIRE(problems.size() == 1);
  CHECK(problems.entries()[0].code == "E711");
  CHECK(problems.entries()[0].message.find("in_features") != std::string::npos);
}

namespace {
struct TooFew {
  int a = 0;
  int b = 0;
  static void describe(Schema<TooFew>& s) { s.field("a", &TooFew::a); }
};

struct Everything {
  bool flag = true;
  std::int32_t small = 1;
  std::uint64_t size = 2;
  double number = 0.5;
  std::string text = "t";
  std::optional<std::vector<std::string>> names;
  std::map<std::string, double> weights{{"a", 1.0}};
  OrderedMap<std::int64_t> ordered{{"z", 1}, {"a", 2}};
  std::tuple<std::int64_t, std::string> pair{1, "x"};
  std::array<double, 2> betas{0.9, 0.999};
  std::variant<std::int64_t, std::string> either = std::string("auto");
  Value any = Value::list({1, "two"});
  Scale nested;

  static void describe(Schema<Everything>& s) {
    s.field("flag", &Everything::flag);
    s.field("small", &Everything::small);
    s.field("size", &Everything::size);
    s.field("number", &Everything::number);
    s.field("text", &Everything::text);
    s.field("names", &Everything::names);
    s.field("weights", &Everything::weights);
    s.field("ordered", &Everything::ordered);
    s.field("pair", &Everything::pair);
    s.field("betas", &Everything::betas);
    s.field("either", &Everything::either);
    s.field("any", &Everything::any);
    s.field("nested", &Everything::nested);
  }
};
}  // namespace

namespace {
constexpr auto with_bound = [](Field field) { field.at_least(1); };
constexpr auto with_size = [](Field field) { field.min_size(1); };
constexpr auto with_choices = [](Field field) { field.one_of({"a", "b"}); };

template <class Member, auto Rule>
struct Ruled {
  Member member{};
  static void describe(Schema<Ruled>& s) { Rule(s.field("member", &Ruled::member)); }
};
}  // namespace

TEST_CASE("a rule that fits no part of its field is refused with the name of the field") {
  CHECK_THROWS_WITH((schema_of<Ruled<std::string, with_bound>>()),
                    "'member' has a bound, which speaks of numbers; it is text");
  CHECK_THROWS_WITH((schema_of<Ruled<double, with_size>>()),
                    Catch::Contains("'member' has a size, which speaks of"));
  CHECK_THROWS_WITH((schema_of<Ruled<std::int64_t, with_choices>>()),
                    Catch::Contains("'member' has choices"));
  CHECK_NOTHROW(schema_of<Ruled<std::vector<std::optional<double>>, with_bound>>());
  CHECK_NOTHROW(schema_of<Ruled<std::optional<std::string>, with_size>>());
  CHECK_NOTHROW(schema_of<Ruled<std::vector<std::string>, with_choices>>());
}

TEST_CASE("a field that describe forgets is found") {
  CHECK_THROWS_WITH(schema_of<TooFew>(), Catch::Contains("TooFew has 2 fields but describe names 1"));
}

TEST_CASE("every kind of portable field survives writing and reading") {
  Everything value;
  value.names = {"n", "m"};
  value.either = std::int64_t{3};
  value.nested.factor = 4;
  const Value written = write(value);
  Diagnostics problems;
  const auto again = read<Everything>(written, {}, problems);
  INFO(problems.to_text());
  REQUIRE(again.has_value());
  CHECK(write(*again) == written);
  CHECK(again->ordered.begin()->first == "z");
}

TEST_CASE("a union names what it accepts when nothing fits") {
  Diagnostics problems;
  (void)read<Everything>(parsed("either: 1.5"), {}, problems);
  REQUIRE(problems.size() == 1);
  CHECK(problems.entries()[0].message.find("integer or text expected, got number 1.5") != std::string::npos);
}

TEST_CASE("an integer that its field cannot hold is out of range") {
  Diagnostics problems;
  (void)read<Everything>(parsed("small: 3000000000\nsize: -1"), {}, problems);
  REQUIRE(problems.size() == 2);
  CHECK(problems.entries()[0].code == "E713");
  CHECK(problems.entries()[1].code == "E713");
}

TEST_CASE("a schema that went through its data form checks the same and hashes the same") {
  const auto schema = schema_of<Everything>();
  Diagnostics problems;
  const Value data = parse_json(write_json(schema_to_value(*schema)), "m.json", problems);
  REQUIRE(problems.empty());
  const auto again = schema_from_value(data);
  CHECK(schema_hash(*again) == schema_hash(*schema));
  CHECK(check_value(*again, Value::map(), {}, problems) == write(Everything{}));
  CHECK(problems.empty());
  CHECK(schema_to_value(*again) == schema_to_value(*schema));
}

TEST_CASE("the schema hash follows names, types, defaults and constraints but not documentation") {
  StructNode schema = *schema_of<Scale>();
  const std::string hash = schema_hash(schema);
  CHECK(hash.size() == 64);
  StructNode changed = schema;
  changed.summary = "Other words.";
  changed.fields[0].doc = "Other words.";
  CHECK(schema_hash(changed) == hash);
  changed.fields[0].name = "gain";
  CHECK(schema_hash(changed) != hash);
  changed = schema;
  changed.fields[0].default_value = 2.0;
  CHECK(schema_hash(changed) != hash);
  changed = schema;
  changed.fields[0].type.constraints.greater_than = 1;
  CHECK(schema_hash(changed) != hash);
}

TEST_CASE("a malformed schema in a manifest is refused with E102") {
  for (const char* text :
       {"[]", "{}", R"({"fields": 3})", R"({"fields": [{"name": "a"}]})",
        R"({"fields": [{"name": "a", "type": {"kind": "magic"}}]})",
        R"({"fields": [{"name": "a", "type": {"kind": "list"}}]})",
        R"({"fields": [], "discriminator": "kind"})", R"({"fields": [], "factory_of": "module"})"}) {
    Diagnostics problems;
    const Value data = parse_json(text, "m.json", problems);
    INFO(text);
    CHECK_THROWS_AS(schema_from_value(data), Error);
  }
}

TEST_CASE("JSON Schema carries types, bounds, defaults and required fields") {
  const Value schema = json_schema(*schema_of<fake::LinearArguments>());
  CHECK(schema.at("additionalProperties").as_boolean() == false);
  CHECK(schema.at("required") == Value(std::vector<std::string>{"in_features", "out_features"}));
  CHECK(schema.at("properties").at("in_features") == Value::map({{"type", "integer"}, {"minimum", 1.0}}));
  CHECK(schema.at("properties").at("bias") == Value::map({{"type", "boolean"}, {"default", true}}));
}

TEST_CASE("target names have one module and one top-level name") {
  CHECK(canonical_target_spelling("torch.nn.Linear") == "torch.nn:Linear");
  CHECK(canonical_target_spelling("torch.nn:Linear") == "torch.nn:Linear");
  for (const char* wrong :
       {"", "Linear", "a:", ":b", "a:b.c", "a:b:c", "__main__:f", "a..b:c", "a:<lambda>", "a b:c"}) {
    INFO(wrong);
    CHECK_FALSE(canonical_target_spelling(wrong).has_value());
  }
}
