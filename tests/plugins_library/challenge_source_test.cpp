#include <cmath>

#include "plugins_library/source_support.h"

using namespace library_tests;
using Catch::Contains;
using nexuml::Value;

namespace {

std::string number_bytes(std::uint32_t number, int bytes) {
  std::string text;
  for (int i = 0; i < bytes; ++i) text += static_cast<char>(number >> (8 * i));
  return text;
}

// A 16-bit WAV file of `frames` equal samples.
std::string tone(std::int16_t value, std::uint32_t frames, std::uint32_t rate = 16000,
                 std::uint32_t channels = 1) {
  const std::uint32_t size = frames * channels * 2;
  std::string bytes = "RIFF" + number_bytes(36 + size, 4) + "WAVEfmt " + number_bytes(16, 4) +
                      number_bytes(1, 2) + number_bytes(channels, 2) + number_bytes(rate, 4) +
                      number_bytes(rate * channels * 2, 4) + number_bytes(channels * 2, 2) +
                      number_bytes(16, 2) + "data" + number_bytes(size, 4);
  for (std::uint32_t i = 0; i < frames * channels; ++i)
    bytes += number_bytes(static_cast<std::uint16_t>(value), 2);
  return bytes;
}

Value machine(const std::string& year, const std::string& name, bool train, Value more = Value::map()) {
  Value params = Value::map({{"dataset_name", year},
                             {"machine_type", name},
                             {"train", train},
                             {"section_ids", Value(std::vector<std::string>{"00", "01"})},
                             {"clip_num_samples", 4}});
  for (const auto& entry : more.entries()) params.set(entry.key, entry.value);
  return params;
}

std::vector<std::string> texts(const nexuml::Dataset& dataset, const std::string& column) {
  return std::get<std::vector<std::string>>(dataset.metadata().at(column));
}

}  // namespace

TEST_CASE("DCASE task 2 tells machine, section, domain and anomaly from folders and file names") {
  const TemporaryFolder folder;
  const std::string raw = "DCASET2/DCASE2024T2/dev_data/raw/bearing/";
  folder.write(raw + "train/section_00_source_train_normal_0000_vel_1.wav", tone(8192, 6));
  folder.write(raw + "train/section_01_target_train_normal_0001.wav", tone(-8192, 2, 16000, 2));
  folder.write(raw + "train/section_02_source_train_normal_0000.wav", tone(0, 2));  // not asked for
  folder.write(raw + "test/section_00_target_test_anomaly_0000.wav", tone(16384, 4));
  folder.write(raw + "test/section_00_source_test_normal_0000.wav", tone(16384, 4));
  const auto train = open("DCASET2Dataset", machine("DCASE2024T2", "bearing", true), folder.path());
  const nexuml::Batch batch = all_rows(*train);
  CHECK(floats(batch.x.get("waveform")) == std::vector<float>{0.25, 0.25, 0.25, 0.25, -0.25, -0.25, 0, 0});
  CHECK(train->splits() == std::vector<std::string>{"fit", "fit"});
  CHECK(floats(batch.y->get("section")) == std::vector<float>{0, 1});
  CHECK(floats(batch.y->get("target")) == std::vector<float>{0, 1});
  CHECK(batch.y->get("y_true").scalar_type() == at::kLong);
  CHECK(texts(*train, "machine") == std::vector<std::string>(2, "DCASE2024T2:dev:bearing"));
  CHECK(texts(*train, "domain") == std::vector<std::string>{"source", "target"});

  const auto test =
      open("DCASET2Dataset",
           machine("DCASE2024T2", "bearing", false,
                   Value::map({{"machine_types", Value(std::vector<std::string>{"DCASE2024T2:dev:ToyCar",
                                                                                "DCASE2024T2:dev:bearing"})},
                               {"machine_label", "b"}})),
           folder.path());
  const nexuml::Batch tested = all_rows(*test);
  CHECK(floats(tested.y->get("y_true")) == std::vector<float>{0, 1});  // in the order of the names
  CHECK(floats(tested.y->get("machine")) == std::vector<float>{1, 1});
  CHECK(texts(*test, "machine") == std::vector<std::string>{"b", "b"});
  CHECK(test->splits() == std::vector<std::string>{"test", "test"});
  CHECK((source("DCASET2Dataset", machine("DCASE2024T2", "bearing", true))->declare()->labels ==
         train->labels()));
  CHECK(train->files().size() == 2);
}

