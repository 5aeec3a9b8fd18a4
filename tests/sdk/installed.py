"""Commands as a stranger runs them: with nothing of this tree in the environment."""

import os
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path


def run(*command, expect=0, **options):
    """stdout and stderr of a command that has to give `expect`."""
    environment = {k: v for k, v in os.environ.items() if not k.startswith(("NEXUML_", "LIBTORCH", "LD_LIBRARY"))}
    environment.update(options.pop("env", {}))
    result = subprocess.run([str(part) for part in command], capture_output=True, text=True, env=environment, **options)
    if result.returncode != expect:
        raise AssertionError(f"{' '.join(map(str, command))} gave {result.returncode}, expected {expect}\n"
                             f"{result.stdout}\n{result.stderr}")
    return result.stdout + result.stderr


def configure(cmake, source, build, prefix, *more):
    command = [cmake, "-G", "Ninja", "-S", source, "-B", build, f"-DCMAKE_PREFIX_PATH={prefix}", *more]
    if shutil.which("ccache"):
        command.append("-DCMAKE_CXX_COMPILER_LAUNCHER=ccache")
    run(*command)


class InstalledTest(unittest.TestCase):
    """A folder with an installation of `build_tree` in it, for the tests of one class, which sets that and `cmake`."""

    @classmethod
    def setUpClass(cls):
        cls.folder = Path(tempfile.mkdtemp(prefix="nexuml-installed-"))
        cls.prefix = cls.folder / "prefix"
        run(cls.cmake, "--install", cls.build_tree, "--prefix", cls.prefix)
        cls.host = cls.prefix / "bin" / "nexuml-run"
        cls.environment = {"XDG_CONFIG_HOME": str(cls.folder / "config")}

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.folder)
