#include "discovery/discover.h"

#include <elf.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <catch2/catch.hpp>
#include <cstring>

#include "discovery/candidates.h"
#include "discovery/test_tree.h"

using namespace nexuml;
using namespace nexuml::test;

namespace {

std::shared_ptr<const Catalog> scan(const TestTree& tree, SearchOptions options,
                                    std::map<std::string, std::string, std::less<>> variables = {},
                                    const AbiFacts& host = host_abi()) {
  Environment environment = empty_environment(tree);
  environment.variables = std::move(variables);
  return discover(options, environment, host);
}

std::string states(const Catalog& catalog) {
  std::string text;
  for (const auto& library : catalog.libraries()) {
    text += fmt::format("{}{} {} {}", text.empty() ? "" : ", ", library.origin.library,
                        library.origin.version, to_string(library.state));
  }
  return text;
}

// The host that the manifests of the reported cases were written for. A fixture that was built with a
// sanitizer fits, too, as beside a preloaded one.
const AbiFacts case_host{"1.0", "x86_64-linux-gnu;libstdcxx-cxx11;torch-2.15.0;tbb-12", "", "",
                         std::string(host_abi().part("sanitizer-"))};

}  // namespace

TEST_CASE("one bad library does not hide the others, and each gives one diagnostic") {
  TestTree tree;
  tree.copy_fixture("good", "root/good");
  const auto catalog =
      scan(tree, {.roots = {test_data("broken_libraries"), tree.path("root")}}, {}, case_host);
  std::map<std::string, int> by_folder;
  for (const auto& entry : catalog->diagnostics()) {
    const fs::path folder = fs::relative(entry.where.file, test_data("broken_libraries"));
    ++by_folder[folder.begin()->string()];
    CHECK_FALSE(entry.message.empty());
  }
  CHECK(by_folder == std::map<std::string, int>{{"array_manifest", 1},
                                                {"bom", 1},
                                                {"dupkey", 1},
                                                {"empty_manifest", 1},
                                                {"empty_so", 1},
                                                {"escape", 1},
                                                {"future", 1},
                                                {"missing_so", 1},
                                                {"pe_so", 1},
                                                {"text_so", 1}});
  REQUIRE(catalog->library("test.good"));
  CHECK(catalog->library("test.good")->usable());
  CHECK(catalog->searched() == "11 libraries were searched, 10 could not be read");
}

TEST_CASE("two libraries that declare one identity are both named, and neither wins") {
  TestTree tree;
  const auto catalog = scan(tree, {.roots = {test_data("duplicate_identity")}}, {}, case_host);
  const auto rows = catalog->definitions();
  REQUIRE(rows.size() == 3);  // a link to alpha is alpha again: no third library
  CHECK(rows[1].entry->identity.name == "focal_loss");
  CHECK(rows[1].state == EntryState::conflicting);
  CHECK(rows[2].state == EntryState::conflicting);
  CHECK(rows[0].state != EntryState::conflicting);

  Diagnostics problems;
  CHECK_FALSE(catalog->provider({ComponentKind::layer, "focal_loss", "1"}, {}, {}, problems));
  CHECK(codes(problems) == std::vector<std::string>{"E501"});
  const std::string text = problems.to_text();
  CHECK_THAT(text, Catch::Contains("layer/focal_loss@1") && Catch::Contains("org.example.alpha 1.0.0") &&
                       Catch::Contains("org.example.beta 2.1.0") && Catch::Contains("alpha.nexuml.json") &&
                       Catch::Contains("beta.nexuml.json"));
}

