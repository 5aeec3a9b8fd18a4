// The pickle machine alone, on hostile pickles.
#include <catch2/catch.hpp>

#include "tensor_io/decimal.h"
#include "tensor_io/pickle_machine.h"
#include "tensor_io/support.h"

using namespace tensor_io_tests;
using Catch::Matchers::Contains;
using nexuml::PickledValue;

namespace {

PickledValue run_pickle(const std::string& pickle) {
  return nexuml::tensor_io::PickleMachine(pickle, "x.pt",
                                          [](const auto&, const auto& layout) {
                                            return at::empty(layout.sizes, at::TensorOptions(layout.dtype));
                                          })
      .run();
}

std::string refusal_of_pickle(const std::string& pickle) {
  return refusal([&] { run_pickle(pickle); });
}

// An array of numpy, as protocol 5 hands it on: four bytes, a dtype, and one dimension.
std::string array_pickle(std::int64_t size, const std::string& dtype = "f4") {
  std::string text = "cnumpy.core.numeric\n_frombuffer\n(";
  text.append("U\x04").append("\x3f\x80\0\0", 4);
  text.append("cnumpy\ndtype\nU").append(1, static_cast<char>(dtype.size())).append(dtype);
  text.append("K\0K\x01\x87R", 6).append("\x8a\x08");
  for (int byte = 0; byte < 8; ++byte) text.append(1, static_cast<char>(size >> 8 * byte));
  return text.append("\x85U\x01\x43tR.");
}

PickledValue read_array(const std::string& pickle) {
  const TemporaryFolder folder;
  return nexuml::read_pickle(folder.write("array.pkl", pickle));
}

}  // namespace

TEST_CASE("an array of numpy has the numbers of its bytes, in either byte order") {
  CHECK(read_array(array_pickle(1, ">f4")).get_if<at::Tensor>()->item<float>() == 1.0f);
  CHECK(read_array(array_pickle(4, "u1")).get_if<at::Tensor>()->numel() == 4);
}

TEST_CASE("an array of numpy that claims more than its bytes is refused, also where the product runs over") {
  CHECK_THAT(refusal([] { read_array(array_pickle(2)); }), Contains("4 bytes whose shape needs 8"));
  CHECK_THAT(refusal([] { read_array(array_pickle(-1)); }), Contains("larger than its bytes"));
  // 4 * (2^62 + 1) leaves 4 in 64 bits.
  CHECK_THAT(refusal([] { read_array(array_pickle((std::int64_t{1} << 62) + 1)); }), Contains("larger than its bytes"));
}

TEST_CASE("pickles that are cut off, unbalanced or of unknown opcodes are refused") {
  CHECK_THAT(refusal_of_pickle(""), Contains("E757") && Contains("cut off"));
  CHECK_THAT(refusal_of_pickle("."), Contains("a value is missing"));
  CHECK_THAT(refusal_of_pickle("t."), Contains("a mark is missing"));
  CHECK_THAT(refusal_of_pickle("(0."), Contains("a value is missing"));
  CHECK_THAT(refusal_of_pickle("h\x07."), Contains("does not hold"));
  CHECK_THAT(refusal_of_pickle("X\xff\xff\xff\xff."), Contains("cut off"));
  CHECK_THAT(refusal_of_pickle("\x8d\xff\xff\xff\xff\xff\xff\xff\xff."), Contains("cut off"));
  CHECK_THAT(refusal_of_pickle("\x80\x09N."), Contains("protocol 9"));
  CHECK_THAT(refusal_of_pickle("I1\n."), Contains("0x49"));
  CHECK_THAT(refusal_of_pickle("K\x01K\x02s."), Contains("a value is missing"));
  CHECK_THAT(refusal_of_pickle("NK\x01"
                               "a."),
             Contains("neither list nor set"));
}

TEST_CASE("nothing that a pickle names is called, imported or instantiated") {
  CHECK_THAT(refusal_of_pickle("cos\nsystem\n(X\x04\0\0\0trueetR."), Contains("os.system"));
  CHECK_THAT(refusal_of_pickle("cbuiltins\neval\n."), Contains("builtins.eval"));
  CHECK_THAT(refusal_of_pickle(std::string("\x8c\x02os\x8c\x06system\x93.")), Contains("os.system"));
  CHECK_THAT(refusal_of_pickle("ctorch\nfloat32\n)R."), Contains("something to call"));
  CHECK_THAT(refusal_of_pickle("ctorch\nFloatStorage\n)R."), Contains("cannot be called"));
  CHECK_THAT(refusal_of_pickle("ctorch\nTensor\n)\x81."), Contains("cannot be instantiated"));
  CHECK_THAT(refusal_of_pickle("c__main__\nNet\n)\x81."), Contains("__main__.Net"));
  CHECK_THAT(refusal_of_pickle("ctorch\nTensor\n."), Contains("in the place of a value"));
  CHECK_THAT(refusal_of_pickle("ctorch._utils\n_rebuild_tensor_v2\n)R."), Contains("too few arguments"));
}

TEST_CASE("a value inside itself and a value that unfolds without end are refused") {
  CHECK_THAT(refusal_of_pickle(std::string("]q\0h\0a.", 7)), Contains("inside itself"));
  std::string bomb = "]";
  for (int level = 0; level < 40; ++level) bomb += std::string("q\0(h\0h\0h\0t", 10);
  CHECK_THAT(refusal_of_pickle(bomb + "."), Contains("4 million values"));
  std::string tower(200, '(');
  tower.append("N").append(200, 't').append(".");
  CHECK_THAT(refusal_of_pickle(tower), Contains("nested deeper"));
}

TEST_CASE("integers of any size are read in two's complement") {
  using nexuml::tensor_io::decimal_of_twos_complement;
  CHECK(decimal_of_twos_complement("") == "0");
  CHECK(decimal_of_twos_complement(std::string(9, '\0')) == "0");
  CHECK(decimal_of_twos_complement("\xff") == "-1");
  CHECK(decimal_of_twos_complement(std::string("\0\0\0\0\0\0\0\0\1", 9)) == "18446744073709551616");
  CHECK(decimal_of_twos_complement(std::string("\0\0\0\0\0\0\0\0\xff", 9)) == "-18446744073709551616");
  CHECK(nexuml::describe(run_pickle(std::string("\x8a\0.", 3))) == "0");
  CHECK(nexuml::describe(run_pickle("\x8a\x01\xff.")) == "-1");
  CHECK(nexuml::describe(run_pickle(std::string("\x8a\x02\xff\0.", 5))) == "255");
}
