#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""`kiln` prints through client/cli/output/print.h alone, which makes the text of others printable.

usage: check_printing.py ROOT
"""
import pathlib
import re
import sys

FOLDER = "client/cli"
OTHER_WAYS = re.compile(
    r"fmt::v?print\(|std::(?:cout|cerr|clog)\b|\b(?:f?printf|v?fprintf|f?puts|f?putc|fwrite)\(")
# Bytes that were asked for, and what is said when streams fail.
ALLOWED = {
    ("print.h", "fmt::print("),
    ("compile.cc", "fwrite("),
    ("main.cc", "fprintf("),
}


def wrong_lines(root):
    for path in sorted((root / FOLDER).rglob("*.[ch]*")):
        if path.name.endswith("_test.cc"):
            continue
        for number, line in enumerate(path.read_text().splitlines(), 1):
            for found in OTHER_WAYS.findall(line.split("//")[0]):
                if (path.name, found) not in ALLOWED:
                    yield f"{path.relative_to(root)}:{number}: {found} instead of Print("


def main():
    wrong = list(wrong_lines(pathlib.Path(sys.argv[1])))
    print("\n".join(wrong))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
