#!/usr/bin/env python3
"""FindLibTorch.cmake: which LibTorch is taken, in what order, and which are refused. Works on empty stand-ins."""

import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

MODULES = Path(__file__).resolve().parents[2] / "cmake"
PROJECT = f"""
cmake_minimum_required(VERSION 3.25)
project(uses_libtorch LANGUAGES NONE)
list(APPEND CMAKE_MODULE_PATH "{MODULES.as_posix()}")
set_property(GLOBAL PROPERTY TARGET_SUPPORTS_SHARED_LIBS TRUE)
find_package(LibTorch 2.6 REQUIRED)
message(STATUS "took ${{LibTorch_ROOT_DIR}} version ${{LibTorch_VERSION}}, ${{LibTorch_FLAVOUR}}")
"""


def stand_in(folder, version, header=True, abi=1):
    (folder / "lib").mkdir(parents=True)
    (folder / "lib" / "libtorch_cpu.so").touch()
    (folder / "lib" / "libc10.so").touch()
    (folder / "include" / "torch" / "headeronly").mkdir(parents=True)
    major, minor, patch = version.split(".")
    if header:
        (folder / "include" / "torch" / "headeronly" / "version.h").write_text(
            f"#define TORCH_VERSION_MAJOR {major}\n#define TORCH_VERSION_MINOR {minor}\n#define TORCH_VERSION_PATCH {patch}\n")
    else:
        (folder / "version.py").write_text(f"__version__ = '{version}+cpu'\n")
    config = folder / "share" / "cmake" / "Torch"
    config.mkdir(parents=True)
    (config / "TorchConfig.cmake").write_text(f'set(TORCH_CXX_FLAGS "-D_GLIBCXX_USE_CXX11_ABI={abi}")\n')
    return folder


class FindLibTorch(unittest.TestCase):
    def setUp(self):
        self.holder = tempfile.TemporaryDirectory()
        self.addCleanup(self.holder.cleanup)
        self.root = Path(self.holder.name).resolve()
        self.project = self.root / "project"
        self.project.mkdir()
        (self.project / "CMakeLists.txt").write_text(PROJECT)

    def configure(self, *arguments, **environment):
        clean = {k: v for k, v in os.environ.items() if k != "LIBTORCH_ROOT"}
        done = subprocess.run(["cmake", "-S", self.project, "-B", self.root / "build", *arguments],
                              capture_output=True, text=True, check=False, env={**clean, **environment})
        return done.returncode, " ".join((done.stdout + done.stderr).split())

    def assert_takes(self, folder, version, *arguments, flavour="cpu", **environment):
        code, output = self.configure(*arguments, **environment)
        self.assertEqual(code, 0, output)
        self.assertIn(f"took {folder} version {version}, {flavour}", output)

    def test_deps_of_the_source_tree(self):
        self.assert_takes(stand_in(self.project / ".deps" / "torch", "2.15.0"), "2.15.0")

    def test_the_devices_it_was_built_for_are_told_by_its_full_version_or_its_files(self):
        folder = stand_in(self.project / ".deps" / "torch", "2.15.0")
        (folder / "lib" / "libtorch_cuda.so").touch()
        self.assert_takes(folder, "2.15.0", flavour="cuda")
        (folder / "version.py").write_text("import typing\n__version__ = '2.15.0+cu132'\n")
        self.assert_takes(folder, "2.15.0", flavour="cu132")

    def test_a_named_root_comes_before_deps(self):
        stand_in(self.project / ".deps" / "torch", "2.15.0")
        other = stand_in(self.root / "other", "2.7.1")
        self.assert_takes(other, "2.7.1", LIBTORCH_ROOT=str(other))
        self.assert_takes(other, "2.7.1", f"-DLIBTORCH_ROOT={other}")

    def test_the_folder_above_a_torch_folder(self):
        self.assert_takes(stand_in(self.root / "site" / "torch", "2.8.0"), "2.8.0", LIBTORCH_ROOT=str(self.root / "site"))

    def test_the_version_of_a_wheel_without_version_header(self):
        self.assert_takes(stand_in(self.root / "old", "2.6.0", header=False), "2.6.0", LIBTORCH_ROOT=str(self.root / "old"))

    def test_an_older_one_is_named_and_refused(self):
        old = stand_in(self.root / "old", "2.5.1")
        code, output = self.configure(LIBTORCH_ROOT=str(old))
        self.assertNotEqual(code, 0)
        self.assertIn('Found unsuitable version "2.5.1"', output)
        self.assertIn(str(old), output)

    def test_a_named_root_without_libtorch_is_an_error(self):
        stand_in(self.project / ".deps" / "torch", "2.15.0")
        code, output = self.configure(LIBTORCH_ROOT=str(self.root / "nothing"))
        self.assertNotEqual(code, 0)
        self.assertIn("holds no LibTorch", output)

    def test_the_old_string_abi_is_refused(self):
        code, output = self.configure(LIBTORCH_ROOT=str(stand_in(self.root / "old", "2.6.0", abi=0)))
        self.assertNotEqual(code, 0)
        self.assertIn("_GLIBCXX_USE_CXX11_ABI=0", output)

    def test_the_torch_of_a_named_python(self):
        site = self.root / "site"
        torch = stand_in(site / "torch", "2.9.0")
        (torch / "__init__.py").touch()
        self.assert_takes(torch, "2.9.0", f"-DNEXUML_PYTHON={sys.executable}", PYTHONPATH=str(site))

    def test_a_torch_config_that_cmake_finds(self):
        torch = stand_in(self.root / "prefix", "2.10.0")
        self.assert_takes(torch, "2.10.0", f"-DCMAKE_PREFIX_PATH={torch}")

    def test_none_says_how_to_get_one(self):
        code, output = self.configure()
        self.assertNotEqual(code, 0)
        self.assertIn("pip install --target .deps", output)


if __name__ == "__main__":
    unittest.main()
