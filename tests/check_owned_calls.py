#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Holds the calls that change something against the table of docs/SECURITY.md that says whose that is.

usage: check_owned_calls.py [ROOT]        (ROOT defaults to the current folder)

Fails, one line per finding, if an RPC that callers of scope write or peer change something with (a row of
server/rpc/transport/method_table.h with that scope, or one that only looks for readers and so writes for others)
is in no row of the table, or if a row names no such call.
"""
import pathlib
import re
import sys

ROW = re.compile(r'\{"\w+", "(\w+)", k(Read|Write|Peer|Admin)\b')
TABLE = re.compile(r"^\| call \| what it leaves .*?\n\|[-|]+\n(.*?)\n\n", re.M | re.S)
# Looks by their scope, but compile what is missing for whoever may write, wake a batch or lease content.
WRITES_TOO = {"Fetch", "WatchBatch", "FindMissing"}


def changing(root):
    text = (root / "server/rpc/transport/method_table.h").read_text()
    text = text[text.index("kMethods = {{"):]
    statements = re.split(r",\n    (?=\S)", text)
    for statement in statements:
        row = ROW.search(statement)
        if row and (row[2] in ("Write", "Peer") or "LooksForReaders" in statement or row[1] in WRITES_TOO):
            yield row[1]


def main(root):
    calls = set(changing(root))
    table = TABLE.search((root / "docs/SECURITY.md").read_text())
    if not table or not calls:
        return ["docs/SECURITY.md or the method table has another form"]
    named = {word for line in table[1].splitlines() for word in re.findall(r"\b[A-Z]\w+", line.split("|")[1])}
    return ([f"docs/SECURITY.md: no row says whose it is what {call} changes" for call in sorted(calls - named)] +
            [f"docs/SECURITY.md: {call} changes nothing by the method table"
             for call in sorted(named - calls)])


if __name__ == "__main__":
    findings = main(pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else "."))
    print("\n".join(findings) or "every call that changes something has its row")
    sys.exit(1 if findings else 0)
