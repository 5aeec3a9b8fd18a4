#include <algorithm>
#include <cmath>
#include <cstring>
#include <numbers>

#include "plugins_library/source_support.h"

using namespace library_tests;
using Catch::Contains;
using nexuml::Value;

namespace {

const std::string cases = std::string(NEXUML_TEST_DATA) + "/cases/";

std::string little_endian(std::uint32_t number, int bytes) {
  std::string text;
  for (int i = 0; i < bytes; ++i) text += static_cast<char>(number >> (8 * i));
  return text;
}

// 16-bit PCM, interleaved.
std::string wav(const std::vector<std::int16_t>& samples, std::uint32_t rate = 16000,
                std::uint32_t channels = 1) {
  const auto size = static_cast<std::uint32_t>(samples.size() * 2);
  std::string bytes = "RIFF" + little_endian(36 + size, 4) + "WAVEfmt " + little_endian(16, 4) +
                      little_endian(1, 2) + little_endian(channels, 2) + little_endian(rate, 4) +
                      little_endian(rate * channels * 2, 4) + little_endian(channels * 2, 2) +
                      little_endian(16, 2) + "data" + little_endian(size, 4);
  for (const std::int16_t sample : samples) bytes += little_endian(static_cast<std::uint16_t>(sample), 2);
  return bytes;
}

Value params(std::int64_t num_samples, std::int64_t rate = 16000, bool keep_channels = false) {
  return Value::map(
      {{"root", "."}, {"num_samples", num_samples}, {"sample_rate", rate}, {"keep_channels", keep_channels}});
}

// The samples of one reported file, as [channels, frames].
at::Tensor case_samples(const std::string& file, std::int64_t rate, std::int64_t frames) {
  const TemporaryFolder folder;
  std::filesystem::create_directory(folder.path() / "class");
  std::filesystem::copy_file(cases + file, folder.path() / "class" / "one.wav");
  const auto dataset = open("audio_folder", params(frames, rate, true), folder.path());
  return all_rows(*dataset).x.get("waveform")[0];
}
std::string case_failure(const std::string& file) {
  const TemporaryFolder folder;
  std::filesystem::create_directory(folder.path() / "class");
  std::filesystem::copy_file(cases + file, folder.path() / "class" / "one.wav");
  try {
    (void)all_rows(*open("audio_folder", params(8), folder.path()));
  } catch (const nexuml::Error& error) {
    return error.what();
  }
  return "it was read";
}

}  // namespace

TEST_CASE("an audio folder takes classes and splits from its folders, and cuts and fills to one length") {
  const TemporaryFolder folder;
  folder.write("train/siren/a.wav", wav({16384, -16384, 8192}));
  folder.write("train/engine/b.wav", wav({1, 2, 3, 4, 5}));
  folder.write("test/siren/c.WAV", wav({-32768}));
  folder.write("test/siren/notes.txt", "not audio");
  const auto dataset = open("audio_folder", params(4), folder.path());
  const nexuml::Batch batch = all_rows(*dataset);
  CHECK(dataset->size() == 3);
  CHECK(dataset->class_names().at("label") == std::vector<std::string>{"engine", "siren"});
  CHECK(dataset->splits() == std::vector<std::string>{"test", "train", "train"});
  CHECK(floats(batch.y->get("label")) == std::vector<float>{1, 0, 1});
  CHECK(floats(batch.x.get("waveform")[0]) == std::vector<float>{-1, 0, 0, 0});
  CHECK(floats(batch.x.get("waveform")[2]) == std::vector<float>{0.5, -0.5, 0.25, 0});
  CHECK(dataset->features().at("waveform").shape == nexuml::Shape{4});
}

TEST_CASE("channels are averaged, or kept where they are asked for") {
  const TemporaryFolder folder;
  folder.write("x/a.wav", wav({16384, 0, -16384, 16384}, 16000, 2));
  CHECK(floats(all_rows(*open("audio_folder", params(2), folder.path())).x.get("waveform")) ==
        std::vector<float>{0.25, 0});
  const auto kept = open("audio_folder", params(2, 16000, true), folder.path());
  CHECK(kept->features().at("waveform").shape == nexuml::Shape{2, 2});
  CHECK(floats(all_rows(*kept).x.get("waveform")) == std::vector<float>{0.5, -0.5, 0, 0.5});
}

TEST_CASE("resampling keeps a tone at its pitch and its level") {
  std::vector<std::int16_t> tone;
  for (int i = 0; i < 44100; ++i)
    tone.push_back(static_cast<std::int16_t>(16384 * std::sin(2 * std::numbers::pi * 440 * i / 44100)));
  const TemporaryFolder folder;
  folder.write("x/a.wav", wav(tone, 44100));
  const auto samples =
      floats(all_rows(*open("audio_folder", params(16000), folder.path())).x.get("waveform"));
  double worst = 0;
  for (int i = 200; i < 15800; ++i)
    worst = std::max(worst, std::abs(samples[static_cast<std::size_t>(i)] -
                                     0.5 * std::sin(2 * std::numbers::pi * 440 * i / 16000)));
  CHECK(worst < 2e-3);
}

