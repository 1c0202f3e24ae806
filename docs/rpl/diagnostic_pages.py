#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""One page for each diagnostic: compiler/diag/codes.def and the goldens of tests/golden/diag in,
docs/rpl/diagnostics/*.md and docs/hlsl/diagnostics/*.md out. With --check it writes nothing and fails
if a code has no golden or a page is not what it would write.

usage: diagnostic_pages.py [--check] ROOT
"""
import pathlib
import re
import sys

ROW = re.compile(r'KILN_CODE\((\w+), "(\w+)", "([\w-]+)", k(\w+), "((?:[^"\\]|\\.)*)"\)')


def read_codes(root, language):
    """Codes that are HLSL's own have pages of their own; all others are shown by sources of RPL."""
    text = (root / "compiler/diag/codes.def").read_text()
    # Codes of the layout engine are explained in docs/LAYOUT.md; no source alone causes them.
    return [row[1:] for row in ROW.findall(text)
            if not row[1].startswith("LAY") and row[1].startswith("HLSL") == (language == "hlsl")]


def read_exempt(folder):
    exempt = {}
    for line in (folder / "without_golden.txt").read_text().splitlines():
        if line and not line.startswith("#"):
            code, means, fix = line.split("|")
            exempt[code] = {"means": means, "fix": fix, "source": "", "report": ""}
    return exempt


def read_golden(path):
    """The comment lines behind the first are 'means' and 'fix'; the rest is the example."""
    page = {"means": "", "fix": ""}
    source = []
    tag = None
    for line in path.read_text(errors="replace").splitlines()[1:]:
        found = re.match(r"// (means|fix): (.*)", line)
        if found and not source:
            tag = found[1]
            page[tag] = found[2]
        elif line.startswith("//   ") and tag and not source:
            page[tag] += " " + line[5:]
        else:
            source.append(line)
    page["source"] = "\n".join(source)
    expected = path.with_suffix(".expected")
    page["report"] = expected.read_text() if expected.exists() else ""
    return page


def page_text(row, page, language):
    code, name, severity, message = row
    text = [f"# {code}: {name}", "", f"*{severity.lower()}*: {message}", ""]
    text += ["## What it means", "", page["means"], ""]
    if page["source"]:
        text += ["## Example", "", f"```{language}", page["source"], "```", ""]
        text += ["```text", page["report"].rstrip("\n"), "```", ""]
    text += ["## What to do", "", page["fix"], ""]
    return "\n".join(text)


def index_text(codes):
    lines = ["# Diagnostics", "", "Written by `diagnostic_pages.py`; do not edit.", "",
             "| code | name | severity | message |", "|---|---|---|---|"]
    for code, name, severity, message in codes:
        shown = message.replace("|", "\\|")
        lines.append(f"| [{code}]({code}.md) | {name} | {severity.lower()} | {shown} |")
    return "\n".join(lines) + "\n"


def make_pages(root, language):
    """File name -> text, and what is missing."""
    folder = root / "tests/golden/diag"
    exempt = read_exempt(folder)
    codes = read_codes(root, language)
    pages = {"README.md": index_text(codes)}
    missing = []
    for row in codes:
        code = row[0]
        golden = folder / f"{code}.{language}"
        page = exempt.get(code) or (read_golden(golden) if golden.exists() else None)
        if page is None or not page["means"] or not page["fix"]:
            missing.append(f"{code}: no golden with 'means' and 'fix'")
            continue
        if code not in exempt and f"[{code}]" not in page["report"]:
            missing.append(f"{code}: its golden does not show it")
        pages[f"{code}.md"] = page_text(row, page, language)
    known = {row[0] for row in codes}
    for golden in folder.glob(f"*.{language}"):
        if golden.stem not in known:
            missing.append(f"{golden.name}: no such code")
    return pages, missing


def write_or_check(root, language, check):
    pages, wrong = make_pages(root, language)
    out = root / f"docs/{language}/diagnostics"
    out.mkdir(exist_ok=True, parents=True)
    for name, text in pages.items():
        path = out / name
        if not check:
            path.write_text(text)
        elif not path.exists() or path.read_text() != text:
            wrong.append(f"{path.relative_to(root)}: run docs/rpl/diagnostic_pages.py {root}")
    if check:
        wrong += [f"{path.name}: no such code" for path in out.glob("*.md")
                  if path.name not in pages]
    return len(pages) - 1, wrong


def main():
    check = "--check" in sys.argv
    root = pathlib.Path(sys.argv[-1])
    wrong = []
    for language in ("rpl", "hlsl"):
        count, found = write_or_check(root, language, check)
        print(f"{language}: {count} pages")
        wrong += found
    print("\n".join(wrong))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
