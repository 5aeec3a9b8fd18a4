#!/usr/bin/env python3
"""Compares the binary interface of the public headers with the committed one: scripts/check-interface.

usage: check_interface.py SOURCE_TREE BUILD_TREE [--record]

Two things are compared, for a library holds on to both:

- types: layout, virtual functions and enumerators of every class, struct and enum that a public header defines, as
  abidiff sees them in a program that takes a pointer to each. Baseline: tests/interface/types.abi
- symbols: what libnexuml-core and libnexuml-runtime show of the functions and classes that public headers export.
  Baseline: tests/interface/symbols.txt

Headers in nexuml/draft promise nothing and are left out.
"""

import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path

SOURCE, BUILD = Path(sys.argv[1]), Path(sys.argv[2])
RECORD = "--record" in sys.argv[3:]
INCLUDE = SOURCE / "sdk" / "include"
BASELINE = SOURCE / "tests" / "interface"

NAMESPACE = re.compile(r"^namespace ([\w:]+) \{")
TYPE = re.compile(r"^(?:class|struct|enum class) (?:NEXUML_EXPORT )?(\w+)(?: final)?(?: : [^{;]*)?(?: \{.*|)$")
EXPORTED_TYPE = re.compile(r"^(?:class|struct) NEXUML_EXPORT (\w+)")
EXPORTED_FUNCTION = re.compile(r"^\s*NEXUML_EXPORT [^;{]*?(\w+|operator\S+)\(")


def fail(message):
    print(f"error: {message}", file=sys.stderr)
    sys.exit(1)


def run(*command, allowed=(0,), **options):
    told = subprocess.run([str(part) for part in command], capture_output=True, text=True, **options)
    if told.returncode not in allowed:
        fail(f"{' '.join(map(str, command))} gave {told.returncode}\n{told.stdout}{told.stderr}")
    return told


def public_headers():
    return sorted(path.relative_to(INCLUDE) for path in INCLUDE.rglob("*.h") if "draft" not in path.parts)


class Declared:
    """What the public headers declare at the outer level of their namespaces; clang-format keeps them to this form."""

    def __init__(self):
        self.types, self.exported = [], set()
        for header in public_headers():
            self.read((INCLUDE / header).read_text())

    def read(self, text):
        scopes, before = [], ""
        for line in text.splitlines():
            opened = NAMESPACE.match(line)
            if opened:
                scopes.append(opened[1])
            elif line.startswith("}  // namespace"):
                scopes.pop()
            scope = "::".join(scopes)
            found = TYPE.match(line)
            if found and not before.startswith("template"):
                self.types.append(f"{scope}::{found[1]}")
            for pattern in (EXPORTED_TYPE, EXPORTED_FUNCTION):
                exported = pattern.match(line)
                if exported and scope:
                    self.exported.add(f"{scope}::{exported[1]}")
            before = line


def witness(declared):
    """A source that includes every header and takes a pointer to each type."""
    lines = [f"#include <{header}>" for header in public_headers()]
    lines += ["namespace { struct Witness { double value = 0; static void describe(nexuml::Schema<Witness>& s) {"
              ' s.field("value", &Witness::value); } }; }']
    types = declared.types + ["nexuml::Schema<Witness>", "nexuml::Registered<nexuml::DefinitionEntry>",
                              "nexuml::OrderedMap<double>"]
    # Named after their types: a type more must not rename the others.
    for name in types:
        lines.append(f'extern "C" void witness_{re.sub(r"[^A-Za-z0-9]+", "_", name)}({name}*) {{}}')
    return "\n".join(lines) + "\n"


def types_of_today(declared, folder):
    source, binary, described = folder / "witness.cpp", folder / "libwitness.so", folder / "types.abi"
    source.write_text(witness(declared))
    script = folder / "witness.map"
    script.write_text("{ global: witness_*; local: *; };\n")
    libtorch = BUILD / "libtorch-include"
    run("g++", "-std=c++20", "-fPIC", "-shared", "-O0", "-g", f"-I{INCLUDE}", "-isystem", libtorch, "-isystem",
        libtorch / "torch/csrc/api/include", '-DNEXUML_TBB_VERSION="12"', f"-ffile-prefix-map={folder}/=", f"-ffile-prefix-map={SOURCE}/=",
        f"-Wl,--version-script={script}", source, "-o", binary)
    run("abidw", "--headers-dir", INCLUDE / "nexuml", "--drop-private-types", "--no-corpus-path", "--no-comp-dir-path",
        "--no-show-locs", "--no-elf-needed", "--out-file", described, binary)
    return described


