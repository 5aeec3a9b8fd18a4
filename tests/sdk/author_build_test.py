"""How an author's library is built against an installed NexuML: with a sanitizer, through an emulator, with a manifest
that stands ready, with another compiler than the host, and with a mistake in it.

The library uses no tensor, so that a build takes seconds.

usage: author_build_test.py CMAKE BUILD_TREE
"""

import json
import os
import shutil
import subprocess
import sys
import unittest
from pathlib import Path

from installed import InstalledTest, configure, run

CMAKE, BUILD = sys.argv[1], Path(sys.argv[2])

PROJECT = """
cmake_minimum_required(VERSION 3.25)
project(tiny VERSION 1.2.3 LANGUAGES CXX)
find_package(NexuML CONFIG REQUIRED)
set(manifest)
if(READY_MANIFEST)
  set(manifest MANIFEST "${READY_MANIFEST}")
endif()
nexuml_add_library(tiny ID org.example.tiny VERSION ${PROJECT_VERSION} SOURCES library.cpp ${manifest} WITHOUT_TENSORS)
nexuml_install_library(tiny)
enable_testing()
nexuml_add_library_tests(tiny)
"""

LIBRARY = """
#include <nexuml/registration.h>

namespace tiny {
EXTRA
}  // namespace tiny

NEXUML_LIBRARY(registry) {
  registry.add_scenario<nexuml::NoParameters>("tiny-demo", [](const nexuml::NoParameters&, const nexuml::ScenarioContext&) {
    nexuml::ScenarioSpec scenario;
    scenario.name = "tiny-demo";
    return scenario;
  });
  BODY
}
"""

LAYER = """
struct Gain {
  double factor = 2.0;
  static void describe(nexuml::Schema<Gain>& s) { s.field("factor", &Gain::factor).doc("The factor.").at_least(0); }
  std::shared_ptr<nexuml::PipelineLayer> build(const nexuml::LayerBuildContext&) const { return nullptr; }
};
"""

# Errors that cross the border between two compilers: one that the library throws, and one of the host, which the
# library catches by its base class and casts to what it is.
CROSSING = """
nexuml::ScenarioSpec throwing(const nexuml::NoParameters&, const nexuml::ScenarioContext&) {
  throw nexuml::Error("E831", "thrown by the library");
}
nexuml::ScenarioSpec catching(const nexuml::NoParameters&, const nexuml::ScenarioContext& context) {
  try {
    (void)context.layer("gain", {{"factor", -2.0}});
  } catch (const std::exception& failure) {
    const auto* error = dynamic_cast<const nexuml::Error*>(&failure);
    const auto* other = dynamic_cast<const std::bad_alloc*>(&failure);
    throw nexuml::Error("E831", error && !other ? "the library caught " + error->diagnostics().entries()[0].code
                                                : std::string("the library caught something else"));
  }
  return {};
}
"""