TEST_CASE("a conflict of many libraries tells how many, names the first, and what to do about all but one") {
  TestTree tree;
  const auto told = [&](int libraries) {
    for (int index = 0; index < libraries; ++index)
      tree.write(fmt::format("{}/{}/x.nexuml.json", libraries, index),
                 manifest_text(fmt::format("org.acme.n{}", index), "1.0", "same"));
    const auto catalog = scan(tree, {.roots = {tree.path(std::to_string(libraries))}});
    Diagnostics problems;
    CHECK_FALSE(catalog->provider({ComponentKind::layer, "same", "1"}, {}, {}, problems));
    return problems.to_text();
  };
  CHECK_THAT(told(2), Catch::Contains("by two libraries, and neither wins: org.acme.n0") &&
                          Catch::Contains("NEXUML_COMPONENT_DISABLE=org.acme.n1"));
  CHECK_THAT(told(3), Catch::Contains("by 3 libraries, and none wins") && Catch::Contains("org.acme.n2") &&
                          !Catch::Contains(" more") && Catch::Contains("all but one"));
  CHECK_THAT(told(40), Catch::Contains("by 40 libraries, and none wins") &&
                           Catch::Contains("org.acme.n0 1.0") && Catch::Contains(", and 35 more"));
}

TEST_CASE("a library reached by two paths is one library") {
  TestTree tree;
  tree.copy_fixture("good", "root/real");
  fs::create_directory_symlink(tree.path("root/real"), tree.path("root/link"));
  fs::create_directory_symlink(tree.path("root"), tree.path("other"));
  fs::create_hard_link(tree.path("root/real/test.good/libtest_good.so"), tree.path("hard.so"));
  const auto catalog =
      scan(tree, {.roots = {tree.path("root"), tree.path("root"), tree.path("other"), tree.path()}});
  CHECK(states(*catalog) == "test.good 1.0.0 declared");
  CHECK(catalog->diagnostics().empty());
}

TEST_CASE("a copy of a library is shadowed by the one of the earlier place, and reported") {
  TestTree tree;
  tree.copy_fixture("good", "first/good");
  tree.copy_fixture("good", "second/good");
  const auto catalog = scan(tree, {.roots = {tree.path("second"), tree.path("first")}});
  CHECK(states(*catalog) == "test.good 1.0.0 declared, test.good 1.0.0 shadowed");
  CHECK_THAT(catalog->library("test.good")->origin.path, Catch::Contains("/second/"));
  CHECK(codes(catalog->diagnostics()) == std::vector<std::string>{"W601"});
  CHECK_THAT(catalog->diagnostics().to_text(), Catch::Contains(tree.path("first/good/test.good")) &&
                                                   Catch::Contains(tree.path("second/good/test.good")));
  CHECK(catalog->definitions().size() == 4);
}

TEST_CASE("in one place the higher version is active, and --use selects another") {
  TestTree tree;
  tree.copy_fixture("good", "root/one");
  tree.copy_fixture("good_1_10", "root/two");
  CHECK(states(*scan(tree, {.roots = {tree.path("root")}})) ==
        "test.good 1.0.0 shadowed, test.good 1.10.0 declared");
  CHECK(states(*scan(tree, {.roots = {tree.path("root")}, .use = {"test.good=1.0.0"}})) ==
        "test.good 1.0.0 declared, test.good 1.10.0 shadowed");
  const auto missing = scan(tree, {.roots = {tree.path("root")}, .use = {"test.good=9"}});
  CHECK(codes(missing->diagnostics()).front() == "E505");
}

TEST_CASE("libraries are disabled by globs over their ids") {
  TestTree tree;
  tree.copy_fixture("good", "root/good");
  CHECK(states(*scan(tree, {.roots = {tree.path("root")}}, {{"NEXUML_COMPONENT_DISABLE", "other:test.*"}})) ==
        "test.good 1.0.0 disabled");
}

TEST_CASE("a bare library with our note is listed from the manifest inside it") {
  TestTree tree;
  fs::create_directories(tree.path("root"));
  fs::copy(TestTree::fixture_root("good") + "/test.good/libtest_good.so", tree.path("root/some name.so"));
  const auto catalog = scan(tree, {.roots = {tree.path("root")}});
  CHECK(states(*catalog) == "test.good 1.0.0 declared");
  Diagnostics problems;
  CHECK(catalog->definition_schema({ComponentKind::layer, "gain", "1"}, {}, {}, problems));
  CHECK(problems.empty());
}

TEST_CASE("a root may be any folder: files that are no libraries of ours are passed over") {
  TestTree tree;
  const auto catalog = scan(tree, {.roots = {"/usr/lib/x86_64-linux-gnu/perl-base", "/usr/bin"}});
  CHECK(catalog->libraries().empty());
  CHECK(catalog->diagnostics().empty());
}

