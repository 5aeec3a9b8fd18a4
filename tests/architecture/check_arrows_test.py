#!/usr/bin/env python3
"""check_arrows.py reports each kind of wrong include, and nothing in a tree that has none."""

import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

SCRIPT = Path(__file__).with_name("check_arrows.py")


class CheckArrows(unittest.TestCase):
    def run_on(self, files):
        with tempfile.TemporaryDirectory() as root:
            for folder in ("core", "plugins", "sdk/include/nexuml"):
                (Path(root) / folder).mkdir(parents=True)
            for name, text in files.items():
                path = Path(root) / name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text, encoding="utf-8")
            done = subprocess.run([sys.executable, SCRIPT, root], capture_output=True, text=True, check=False)
            return done.returncode, done.stdout

    def assert_found(self, files, place):
        code, output = self.run_on(files)
        self.assertEqual(code, 1, output)
        self.assertIn(place, output)

    def test_a_tree_without_wrong_includes_passes(self):
        code, output = self.run_on({
            "core/train/fit.cpp": '#include "train/fit.h"\n#include "runtime/layer.h"\n#include <torch/types.h>\n',
            "core/host/main.cpp": '#include "loading/open.h"\n#include "engine/engine_entry.h"\n',
            "core/engine/engine_entry.h": "#include <nexuml/export.h>\n",
            "sdk/include/nexuml/tensor_dict.h": "#include <torch/types.h>\n#include <map>\n",
            "plugins/library/layers/encoder.cpp": '#include "encoder.h"\n#include <nexuml/tensor_dict.h>\n',
            "plugins/library/layers/encoder.h": "#include <vector>\n",
        })
        self.assertEqual(code, 0, output)

    def test_a_later_room(self):
        self.assert_found({"core/value/a.cpp": '\n#include "schema/b.h"\n'}, "core/value/a.cpp:2")

    def test_a_draft_that_does_not_say_so_or_that_a_settled_header_includes(self):
        draft = "sdk/include/nexuml/draft/a.h"
        good = "// Draft: its name is not settled.\nnamespace nexuml::draft {\n}\n"
        self.assertEqual(self.run_on({draft: good})[0], 0)
        self.assert_found({draft: good.replace("Draft", "A")}, f"{draft}:1: a draft begins with")
        self.assert_found({draft: good.replace("::draft", "")}, f"{draft}:1: what a draft declares")
        self.assert_found({draft: good, "sdk/include/nexuml/b.h": "#include <nexuml/draft/a.h>\n"},
                          "sdk/include/nexuml/b.h:1: a settled header includes")

    def test_data_and_track_do_not_know_each_other(self):
        self.assert_found({"core/track/a.cpp": '#include "data/b.h"\n'}, "core/track/a.cpp:1")

    def test_the_host_knows_no_tensor_room(self):
        self.assert_found({"core/host/a.cpp": '#include "runtime/b.h"\n'}, "core/host/a.cpp:1")

    def test_the_entry_of_the_engine_knows_no_tensor(self):
        self.assert_found({"core/engine/engine_entry.h": "#include <torch/types.h>\n"}, "core/engine/engine_entry.h:1")

    def test_an_unknown_room(self):
        self.assert_found({"core/helpers/a.cpp": ""}, "core/helpers")

    def test_libtorch_in_a_room_without_tensors(self):
        self.assert_found({"core/schema/a.h": "#include <torch/types.h>\n"}, "core/schema/a.h:1")

    def test_libtorch_through_a_public_header(self):
        self.assert_found({"core/recipe/a.cpp": "#include <nexuml/a.h>\n", "sdk/include/nexuml/a.h": "#include <c10/b.h>\n"},
                          "core/recipe/a.cpp:1")

    def test_libtorch_in_a_definition_header(self):
        self.assert_found({"sdk/include/nexuml/scenario.h": "#include <nexuml/b.h>\n",
                           "sdk/include/nexuml/b.h": "#include <ATen/ATen.h>\n"}, "scenario.h:1")

    def test_a_foreign_library_in_a_public_header(self):
        self.assert_found({"sdk/include/nexuml/a.h": "#include <nlohmann/json.hpp>\n"}, "a.h:1")

    def test_a_private_header_in_a_plugin(self):
        self.assert_found({"plugins/torch/a.cpp": '#include "runtime/b.h"\n', "core/runtime/b.h": ""}, "plugins/torch/a.cpp:1")

    def test_the_whole_of_torch(self):
        self.assert_found({"core/train/a.cpp": "#include <torch/torch.h>\n"}, "core/train/a.cpp:1")


if __name__ == "__main__":
    unittest.main()
