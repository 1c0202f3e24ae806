#!/usr/bin/env python3
"""Checks docs/GLOSSARY.md and docs/decisions/renames.md against the sources.

usage: check_words.py [ROOT]        (ROOT defaults to the current folder)

Fails, one line per finding, if
  - a name of the glossary's column "in the code" is in no source;
  - an old name of a rename is not in its folder, so the rename is done and its row is due to go;
  - a new name is taken: as a type or a stem of a file, or of the folder for what is smaller;
  - two renames lead to one name.
"""
import pathlib
import re
import sys

FOLDERS = ("cache", "client", "compiler", "deploy", "proto", "runtime", "server", "tests")
SOURCES = {".h", ".cc", ".def", ".proto"}
WORD = re.compile(r"\b[A-Za-z_]\w*")
TYPE = re.compile(r"\b(?:class|struct|enum class|using)\s+([A-Z]\w*)")
COMMENT = re.compile(r"//.*")
KINDS = ("type", "function", "value", "prefix", "file", "folder")


def rows_of(text, columns):
    for line in text.splitlines():
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
        if line.startswith("|") and len(cells) == columns and not set(line) <= set("|-: "):
            yield cells


class Names:
    def __init__(self, root):
        self.root = root
        self.words, self.types = {}, {}  # by folder
        for top in FOLDERS:
            for path in sorted((root / top).rglob("*")):
                if path.suffix in SOURCES and path.is_file():
                    folder = path.parent.relative_to(root).as_posix()
                    text = COMMENT.sub("", path.read_text(errors="replace"))
                    self.words.setdefault(folder, {path.stem}).update(WORD.findall(text))
                    self.words[folder].add(path.stem)
                    self.types.setdefault(folder, set()).update(TYPE.findall(text))

    def is_known(self, word):
        return any(word in words for words in self.words.values())

    def has_stem(self, folder, stem):
        return any((self.root / folder).glob(f"{stem}.*")) or (self.root / folder / f"{stem}_test.cc").exists()

    def is_there(self, folder, kind, name):
        words = self.words.get(folder, set())
        if kind == "folder":
            return (self.root / name).is_dir()
        if kind == "file":
            return self.has_stem(folder, name)
        if kind == "prefix":
            return any(re.match(name + "[A-Z]", word) for word in words)
        return name in (self.types.get(folder, set()) if kind == "type" else words)

    def is_taken(self, folder, kind, name):
        if kind == "type":
            return any(name in types for types in self.types.values())
        return self.is_there(folder, kind, name)


def check_glossary(text, names):
    for cells in rows_of(text, 4):
        for word in re.findall(r"`([^`]+)`", cells[2]) if cells[2] != "in the code" else []:
            if not names.is_known(word):
                yield f"GLOSSARY.md: {cells[0]}: `{word}` is in no source"


def check_renames(text, names):
    seen = set()
    for old, new, folder, kind in rows_of(text, 4):
        if old == "old":
            continue
        old, new, folder = (cell.strip("`") for cell in (old, new, folder))
        if kind not in KINDS:
            yield f"renames.md: {old}: no kind '{kind}'"
            continue
        if not names.is_there(folder, kind, old.split("::")[-1]):
            yield f"renames.md: {kind} {old} is not in {folder}: remove the row of what is done"
        if names.is_taken(folder, kind, new):
            yield f"renames.md: {kind} {new} (from {old}) is taken"
        if (new, folder if kind == "file" else "") in seen:
            yield f"renames.md: two names become {new}"
        seen.add((new, folder if kind == "file" else ""))


def main():
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ".").resolve()
    names = Names(root)
    problems = list(check_glossary((root / "docs/GLOSSARY.md").read_text(), names))
    problems += check_renames((root / "docs/decisions/renames.md").read_text(), names)
    print("\n".join(problems), end="\n" if problems else "")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