def is_public(demangled, exported):
    name = re.sub(r"^(vtable|typeinfo|typeinfo name|VTT|guard variable|construction vtable) for ", "", demangled)
    name = name.split("(")[0].split("[abi:")[0]
    # A function template's symbol begins with what it returns.
    name = name.split(" ")[-1] if "operator" not in name else name
    parts = name.split("::")
    return any("::".join(parts[:end]) in exported for end in range(2, len(parts) + 1))


def symbols_of_today(declared):
    found = []
    for library in ("core", "runtime"):
        listed = run("nm", "-D", "--defined-only", "--format=posix", BUILD / f"lib/libnexuml-{library}.so").stdout
        # What is weak is inline: a library has its own.
        mangled = sorted(line.split()[0] for line in listed.splitlines() if line.split()[1] in "TDBR")
        demangled = run("c++filt", input="\n".join(mangled)).stdout.splitlines()
        found += [f"{library} {symbol}" for symbol, name in zip(mangled, demangled) if is_public(name, declared.exported)]
    return found


def demangled(lines):
    return run("c++filt", input="\n".join(lines)).stdout.splitlines()


def interface_version():
    return re.search(r'#define NEXUML_INTERFACE_VERSION "(\d+\.\d+)"', (INCLUDE / "nexuml/abi.h").read_text())[1]


def libtorch_minor():
    """Classes of LibTorch are members of ours, and so a part of the recorded layout."""
    return ".".join(json.loads((BUILD / "etc/nexuml/libtorch.json").read_text())["version"].split(".")[:2])


def is_released():
    """Whether the product's version is out: what was promised then holds."""
    version = re.search(r"project\(NexuML VERSION (\S+)", (SOURCE / "CMakeLists.txt").read_text())[1]
    heading = re.search(rf"^## {re.escape(version)}(.*)$", (SOURCE / "CHANGELOG.md").read_text(), re.MULTILINE)
    return heading is None or "unreleased" not in heading[1]


def compare_types(today):
    """abidiff's report and whether what was built before would break."""
    told = run("abidiff", "--leaf-changes-only", BASELINE / "types.abi", today, allowed=(0, 4, 12))
    # Bit 4: a change; bit 8: one that breaks for sure. Whether a change of a type only adds is for a person to say.
    return (told.stdout if told.returncode else ""), bool(told.returncode & 8)


def record(types, symbols, version):
    (BASELINE / "types.abi").write_bytes(types.read_bytes())
    (BASELINE / "symbols.txt").write_text("\n".join(symbols) + "\n")
    (BASELINE / "version.txt").write_text(f"{version}\nLibTorch {libtorch_minor()}\n")
    size = sum(path.stat().st_size for path in BASELINE.glob("*.*")) // 1024
    print(f"recorded interface {version}: {len(symbols)} symbols, {size} kB")


def main():
    declared = Declared()
    if len(declared.types) < 50 or len(declared.exported) < 50:
        fail(f"only {len(declared.types)} types and {len(declared.exported)} exported names were found in {INCLUDE}")
    version = interface_version()
    with tempfile.TemporaryDirectory() as scratch:
        types = types_of_today(declared, Path(scratch))
        symbols = symbols_of_today(declared)
        if not (BASELINE / "types.abi").exists():
            if not RECORD:
                fail("no interface is recorded: scripts/check-interface --record")
            record(types, symbols, version)
            return
        recorded, with_libtorch = (BASELINE / "version.txt").read_text().split("\n")[:2]
        if with_libtorch != f"LibTorch {libtorch_minor()}" and not RECORD:
            fail(f"the interface was recorded with {with_libtorch}, this build has {libtorch_minor()}: compare on one of that")
        before = set((BASELINE / "symbols.txt").read_text().split("\n")) - {""}
        gone, new = sorted(before - set(symbols)), sorted(set(symbols) - before)
        report, breaks = compare_types(types)
        for words, lines in (("vanished", gone), ("new", new)):
            for line in demangled(lines):
                print(f"{words}: {line}")
        if report:
            print(report)
        breaks = breaks or bool(gone)
        if not (gone or new or report):
            print(f"no difference to interface {recorded}: {len(symbols)} symbols, {len(declared.types)} types")
        if RECORD:
            if breaks and is_released() and version.split(".")[0] == recorded.split(".")[0]:
                fail(f"libraries built for interface {recorded} would break: raise its major in <nexuml/abi.h>")
            if (gone or new or report) and is_released() and version == recorded:
                fail(f"interface {recorded} is out: raise its minor in <nexuml/abi.h>")
            record(types, symbols, version)
        elif gone or new or report:
            fail(f"the interface differs from the recorded {recorded}; undo what changed it by accident, else see "
                 "docs/rules.md, \"The interface\", and record it: scripts/check-interface --record")


if __name__ == "__main__":
    main()
