"""scripts/compare-libtorch, over two small folders that look like LibTorch.

usage: compare_libtorch_test.py COMPILER SOURCE_TREE
"""

import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

COMPILER, SOURCE = sys.argv[1], Path(sys.argv[2])


def shared_object(path, code, *flags):
    path.parent.mkdir(parents=True, exist_ok=True)
    subprocess.run([COMPILER, "-shared", "-fPIC", "-x", "c++", "-", "-o", path, *flags], input=code, text=True, check=True)


class CompareLibTorch(unittest.TestCase):
    def setUp(self):
        self.scratch = tempfile.TemporaryDirectory()
        self.folder = Path(self.scratch.name)
        kept = "namespace at { int kept(int a) { return a; } }\n"
        for name, extra in (("old", "namespace at { void renamed(int) {} void unused() {} }"),
                            ("new", "namespace at { void renamed(long) {} }")):
            shared_object(self.folder / name / "lib/libtorch_cpu.so", kept + extra)
            version = self.folder / name / "include/torch/headeronly/version.h"
            version.parent.mkdir(parents=True)
            version.write_text("#define TORCH_VERSION_MAJOR 2\n#define TORCH_VERSION_MINOR "
                               f"{6 if name == 'old' else 7}\n#define TORCH_VERSION_PATCH 0\n")

    def tearDown(self):
        self.scratch.cleanup()

    def compare(self, *arguments):
        return subprocess.run([sys.executable, SOURCE / "scripts/compare-libtorch", *map(str, arguments)],
                              capture_output=True, text=True)

    def library(self, code):
        path = self.folder / "libacme.so"
        shared_object(path, code)
        return path

    def test_a_symbol_that_is_used_and_vanishes_is_named(self):
        library = self.library("namespace at { int kept(int); void renamed(int); }\n"
                               "void use() { at::renamed(at::kept(1)); }")
        told = self.compare(self.folder / "old", self.folder / "new", library)
        self.assertEqual(told.returncode, 1, told.stderr)
        self.assertIn("libacme.so: uses 2 symbols of LibTorch, 1 of them vanish\n  at::renamed(int)\n", told.stdout)
        self.assertIn("2 of 3 symbols vanish in all, 1 are new", told.stdout)
        self.assertIn("old  2.6.0 at", told.stdout)
        self.assertIn("new  2.7.0 at", told.stdout)

    def test_symbols_that_vanish_and_are_not_used_break_nothing(self):
        library = self.library("namespace at { int kept(int); }\nint use() { return at::kept(1); }")
        told = self.compare(self.folder / "old", self.folder / "new", library)
        self.assertEqual(told.returncode, 0, told.stderr)
        self.assertIn("uses 1 symbols of LibTorch, 0 of them vanish", told.stdout)

    def test_a_folder_without_libtorch_is_a_bad_argument(self):
        told = self.compare(self.folder / "old", self.folder, self.folder / "old/lib/libtorch_cpu.so")
        self.assertEqual(told.returncode, 2)
        self.assertIn("holds no LibTorch", told.stderr)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
