#!/usr/bin/env python3
"""Carries out rows of renames.md: identifiers, files and includes, and the glossary's column.

usage: rename.py FOLDER [OLD…]        (in the root; without OLD: every row of the folder)

Identifiers change in the folder and wherever a file includes one of its headers; elsewhere an equal
word means something else. In comments a plain word (Changes, Entry) may be English, so it stays, and
its lines are printed to be read. Nested names (A::B), prefixes and folders are left to a person.
Rows that are done are removed. Afterwards: clang-format, sort lists of sources, build, commit alone.
"""
import pathlib
import re
import subprocess
import sys

TABLE = pathlib.Path("docs/decisions/renames.md")
ROW = re.compile(r"\| `([^`]+)` \| `([^`]+)` \| `([^`]+)` \| (\w+) \|$")
COMPOUND = re.compile(r"[A-Z][a-z]+[A-Z]|_|[a-z][A-Z]")
STRING = re.compile(r'("(?:[^"\\]|\\.)*")')


def comment_at(line):
    at = line.find("//")
    while at >= 0 and line[:at].count('"') % 2 == 1:
        at = line.find("//", at + 2)
    return at if at >= 0 else len(line)


def rename_word(path, text, old, new):
    word = re.compile(rf"\b{old}\b")
    lines = []
    for number, line in enumerate(text.split("\n"), 1):
        if not line.lstrip().startswith("#include"):
            at = comment_at(line)
            code, comment = line[:at], line[at:]
            code = "".join(part if part.startswith('"') else word.sub(new, part) for part in STRING.split(code))
            if COMPOUND.search(old):
                comment = word.sub(new, comment)
            elif word.search(comment):
                print(f"{path}:{number}: {comment}")
            line = code + comment
        lines.append(line)
    return "\n".join(lines)


def rename_identifier(texts, folder, old, new):
    include = re.compile(rf'#include "{re.escape(folder)}/[a-z_0-9]+\.h"')
    for path, text in texts.items():
        if path.suffix in (".cc", ".h") and (str(path.parent) == folder or include.search(text)):
            texts[path] = rename_word(path, text, old, new)
        elif path.name in ("GLOSSARY.md", "README.md"):
            texts[path] = text.replace(f"`{old}`", f"`{new}`")


def rename_file(texts, folder, old, new):
    far = re.compile(rf"(?<![\w/]){re.escape(folder)}/{old}(?=(?:_test)?\.(?:cc|h)\b)")
    near = re.compile(rf"(?<![\w/.]){old}(?=(?:_test)?\.(?:cc|h)\b)")
    for path, text in texts.items():
        text = far.sub(f"{folder}/{new}", text)
        if str(path.parent) == folder:
            text = near.sub(new, text)
            text = text.replace(f"`{old}`", f"`{new}`") if path.name == "README.md" else text
        texts[path] = text
    return [(path, path.with_name(new + path.name[len(old):])) for path in texts
            if str(path.parent) == folder and re.fullmatch(rf"{old}(_test)?\.(cc|h)", path.name)]


def main():
    folder, wanted = sys.argv[1], set(sys.argv[2:])
    names = subprocess.run(["git", "ls-files"], capture_output=True, text=True, check=True).stdout.split()
    texts = {pathlib.Path(name): pathlib.Path(name).read_text() for name in names
             if name.endswith((".cc", ".h", ".txt", ".md", ".py")) and name != str(TABLE)}
    before, rows, moves = dict(texts), [], []
    for line in TABLE.read_text().split("\n"):
        row = ROW.match(line)
        done = False
        if row and row[3] == folder and (not wanted or row[1] in wanted) and "::" not in row[1]:
            if row[4] in ("type", "function", "value"):
                rename_identifier(texts, folder, row[1], row[2])
                done = True
            elif row[4] == "file":
                moves += rename_file(texts, folder, row[1], row[2])
                done = True
        rows += [] if done else [line]
    for path, text in texts.items():
        if text != before[path]:
            path.write_text(text)
    for old, new in moves:
        subprocess.run(["git", "mv", str(old), str(new)], check=True)
    TABLE.write_text("\n".join(rows))


if __name__ == "__main__":
    main()