TEST_CASE("a component folder that is linked into a root is found by its link") {
  TestTree tree;
  tree.copy_fixture("good", "opt/good");
  fs::create_directories(tree.path("root"));
  fs::create_directory_symlink("../opt/good", tree.path("root/link"));
  CHECK(states(*scan(tree, {.roots = {tree.path("root")}})) == "test.good 1.0.0 declared");
}

TEST_CASE(
    "links that lead in circles end, folders that lie too deep are named, hidden ones are not searched") {
  TestTree tree;
  tree.copy_fixture("good", "root/a/.hidden/good");
  fs::create_directory_symlink("..", tree.path("root/a/up"));
  fs::create_directory_symlink(".", tree.path("root/self"));
  fs::create_symlink("nowhere", tree.path("root/dangling.so"));
  tree.copy_fixture("good", "root/1/2/3/4/5/6/7/8/9/good");
  const auto catalog = scan(tree, {.roots = {tree.path("root")}});
  CHECK(catalog->libraries().empty());
  CHECK(codes(catalog->diagnostics()) == std::vector<std::string>{"W109"});
}

TEST_CASE("a root that holds too much is searched up to a limit, with one word, and hides no other") {
  TestTree tree;
  for (const char* folder : {"a", "b", "c", "d"}) {
    tree.write(std::string("many/") + folder + "/x.nexuml.json", "{}");
    tree.write(std::string("one/") + folder + "/readme", "");
  }
  for (const char* name : {"1", "2", "3"}) tree.write(std::string("flat/") + name + ".nexuml.json", "{}");
  tree.write("last/x.nexuml.json", "{}");
  const auto place = [&](const char* name) {
    return SearchPlace{SearchPlace::Kind::components, tree.path(name), "--root", true};
  };
  const auto search = [&](std::vector<SearchPlace> places, const WalkLimits& limits, Diagnostics& problems) {
    std::string found;
    for (const auto& candidate : find_candidates(places, problems, limits))
      found += candidate.manifest.substr(tree.path().size()) + " ";
    return found;
  };
  Diagnostics few;
  CHECK(search({place("many"), place("last")}, {.candidates = 2}, few) ==
        "/many/a/x.nexuml.json /many/b/x.nexuml.json /last/x.nexuml.json ");
  REQUIRE(codes(few) == std::vector<std::string>{"W109"});
  CHECK(few.entries()[0].where.file == tree.path("many/c/x.nexuml.json"));
  CHECK_THAT(few.to_text(), Catch::Contains(tree.path("many") + " holds more than 2 libraries"));

  Diagnostics flat;
  CHECK(search({place("flat")}, {.candidates = 2}, flat) == "/flat/1.nexuml.json /flat/2.nexuml.json ");
  CHECK(codes(flat) == std::vector<std::string>{"W109"});

  Diagnostics folders;
  CHECK(search({place("one"), place("last")}, {.folders = 3}, folders) == "/last/x.nexuml.json ");
  REQUIRE(codes(folders) == std::vector<std::string>{"W109"});
  CHECK_THAT(folders.to_text(), Catch::Contains(tree.path("one") + " holds more than 3 folders"));

  Diagnostics enough;
  search({place("many"), place("one"), place("flat"), place("last")}, {.folders = 5, .candidates = 4},
         enough);
  CHECK(enough.empty());
}

TEST_CASE("a root that is missing is an error where it was asked for, else a warning") {
  TestTree tree;
  const auto asked = scan(tree, {.roots = {"/no/such/root"}});
  REQUIRE(asked->diagnostics().size() == 1);
  CHECK(asked->diagnostics().entries()[0].severity == Severity::error);
  const auto configured = scan(tree, {}, {{"NEXUML_ADD_COMPONENT_PATH", "/no/such/root"}});
  REQUIRE(configured->diagnostics().size() == 1);
  CHECK(configured->diagnostics().entries()[0].severity == Severity::warning);
}

