#!/usr/bin/env python3
"""Checks who includes whom: `check_arrows.py [source tree]` prints each include that points the wrong way.

- A room of core/ includes public headers, itself and rooms before it in ROOMS; the host includes only the rooms that
  know no tensor, and the one header that names the C entry of the engine; data/ and track/ do not know each other.
- A library of plugins/, like a stranger's, includes public headers and its own.
- Rooms without tensors reach no LibTorch header, also not through a public header.
- Public headers include the standard library, LibTorch and each other; those of definitions and scenarios no LibTorch.
- Drafts (sdk/include/nexuml/draft) say that they are drafts, and no settled header includes one.
- <torch/torch.h> is included nowhere.
"""

import re
import sys
from functools import lru_cache
from pathlib import Path

ROOMS = ["value", "schema", "registry", "discovery", "scenario", "recipe", "loading",
         "tensor_io", "runtime", "compile", "data", "track", "evaluate", "checkpoint", "train", "bundle", "engine"]
TENSOR_FREE = ROOMS[:ROOMS.index("tensor_io")]
STRANGERS = {("data", "track"), ("track", "data")}
TENSOR_FREE_HEADERS = {"value.h", "diagnostic.h", "schema.h", "definition.h", "scenario.h", "registry.h", "target.h"}
ENGINE_ENTRY = "engine/engine_entry.h"
LIBTORCH = ("torch/", "ATen/", "c10/", "caffe2/")
PUBLIC_EXTRA = ("boost/pfr",)  # the arity of a described struct is taken where it is described
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]', re.MULTILINE)


def sources(folder):
    return sorted(p for p in folder.rglob("*") if p.suffix in (".h", ".cpp"))


@lru_cache(maxsize=None)
def includes(path):
    """[(line, quoted, name)] of one file."""
    text = path.read_text(encoding="utf-8")
    return [(text.count("\n", 0, m.start(1)) + 1, m[1] == '"', m[2]) for m in INCLUDE.finditer(text)]


class Check:
    def __init__(self, root):
        self.root = root
        self.public = root / "sdk" / "include"
        self.problems = []

    def report(self, path, line, what):
        self.problems.append(f"{path.relative_to(self.root)}:{line}: {what}")

    @lru_cache(maxsize=None)
    def way_to_libtorch(self, header):
        """The chain of public headers from `header` to a LibTorch header, or None."""
        path = self.public / header
        if not path.exists():
            return None
        for _, _, name in includes(path):
            if name.startswith(LIBTORCH):
                return [header, name]
            if name.startswith("nexuml/"):
                way = self.way_to_libtorch(name)
                if way:
                    return [header, *way]
        return None

    def no_tensor(self, path, line, name, who):
        if name.startswith(LIBTORCH):
            self.report(path, line, f"{who} includes <{name}>; expected no LibTorch header")
        way = self.way_to_libtorch(name) if name.startswith("nexuml/") else None
        if way:
            self.report(path, line, f"{who} reaches LibTorch: {' -> '.join(way)}")

    def rooms(self):
        for folder in sorted(p for p in (self.root / "core").iterdir() if p.is_dir()):
            room = folder.name
            if room != "host" and room not in ROOMS:
                self.problems.append(f"core/{room}: not a room; the rooms are {', '.join(ROOMS)} and host")
                continue
            allowed = TENSOR_FREE if room == "host" else ROOMS[:ROOMS.index(room)]
            for path in sources(folder):
                for line, quoted, name in includes(path):
                    if path == self.root / "core" / ENGINE_ENTRY:
                        self.no_tensor(path, line, name, ENGINE_ENTRY)
                    self.room_include(path, line, quoted, name, room, allowed)

    def room_include(self, path, line, quoted, name, room, allowed):
        if room == "host" or room in TENSOR_FREE:
            self.no_tensor(path, line, name, f"room {room}")
        if not quoted or (room == "host" and name == ENGINE_ENTRY):
            return
        other = name.split("/")[0]
        if "/" not in name or ".." in name:
            self.report(path, line, f'"{name}"; private headers are included as "room/header.h"')
        elif other != room and (other not in allowed or (room, other) in STRANGERS):
            self.report(path, line, f'room {room} includes "{name}"; it may include {", ".join(allowed) or "no room"}')

    def plugins(self):
        for library in sorted(p for p in (self.root / "plugins").iterdir() if p.is_dir()):
            for path in sources(library):
                for line, quoted, name in includes(path):
                    if quoted and not any((base / name).exists() for base in (path.parent, library)):
                        self.report(path, line, f'"{name}"; a library includes <nexuml/...> and its own headers')

    def public_headers(self):
        for path in sources(self.public):
            for line, quoted, name in includes(path):
                ours_or_std = name.startswith("nexuml/") or ("/" not in name and not name.endswith((".h", ".hpp")))
                if quoted or not (ours_or_std or name.startswith(LIBTORCH + PUBLIC_EXTRA)):
                    self.report(path, line, f"public header includes {name}; expected std, LibTorch or <nexuml/...>")
                if path.name in TENSOR_FREE_HEADERS:
                    self.no_tensor(path, line, name, path.name)
                if name.startswith("nexuml/draft/") and path.parent.name != "draft":
                    self.report(path, line, f"a settled header includes <{name}>, which may change in any release")

    def drafts(self):
        for path in sources(self.public / "nexuml" / "draft"):
            text = path.read_text(encoding="utf-8")
            if not text.startswith("// Draft:"):
                self.report(path, 1, "a draft begins with `// Draft:` and what is not settled about it")
            if "namespace nexuml::draft {" not in text:
                self.report(path, 1, "what a draft declares lies in namespace nexuml::draft")

    def no_whole_torch(self):
        for folder in ("sdk", "core", "plugins", "tests", "examples", "benchmarks"):
            for path in sources(self.root / folder):
                for line, _, name in includes(path):
                    if name == "torch/torch.h":
                        self.report(path, line, "<torch/torch.h>; include the headers that are used, it costs 10 s a file")


def main():
    root = Path(sys.argv[1] if len(sys.argv) > 1 else ".").resolve()
    check = Check(root)
    check.rooms()
    check.plugins()
    check.public_headers()
    check.drafts()
    check.no_whole_torch()
    print("\n".join(check.problems) if check.problems else "all includes point one way")
    return 1 if check.problems else 0


if __name__ == "__main__":
    sys.exit(main())
