#!/usr/bin/env python3
"""check_codes.py takes a code in a string literal of a test for its test, and nothing else."""

import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

SCRIPT = Path(__file__).with_name("check_codes.py")
PAGE = "| code | meaning |\n| --- | --- |\n| E101, W102 | a file |\n"


class CheckCodes(unittest.TestCase):
    def told(self, name, text):
        """What is said of a tree whose sources report E101 and whose tests are one file."""
        with tempfile.TemporaryDirectory() as root:
            files = {"docs/errors.md": PAGE, "core/a.cpp": 'error("E101", "a file");\n// W102 is told elsewhere\n', f"tests/{name}": text}
            for path, content in files.items():
                (Path(root) / path).parent.mkdir(parents=True, exist_ok=True)
                (Path(root) / path).write_text(content, encoding="utf-8")
            done = subprocess.run([sys.executable, SCRIPT, root], capture_output=True, text=True, check=False)
            self.assertEqual(done.returncode, 1 if done.stdout.strip() else 0, done.stderr)
            return done.stdout

    def test_a_literal_of_a_test_pins_its_code(self):
        for name, text in (("a_test.cpp", 'CHECK(code == "E101");'),
                           ("a_test.cpp", "CHECK(f(10'000, \"E101\", 20'000));"),
                           ("a_test.cpp", "CHECK(f('\"', \"E101\", '\\''));"),
                           ("a_test.cpp", 'CHECK(text == R"(a "quoted" E101)");'),
                           ("a_test.cpp", 'TEST_CASE("it is told") { CHECK(code == "E101"); }'),
                           ("a_test.py", 'self.assertIn("E101", told)\n'),
                           ("a.expected", "error: E101\n")):
            with self.subTest(text):
                self.assertEqual(self.told(name, text).strip(), "")

    def test_comments_and_names_of_tests_pin_nothing(self):
        for name, text in (("a_test.cpp", "// E101 is told\n"),
                           ("a_test.cpp", '/* "E101" */ CHECK(code == "E999");'),
                           ("a_test.cpp", 'CHECK("a" == b);  // not "E101"\n'),
                           ("a_test.cpp", 'TEST_CASE(\n    "E101 is told "\n    "E101") {}'),
                           ("a_test.cpp", 'INFO("E101");'),
                           ("a_test.cpp", "CHECK(code == E101);"),
                           ("a_test.cpp", 'CHECK(code == "XE1012");'),
                           ("a_test.py", '"""E101."""\n# "E101"\n'),
                           ("a_test.py", 'def f():\n    """E101."""\n'),
                           ("a.md", "E101\n")):
            with self.subTest(text):
                self.assertIn("E101 has no test", self.told(name, text))

    def test_a_code_that_only_comments_of_the_sources_name_needs_none(self):
        self.assertNotIn("W102", self.told("a_test.cpp", ""))


if __name__ == "__main__":
    unittest.main()