TEST_CASE("an entry-point manifest names a library that lies elsewhere") {
  TestTree tree;
  tree.copy_fixture("good", "opt/acme");
  std::string text = read_bytes(tree.path("opt/acme/test.good/test_good.nexuml.json"));
  const auto place = text.find("libtest_good.so");
  text.replace(place, 15, "../../../../opt/acme/test.good/libtest_good.so");
  tree.write("prefix/share/nexuml/entry_points.d/acme.nexuml.json", text);
  const auto catalog = scan(tree, {.prefixes = {tree.path("prefix")}});
  CHECK(states(*catalog) == "test.good 1.0.0 declared");
  Diagnostics problems;
  CHECK(catalog->definition_schema({ComponentKind::layer, "gain", "1"}, {}, {}, problems));
}

TEST_CASE("a library for another LibTorch is incompatible before its file is looked at") {
  TestTree tree;
  tree.write("root/a/a.nexuml.json",
             manifest_text("org.a", "1.0", "A", "x86_64-linux-gnu;libstdcxx-cxx11;torch-9.9.0;tbb-12"));
  const auto catalog = scan(tree, {.roots = {tree.path("root")}}, {}, case_host);
  CHECK(states(*catalog) == "org.a 1.0 incompatible");
  CHECK(codes(catalog->diagnostics()) == std::vector<std::string>{"E303"});
  Diagnostics problems;
  CHECK_FALSE(catalog->provider({ComponentKind::layer, "A", "1"}, {}, {}, problems));
  CHECK_THAT(problems.to_text(), Catch::Contains("incompatible") && Catch::Contains("9.9.0"));
}

TEST_CASE("the note is the truth: a manifest of another build is refused") {
  TestTree tree;
  tree.copy_fixture("good", "root/good");
  const std::string text = read_bytes(tree.path("root/good/test.good/test_good.nexuml.json"));
  AbiFacts newer_host = host_abi();
  newer_host.interface_version = "1.9";
  // What in the manifest is another build's, and the word for it.
  for (const auto& [word, was, is] :
       std::vector<std::array<std::string, 3>>{{"id", "\"test.good\"", "\"test.other\""},
                                               {"version", "\"1.0.0\"", "\"9.9.9\""},
                                               {"abi", "cxx11", "cxx11;more-1"},
                                               {"interface", "\"nexuml\":\"1.0\"", "\"nexuml\":\"1.3\""}}) {
    INFO(word);
    std::string changed = text;
    REQUIRE(changed.find(was) != std::string::npos);
    changed.replace(changed.find(was), was.size(), is);
    tree.write("root/good/test.good/test_good.nexuml.json", changed);
    const auto catalog = scan(tree, {.roots = {tree.path("root")}}, {}, newer_host);
    CHECK(catalog->libraries().front().state == EntryState::broken);
    REQUIRE(codes(catalog->diagnostics()) == std::vector<std::string>{"E206"});
    CHECK_THAT(catalog->diagnostics().to_text(), Catch::Contains("disagree: " + word + " '"));
  }
}

TEST_CASE("a shared library without our note is refused where a manifest names it") {
  TestTree tree;
  tree.copy_fixture("good", "root");
  tree.write("root/test.good/libtest_good.so",
             read_bytes(std::string(NEXUML_SOURCE_ROOT) + "/tests/fuzz/corpus/elf/no_note.so"));
  const auto catalog = scan(tree, {.roots = {tree.path("root")}});
  CHECK(states(*catalog) == "test.good 1.0.0 broken");
  CHECK(codes(catalog->diagnostics()) == std::vector<std::string>{"E205"});
}

TEST_CASE("no state is kept: a file that was mended is found in the next scan") {
  TestTree tree;
  tree.copy_fixture("good", "root/good");
  const std::string library = tree.path("root/good/test.good/libtest_good.so");
  const std::string bytes = read_bytes(library);
  tree.write("root/good/test.good/libtest_good.so", bytes.substr(0, 3000));
  CHECK(states(*scan(tree, {.roots = {tree.path("root")}})) == "test.good 1.0.0 broken");
  tree.write("root/good/test.good/libtest_good.so", bytes);
  CHECK(states(*scan(tree, {.roots = {tree.path("root")}})) == "test.good 1.0.0 declared");
  // Images set every file to one day, so neither size nor time says whether a file is the one of before.
  const auto time = fs::last_write_time(library);
  std::string damaged = bytes;
  damaged[0] = 'x';
  tree.write("root/good/test.good/libtest_good.so", damaged);
  fs::last_write_time(library, time);
  CHECK(states(*scan(tree, {.roots = {tree.path("root")}})) == "test.good 1.0.0 broken");
}

