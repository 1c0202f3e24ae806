#!/usr/bin/env python3
"""Checks that kiln catches exceptions only where tests/catches.txt says so, and why.

usage: check_catches.py [ROOT]        (ROOT defaults to the current folder)

Fails, one line per finding, if
  - a source of kiln that is no test has more or fewer handlers than its rows say;
  - a row names a file that does not exist, or a kind that the head of the table does not explain.
"""
import collections
import pathlib
import re
import sys

FOLDERS = ("cache", "client", "compiler", "examples", "runtime", "server")
SOURCES = {".h", ".cc", ".cpp", ".inc", ".def"}
HANDLER = re.compile(r"\bcatch\s*\(")
COMMENT = re.compile(r"//.*")
EXPLANATION = re.compile(r"#   (\w+)  ")


def is_test(name):
    stem = name.rsplit("/", 1)[-1].rsplit(".", 1)[0]
    return stem.endswith("_test") or stem.startswith("test_")


def read_table(path):
    """file -> number of handlers, over all of its rows."""
    listed, kinds, problems = collections.Counter(), set(), []
    for number, line in enumerate(path.read_text().splitlines(), 1):
        explained = EXPLANATION.match(line)
        if explained:
            kinds.add(explained[1])
        if not line or line.startswith("#"):
            continue
        kind, name, count = line.split()
        if kind not in kinds:
            problems.append(f"{path.name}:{number}: '{kind}' is not explained")
        listed[name] += int(count)
    return listed, problems


def count_handlers(root):
    found = collections.Counter()
    for folder in FOLDERS:
        for path in sorted((root / folder).rglob("*")):
            name = path.relative_to(root).as_posix()
            if path.suffix in SOURCES and path.is_file() and not is_test(name):
                lines = path.read_text(errors="replace").splitlines()
                found[name] += sum(len(HANDLER.findall(COMMENT.sub("", line))) for line in lines)
    return found


def main():
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ".").resolve()
    listed, problems = read_table(root / "tests" / "catches.txt")
    found = count_handlers(root)
    for name in sorted(set(listed) | set(found)):
        if name not in found:
            problems.append(f"catches.txt: {name} does not exist")
        elif found[name] != listed[name]:
            problems.append(f"{name}: {found[name]} handlers, {listed[name]} in catches.txt")
    print("\n".join(problems), end="\n" if problems else "")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
