#!/usr/bin/env python3
"""Checks the headings in classes that say which .cc file defines the functions below them.

usage: check_sections.py [ROOT]        (ROOT defaults to the current folder)

A class whose functions are spread over several files has headings like
  // --- close_place.cc, close_name.cc: names, members, items
in its header. Fails, one line per finding, if
  - a heading names a file that is not in the folder of the header;
  - a function below a heading, up to the next one, is defined in another file of the folder.
"""
import pathlib
import re
import sys

FOLDERS = ("cache", "client", "compiler", "examples", "runtime", "server", "tests")
HEADING = re.compile(r"( *)// --- (.*)")
FILE = re.compile(r"\b[a-z_0-9]+\.cc\b")
CLASS = re.compile(r"( *)(?:class|struct) (\w+)[^;]*\{$")
FUNCTION = re.compile(r"[^=/]*?\b(\w+)\(")
DEFINITION = re.compile(r"^(?:[\w<][^\n;={}()]*[ &*>])?(?:\w+::)*?(\w+)::(\w+)\(", re.M)


def definitions(folder):
    """(class, function) -> names of the files of the folder that define it."""
    found = {}
    for path in sorted(folder.glob("*.cc")):
        for match in DEFINITION.finditer(path.read_text(errors="replace")):
            found.setdefault(match.groups(), set()).add(path.name)
    return found


def check_header(path, defined):
    problems, classes, owner, indent, files = [], {}, "", "", []
    for number, line in enumerate(path.read_text(errors="replace").splitlines(), 1):
        opened = CLASS.match(line)
        if opened:
            classes[len(opened[1])] = opened[2]
            files = files if len(opened[1]) >= len(indent) else []
        heading = HEADING.match(line)
        if heading:
            indent, files = heading[1], FILE.findall(heading[2])
            owner = classes.get(max((i for i in classes if i < len(indent)), default=-1), "")
            problems += [f"{path}:{number}: {name} is not in this folder"
                         for name in files if not (path.parent / name).exists()]
            continue
        if not files or not line.startswith(indent) or line[len(indent):len(indent) + 1] in (" ", "/", ""):
            continue
        function = FUNCTION.match(line)
        homes = defined.get((owner, function[1]), set()) if function else set()
        if homes and not homes & set(files):
            problems.append(f"{path}:{number}: {owner}::{function[1]} is in {', '.join(sorted(homes))}, "
                            f"not in {', '.join(files)}")
    return problems


def main():
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ".").resolve()
    problems, known = [], {}
    for folder in FOLDERS:
        for path in sorted((root / folder).rglob("*.h")):
            if "// --- " not in path.read_text(errors="replace"):
                continue
            if path.parent not in known:
                known[path.parent] = definitions(path.parent)
            problems += check_header(path, known[path.parent])
    print("\n".join(problems), end="\n" if problems else "")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
