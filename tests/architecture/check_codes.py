#!/usr/bin/env python3
"""Checks that every code of docs/errors.md which the sources report is pinned by a test: `check_codes.py [source tree]`.

A test pins a code when a string literal of a source of tests/ (C++ or Python, no docstring) or the expected output of a
check holds it. Comments, names of tests and what INFO prints beside a failure pin nothing.
"""

import ast
import re
import sys
from pathlib import Path

# Codes that still wait for their test; one that has it may not stay here.
WAITING = set()

ROW = re.compile(r"^\| ((?:[EW]\d{3}(?:, )?)+) \|", re.MULTILINE)
CODE = re.compile(r"(?<![A-Za-z0-9_])[EW]\d{3}(?![A-Za-z0-9_])")
# What may hold a quote that starts no literal, or holds words for people, comes first.
CPP = re.compile(r"""//[^\n]*|(?<=[0-9a-fA-F])'(?=[0-9a-fA-F])|\b(?:TEST_CASE|SECTION|INFO|FAIL)\(\s*(?:"(?:[^"\\\n]|\\.)*"\s*)+|/\*.*?\*/|R"(?P<mark>[^\s()\\]{0,16})\((?P<raw>.*?)\)(?P=mark)"|"(?P<text>(?:[^"\\\n]|\\.)*)"|'(?:[^'\\\n]|\\.)+'""",
                 re.DOTALL)


def cpp_literals(text):
    for found in CPP.finditer(text):
        yield found["raw"] or found["text"] or ""


def python_literals(text):
    tree = ast.parse(text)
    docstrings = {id(node.body[0].value) for node in ast.walk(tree)
                  if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef)) and node.body and isinstance(node.body[0], ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in docstrings:
            yield node.value


LITERALS = {".cpp": cpp_literals, ".h": cpp_literals, ".py": python_literals, ".expected": lambda text: [text]}


def codes_of(root, folders, suffixes):
    files = (p for folder in folders for p in sorted((root / folder).rglob("*"))
             if p.suffix in suffixes and p.is_file() and not p.name.startswith(Path(__file__).stem))
    return {code for p in files for literal in LITERALS[p.suffix](p.read_text(encoding="utf-8"))
            for code in CODE.findall(literal)}


def problems(root):
    listed = {code for row in ROW.findall((root / "docs/errors.md").read_text(encoding="utf-8")) for code in row.split(", ")}
    used = codes_of(root, ["core", "plugins", "sdk"], {".cpp", ".h"})
    tested = codes_of(root, ["tests"], set(LITERALS))
    for code in sorted(listed & used):
        if code not in tested and code not in WAITING:
            yield f"{code} has no test: name it where a test makes it happen"
        if code in tested and code in WAITING:
            yield f"{code} has a test: take it off the list of those that wait"


if __name__ == "__main__":
    found = list(problems(Path(sys.argv[1] if len(sys.argv) > 1 else ".").resolve()))
    print("\n".join(found))
    sys.exit(1 if found else 0)