TEST_CASE("what a manifest names and is no file to read is one error each, and nobody waits for it") {
  TestTree tree;
  tree.copy_fixture("good", "root");
  const std::string library = tree.path("root/test.good/libtest_good.so");
  const auto told = [&] {
    const auto catalog = scan(tree, {.roots = {tree.path("root")}});
    CHECK(states(*catalog) == "test.good 1.0.0 broken");
    const std::string text = catalog->diagnostics().to_text();
    CHECK(codes(catalog->diagnostics()) == std::vector<std::string>{"E101"});
    fs::remove_all(library);
    return text;
  };
  fs::remove(library);
  REQUIRE(::mkfifo(library.c_str(), 0600) == 0);
  CHECK_THAT(told(), Catch::Contains(library));
  fs::create_directory(library);
  CHECK_THAT(told(), Catch::Contains(library));
  fs::create_symlink("nowhere.so", library);
  CHECK_THAT(told(), Catch::Contains("libtest_good.so"));
  if (::geteuid() == 0) return;  // who may read everything
  tree.write("root/test.good/libtest_good.so", "");
  fs::permissions(library, fs::perms::none);
  CHECK_THAT(told(), Catch::Contains(library));
}

TEST_CASE("a folder with nothing in it is a root like any other") {
  TestTree tree;
  fs::create_directories(tree.path("root/empty"));
  const auto catalog = scan(tree, {.roots = {tree.path("root")}});
  CHECK(catalog->libraries().empty());
  CHECK(catalog->diagnostics().empty());
}

TEST_CASE("a bare library of ours for another machine is one line of the report, and no problem") {
  TestTree tree;
  std::string bytes = read_bytes(TestTree::fixture_root("good") + "/test.good/libtest_good.so");
  const std::uint16_t machine = EM_AARCH64;
  std::memcpy(bytes.data() + offsetof(Elf64_Ehdr, e_machine), &machine, sizeof machine);
  tree.write("root/libfar.so", bytes);
  const auto catalog = scan(tree, {.roots = {tree.path("root")}});
  CHECK(catalog->libraries().empty());
  REQUIRE(codes(catalog->diagnostics()) == std::vector<std::string>{"W203"});
  CHECK(catalog->diagnostics().entries()[0].severity == Severity::note);
  CHECK_THAT(catalog->diagnostics().to_text(), Catch::Contains("test.good 1.0.0 is a library for aarch64"));
}

TEST_CASE("names with spaces, letters of any script and line breaks are fine") {
  TestTree tree;
  tree.copy_fixture("good", "root/a b/größe \n 漢字");
  CHECK(states(*scan(tree, {.roots = {tree.path("root")}})) == "test.good 1.0.0 declared");
}

TEST_CASE(
    "a library for another machine is one line of the report and no problem, and says so when it is asked "
    "for") {
  TestTree tree;
  tree.write("root/a/a.nexuml.json",
             manifest_text("org.example.a", "1.0", "far", "aarch64-linux-gnu;libstdcxx-cxx11;torch-2.1.0"));
  const auto catalog = scan(tree, {.roots = {tree.path("root")}});
  REQUIRE(codes(catalog->diagnostics()) == std::vector<std::string>{"W203"});
  CHECK(catalog->diagnostics().entries()[0].severity == Severity::note);
  CHECK(states(*catalog) == "org.example.a 1.0 incompatible");
  Diagnostics problems;
  CHECK_FALSE(catalog->provider({ComponentKind::layer, "far", "1"}, {}, {}, problems));
  CHECK_THAT(problems.to_text(),
             Catch::Contains("built for aarch64-linux-gnu, this host runs on x86_64-linux-gnu"));
}