TEST_CASE("DCASE 2020 names sections by ids, and evaluation sets have further test folders") {
  const TemporaryFolder folder;
  folder.write("DCASET2/DCASE2020T2/eval_data/raw/fan/test_rename/anomaly_id_01_00000003.wav", tone(1, 4));
  folder.write("DCASET2/DCASE2020T2/eval_data/raw/fan/target_test/normal_id_00_00000001.wav", tone(1, 4));
  folder.write("DCASET2/DCASE2020T2/eval_data/raw/fan/test/normal_id_001_00000001.wav",
               tone(1, 4));  // section 001
  const auto dataset = open(
      "DCASET2Dataset",
      machine("DCASE2020T2", "fan", false, Value::map({{"section_keyword", "id"}, {"data_type", "eval"}})),
      folder.path());
  const nexuml::Batch batch = all_rows(*dataset);
  CHECK(dataset->size() == 2);
  CHECK(floats(batch.y->get("y_true")) == std::vector<float>{0, 1});
  CHECK(floats(batch.y->get("target")) == std::vector<float>{1, 0});
}

TEST_CASE("DCASE 2026 adds attributes and hides the labels of an evaluation's test clips") {
  const TemporaryFolder folder;
  folder.write("data/DCASE2026T2/eval_data/raw/Sander/test/section_00_0000_anomaly.wav", tone(1, 4));
  folder.write("data/DCASE2026T2/eval_data/raw/Sander/test/section_00_0001.wav", tone(1, 4));
  folder.write("attributes.csv", "file_name,speed,load\nsomewhere/section_00_0001.wav,fast,\"1,5\"\n");
  const auto dataset = open(
      "DCASE2026T2Dataset",
      machine(
          "DCASE2026T2", "Sander", false,
          Value::map({{"data_root", "data"}, {"data_type", "eval"}, {"attributes_csv", "attributes.csv"}})),
      folder.path());
  CHECK(floats(all_rows(*dataset).y->get("y_true")) == std::vector<float>{-1, -1});
  CHECK(texts(*dataset, "speed") == std::vector<std::string>{"", "fast"});
  CHECK(texts(*dataset, "load") == std::vector<std::string>{"", "1,5"});
  CHECK(std::get<at::Tensor>(dataset->metadata().at("y_true")).isnan().all().item<bool>());
}

TEST_CASE("a machine of DCASE that is not there says what was looked for and where to get it") {
  const TemporaryFolder folder;
  CHECK_THAT(failure("DCASET2Dataset", machine("DCASE2023T2", "grinder", false), folder.path()),
             Contains("DCASE2023T2/dev_data/raw/grinder") && Contains("section_{00,01}") &&
                 Contains("source_test") && Contains("zenodo.org") && Contains("NEXUML_DATA_ROOT"));
  CHECK_THAT(failure("DCASET2Dataset",
                     machine("DCASE2023T2", "grinder", true,
                             Value::map({{"machine_types", Value(std::vector<std::string>{"fan"})}})),
                     folder.path()),
             Contains("machine_types does not list"));
}

