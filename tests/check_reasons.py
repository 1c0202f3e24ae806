#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Holds the reasons that the sources give against compiler/base/reasons.def.

usage: check_reasons.py [ROOT]        (ROOT defaults to the current folder)

Fails, one line per finding, if
  - an error is made, or asked for, with a reason that is no row: a word after `.reason =`, `reason ==`,
    or as the last member of an Error;
  - no source names the word of a row.
Render graphs have codes of their own (runtime/graph), which this test leaves alone.
"""
import pathlib
import re
import sys

FOLDERS = ("cache", "client", "compiler", "runtime", "server")
ROW = re.compile(r"^KILN_REASON\((\w+),", re.M)
WORD = r'"([A-Z][A-Z0-9]*(?:_[A-Z0-9]+)*)"'
GIVEN = (re.compile(rf'\breason(?:\(\))?\s*(?:=|==|!=)\s*(?:[^;"]*\?\s*)?{WORD}(?:\s*:\s*{WORD})?'),
         re.compile(rf'\bError\{{ErrorCode::k\w+,(?:[^{{}};]|\{{[^{{}}]*\}})*?,\s*{WORD}\}}'),
         re.compile(rf'\bk\w*(?:Reason|Unreachable)\b[^=;]*=\s*{WORD}'))
LITERAL = re.compile(WORD)


def sources(root):
    for folder in FOLDERS:
        for path in sorted((root / folder).rglob("*")):
            if path.suffix in (".cc", ".h") and not path.name.endswith("_test.cc") and "runtime/graph" not in str(path):
                yield path


def main():
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ".").resolve()
    rows = set(ROW.findall((root / "compiler/base/reasons.def").read_text()))
    problems, named = [], set()
    for path in sources(root):
        text = path.read_text(errors="replace")
        named |= set(LITERAL.findall(text))
        for pattern in GIVEN:
            for found in pattern.finditer(text):
                line = text.count("\n", 0, found.start()) + 1
                problems += [f"{path.relative_to(root)}:{line}: {word} is no row of reasons.def"
                             for word in found.groups() if word and word not in rows]
    problems += [f"compiler/base/reasons.def: nobody names {word}" for word in sorted(rows - named)]
    print("\n".join(problems) if problems else f"{len(rows)} reasons, each one named")
    return 1 if problems or not rows else 0


if __name__ == "__main__":
    sys.exit(main())
