"""What a stranger does with an installed NexuML: builds a library against it, drops it into a root, trains, removes it.

The installation is moved before it is used, and the build tree is hidden while it is: nothing may point back.

usage: stranger_test.py CMAKE SOURCE_TREE BUILD_TREE
"""

import contextlib
import json
import shutil
import sys
import tempfile
import unittest
from pathlib import Path

from installed import configure, run

CMAKE, SOURCE, BUILD = sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3])
HIDDEN = ".hidden-by-stranger-test"


def restore_build_tree():
    for name in ("bin", "lib"):
        hidden = BUILD / (name + HIDDEN)
        if hidden.exists():
            hidden.rename(BUILD / name)


@contextlib.contextmanager
def hidden_build_tree():
    try:
        for name in ("bin", "lib"):
            (BUILD / name).rename(BUILD / (name + HIDDEN))
        yield
    finally:
        restore_build_tree()


def build(name, folder, prefix):
    """Copies an example away from the tree, so that it finds nothing but the installation, and builds it."""
    shutil.copytree(SOURCE / "examples" / name, folder / name, ignore=shutil.ignore_patterns("build"))
    configure(CMAKE, folder / name, folder / name / "build", prefix)
    run(CMAKE, "--build", folder / name / "build")
    return folder / name / "build"


class Stranger(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        restore_build_tree()  # of a run that was killed
        cls.folder = Path(tempfile.mkdtemp(prefix="nexuml-stranger-"))
        first = cls.folder / "first"
        run(CMAKE, "--install", BUILD, "--prefix", first)
        cls.prefix = cls.folder / "moved here"
        first.rename(cls.prefix)
        cls.host = cls.prefix / "bin" / "nexuml-run"
        cls.environment = {"XDG_CONFIG_HOME": str(cls.folder / "config")}

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.folder)

    def nexuml_run(self, *arguments, expect=0):
        return run(self.host, *arguments, expect=expect, cwd=self.folder, env=self.environment)

    def test_1_the_moved_host_works_without_its_build_tree(self):
        with hidden_build_tree():
            listed = json.loads(self.nexuml_run("registry", "list", "--json"))
            self.assertEqual(listed["diagnostics"], [])
            self.assertIn("LinearEncoder", [entry["name"] for entry in listed["layers"]])
            self.assertIn("no problems", self.nexuml_run("doctor"))

    def test_2_a_library_is_built_dropped_in_trained_and_removed(self):
        with hidden_build_tree():
            built = build("acme_signal", self.folder, self.prefix)
            root = self.folder / "root"
            manifest = json.loads((built / "components/org.acme.signal/acme_signal.nexuml.json").read_text())
            self.assertEqual(manifest["serializers"], ["acme.Window"])
            shutil.copytree(built / "components", root)
            shutil.rmtree(built)  # the component folder needs nothing of it
            listed = json.loads(self.nexuml_run("registry", "list", "--json", "--root", root))
            provided = {(kind, entry["name"]) for kind in ("layers", "data", "eval", "loaders", "scenarios", "targets")
                        for entry in listed[kind] if entry["library"] == "org.acme.signal"}
            self.assertEqual(provided, {
                ("layers", "AcmeMovingAverage"), ("data", "acme_tones"), ("eval", "acme_class_share"),
                ("loaders", "acme_in_order"), ("targets", "acme.modules:SoftClip"),
                ("scenarios", "acme-tones"), ("scenarios", "acme-tones-from-code")})

            for scenario, more in (("acme-tones", []), ("acme-tones-from-code", ["-P", "classes=3"])):
                folder = self.folder / "runs" / scenario
                self.nexuml_run("train", scenario, *more, "--root", root, "--run-dir", folder, "--max-epochs", "3")
                summary = json.loads((folder / "summary.json").read_text())
                self.assertEqual(summary["epochs"], 3)
                self.assertIn("test/loss", summary)

            shutil.rmtree(root / "org.acme.signal")
            self.assertNotIn("acme", self.nexuml_run("registry", "list", "--root", root))
            self.assertIn("E730", self.nexuml_run("train", "acme-tones", "--root", root, expect=1))

    def test_5_a_new_library_builds_tests_validates_and_installs_untouched(self):
        with hidden_build_tree():
            project = self.folder / "fresh"
            self.nexuml_run("new", "library", project, "--layer", "smooth", "--data", "tones", "--eval", "mean_level",
                            "--loader", "in_order", "--target", "SoftClip")
            configure(CMAKE, project, project / "build", self.prefix)
            run(CMAKE, "--build", project / "build")
            run("ctest", "--test-dir", project / "build", "--output-on-failure", env=self.environment)
            self.assertTrue((project / "build" / "fresh-validate.xml").read_text().startswith("<?xml"))
            report = json.loads(self.nexuml_run("validate", project / "build/components/org.example.fresh", "--json"))
            self.assertEqual([c for c in report["checks"] if c["status"] not in ("passed", "skipped")], [])
            subjects = {c["subject"] for c in report["checks"]}
            self.assertLessEqual({"layer/smooth@1", "data_source/tones@1", "scenario fresh-demo"}, subjects)
            run(CMAKE, "--install", project / "build", "--prefix", self.folder / "elsewhere")
            self.assertIn("smooth", self.nexuml_run("registry", "list", "layers", "--prefix", self.folder / "elsewhere"))

    def test_3_a_program_embeds_the_runtime(self):
        with hidden_build_tree():
            built = build("embed", self.folder, self.prefix)
            self.assertIn("bounded: [2, 4]", run(built / "embed", cwd=self.folder, env=self.environment))

    def test_3b_a_training_written_by_hand_goes_on_from_its_checkpoint_as_if_it_had_not_stopped(self):
        with hidden_build_tree():
            program = build("train_by_hand", self.folder, self.prefix) / "train_by_hand"
            train = lambda folder, epochs: run(program, folder, str(epochs), cwd=self.folder, env=self.environment)
            whole = train("whole", 4)
            train("stopped", 2)
            self.assertEqual(whole.splitlines()[2:], train("stopped", 4).splitlines())
            for name in ("model.safetensors", "trainer.safetensors"):
                self.assertEqual((self.folder / "whole/3" / name).read_bytes(),
                                 (self.folder / "stopped/3" / name).read_bytes())
            verified = self.nexuml_run("checkpoint", "verify", self.folder / "stopped/3")
            self.assertIn("stopped/3", verified)

    def test_4_another_libtorch_is_refused_before_anything_is_compiled(self):
        other = self.folder / "other_libtorch"
        (other / "lib").mkdir(parents=True)
        (other / "lib" / "libtorch_cpu.so").touch()
        (other / "include/torch/headeronly").mkdir(parents=True)
        (other / "include/torch/headeronly/version.h").write_text(
            "#define TORCH_VERSION_MAJOR 2\n#define TORCH_VERSION_MINOR 7\n#define TORCH_VERSION_PATCH 0\n")
        shutil.copytree(SOURCE / "examples/embed", self.folder / "refused")
        told = run(CMAKE, "-G", "Ninja", "-S", self.folder / "refused", "-B", self.folder / "refused/build",
                   f"-DCMAKE_PREFIX_PATH={self.prefix}", f"-DLIBTORCH_ROOT={other}", expect=1)
        self.assertIn("2.7.0", told)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
