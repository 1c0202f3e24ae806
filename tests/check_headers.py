#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Checks that every header of the tree compiles alone.

usage: check_headers.py ROOT BUILD COMPILER

A header whose .cc includes it first is proven by the build, so only the others are compiled here. Also
fails for a source without the SPDX line first, a header without #pragma once, and a .cc that does not
include its own header first. KILN_JOBS limits the parallel compilers.
"""
import concurrent.futures
import os
import pathlib
import re
import shutil
import subprocess
import sys

FOLDERS = ("cache", "client", "compiler", "examples", "runtime", "server", "tests")
SPDX = "// SPDX-License-Identifier: "
INCLUDE = re.compile(r'^#include ["<]([^">]+)[">]', re.M)


def check_text(name, text):
    problems = []
    if not text.startswith(SPDX):
        problems.append(f"{name}: the first line is not '{SPDX}…'")
    if name.endswith(".h") and "\n#pragma once\n" not in text:
        problems.append(f"{name}: no #pragma once")
    return problems


def compile_alone(header, root, build, compiler):
    # A fixed place for the unit, and an object for a result, so that ccache can answer.
    unit = pathlib.Path(build) / "headers" / header.replace("/", "_").replace(".h", ".cc")
    text = f'#include "{header}"\n'
    if not unit.exists() or unit.read_text() != text:
        unit.write_text(text)
    command = compiler + ["-std=c++20", "-Wall", "-Wextra", "-Werror",
                          "-Wno-missing-field-initializers", f"-I{root}", f"-I{build}",
                          f"-isystem{build}/proto", f"-I{build}/c", '-DKILN_C_MATERIAL=""', "-c", str(unit), "-o",
                          str(unit.with_suffix(".o"))]
    done = subprocess.run(command, capture_output=True, text=True,
                          env=os.environ | {"CCACHE_BASEDIR": str(root), "CCACHE_NOHASHDIR": "1"})
    return "" if done.returncode == 0 else f"{header}: does not compile alone\n{done.stderr}"


def main():
    root, build, compiler = pathlib.Path(sys.argv[1]).resolve(), sys.argv[2], [sys.argv[3]]
    (pathlib.Path(build) / "headers").mkdir(parents=True, exist_ok=True)
    if shutil.which("ccache"):
        compiler.insert(0, "ccache")
    problems, alone = [], []
    for folder in FOLDERS:
        for path in sorted((root / folder).rglob("*")):
            if path.suffix not in (".h", ".cc"):
                continue
            name = path.relative_to(root).as_posix()
            text = path.read_text(errors="replace")
            problems += check_text(name, text)
            header = name[:-3] + ".h"
            if path.suffix == ".h":
                if not path.with_suffix(".cc").exists():
                    alone.append(name)
            elif path.with_suffix(".h").exists():
                first = INCLUDE.search(text)
                if not first or first[1] != header:
                    problems.append(f"{name}: does not include {header} first")
    jobs = int(os.environ.get("KILN_JOBS", os.cpu_count() or 1))
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        results = pool.map(lambda h: compile_alone(h, root, build, compiler), alone)
        problems += [problem for problem in results if problem]
    print("\n".join(problems) if problems else f"{len(alone)} headers compiled alone")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
