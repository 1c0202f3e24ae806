#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""tests/skips.txt against the sources: every test that can be skipped for want of something that a
device lacks stands there, and every line names a test that can be skipped.

usage: check_skips.py ROOT

Whether a test was rightly skipped in a run is judged by the program itself (listed_skips_main.cc).
"""
import pathlib
import re
import sys

FOLDERS = ("runtime", "tests/gpu", "tests/graph", "tests/oracle", "examples/demo")
TEST = re.compile(r"^TEST(?:_[FP])?\((\w+),\s*(\w+)\)", re.M)


def skipping_tests(root):
    """Suite.Case of every test whose body has GTEST_SKIP; all of a suite whose SetUp has it."""
    found = {}
    for folder in FOLDERS:
        for path in sorted((root / folder).rglob("*_test.cc")):
            text = path.read_text()
            starts = [(match.start(), ".".join(match.groups())) for match in TEST.finditer(text)]
            for skip in re.finditer(r"GTEST_SKIP\(\)", text):
                inside = [name for start, name in starts if start < skip.start()]
                for name in inside[-1:] or [name for _, name in starts]:
                    found[name] = path.relative_to(root)
    return found


def listed_tests(root):
    lines = (root / "tests/skips.txt").read_text().splitlines()
    rows = [line.split() for line in lines if line and not line.startswith("#")]
    return [row[1].split(".", 1)[1] for row in rows]


def main():
    root = pathlib.Path(sys.argv[1])
    found, listed = skipping_tests(root), listed_tests(root)
    problems = [f"{path}: {name} can be skipped and is not in tests/skips.txt"
                for name, path in found.items() if name not in listed]
    problems += [f"tests/skips.txt: no test {name} can be skipped" for name in listed if name not in found]
    problems += [f"tests/skips.txt: {name} stands there twice" for name in set(listed) if listed.count(name) > 1]
    print("\n".join(problems) or f"{len(listed)} tests can be skipped, all of them listed")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
