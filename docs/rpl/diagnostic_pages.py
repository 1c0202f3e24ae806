#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""One page for each diagnostic: compiler/diag/codes.def and the goldens of tests/golden/diag in,
docs/hlsl/diagnostics/*.md for HLSL, docs/wgsl/diagnostics/*.md for the front end of WGSL and
docs/rpl/diagnostics/*.md for all others out. With --check it
writes nothing and fails if a code has no golden or a page is not what it would write.

usage: diagnostic_pages.py [--check] ROOT
"""
import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tests/golden"))
import topic_file

ROW = re.compile(r'KILN_CODE\((\w+), "(\w+)", "([\w-]+)", k(\w+), "((?:[^"\\]|\\.)*)"\)')


# Language of the examples: folder of the pages, prefix of the codes.
LANGUAGES = ("rpl", "hlsl", "wgsl")


def language_of(code):
    # What the emitter of WGSL says (WGSL8xxx) is said of RPL.
    wgsl = code.startswith("WGSL") and not code.startswith("WGSL8")
    return "hlsl" if code.startswith("HLSL") else "wgsl" if wgsl else "rpl"


def read_codes(root):
    text = (root / "compiler/diag/codes.def").read_text()
    # Codes of the layout engine are explained in docs/LAYOUT.md; no source causes them.
    return [row[1:] for row in ROW.findall(text) if not row[1].startswith("LAY")]


def read_exempt(folder):
    exempt = {}
    for line in (folder / "without_golden.txt").read_text().splitlines():
        if line and not line.startswith("#"):
            code, means, fix = line.split("|")
            exempt[code] = {"means": means, "fix": fix, "source": "", "report": ""}
    return exempt


def read_golden(golden):
    """The comment lines behind the first are 'means' and 'fix'; the rest is the example."""
    page = {"means": "", "fix": ""}
    source = []
    tag = None
    text, report = golden
    for line in text.splitlines()[1:]:
        found = re.match(r"// (means|fix): (.*)", line)
        if found and not source:
            tag = found[1]
            page[tag] = found[2]
        elif line.startswith("//   ") and tag and not source:
            page[tag] += " " + line[5:]
        else:
            source.append(line)
    page["source"] = "\n".join(source)
    page["report"] = report or ""
    return page


def page_text(row, page):
    code, name, severity, message = row
    text = [f"# {code}: {name}", "", f"*{severity.lower()}*: {message}", ""]
    text += ["## What it means", "", page["means"], ""]
    if page["source"]:
        text += ["## Example", "", "```" + language_of(code), page["source"], "```", ""]
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


def make_pages(root):
    """Language -> file name -> text, and what is missing."""
    folder = root / "tests/golden/diag"
    exempt = read_exempt(folder)
    codes = read_codes(root)
    goldens = topic_file.read_folder(folder)
    pages = {language: {"README.md": index_text([row for row in codes if language_of(row[0]) == language])}
             for language in LANGUAGES}
    missing = []
    for row in codes:
        code = row[0]
        golden = goldens.get(f"{code}.{language_of(code)}")
        page = exempt.get(code) or (read_golden(golden) if golden else None)
        if page is None or not page["means"] or not page["fix"]:
            missing.append(f"{code}: no golden with 'means' and 'fix'")
            continue
        if code not in exempt and f"[{code}]" not in page["report"]:
            missing.append(f"{code}: its golden does not show it")
        pages[language_of(code)][f"{code}.md"] = page_text(row, page)
    known = {f"{row[0]}.{language_of(row[0])}" for row in codes}
    missing += [f"{name}: no such code" for name in goldens if name not in known]
    return pages, missing


def main():
    check = "--check" in sys.argv
    root = pathlib.Path(sys.argv[-1])
    pages, wrong = make_pages(root)
    for language in LANGUAGES:
        out = root / "docs" / language / "diagnostics"
        out.mkdir(parents=True, exist_ok=True)
        for name, text in pages[language].items():
            path = out / name
            if not check:
                path.write_text(text)
            elif not path.exists() or path.read_text() != text:
                wrong.append(f"docs/{language}/diagnostics/{name}: run docs/rpl/diagnostic_pages.py {root}")
        if check:
            wrong += [f"{path.name}: no such code" for path in out.glob("*.md")
                      if path.name not in pages[language]]
    print("\n".join(wrong) if wrong else f"{sum(len(p) - 1 for p in pages.values())} pages")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
