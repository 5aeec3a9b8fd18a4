"""The code in docs/author-guide.md, taken from the page and put where the page says: it compiles and does what is said.

usage: author_guide_test.py CMAKE SOURCE_TREE BUILD_TREE
"""

import os
import re
import shutil
import sys
import unittest
from pathlib import Path

from installed import InstalledTest, run

CMAKE, SOURCE, BUILD = sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3])
GUIDE = (SOURCE / "docs/author-guide.md").read_text()


def blocks(section, language):
    """The code blocks of a language in the section with this number."""
    text = re.search(rf"^## {section}\. .*?(?=^## |\Z)", GUIDE, re.MULTILINE | re.DOTALL).group()
    return re.findall(rf"^```{language}\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)


def replace_once(path, pattern, text):
    changed, count = re.subn(pattern, lambda _: text, path.read_text(), flags=re.MULTILINE | re.DOTALL)
    assert count == 1, f"{pattern} stands {count} times in {path}"
    path.write_text(changed)


class AuthorGuide(InstalledTest):
    cmake, build_tree = CMAKE, BUILD

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.environment["PATH"] = f"{cls.prefix / 'bin'}{os.pathsep}{os.environ['PATH']}"
        # The first commands of the page, up to the place of NexuML.
        commands = blocks(1, "sh")[0].replace("CMAKE_PREFIX_PATH=PREFIX", f"CMAKE_PREFIX_PATH='{cls.prefix}'")
        cls.first_commands = commands.splitlines()
        cls.project = cls.folder / "acme"

    def shell(self, commands, cwd, expect=0):
        return run("bash", "-e", "-c", commands, expect=expect, cwd=cwd, env=self.environment)

    def test_1_the_project_is_written_and_used_by_the_commands_of_section_1(self):
        new, enter, *build = self.first_commands
        self.assertEqual(enter, "cd acme")
        self.shell(new, self.folder)
        # What CI has compiled before is not compiled again.
        if shutil.which("ccache"):
            build[0] += " -DCMAKE_CXX_COMPILER_LAUNCHER=ccache"
        self.shell("\n".join(build), self.project)
        told = self.shell(blocks(1, "sh")[1], self.project)
        self.assertIn("smooth", told)
        self.assertIn("scale", told)
        for name in ("libacme.so", "acme.nexuml.json", "acme.nexuml-schemas.json"):
            self.assertTrue((self.project / "build/components/org.example.acme" / name).exists(), name)

    def test_2_the_layer_of_section_2_builds_and_gives_the_numbers_of_section_6(self):
        header, source = blocks(2, "cpp")
        replace_once(self.project / "src/smooth.h", r"^struct Smooth \{.*?^\};\n", header)
        replace_once(self.project / "src/smooth.cpp", r"^namespace acme \{.*^\}  // namespace acme\n",
                     "namespace acme {\n" + source + "}  // namespace acme\n")
        run(CMAKE, "--build", self.project / "build")
        told = self.shell("nexuml-run inspect smooth --root build/components", self.project)
        self.assertIn("Samples in the window; odd.", told)
        (self.project / "even.yaml").write_text(
            (self.project / "scenarios/acme-demo.yaml").read_text().replace(
                "type: smooth, version: '1', params: {}", "type: smooth, version: '1', params: {window: 4}"))
        told = self.shell("nexuml-run check even.yaml --root build/components", self.project, expect=1)
        self.assertIn("the window needs an odd number of samples", told)

        python = os.environ.get("NEXUML_TEST_PYTHON")
        if not python:
            self.skipTest("NEXUML_TEST_PYTHON names no Python with numpy and safetensors")
        (self.project / "cases").mkdir()
        run(python, "-c", blocks(6, "python")[0], cwd=self.project)
        told = self.shell("nexuml-run try cases --root build/components", self.project)
        self.assertIn("1", told)
        replace_once(self.project / "CMakeLists.txt", r"^nexuml_add_library_tests\(acme\)\n",
                     "nexuml_add_library_tests(acme CASES cases)\n")
        run(CMAKE, "--build", self.project / "build")
        run("ctest", "--test-dir", self.project / "build", "--output-on-failure", env=self.environment)

    def test_3_a_unit_test_of_its_own_is_built_as_section_6_says(self):
        (self.project / "tests").mkdir()
        (self.project / "tests/smooth_test.cpp").write_text(blocks(6, "cpp")[0])
        with (self.project / "CMakeLists.txt").open("a") as lists:
            lists.write(blocks(6, "cmake")[0])
        run(CMAKE, "--build", self.project / "build", "--target", "acme-tests")
        run(self.project / "build/acme-tests", env=self.environment)

    def test_4_the_registration_of_section_4_is_the_one_of_the_example(self):
        # It names a scenario function, which only a library with one can compile: the calls are those of the SDK.
        example = (SOURCE / "examples/acme_signal/src/library.cpp").read_text()
        for call in re.findall(r"registry\.(\w+)<", blocks(4, "cpp")[0]):
            self.assertIn(f"registry.{call}<", example)

    def test_5_it_is_installed_and_listed_as_section_7_says(self):
        installed = self.folder / "opt acme"
        commands = blocks(7, "sh")[0].replace("/opt/acme", f"'{installed}'")
        self.assertIn("smooth", self.shell(commands, self.project))

    def test_6_every_option_and_command_that_the_page_names_exists(self):
        common = run(self.prefix / "bin/nexuml-run", "--help", env=self.environment)
        told = {}
        for command in sorted(set(re.findall(r"nexuml-run ((?:registry list|new library|[a-z-]+))\b", GUIDE))):
            told[command] = run(self.prefix / "bin/nexuml-run", *command.split(), "--help", env=self.environment)
        for line in re.findall(r"nexuml-run ([^`\n#]*)", GUIDE):
            command = next((c for c in told if line.startswith(c)), None)
            for option in re.findall(r"(?<!\S)(--[a-z-]+)", line):
                self.assertIn(option, told.get(command, "") + common, line)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
