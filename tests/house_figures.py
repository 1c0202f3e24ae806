#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""How habitable the sources are, in figures: prints each with where it stands and where it is to go.
A figure that is worse than the bound of its row fails; who makes one better lowers its bound. So the
house gets better or stays as it is.

Product code: .cc, .h and .def outside of tests/ and docs/, without *_test.cc, test_*, fakes and what
is generated. Lines are counted without comments, so that explaining costs nothing. A class is in a file
if the file defines a member of it (Name::Member in a definition, which begins in the first column). A
comment line has nothing but a comment; the licence line does not count.

usage: house_figures.py ROOT
"""
import collections
import pathlib
import re
import sys

# What: bound, goal. The bound is what holds today.
FIGURES = {
    "lines of product code without comments and blank ones": (222_000, None),
    "longest product file, lines": (600, 600),
    ".cc without a header of its name, %": (0.0, 5.0),
    "classes with members in two .cc files or more": (0, 0),
    "folders with more than 40 product files": (0, 0),
    "comment lines in .cc, %": (10.0, 10.0),  # at least
}
AT_LEAST = {"comment lines in .cc, %"}
FOLDERS = ("cache", "client", "compiler", "runtime", "server", "examples")
MEMBER = re.compile(r"^(?! )(?:[\w:<>,&*\[\] ]+[ &*])?(?P<class>(?:\w+::)*[A-Z]\w*)::~?(?P<member>\w+|operator\S+)\(", re.M)


def is_product(path):
    name = path.name
    return (path.suffix in (".cc", ".h", ".def") and not name.endswith("_test.cc")
            and not name.startswith(("test_", "sample_", "fake_", "fault_")))


def products(root):
    for folder in FOLDERS:
        for path in sorted((root / folder).rglob("*")):
            if path.is_file() and is_product(path):
                yield path


def is_comment(line):
    text = line.strip()
    return text.startswith("//") and "SPDX" not in text


def figures(root):
    files = list(products(root))
    lines = {path: path.read_text().splitlines() for path in files}
    sources = [path for path in files if path.suffix == ".cc"]
    alone = [path for path in sources if not path.with_suffix(".h").exists() and path.stem != "main"]
    homes = collections.defaultdict(set)
    for path in sources:
        for found in MEMBER.finditer("\n".join(lines[path])):
            homes[path.parent, found["class"]].add(path)
    folders = collections.Counter(path.parent for path in files)
    of_sources = [line for path in sources for line in lines[path]]
    return {
        "lines of product code without comments and blank ones": sum(
            1 for of in lines.values() for line in of if line.strip() and not line.lstrip().startswith("//")),
        "longest product file, lines": max(len(of) for of in lines.values()),
        ".cc without a header of its name, %": round(100 * len(alone) / len(sources), 1),
        "classes with members in two .cc files or more": sum(len(of) > 1 for of in homes.values()),
        "folders with more than 40 product files": sum(of > 40 for of in folders.values()),
        "comment lines in .cc, %": round(100 * sum(map(is_comment, of_sources)) / len(of_sources), 1),
    }


def main():
    found = figures(pathlib.Path(sys.argv[1]))
    worse = []
    for name, value in found.items():
        bound, goal = FIGURES[name]
        print(f"{name}: {value} (bound {bound}, goal {goal if goal is not None else 'fewer'})")
        if value < bound if name in AT_LEAST else value > bound:
            worse.append(name)
    for name in worse:
        print(f"worse than before: {name}")
    return 1 if worse or found.keys() != FIGURES.keys() else 0


if __name__ == "__main__":
    sys.exit(main())
