#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Topic files of goldens (runner/topic_file.h): reads them, and writes each input as a file of its own,
for who wants one input a file: seeds of fuzzers, or a case that is to be tried by hand.

usage: topic_file.py split FOLDER OUT    inputs of FOLDER/*.golden and its single ones into OUT
"""
import pathlib
import shutil
import sys

MARK = "//--- "
INPUTS = (".rpl", ".hlsl", ".wgsl")


def parse(text):
    """[(name, source, expected or None)] in the order of the file."""
    cases = []
    for line in text.splitlines(keepends=True):
        if line == MARK + "expected\n":
            cases[-1][2] = ""
        elif line.startswith(MARK):
            cases.append([line[len(MARK):].rstrip("\n"), "", None])
        elif cases[-1][2] is None:
            cases[-1][1] += line
        else:
            cases[-1][2] += line
    return [tuple(case) for case in cases]


def read_folder(folder):
    """Name -> (source, expected or None), of topic files and of single files directly in a folder."""
    found = {}
    for path in sorted(folder.iterdir()):
        if path.suffix == ".golden":
            found.update({name: (source, expected) for name, source, expected in parse(path.read_text())})
        elif path.suffix in INPUTS:
            beside = path.with_suffix(".expected")
            found[path.name] = (path.read_text(errors="replace"),
                                beside.read_text() if beside.exists() else None)
    return found


def split(folder, out):
    shutil.rmtree(out, ignore_errors=True)
    out.mkdir(parents=True)
    for path in folder.rglob("*"):
        if path.suffix in INPUTS:
            shutil.copy(path, out / path.name)
    for topic in folder.rglob("*.golden"):
        for name, source, _ in parse(topic.read_text()):
            (out / name).write_text(source)


if __name__ == "__main__":
    if len(sys.argv) != 4 or sys.argv[1] != "split":
        sys.exit(__doc__)
    split(pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3]))
