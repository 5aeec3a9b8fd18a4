#include <nexuml/tensor_io.h>

#include "plugins_library/source_support.h"

using namespace library_tests;
using Catch::Contains;
using nexuml::Value;

namespace {

std::string path_in(const TemporaryFolder& folder, const char* name) {
  return (folder.path() / name).string();
}

}  // namespace

TEST_CASE("tensor files of each format give features and labels with their own dtype") {
  const TemporaryFolder folder;
  const at::Tensor images = at::arange(12, at::kByte).reshape({3, 2, 2}),
                   digits = at::tensor({4, 0, 2}, at::kShort);
  nexuml::write_safetensors(path_in(folder, "a.safetensors"), {{"images", images}, {"digits", digits}});
  nexuml::write_npz(path_in(folder, "a.npz"), {{"images", images}, {"digits", digits}});
  nexuml::write_npy(path_in(folder, "a.npy"), images);
  nexuml::write_npy(path_in(folder, "b.npy"), digits);
  const Value named = Value::map(
      {{"features", Value::map({{"features", "images"}})}, {"labels", Value::map({{"label", "digits"}})}});
  for (const char* name : {"a.safetensors", "a.npz", "a.npy"}) {
    CAPTURE(name);
    const bool npy = std::string(name) == "a.npy";
    Value params = npy ? Value::map({{"label_path", path_in(folder, "b.npy")}}) : named;
    params.set("path", path_in(folder, name));
    const auto dataset = open("tensor_file", params);
    const nexuml::Batch batch = all_rows(*dataset);
    CHECK(at::equal(batch.x.get("features"), images));
    CHECK(batch.y->get("label").scalar_type() == at::kShort);
    CHECK(at::equal(batch.y->get("label"), digits));
    CHECK(dataset->num_classes().at("label") == 5);
  }
}

TEST_CASE("bytes of a tensor file become numbers where a scale is given") {
  const TemporaryFolder folder;
  nexuml::write_npy(path_in(folder, "a.npy"), at::full({2, 3}, 255, at::kByte));
  const auto dataset =
      open("tensor_file",
           Value::map({{"path", path_in(folder, "a.npy")}, {"scale", 1.0 / 255}, {"split", "test"}}));
  CHECK(dataset->features().at("features").dtype == nexuml::DType::float32);
  CHECK(floats(all_rows(*dataset).x.get("features"))[0] == Approx(1));
  CHECK(dataset->splits() == std::vector<std::string>{"test", "test"});
}

TEST_CASE(
    "tensor files that leave a choice, lack a name, differ in length or are of another kind are refused") {
  const TemporaryFolder folder;
  nexuml::write_npz(path_in(folder, "a.npz"), {{"one", at::zeros({2})}, {"two", at::zeros({3})}});
  const auto text = [&](const Value& extra, const char* name = "a.npz") {
    Value params = extra;
    params.set("path", path_in(folder, name));
    return failure("tensor_file", params);
  };
  CHECK_THAT(text(Value::map()), Contains("2 tensors: one, two"));
  CHECK_THAT(text(Value::map({{"features", Value::map({{"x", "onee"}})}})),
             Contains("'onee'") && Contains("did you mean one"));
  CHECK_THAT(
      text(Value::map({{"features", Value::map({{"x", "one"}})}, {"labels", Value::map({{"y", "two"}})}})),
      Contains("E830") && Contains("3"));
  CHECK_THAT(text(Value::map(), "a.csv"), Contains(".safetensors, .npy or .npz"));
  CHECK_THAT(text(Value::map(), "none.npy"), Contains("none.npy"));
}
