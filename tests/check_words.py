#!/usr/bin/env python3
"""Checks docs/GLOSSARY.md against the sources.

usage: check_words.py [ROOT]        (ROOT defaults to the current folder)

Fails, one line per finding, if a name of the column "in the code" is in no source.
"""
import pathlib
import re
import sys

FOLDERS = ("cache", "client", "compiler", "examples", "proto", "runtime", "server", "tests")
SOURCES = {".h", ".cc", ".def", ".proto"}
WORD = re.compile(r"\b[A-Za-z_]\w*")
COMMENT = re.compile(r"//.*")


def rows_of(text, columns):
    for line in text.splitlines():
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
        if line.startswith("|") and len(cells) == columns and not set(line) <= set("|-: "):
            yield cells


def words_of(root):
    """Every word of a source outside of comments, and the stem of every source."""
    words = set()
    for top in FOLDERS:
        for path in sorted((root / top).rglob("*")):
            if path.suffix in SOURCES and path.is_file():
                words.update(WORD.findall(COMMENT.sub("", path.read_text(errors="replace"))), [path.stem])
    return words


def check_glossary(text, words):
    for cells in rows_of(text, 4):
        for word in re.findall(r"`([^`]+)`", cells[2]) if cells[2] != "in the code" else []:
            if word not in words:
                yield f"GLOSSARY.md: {cells[0]}: `{word}` is in no source"


def main():
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ".").resolve()
    words = words_of(root)
    problems = list(check_glossary((root / "docs/GLOSSARY.md").read_text(), words))
    print("\n".join(problems), end="\n" if problems else "")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
