#include <catch2/catch.hpp>

#include "schema/fake_components.h"

using namespace nexuml;
using fake::Scale;

TEST_CASE("wrapping a struct validates by the rules of reading") {
  CHECK_NOTHROW(AnyLayer(Scale{.factor = 2}));
  try {
    AnyLayer layer = Scale{.factor = -1};
    FAIL("a negative factor was accepted");
  } catch (const Error& error) {
    CHECK(error.diagnostics().entries()[0].code == "E713");
    CHECK(std::string(error.what()).find("Scale") != std::string::npos);
    CHECK(error.diagnostics().entries()[0].where.key_path == "factor");
  }
}

TEST_CASE("changing the struct after wrapping changes nothing") {
  Scale scale{.factor = 2};
  const AnyLayer layer = scale;
  scale.factor = 3;
  scale.dims.clear();
  CHECK(layer.params().at("factor") == Value(2.0));
  CHECK(layer.params().at("dims").size() == 2);
}

TEST_CASE("definitions are equal when type and parameters are") {
  const AnyLayer layer = Scale{.factor = 2};
  CHECK(layer == AnyLayer(Scale{.factor = 2}));
  CHECK_FALSE(layer == AnyLayer(Scale{.factor = 3}));
  CHECK_FALSE(layer == AnyLayer(fake::other::Scale{.factor = 2}));
  CHECK(AnyLayer() == AnyLayer());
  CHECK_FALSE(layer == AnyLayer());
}

TEST_CASE("definitions inside definitions count for equality with their type") {
  const AnyLayer one = fake::Wrapper{.inner = fake::other::Scale{}};
  CHECK(one == AnyLayer(fake::Wrapper{.inner = fake::other::Scale{}}));
  CHECK_FALSE(one == AnyLayer(fake::Wrapper{.inner = Scale{}}));
}

TEST_CASE("a downcast compares type tags") {
  const AnyLayer layer = Scale{.factor = 2};
  REQUIRE(layer.get_if<Scale>() != nullptr);
  CHECK(layer.get_if<Scale>()->factor == 2);
  CHECK(layer.get_if<fake::other::Scale>() == nullptr);
}

TEST_CASE("a definition of another kind is refused where one kind is needed") {
  const Definition source = AnyDataSource(fake::Source{});
  CHECK_THROWS_WITH(AnyLayer(source), Catch::Contains("a layer is needed here"));
}
