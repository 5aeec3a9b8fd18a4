#!/usr/bin/env python3
"""Writes docs/components.md: every component of the shipped libraries with its fields, shapes, formula and source.

    scripts/component_docs.py build/dev/bin/nexuml-run [-o docs/components.md] [--check]

Fields, types and defaults come from the manifests, through the host and beside the libraries. Shapes, formulas and sources come from
the comment above each definition's struct. --check compares with the file instead of writing it. The targets of torch have a table of
their own: scripts/torch-targets.
"""
import argparse
import json
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
KINDS = {"layer": "Layers", "data_source": "Data sources", "eval_algorithm": "Evaluation algorithms",
         "loader_backend": "Loader backends"}
TARGETS = {"decision_rule": "Decision rules", "function": "Metric functions", "scheduler": "Schedulers"}


def host(program, *arguments):
    """What the host answers, as data."""
    done = subprocess.run([program, *arguments, "--builtin-only", "--json"], capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"nexuml-run {' '.join(arguments)} failed: {done.stdout}{done.stderr}")
    return json.loads(done.stdout)


def notes_of_headers():
    """Shape, Formula and Source of each struct, by the file and the struct's name."""
    notes = {}
    notes["NnModule"] = ("sdk/include/nexuml/nn_module.h", {
        "Shape": "[batch, ...] -> [batch, ...], as the module has it",
        "Formula": "the module's; docs/torch-targets.md lists those of torch"})
    sources = [*(ROOT / "plugins").rglob("*.h"), ROOT / "plugins/library/metrics/metric_functions.cpp"]
    for header in sorted(sources):
        for comment, struct in re.findall(r"((?:^// .*\n|^//\n)+)struct (\w+) \{", header.read_text(), re.M):
            lines = [line[2:].strip() for line in comment.splitlines()]
            found, key = {}, None
            for line in lines:
                start = re.match(r"(Shape|Formula|Source): (.*)", line)
                if start:
                    key = start[1]
                    found[key] = start[2]
                elif key:
                    found[key] += " " + line
            notes[struct] = (header.relative_to(ROOT).as_posix(), found)
    return notes


def registered_structs():
    """The struct behind each registered name."""
    return {"NnModule": "NnModule"} | {
        name: struct for source in sorted((ROOT / "plugins").rglob("*.cpp"))
        for struct, name in re.findall(r'registry\.add<(\w+)>\("([^"]+)"', source.read_text())}


def escaped(text):
    return str(text).replace("|", "\\|").replace("*", "\\*").replace("\n", " ")


def type_text(type_):
    """The type of a target's field, in words."""
    kind = type_["kind"]
    if kind in ("optional", "list", "map"):
        inner = type_text(type_["of"][0])
        return f"{inner} or null" if kind == "optional" else f"{kind} of {inner}"
    limits = [f"{sign} {type_[key]:g}" for key, sign in
              (("greater_than", ">"), ("at_least", ">="), ("less_than", "<"), ("at_most", "<=")) if key in type_]
    return " ".join([kind, *limits])


def component_text(identity, entry, notes, structs):
    name = identity.split("/", 1)[1].rsplit("@", 1)[0]
    return described(name, structs.get(name, ""), entry, notes)


def described(name, struct, entry, notes):
    text = [f"### {name}", "", entry.get("summary", ""), ""]
    header, found = notes.get(struct, ("", {}))
    for key in ("Shape", "Formula", "Source"):
        if key in found:
            text += [f"- {key}: {escaped(found[key])}"]
    if header:
        text += [f"- Written in: `{header}`"]
    text += [f"- Library: {entry['library']}", ""] if "library" in entry else [""]
    fields = entry.get("fields", [])
    if not fields:
        return text + ["No fields.", ""]
    text += ["| field | type | default | |", "| --- | --- | --- | --- |"]
    for field in fields:
        default = "required" if field.get("required") else f"`{json.dumps(field['default'], ensure_ascii=False)}`"
        text += [f"| `{field['name']}` | {escaped(field['type'])} | {default} | {escaped(field.get('doc', ''))} |"]
    return text + [""]


def document(program):
    notes, structs = notes_of_headers(), registered_structs()
    text = ["# Components", "",
            "Written by `scripts/component_docs.py`; edit the definitions instead. The batch is the first dimension of every shape.", ""]
    listing = host(program, "registry", "list")
    sections = {kind: [] for kind in KINDS}
    for rows in listing.values():
        for row in rows if isinstance(rows, list) else []:
            if isinstance(row, dict) and "version" in row and "library_version" in row:
                for identity, entry in host(program, "inspect", row["name"]).items():
                    kind = identity.split("/", 1)[0]
                    if kind in sections and identity not in [known for known, _ in sections[kind]]:
                        sections[kind].append((identity, entry))
    for kind, title in KINDS.items():
        if sections[kind]:
            text += [f"## {title}", ""]
            for identity, entry in sorted(sections[kind]):
                text += component_text(identity, entry, notes, structs)
    text += target_texts(program, notes)
    return "\n".join(text).rstrip() + "\n"


def target_texts(program, notes):
    """The targets of nexuml.library, of which no host command shows the fields."""
    library = pathlib.Path(program).resolve().parents[1] / "lib/nexuml/components/org.nexuml.library"
    schemas = library / "nexuml_library.nexuml-schemas.json"
    targets, text = json.loads(schemas.read_text())["targets"], []
    for kind, title in TARGETS.items():
        rows = sorted((target for target in targets if target["kind"] == kind), key=lambda target: target["path"].lower())
        if rows:
            text += [f"## {title}", ""]
        for target in rows:
            schema = target["schema"]
            entry = {"summary": schema.get("summary", ""),
                     "fields": [{**field, "type": type_text(field["type"])} for field in schema["fields"]]}
            text += described(target["path"], schema["name"], entry, notes)
    return text


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program", help="nexuml-run")
    parser.add_argument("-o", "--output", type=pathlib.Path, default=ROOT / "docs/components.md")
    parser.add_argument("--check", action="store_true", help="compare with the file, write nothing")
    options = parser.parse_args()
    text = document(options.program)
    if options.check:
        if not options.output.exists() or options.output.read_text() != text:
            sys.exit(f"{options.output} is out of date: run scripts/component_docs.py {options.program}")
    else:
        options.output.write_text(text)


if __name__ == "__main__":
    main()