TEST_CASE("whole and floating samples of every width are read by their value") {
  const std::string folder = "D13-wav-extensible-24bit/";
  for (const char* file : {"pcm24.wav", "ext24.wav"}) {
    const at::Tensor samples = case_samples(folder + file, 96000, 4);
    CHECK(samples.size(0) == 2);
    CHECK(floats(samples[0]) == std::vector<float>{0, -0.5F, -1, -1.1920929e-07F});
    CHECK(floats(samples[1]) == std::vector<float>{0.5, 0.99999988F, 1.1920929e-07F, 3.0398369e-05F});
  }
  CHECK(floats(case_samples(folder + "ext_float.wav", 48000, 4)) == std::vector<float>{0, 0.5, -1.5, 1e-8F});
  CHECK(floats(case_samples(folder + "ext_20in24.wav", 48000, 3)) == std::vector<float>{0, 0.5, -1});
  CHECK(floats(case_samples(folder + "s32.wav", 16000, 3)) == std::vector<float>{0, 0.5, -1});
  CHECK(floats(case_samples(folder + "f64.wav", 16000, 2)) == std::vector<float>{0.25, -0.75});
  CHECK_THAT(case_failure(folder + "fmt_cut.wav"), Contains("one.wav"));
}

TEST_CASE(
    "unsigned 8-bit samples and floats beyond 1 keep their value; files that hold no sound are refused") {
  const std::string folder = "D15-wav-8bit-float-empty/";
  CHECK(floats(case_samples(folder + "u8.wav", 8000, 5)) ==
        std::vector<float>{-1, -0.5, 0, 0.5, 127.0F / 128});
  CHECK(floats(case_samples(folder + "f32.wav", 16000, 4)) == std::vector<float>{0, 0.25, -1, 1.25});
  CHECK(floats(case_samples(folder + "one_frame.wav", 16000, 1)) ==
        std::vector<float>{100.0F / 32768, -100.0F / 32768});
  CHECK_THAT(case_failure(folder + "f32_nan.wav"), Contains("one.wav") && Contains("not finite"));
  CHECK_THAT(case_failure(folder + "rate_1hz.wav"), Contains("one.wav") && Contains("1 Hz"));
  CHECK_THAT(case_failure(folder + "zero_channels.wav"), Contains("one.wav"));
  CHECK_THAT(case_failure(folder + "empty_file.wav"), Contains("one.wav") && Contains("no readable audio"));
}

TEST_CASE("a recording without frames is silence, and is named") {
  const TemporaryFolder folder;
  std::filesystem::create_directory(folder.path() / "x");
  std::filesystem::copy_file(cases + "D15-wav-8bit-float-empty/zero_frames.wav",
                             folder.path() / "x" / "empty.wav");
  nexuml::Diagnostics advice;
  const auto dataset = open("audio_folder", params(4), folder.path(), &advice);
  CHECK(floats(all_rows(*dataset).x.get("waveform")) == std::vector<float>{0, 0, 0, 0});
  CHECK_THAT(advice.to_text(), Contains("W831") && Contains("empty.wav") && Contains("no frames"));
}

TEST_CASE("every audio file that cannot be used is named when the data is opened") {
  const TemporaryFolder folder;
  folder.write("x/a.wav", wav({1}));
  folder.write("x/b.wav", "not audio");
  folder.write("y/c.wav", "");
  const std::string text = failure("audio_folder", params(4), folder.path());
  CHECK_THAT(text, Contains("b.wav") && Contains("c.wav") && !Contains("a.wav"));
}

TEST_CASE("a folder without classes says how files are laid out") {
  const TemporaryFolder folder;
  folder.write("loose.wav", wav({1}));
  CHECK_THAT(failure("audio_folder", params(4), folder.path()), Contains("<class>/<file>"));
  CHECK_THAT(failure("audio_folder", Value::map({{"root", "none"}}), folder.path()),
             Contains("does not exist"));
}

TEST_CASE("a recording that is cut off is read as far as it goes, and named") {
  const TemporaryFolder folder;
  const std::string whole = wav({1000, 2000, 3000, 4000});
  folder.write("x/cut.wav", whole.substr(0, whole.size() - 4));
  folder.write("x/whole.wav", whole);
  nexuml::Diagnostics advice;
  const auto dataset = open("audio_folder", params(4), folder.path(), &advice);
  CHECK(floats(all_rows(*dataset).x.get("waveform")[0]) ==
        std::vector<float>{1000.0F / 32768, 2000.0F / 32768, 0, 0});
  CHECK_THAT(advice.to_text(), Contains("cut.wav") && Contains("its 2 frames") && !Contains("whole.wav"));
}

TEST_CASE("rates without a common divisor are resampled in little memory, to what other rates give") {
  // A tone of 440 Hz at 44,101 Hz is one of 440 Hz at 16,000 Hz.
  const TemporaryFolder folder;
  std::vector<std::int16_t> tone;
  for (int i = 0; i < 4411; ++i)
    tone.push_back(
        static_cast<std::int16_t>(std::lround(16000 * std::sin(2 * 3.14159265358979 * 440 * i / 44101))));
  folder.write("x/one.wav", wav(tone, 44101));
  const auto dataset =
      open("audio_folder", Value::map({{"root", "."}, {"sample_rate", 16000}, {"num_samples", 1600}}),
           folder.path());
  const std::vector<float> got = floats(all_rows(*dataset).x.get("waveform"));
  double worst = 0;
  for (int i = 50; i < 1550; ++i)
    worst = std::max(worst, std::abs(got[static_cast<std::size_t>(i)] -
                                     16000.0 / 32768 * std::sin(2 * 3.14159265358979 * 440 * i / 16000)));
  CHECK(worst < 2e-3);
}
