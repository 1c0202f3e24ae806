#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The page of the reasons of errors: compiler/base/reasons.def in, docs/reasons.md out. With --check it
writes nothing and fails if the page is not what it would write.

usage: reason_page.py [--check] ROOT
"""
import pathlib
import re
import sys

STRING = r'"((?:[^"\\]|\\.)*)"'
REPEAT = {"No": "no", "Yes": "yes", "After": "after what the help says"}
HEAD = """# Reasons of errors

Written by `docs/reason_page.py` from `compiler/base/reasons.def`; do not edit.

An error has a gRPC status, a text for people, and a *reason*: a word that never changes its meaning. Programs look at the
reason (`ErrorDetail.reason` of an RPC, `"reason"` in `--json`), never at the text. `kiln explain --code QUEUE_FULL` prints
a row of this page. *Repeat* says whether the same call may be sent again as it is. Errors of render graphs have codes of
their own ([RENDER_GRAPH](RENDER_GRAPH.md)), mistakes in sources have [diagnostics](rpl/diagnostics/README.md).
"""


def read_reasons(root):
    """[(group, [(word, status, repeat, meaning, help)])] in the order of the table."""
    groups = []
    text = (root / "compiler/base/reasons.def").read_text()
    text = re.sub(r"\n// ([A-Z][^\n]*)\.\n(?=KILN_)", r"\n@\1\n", text)
    for found in re.finditer(rf'^@(.*)$|^KILN_REASON\((\w+),\s*{STRING},\s*k(\w+),\s*{STRING},\s*{STRING}\)', text, re.M):
        group, word, status, repeat, meaning, help_text = found.groups()
        if group:
            groups.append((group, []))
        else:
            groups[-1][1].append((word, status, repeat, meaning, help_text))
    return groups


def page_of(groups):
    lines = [HEAD]
    for group, rows in groups:
        lines += [f"## {group}", "", "| reason | status | meaning | what to do | repeat |", "|---|---|---|---|---|"]
        for word, status, repeat, meaning, help_text in rows:
            lines.append(f'| <a id="{word}"></a>`{word}` | {status} | {meaning} | {help_text} | {REPEAT[repeat]} |')
        lines.append("")
    return "\n".join(lines)


def main():
    root = pathlib.Path(sys.argv[-1])
    text, path = page_of(read_reasons(root)), root / "docs/reasons.md"
    if "--check" not in sys.argv:
        path.write_text(text)
    elif not path.exists() or path.read_text() != text:
        print(f"docs/reasons.md: run docs/reason_page.py {root}")
        return 1
    print(f"{sum(len(rows) for _, rows in read_reasons(root))} reasons")
    return 0


if __name__ == "__main__":
    sys.exit(main())
