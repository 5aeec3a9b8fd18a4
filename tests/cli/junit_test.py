"""The report that `validate --junit` writes is XML for a parser of XML, whatever is in the names.

usage: junit_test.py NEXUML_RUN CONTRACT_KEPT_ROOT CONTRACT_BROKEN_ROOT
"""

import json
import os
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree as ElementTree
from pathlib import Path

HOST, KEPT, BROKEN = sys.argv[1:4]

CASE = {"format": "nexuml-case/1", "kind": "data_source", "length": 6,
        "component": {"type": "kept_ramp", "version": "1", "params": {}}}


class JUnit(unittest.TestCase):
    def setUp(self):
        self.scratch = tempfile.TemporaryDirectory()
        self.folder = Path(self.scratch.name)

    def tearDown(self):
        self.scratch.cleanup()

    def validate(self, root, *more, expect=0):
        """The parsed report, and the one as JSON."""
        environment = dict(os.environ, XDG_CONFIG_HOME=str(self.folder / "config"))
        done = subprocess.run([HOST, "validate", root, "--json", "--junit", "report.xml", *more], cwd=self.folder,
                              env=environment, capture_output=True, check=False)
        self.assertEqual(done.returncode, expect, done.stderr)
        return ElementTree.parse(self.folder / "report.xml").getroot(), json.loads(done.stdout)["checks"]

    def test_names_with_characters_that_xml_keeps_for_itself_or_cannot_hold_are_read_back(self):
        cases = self.folder / "cases"
        cases.mkdir()
        for name in ('a & b < c > "d"', "bell\x07", "tab\tline\nend", "ümlaut \U0001f600", "last\uffff"):
            (cases / f"{name}.json").write_text(json.dumps(CASE))
        report, checks = self.validate(KEPT, "--cases", str(cases))
        suites = [suite.get("name") for suite in report]
        for name in ('a & b < c > "d"', "bell?", "tab\tline\nend", "ümlaut \U0001f600", "last?"):
            self.assertIn(f"case {name}.json", suites)
        self.assertEqual(report.get("tests"), str(len(checks)))
        self.assertEqual(report.get("failures"), "0")

    def test_a_name_that_is_no_utf8_is_told_and_leaves_the_report_readable(self):
        (self.folder / "cases").mkdir()
        with open(os.fsencode(self.folder) + b"/cases/latin \xe9.json", "w") as file:
            json.dump(CASE, file)
        report, _ = self.validate(KEPT, "--cases", str(self.folder / "cases"), expect=3)
        self.assertIn("case latin ?.json", [suite.get("name") for suite in report])

    def test_what_failed_crashed_or_was_skipped_stands_where_junit_has_it(self):
        report, checks = self.validate(BROKEN, expect=3)
        outcome = {"failed": "failure", "crashed": "error", "skipped": "skipped"}
        cases = {(case.get("classname"), case.get("name")): case for case in report.iter("testcase")}
        for status, element in outcome.items():
            told = [check for check in checks if check["status"] == status]
            self.assertTrue(told, status)
            self.assertEqual(len(report.findall(f".//{element}")), len(told))
            for check in told:
                found = cases[check["subject"], check["check"]].find(element)
                self.assertEqual(found.get("message"), check["message"])
        for suite in report:
            self.assertEqual(int(suite.get("tests")), len(suite))
            self.assertEqual(int(suite.get("failures")), len(suite.findall(".//failure")))
            self.assertEqual(int(suite.get("errors")), len(suite.findall(".//error")))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