TEST_CASE("AudioSet takes labels from names and tables, finds moved files and leaves out missing ones") {
  const TemporaryFolder folder;
  folder.write("meta/class_labels_indices.csv",
               "index,mid,display_name\n0,/m/09x0r,\"Speech\"\n1,/m/05zppz,\"Male speech, man "
               "speaking\"\n2,/m/04rlf,Music\n");
  folder.write("eval/aaaaaaaaaaa__Music;Male_speech,_man_speaking.wav", tone(16384, 3));
  folder.write("eval/bbbbb__bbbbb__m09x0r.wav", tone(-16384, 12, 32000, 2));
  const Value params = Value::map(
      {{"data_dir", "eval"}, {"meta_dir", "meta"}, {"len_seconds", 0.00025}, {"sample_rate", 16000}});
  const auto dataset = open("AudiosetDataset", params, folder.path());
  const nexuml::Batch batch = all_rows(*dataset);
  CHECK(batch.x.get("waveform").sizes().vec() == std::vector<std::int64_t>{2, 4});
  CHECK(floats(batch.x.get("waveform")[0]) == std::vector<float>{0.5, 0.5, 0.5, 0});
  CHECK(batch.x.get("waveform")[1][2].item<float>() == Approx(-0.5).margin(0.1));
  CHECK(floats(batch.y->get("class")) == std::vector<float>{1, 0});
  CHECK(floats(batch.y->get("class_logits")) == std::vector<float>{0, 1, 1, 1, 0, 0});
  CHECK(dataset->class_names().at("class").at(1) == "Male speech, man speaking");

  folder.write("meta/eval_meta.csv",
               "file,labels\n/gone/eval/bbbbb__bbbbb__m09x0r.wav,Music\n/gone/eval/lost.wav,Speech\n");
  nexuml::Diagnostics advice;
  const auto listed = open("AudiosetDataset", params, folder.path(), &advice);
  CHECK(listed->size() == 1);
  CHECK(floats(all_rows(*listed).y->get("class")) == std::vector<float>{2});
  CHECK_THAT(advice.to_text(), Contains("1 of 2 clips"));
}

TEST_CASE("AudioSet without classes, clips or known labels says what is missing") {
  const TemporaryFolder folder;
  const Value params = Value::map({{"data_dir", "clips"}, {"meta_dir", "meta"}});
  CHECK_THAT(failure("AudiosetDataset", params, folder.path()),
             Contains("class_labels_indices.csv") && Contains("us_audioset"));
  folder.write("meta/class_labels_indices.csv", "index,mid,display_name\n0,/m/1,Speech\n");
  CHECK_THAT(failure("AudiosetDataset", params, folder.path()),
             Contains("<id>__<labels>.wav") && Contains("clips_meta.csv"));
  folder.write("clips/aaaaaaaaaaa__Whistle.wav", tone(1, 4));
  CHECK_THAT(failure("AudiosetDataset", params, folder.path()), Contains("'Whistle' is no label"));
}

TEST_CASE("without checks an unreadable clip is named when it is needed") {
  const TemporaryFolder folder;
  folder.write("meta/class_labels_indices.csv", "index,mid,display_name\n0,/m/1,Speech\n");
  folder.write("clips/aaaaaaaaaaa__Speech.wav", "no sound");
  Value params = Value::map({{"data_dir", "clips"}, {"meta_dir", "meta"}});
  CHECK_THAT(failure("AudiosetDataset", params, folder.path()), Contains("aaaaaaaaaaa__Speech.wav"));
  params.set("perform_checks", false);
  const auto dataset = open("AudiosetDataset", params, folder.path());
  CHECK_THROWS_WITH(all_rows(*dataset), Contains("aaaaaaaaaaa__Speech.wav"));
}

TEST_CASE("DCASE 2026 task 1 has classes of two levels, a confidence, folds and embeddings") {
  const TemporaryFolder folder;
  std::string table = "sound_id,class,confidence\n";
  for (int i = 0; i < 10; ++i) {
    const std::string id = "s" + std::to_string(i);
    folder.write("t1/audio/" + id + ".wav", tone(static_cast<std::int16_t>(i), 4));
    table += id + (i % 2 ? ",m-si,0.5\n" : ",fx-h,1\n");
  }
  folder.write("t1/metadata.csv", table);
  const Value params = Value::map({{"root", "t1"}, {"clip_num_samples", 4}, {"fold_id", 0}});
  const auto dataset = open("DCASE2026T1Dataset", params, folder.path());
  const nexuml::Batch batch = all_rows(*dataset);
  CHECK(dataset->class_names().at("class_top") == std::vector<std::string>{"fx", "m"});
  CHECK(dataset->class_names().at("class_second") == std::vector<std::string>{"fx-h", "m-si"});
  CHECK(batch.y->get("class_top")[1].item<std::int64_t>() == 1);
  CHECK(batch.y->get("confidence")[1].item<float>() == 0.5F);
  const auto splits = dataset->splits();
  CHECK(std::count(splits.begin(), splits.end(), "test") == 2);
  CHECK(open("DCASE2026T1Dataset", params, folder.path())->splits() == splits);
  CHECK_THAT(failure("DCASE2026T1Dataset", Value::map({{"root", "elsewhere"}}), folder.path()),
             Contains("metadata.csv") && Contains("<sound_id>.wav"));
}