class AuthorBuild(InstalledTest):
    cmake, build_tree = CMAKE, BUILD

    def project(self, name, body='registry.add<Gain>("gain", "1");', extra=LAYER):
        folder = self.folder / name
        folder.mkdir()
        (folder / "CMakeLists.txt").write_text(PROJECT)
        (folder / "library.cpp").write_text(
            LIBRARY.replace("EXTRA", extra).replace("BODY", body).replace("add<Gain>", "add<tiny::Gain>"))
        return folder

    def build(self, folder, *options, fails=False):
        configure(CMAKE, folder, folder / "build", self.prefix, *options)
        return run(CMAKE, "--build", folder / "build", expect=1 if fails else 0)

    def nexuml_run(self, *arguments, expect=0):
        return run(self.host, *arguments, expect=expect, cwd=self.folder, env=self.environment)

    @staticmethod
    def components(folder):
        return folder / "build/components/org.example.tiny"

    def test_a_sanitizer_build_registers_and_validates_with_the_runtime_preloaded(self):
        folder = self.project("sanitized", body="", extra="")  # a layer that runs needs tensors
        self.build(folder, "-DCMAKE_CXX_FLAGS=-fsanitize=address")
        manifest = json.loads((self.components(folder) / "tiny.nexuml.json").read_text())
        self.assertIn("sanitizer-address", manifest["abi"]["tag"])
        self.assertEqual([entry["name"] for entry in manifest["scenarios"]], ["tiny-demo"])
        validated = subprocess.run(["ctest", "--test-dir", folder / "build", "--output-on-failure"],
                                   capture_output=True, text=True)
        self.assertEqual(validated.returncode, 0, validated.stdout)
        self.assertIn('name="opens and registers what it declares"', (folder / "build/tiny-validate.xml").read_text())
        # A host without the runtime says so, before the library is opened.
        self.assertIn("E307", self.nexuml_run("doctor", "--root", folder / "build/components", expect=3))

    def test_what_the_sanitizer_finds_while_the_library_registers_fails_the_build(self):
        folder = self.project("overrun", 'static volatile int outside = 4; static int* four = new int[4];\n'
                              '  registry.add<Gain>("gain", four[outside] == 77 ? "2" : "1");')
        told = self.build(folder, "-DCMAKE_CXX_FLAGS=-fsanitize=address", fails=True)
        self.assertIn("heap-buffer-overflow", told)
        self.assertIn("E405", told)

    def test_a_library_that_leaks_while_it_registers_still_builds_with_a_sanitizer(self):
        # Leaks of the run that writes the manifest are nobody's: LibTorch has some of its own. Through an emulator the
        # library registers in the host's own process, which ends in the ordinary way.
        emulator = self.folder / "plain_emulator"
        emulator.write_text('#!/bin/sh\nexec "$@"\n')
        emulator.chmod(0o755)
        for name, more in (("leaking", ()), ("leaking_in_process", (f"-DCMAKE_CROSSCOMPILING_EMULATOR={emulator}",))):
            with self.subTest(name):
                folder = self.project(name, 'static char* volatile kept = new char[4096];\n  kept = new char[4096];\n'
                                      '  kept = nullptr;\n  registry.add<Gain>("gain", "1");')
                self.build(folder, "-DCMAKE_CXX_FLAGS=-fsanitize=address", *more)
                manifest = json.loads((self.components(folder) / "tiny.nexuml.json").read_text())
                self.assertIn("gain", [entry["name"] for entry in manifest["provides"]])

    def test_installing_again_replaces_files_by_new_ones_and_changes_none_in_place(self):
        folder = self.project("installed")
        self.build(folder)
        place = self.folder / "installed prefix"
        library = place / "lib/nexuml/components/org.example.tiny/libtiny.so"
        entry = place / "share/nexuml/entry_points.d/tiny.nexuml.json"
        install = (CMAKE, "--install", folder / "build", "--prefix", place)
        run(*install)
        self.assertIn("gain", self.nexuml_run("registry", "list", "--prefix", place))
        first = {path: (path.stat().st_ino, path.read_bytes()) for path in (library, entry)}
        for number, path in enumerate(first):
            os.link(path, self.folder / f"held-{number}")  # as a process that has it open
        source = folder / "library.cpp"
        source.write_text(source.read_text().replace('"gain", "1"', '"other_gain", "1"'))
        run(CMAKE, "--build", folder / "build")
        run(*install)
        for number, (path, (inode, content)) in enumerate(first.items()):
            self.assertNotEqual(path.stat().st_ino, inode, path)
            self.assertEqual((self.folder / f"held-{number}").read_bytes(), content, path)
        self.assertNotEqual(library.read_bytes(), first[library][1])
        self.assertIn("other_gain", self.nexuml_run("registry", "list", "--prefix", place))
        self.assertEqual(list(place.rglob("*.partial")), [])

    def test_a_build_for_another_machine_runs_the_library_through_the_emulator(self):
        emulator = self.folder / "emulator"
        emulator.write_text('#!/bin/sh\necho "$@" >>"$0.log"\nexec "$@"\n')
        emulator.chmod(0o755)
        folder = self.project("emulated")
        self.build(folder, f"-DCMAKE_CROSSCOMPILING_EMULATOR={emulator}")
        calls = Path(f"{emulator}.log").read_text()
        self.assertIn("__manifest", calls)
        self.assertIn("--in-process", calls)  # nothing of it executes itself outside the emulator
        manifest = json.loads((self.components(folder) / "tiny.nexuml.json").read_text())
        self.assertIn("gain", [entry["name"] for entry in manifest["provides"]])
        subprocess.run(["ctest", "--test-dir", folder / "build"], capture_output=True)
        self.assertIn(" validate ", Path(f"{emulator}.log").read_text())

    def test_a_manifest_that_stands_ready_is_taken_and_checked_by_the_first_load(self):
        first = self.project("first")
        self.build(first)
        ready = self.components(first) / "tiny.nexuml.json"
        # Nothing may be run: an emulator that fails would fail the build.
        options = (f"-DREADY_MANIFEST={ready}", "-DCMAKE_CROSSCOMPILING_EMULATOR=/bin/false")
        same = self.project("same")
        self.build(same, *options)
        self.assertEqual((self.components(same) / "tiny.nexuml.json").read_text(), ready.read_text())
        self.assertIn("The factor.", self.nexuml_run("inspect", "gain", "--root", same / "build/components"))
        self.assertIn("no problems", self.nexuml_run("doctor", "--root", same / "build/components"))

        other = self.project("other", extra=LAYER + LAYER.replace("Gain", "Loss"),
                             body='registry.add<tiny::Loss>("loss", "1");')
        self.build(other, *options)
        told = self.nexuml_run("doctor", "--root", other / "build/components", expect=3)
        self.assertIn("E502", told)
        self.assertIn("registered but not declared: layer/loss@1", told)

    def test_a_test_program_of_the_author_links_the_testing_part(self):
        folder = self.folder / "unit_tests"
        folder.mkdir()
        (folder / "CMakeLists.txt").write_text(
            "cmake_minimum_required(VERSION 3.25)\nproject(unit_tests LANGUAGES CXX)\n"
            "find_package(NexuML CONFIG REQUIRED COMPONENTS Testing)\n"
            "add_executable(unit_tests main.cpp)\ntarget_link_libraries(unit_tests PRIVATE NexuML::Testing)\n")
        (folder / "main.cpp").write_text(
            "#include <nexuml/testing/round_trips.h>\n#include <cmath>\n#include <iostream>\nnamespace tiny {\n" + LAYER +
            "\n}\nint main() {\n  const auto kept = nexuml::testing::round_trips(tiny::Gain{.factor = 3});\n"
            "  const auto refused = nexuml::testing::round_trips(tiny::Gain{.factor = -3});\n"
            '  std::cout << kept << ", " << refused << "\\n";\n  return kept && !refused ? 0 : 1;\n}\n')
        self.build(folder)
        told = run(folder / "build" / "unit_tests")
        self.assertIn("the same, ", told)
        self.assertIn("factor", told)

    @unittest.skipUnless(shutil.which("clang++"), "there is no clang++ here")
    def test_errors_and_casts_cross_the_border_between_clang_and_the_host(self):
        # Not tried here: layers and datasets, which need LibTorch's headers. libc++ never gets this far (E302).
        folder = self.project("clang", extra=LAYER + CROSSING, body="""registry.add<Gain>("gain", "1");
  registry.add_scenario<nexuml::NoParameters>("tiny-throws", tiny::throwing);
  registry.add_scenario<nexuml::NoParameters>("tiny-catches", tiny::catching);""")
        self.build(folder, "-DCMAKE_CXX_COMPILER=clang++")
        roots = ("--root", folder / "build/components")
        self.assertIn("clang", self.components(folder).joinpath("libtiny.so").read_bytes().decode("latin-1"))
        self.assertIn("The factor.", self.nexuml_run("inspect", "gain", *roots))
        thrown = self.nexuml_run("resolve", "tiny-throws", *roots, expect=1)
        self.assertIn("error E831: thrown by the library", thrown)
        caught = self.nexuml_run("resolve", "tiny-catches", *roots, expect=1)
        self.assertIn("error E831: the library caught E", caught)
        # The place of a registration is read by the host, too.
        twice = self.project("clang_twice", 'registry.add<Gain>("a", "1");\n  registry.add<Gain>("b", "1");')
        told = self.build(twice, "-DCMAKE_CXX_COMPILER=clang++", fails=True)
        self.assertRegex(told, r"at library\.cpp:\d+, again by .* at library\.cpp:\d+")

    def test_a_mistake_in_the_registration_fails_the_build_with_its_code(self):
        for name, body, code in (("throwing", 'throw std::runtime_error("no licence");', "E407"),
                                 ("twice", 'registry.add<Gain>("a", "1"); registry.add<Gain>("b", "1");', "E501"),
                                 ("leaving", "std::exit(3);", "E405")):
            with self.subTest(name):
                told = self.build(self.project(name, body), fails=True)
                self.assertIn(code, told)

    def test_one_type_registered_again_under_its_identity_is_declared_once_and_usable(self):
        folder = self.project("again", 'registry.add<Gain>("gain", "1"); registry.add<Gain>("gain", "1");')
        self.build(folder)
        manifest = json.loads((self.components(folder) / "tiny.nexuml.json").read_text())
        self.assertEqual([entry["name"] for entry in manifest["provides"]], ["gain"])
        told = self.nexuml_run("inspect", "gain", "--root", folder / "build/components")
        self.assertIn("state declared", told)
        self.assertIn("The factor.", told)

    def test_a_rule_that_no_part_of_a_field_can_keep_fails_the_build_and_names_the_field(self):
        told = self.build(self.project("bound", extra=LAYER.replace("double factor = 2.0", "std::string factor")), fails=True)
        self.assertIn("E407", told)
        self.assertIn("'factor' has a bound, which speaks of numbers; it is text", told)

    def test_what_cmake_is_told_wrong_is_refused_when_it_configures(self):
        for name, line, words in (
                ("no_id", "nexuml_add_library(tiny VERSION 1 SOURCES library.cpp)", "ID is missing"),
                ("bad_id", "nexuml_add_library(tiny ID a/b VERSION 1 SOURCES library.cpp)", "such as org.example.acme; found a/b"),
                ("no_dots", "nexuml_add_library(tiny ID tiny VERSION 1 SOURCES library.cpp)", "such as org.example.acme; found tiny"),
                ("bad_version", "nexuml_add_library(tiny ID a.b VERSION abc SOURCES library.cpp)", "VERSION starts with a digit"),
                ("scenarios", "nexuml_add_library(tiny ID a.b VERSION 1 SOURCES library.cpp SCENARIOS scenarios/none.yaml)",
                 "nexuml_add_library(tiny): there is no file"),
                ("requires", 'nexuml_add_library(tiny ID a.b VERSION 1 SOURCES library.cpp REQUIRES "org.b >>1")', "REQUIRES is an id"),
                ("requires_split", "nexuml_add_library(tiny ID a.b VERSION 1 SOURCES library.cpp REQUIRES org.b >=1)", "found >=1"),
                ("one_id", "nexuml_add_library(tiny ID a.b VERSION 1 SOURCES library.cpp WITHOUT_TENSORS)\n"
                 "nexuml_add_library(other ID a.b VERSION 1 SOURCES library.cpp WITHOUT_TENSORS)",
                 "nexuml_add_library(other): the library tiny has the ID a.b already"),
                ("install", "nexuml_install_library(elsewhere)", "was not made by nexuml_add_library"),
                ("tests", "nexuml_add_library_tests(elsewhere)", "was not made by nexuml_add_library")):
            with self.subTest(name):
                folder = self.project(name)
                (folder / "CMakeLists.txt").write_text(PROJECT[:PROJECT.index("nexuml_add_library")] + line + "\n")
                told = run(CMAKE, "-G", "Ninja", "-S", folder, "-B", folder / "build",
                           f"-DCMAKE_PREFIX_PATH={self.prefix}", expect=1)
                self.assertIn(words, " ".join(told.split()))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
