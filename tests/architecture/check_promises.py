#!/usr/bin/env python3
"""Checks that every test which docs/recipes.md names beside a promise exists: `check_promises.py [source tree]`."""

import re
import sys
from pathlib import Path

HEADING = "## What is promised, and the tests that hold it"
CASE = re.compile(r"TEST_CASE\(\s*((?:\"(?:[^\"\\]|\\.)*\"\s*)+)")


def test_names(root):
    names = set()
    for source in sorted((root / "tests").rglob("*_test.cpp")):
        for literals in CASE.findall(source.read_text(encoding="utf-8")):
            names.add("".join(re.findall(r"\"((?:[^\"\\]|\\.)*)\"", literals)).replace('\\"', '"'))
    return names


def promises(root):
    text = (root / "docs/recipes.md").read_text(encoding="utf-8")
    table = text[text.index(HEADING):]
    return [re.findall(r"`([^`]+)`", row.rsplit("|", 2)[1]) for row in re.findall(r"^\| .+ \|$", table, re.MULTILINE)[2:]]


if __name__ == "__main__":
    root = Path(sys.argv[1] if len(sys.argv) > 1 else ".").resolve()
    rows, known = promises(root), test_names(root)
    found = [f"no test is named '{name}'" for row in rows for name in row if name not in known]
    found += [f"promise {i + 1} names no test" for i, row in enumerate(rows) if not row]
    found += [] if len(rows) == 18 else [f"{len(rows)} promises, 18 expected"]
    print("\n".join(found))
    sys.exit(1 if found else 0)