TEST_CASE("DCASE 2026 task 7 reads the setups of its domains") {
  const TemporaryFolder folder;
  for (const char* domain : {"D2", "D3"}) {
    const std::string root = std::string("t7/") + domain + "/";
    folder.write(root + "audio/a.wav", tone(1, 4));
    folder.write(root + "audio/b.wav", tone(2, 4));
    folder.write(root + "evaluation_setup/fold1_train.txt", "audio/a.wav\tbus\n");
    folder.write(root + "evaluation_setup/fold1_test.csv", "filename,class\nb.wav,tram\n");
  }
  const auto dataset =
      open("DCASE2026T7Dataset", Value::map({{"root", "t7"}, {"clip_num_samples", 4}}), folder.path());
  const nexuml::Batch batch = all_rows(*dataset);
  CHECK(dataset->size() == 4);
  CHECK(dataset->class_names().at("class") == std::vector<std::string>{"bus", "tram"});
  CHECK(texts(*dataset, "domain") == std::vector<std::string>{"D2", "D2", "D3", "D3"});
  CHECK(dataset->splits() == std::vector<std::string>{"test", "fit", "test", "fit"});
  const auto one =
      open("DCASE2026T7Dataset",
           Value::map(
               {{"root", "t7"}, {"clip_num_samples", 4}, {"domains", Value(std::vector<std::string>{"D3"})}}),
           folder.path());
  CHECK(one->size() == 2);
  CHECK_THAT(failure("DCASE2026T7Dataset",
                     Value::map({{"root", "t7"}, {"domains", Value(std::vector<std::string>{"D9"})}}),
                     folder.path()),
             Contains("domain D9") && Contains("evaluation_setup"));
}

TEST_CASE("a SuperDataset holds data sets that hold others, each with its own splits") {
  const TemporaryFolder folder;
  folder.write("a/x/1.wav", tone(8192, 4));
  folder.write("b/train/x/2.wav", tone(16384, 4));
  folder.write("b/test/x/3.wav", tone(-8192, 4));
  const auto audio = [](const std::string& root) {
    return Value::map({{"type", "audio_folder"},
                       {"version", "1"},
                       {"params", Value::map({{"root", root}, {"num_samples", 4}})}});
  };
  const auto dataset_spec = [](Value from, const std::string& split) {
    return Value::map({{"source", std::move(from)}, {"split_type", split}});
  };
  Value inner = Value::list();
  inner.push_back(dataset_spec(audio("a"), "val"));
  inner.push_back(dataset_spec(audio("b"), "keep"));
  const Value super = Value::map(
      {{"type", "SuperDataset"}, {"version", "1"}, {"params", Value::map({{"datasets", std::move(inner)}})}});
  Value outer = Value::list();
  outer.push_back(dataset_spec(super, "keep"));
  outer.push_back(dataset_spec(audio("a"), "test"));
  const auto dataset = open(
      "SuperDataset",
      Value::map({{"datasets", outer},
                  {"merge_labels",
                   Value::map({{"origin",
                                Value::map({{"columns", Value(std::vector<std::string>{"dataset"})}})}})}}),
      folder.path());
  const nexuml::Batch batch = all_rows(*dataset);
  CHECK(dataset->splits() == std::vector<std::string>{"val", "test", "train", "test"});
  CHECK(floats(batch.x.get("waveform").select(1, 0)) == std::vector<float>{0.25, -0.25, 0.5, 0.25});
  CHECK(batch.y->contains("origin"));
  CHECK(dataset->num_classes().at("origin") == 2);
}

