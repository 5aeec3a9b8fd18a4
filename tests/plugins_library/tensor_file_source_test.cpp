#include <nexuml/tensor_io.h>

#include <cmath>

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

TEST_CASE("rows of a large file are read where they lie, and give what mapping gives") {
  const TemporaryFolder folder;
  const std::string path = path_in(folder, "large.npy");
  constexpr std::int64_t rows = 70000, width = 1024;
  // A sparse file of 273 MiB: zeros but for three rows.
  nexuml::write_npy(path, at::zeros({1, width}));
  std::string header(128, '\0');
  std::ifstream(path, std::ios::binary).read(header.data(), 128);
  header.replace(header.find("(1, 1024)"), 9, "(70000, 1024)");
  header.erase(header.rfind("    \n"), 4);
  {
    std::ofstream file(path, std::ios::binary);
    file << header;
    for (const std::int64_t row : {std::int64_t{3}, std::int64_t{4}, rows - 1}) {
      file.seekp(128 + row * width * 4);
      const std::vector<float> values(width, static_cast<float>(row));
      file.write(reinterpret_cast<const char*>(values.data()), width * 4);
    }
  }
  const auto dataset = open("tensor_file", Value::map({{"path", path}, {"scale", 0.5}}));
  REQUIRE(dataset->size() == rows);
  CHECK(dataset->features().at("features").shape == nexuml::Shape{width});
  const std::vector<std::int64_t> wanted{3, 4, 5, rows - 1, 3};
  const at::Tensor read = dataset->gather(wanted).x.get("features");
  CHECK(floats(read.select(1, 7)) == std::vector<float>{1.5, 2, 0, (rows - 1) / 2.0F, 1.5});
  CHECK(dataset->files().size() == 1);
}

TEST_CASE("features that are not finite are told with their rows, complex ones are refused") {
  const TemporaryFolder folder;
  at::Tensor features = at::ones({5, 2});
  features[3][1] = std::nan("");
  const std::string path = path_in(folder, "x.npy");
  nexuml::write_npy(path, features);
  nexuml::Diagnostics advice;
  open("tensor_file", Value::map({{"path", path}}), {}, &advice);
  CHECK_THAT(advice.to_text(), Contains("W831") && Contains("1 of 5 rows") && Contains("row 3"));
  nexuml::write_npy(path, at::ones({5, 2}, at::kComplexFloat));
  CHECK_THAT(failure("tensor_file", Value::map({{"path", path}})),
             Contains("x.npy") && Contains("complex numbers"));
}
