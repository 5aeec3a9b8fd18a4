"""Libraries that were built with past releases run in today's host, or are refused for the one reason that allows it.

usage: released_libraries_test.py NEXUML_RUN RELEASES
"""

import json
import os
import platform
import subprocess
import sys
import tarfile
import tempfile
import unittest
from pathlib import Path

HOST, RELEASES = sys.argv[1], Path(sys.argv[2])
MACHINE = f"{platform.machine()}-linux-gnu"


def minor(version):
    return version.split(".")[:2]


class ReleasedLibraries(unittest.TestCase):
    def setUp(self):
        self.scratch = tempfile.TemporaryDirectory()
        self.folder = Path(self.scratch.name)

    def tearDown(self):
        self.scratch.cleanup()

    def nexuml_run(self, *arguments, expect=0):
        environment = {k: v for k, v in os.environ.items() if not k.startswith("NEXUML_COMPONENT")}
        result = subprocess.run([HOST, *map(str, arguments)], capture_output=True, text=True, cwd=self.folder,
                                env={**environment, "XDG_CONFIG_HOME": str(self.folder / "config")})
        self.assertEqual(result.returncode, expect, result.stdout + result.stderr)
        return result.stdout + result.stderr

    def host_libtorch(self):
        return json.loads(self.nexuml_run("doctor", "--json", "--no-probe"))["libtorch"]["version"]

    def each(self, name):
        """The component folders of each release, unpacked."""
        found = sorted(RELEASES.glob(f"*/{MACHINE}/{name}.tar.xz"))
        if not found:
            self.skipTest(f"no release was recorded on {MACHINE}")
        for archive in found:
            root = self.folder / archive.parent.parent.name
            root.mkdir(exist_ok=True)
            with tarfile.open(archive) as packed:
                packed.extractall(root)
            with self.subTest(release=root.name):
                yield root

    def summary(self, scenario, root, *more):
        run = self.folder / "runs" / f"{scenario}-{root.name}"
        self.nexuml_run("train", scenario, *more, "--root", root, "--run-dir", run, "--max-epochs", "1")
        return json.loads((run / "summary.json").read_text())

    def test_a_release_is_recorded(self):
        self.assertTrue(list(RELEASES.glob("*/x86_64-linux-gnu/sources.txt")))

    def test_a_scenario_from_code_runs_beside_any_libtorch(self):
        for root in self.each("scenario"):
            resolved = json.loads(self.nexuml_run("resolve", "released-autoencoder", "-P", "width=6", "--root", root, "--json"))
            self.assertIn('"output_dim": 3', json.dumps(resolved))
            self.assertIn("E713", self.nexuml_run("resolve", "released-autoencoder", "-P", "width=1", "--root", root, expect=1))
            self.assertIn("test/loss", self.summary("released-autoencoder", root, "-P", "width=6"))

    def test_components_of_every_kind_keep_their_contract_and_train(self):
        for root in self.each("components"):
            manifest = json.loads(next(root.glob("*/*.nexuml.json")).read_text())
            built_for = next(part[len("torch-"):] for part in manifest["abi"]["tag"].split(";") if part.startswith("torch-"))
            if minor(built_for) != minor(self.host_libtorch()):
                refused = self.nexuml_run("train", "released_components-demo", "--root", root, expect=1)
                self.assertIn("E303", self.nexuml_run("doctor", "--root", root, expect=3))
                self.assertIn(f"built for LibTorch {built_for}, this host has {self.host_libtorch()}", refused)
                continue
            report = json.loads(self.nexuml_run("validate", root, "--json"))
            self.assertEqual([c for c in report["checks"] if c["status"] not in ("passed", "skipped")], [])
            passed = {check["subject"] for check in report["checks"] if check["status"] == "passed"}
            self.assertLessEqual({"layer/gain@1", "data_source/tones@1", "eval_algorithm/mean@1",
                                  "loader_backend/in_order@1", "scenario released_components-demo"}, passed)
            self.assertIn("test/loss", self.summary("released_components-demo", root))

    def test_the_same_library_for_another_libtorch_is_refused_with_both_versions_before_it_is_opened(self):
        for root in self.each("components"):
            for path in root.glob("*/*.nexuml.json"):
                manifest = json.loads(path.read_text())
                manifest["abi"]["tag"] = ";".join("torch-2.1.0" if part.startswith("torch-") else part
                                                  for part in manifest["abi"]["tag"].split(";"))
                path.write_text(json.dumps(manifest))
            told = self.nexuml_run("doctor", "--root", root, expect=3)
            self.assertIn(f"E303: built for LibTorch 2.1.0, this host has {self.host_libtorch()}", " ".join(told.split()))
            self.assertIn("rebuild the library with this host's SDK", told)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