TEST_CASE("DCASE 2026 task 1 is read as BSD10k is published, with its numbers of the classes") {
  const TemporaryFolder folder;
  const std::string table =
      "sound_id,class,class_idx,class_top,confidence,uploader,license,title,tags,description\n"
      "101,fx-o,11,fx,4,someone,CC0,\"a, b\",x,\"two\nlines\"\n102,m-sp,0,m,5,other,CC0,c,y,z\n";
  folder.write("bsd/metadata/BSD10k_metadata.csv", table);
  folder.write("bsd/audio/101.wav", tone(1, 4));
  folder.write("bsd/audio/102.wav", tone(2, 4));
  Value params = Value::map({{"root", "bsd"}, {"clip_num_samples", 4}});
  const auto dataset = open("DCASE2026T1Dataset", params, folder.path());
  const nexuml::Batch batch = all_rows(*dataset);
  CHECK(floats(batch.y->get("class_second")) == std::vector<float>{11, 0});
  CHECK(floats(batch.y->get("confidence")) == std::vector<float>{4, 5});
  CHECK(dataset->num_classes().at("class_second") == 12);
  CHECK(dataset->class_names().at("class_second").at(11) == "fx-o");
  CHECK(dataset->class_names().at("class_top") == std::vector<std::string>{"fx", "m"});

  params.set("checksum", std::string(32, '0'));
  CHECK_THAT(failure("DCASE2026T1Dataset", params, folder.path()),
             Contains("BSD10k_metadata.csv") && Contains("has the sum"));
  params.set("checksum", "none");
  CHECK_THAT(failure("DCASE2026T1Dataset", params, folder.path()), Contains("hexadecimal"));
  params.set("checksum", Value());
  params.set("download_mode", "download");
  nexuml::Diagnostics advice;
  open("DCASE2026T1Dataset", params, folder.path(), &advice);
  CHECK_THAT(advice.to_text(), Contains("W831") && Contains("nothing is downloaded"));
}

TEST_CASE("DCASE 2026 task 7 is read as it is published: setups of all domains in one folder") {
  const TemporaryFolder folder;
  for (const char* name : {"1", "2", "3", "4"})
    folder.write(std::string("t7/audio/") + name + ".wav", tone(1, 4));
  folder.write("t7/evaluation_setup/development_train.txt",
               "audio/1.wav\talarm\tD2\t0\naudio/2.wav\tspeech\tD3\t9\n");
  folder.write("t7/evaluation_setup/development_test.txt",
               "audio/3.wav\tspeech\tD2\t9\naudio/4.wav\talarm\tD3\t0\n");
  const auto opened = [&](const std::vector<std::string>& domains) {
    return open("DCASE2026T7Dataset",
                Value::map({{"root", "t7"}, {"clip_num_samples", 4}, {"domains", Value(domains)}}),
                folder.path());
  };
  const auto both = opened({"D2", "D3"});
  CHECK(both->splits() == std::vector<std::string>{"test", "fit", "test", "fit"});
  CHECK(floats(all_rows(*both).y->get("class")) == std::vector<float>{9, 0, 0, 9});
  CHECK(floats(all_rows(*both).y->get("domain")) == std::vector<float>{0, 0, 1, 1});
  CHECK(both->num_classes().at("class") == 10);
  CHECK(both->class_names().at("class").at(9) == "speech");
  CHECK(opened({"D3"})->size() == 2);
  CHECK_THAT(failure("DCASE2026T7Dataset",
                     Value::map({{"root", "t7"}, {"domains", Value(std::vector<std::string>{"D1"})}}),
                     folder.path()),
             Contains("domain D1") && Contains("none in"));
  folder.write("t7/evaluation_setup/more_train.txt", "audio/1.wav\tspeech\tD2\t3\n");
  CHECK_THAT(failure("DCASE2026T7Dataset", Value::map({{"root", "t7"}}), folder.path()),
             Contains("'speech' the number 3"));
}
