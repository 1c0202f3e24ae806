#!/usr/bin/env python3
"""Checks that documents lead somewhere.

usage: check_docs.py [ROOT]        (ROOT defaults to the current folder)

Fails, one line per finding, if
  - a link of a page (*.md) names a file that does not exist;
  - a folder of tests/layers.txt has no README.md.
"""
import pathlib
import re
import subprocess
import sys

LINK = re.compile(r"\]\(([^)#\s]+)(?:#[^)\s]*)?\)")
CODE = re.compile(r"```.*?```|`[^`\n]*`", re.S)


def pages(root):
    names = subprocess.run(["git", "ls-files", "-co", "--exclude-standard", "*.md"], cwd=root,
                           capture_output=True, text=True, check=False).stdout.split()
    return [root / name for name in names if (root / name).exists()] or sorted(root.rglob("*.md"))


def main():
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ".").resolve()
    problems = []
    for page in pages(root):
        for target in LINK.findall(CODE.sub("", page.read_text(errors="replace"))):
            if "://" not in target and not (page.parent / target).exists():
                problems.append(f"{page.relative_to(root)}: {target} does not exist")
    for line in (root / "tests/layers.txt").read_text().splitlines():
        folder = line.partition(":")[0]
        if line and not line.startswith("#") and not (root / folder / "README.md").exists():
            problems.append(f"{folder} has no README.md")
    print("\n".join(problems), end="\n" if problems else "")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
