#!/usr/bin/env python3
"""Checks that every code of docs/errors.md which the sources report is pinned by a test: `check_codes.py [source tree]`.

A test pins a code when a source of tests/ (C++, Python, or the expected output of a check) names it.
"""

import re
import sys
from pathlib import Path

# Codes that still wait for their test; one that has it may not stay here.
WAITING = {"E742", "E840", "E843", "E844", "E847", "E849", "E850", "W818"}

ROW = re.compile(r"^\| ((?:[EW]\d{3}(?:, )?)+) \|", re.MULTILINE)
CODE = re.compile(r"\b[EW]\d{3}\b")


def text_of(root, folders, suffixes):
    files = (p for folder in folders for p in sorted((root / folder).rglob("*")) if p.suffix in suffixes and p.is_file() and p.name != Path(__file__).name)
    return "\n".join(p.read_text(encoding="utf-8") for p in files)


def problems(root):
    listed = {code for row in ROW.findall((root / "docs/errors.md").read_text(encoding="utf-8")) for code in row.split(", ")}
    used = set(CODE.findall(text_of(root, ["core", "plugins", "sdk"], {".cpp", ".h"})))
    tested = set(CODE.findall(text_of(root, ["tests"], {".cpp", ".h", ".py", ".expected"})))
    for code in sorted(listed & used):
        if code not in tested and code not in WAITING:
            yield f"{code} has no test: name it where a test makes it happen"
        if code in tested and code in WAITING:
            yield f"{code} has a test: take it off the list of those that wait"


if __name__ == "__main__":
    found = list(problems(Path(sys.argv[1] if len(sys.argv) > 1 else ".").resolve()))
    print("\n".join(found))
    sys.exit(1 if found else 0)
