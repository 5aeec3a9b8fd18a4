#include <nexuml/diagnostic.h>

#include <catch2/catch.hpp>

using namespace nexuml;

namespace {
const std::vector<std::string> layers = {"LinearEncoder", "LinearDecoder", "L2Normalize",
                                         "ReconstructionLoss", "ConvolutionalEncoder"};
}

TEST_CASE("a typo, another case or a blank leads to the name that was meant") {
  for (const char* name :
       {"LinearEncoder ", "linearencoder", "LinearEncodr", "LinaerEncoder", "linear_encoder"}) {
    INFO(name);
    const auto names = near_names(name, layers);
    REQUIRE_FALSE(names.empty());
    CHECK(names.front() == "LinearEncoder");
  }
}

TEST_CASE("a name with its module in front leads to the name") {
  CHECK(near_names("nexuml.layers.LinearEncoder", layers) == std::vector<std::string>{"LinearEncoder"});
  CHECK(near_names("Linear", {"torch.nn:Linear", "torch.nn:Conv1d"}) ==
        std::vector<std::string>{"torch.nn:Linear"});
}

TEST_CASE("a name unlike all others has no near name") {
  CHECK(near_names("Spectrogram", layers).empty());
  CHECK(near_names("", layers).empty());
  CHECK(near_names("x", {"y", "a", ""}).empty());
  CHECK(did_you_mean("Spectrogram", layers).empty());
}

TEST_CASE("at most five names are suggested, the nearest first") {
  std::vector<std::string> many;
  for (int i = 0; i < 9; ++i) many.push_back("layer_" + std::to_string(i));
  many.push_back("layerx");
  const auto names = near_names("layer", many);
  CHECK(names.size() == 5);
  CHECK(did_you_mean("max_epoch", {"max_epochs", "max_steps"}) == "did you mean max_epochs?");
  CHECK(did_you_mean("LinearXcoder", layers) == "did you mean LinearDecoder or LinearEncoder?");
}

TEST_CASE("a monstrous name costs nothing") {
  CHECK(near_names(std::string(1'000'000, 'a'), layers).empty());
  CHECK(near_names("LinearEncoder", {std::string(1'000'000, 'a')}).empty());
}
