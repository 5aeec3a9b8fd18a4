"""What scripts/cross-windows built: what it needs of a Windows, and, where Wine is there, that it lists and loads.

usage: windows_test.py BUILD_TREE
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

BUILD = Path(sys.argv[1]).resolve()
HOST = BUILD / "bin" / "nexuml-run.exe"
COMPONENT = BUILD / "roots" / "test.windows_good" / "windows_good.dll"
SYSTEM = {"kernel32.dll", "msvcrt.dll", "ucrtbase.dll", "bcrypt.dll", "shlwapi.dll", "advapi32.dll"}
BROUGHT = {"libstdc++-6.dll", "libgcc_s_seh-1.dll", "libwinpthread-1.dll", "libnexuml-core.dll"}
WINE = shutil.which("wine64") or shutil.which("wine") or next(
    (path for path in ("/usr/lib/wine/wine64",) if os.access(path, os.X_OK)), None)


def objdump(path):
    return subprocess.run(["x86_64-w64-mingw32-objdump", "-p", path], capture_output=True, text=True, check=True).stdout


class WhatWasBuilt(unittest.TestCase):
    def test_everything_needs_windows_itself_and_what_lies_beside_it(self):
        for path in (HOST, BUILD / "bin" / "libnexuml-core.dll", COMPONENT):
            told = objdump(path)
            self.assertIn("pei-x86-64", told)
            needed = {line.split()[-1].lower() for line in told.splitlines() if "DLL Name:" in line}
            self.assertLessEqual(needed, SYSTEM | BROUGHT | {f"api-ms-win-{name}" for name in needed})
            for name in needed & BROUGHT:
                self.assertTrue((BUILD / "bin" / name).exists(), name)

    def test_the_component_shows_its_entry_and_carries_its_note(self):
        self.assertIn("nexuml_library_entry_v1", objdump(COMPONENT))
        self.assertIn(b'"id":"test.windows_good"', COMPONENT.read_bytes())


@unittest.skipUnless(WINE, "Wine is not installed")
class UnderWine(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.scratch = tempfile.TemporaryDirectory()
        cls.environment = {**os.environ, "WINEPREFIX": cls.scratch.name + "/wine", "WINEDEBUG": "-all",
                           "XDG_CONFIG_HOME": cls.scratch.name + "/config", "DISPLAY": "",
                           # An import of the host lies beside it; a component finds it there, too.
                           "WINEPATH": str(BUILD / "bin")}

    @classmethod
    def tearDownClass(cls):
        cls.scratch.cleanup()

    def nexuml_run(self, *arguments, expect=0):
        result = subprocess.run([WINE, HOST, *map(str, arguments)], capture_output=True, text=True, timeout=120,
                                env=self.environment, cwd=self.scratch.name)
        self.assertEqual(result.returncode, expect, result.stdout + result.stderr)
        return result.stdout

    def test_the_library_is_listed_inspected_loaded_and_asked_for_its_scenario(self):
        root = BUILD / "roots"
        listed = json.loads(self.nexuml_run("registry", "list", "--json", "--root", root))
        self.assertEqual([entry["name"] for entry in listed["layers"]], ["gain"])
        self.assertEqual(listed["diagnostics"], [])
        self.assertIn("The factor.", self.nexuml_run("inspect", "gain", "--root", root))
        # Its scenario is a function in the library. What that names lies in libraries with tensors, which are not here:
        # the optimizer, the scheduler and the loader. Nothing else is wrong.
        resolved = json.loads(self.nexuml_run("resolve", "good-demo", "--json", "--root", root, expect=1))
        self.assertEqual(sorted(entry["code"] for entry in resolved["diagnostics"]), ["E730", "E733", "E733"])

    def test_what_the_library_registers_is_compared_with_its_manifest(self):
        folder = Path(self.scratch.name) / "promises" / "more"
        shutil.copytree(COMPONENT.parent, folder)
        path = folder / "windows_good.nexuml.json"
        manifest = json.loads(path.read_text())
        manifest["provides"].append({"kind": "layer", "name": "never_registered", "version": "1"})
        path.write_text(json.dumps(manifest))
        told = self.nexuml_run("resolve", "good-demo", "--json", "--root", folder.parent, expect=1)
        self.assertIn("declared but not registered: layer/never_registered@1", told)

    def test_a_library_for_another_system_is_one_line_and_a_broken_one_an_error(self):
        root = Path(self.scratch.name) / "root"
        (root / "cut").mkdir(parents=True)
        shutil.copy(COMPONENT.with_name("windows_good.nexuml.json"), root / "cut")
        (root / "cut" / "windows_good.dll").write_bytes(COMPONENT.read_bytes()[:4000])
        (root / "linux").mkdir()
        manifest = json.loads(COMPONENT.with_name("windows_good.nexuml.json").read_text())
        manifest["library"].update(id="test.linux", path="libx.so")
        manifest["abi"]["tag"] = "x86_64-linux-gnu;libstdcxx-cxx11"
        (root / "linux" / "x.nexuml.json").write_text(json.dumps(manifest))
        listed = json.loads(self.nexuml_run("registry", "list", "--json", "--root", root))
        self.assertEqual(sorted(entry["code"] for entry in listed["diagnostics"]), ["E202", "W203"])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
