#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Checks the headers that engines get, as cmake/package/headers.txt lists them.

usage: check_public_headers.py ROOT [COMPILER]

Fails, one line per finding, if
  - a row names a header that does not exist, or one that an earlier row has;
  - a header includes one of kiln's that neither its own component nor one that it requires installs;
  - a `+` header is included by no other, and so is installed for nothing;
  - a header includes anything but kiln's, the standard library's and vulkan/vulkan_core.h;
  - a header defines a macro whose name does not begin with KILN_.
With a COMPILER the public headers are compiled as one unit from a copy that has nothing else.
"""
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

LIST = "cmake/package/headers.txt"
# What a component may include besides itself; in step with cmake/components.cmake.
REQUIRES = {"runtime": (), "graph": ("runtime",), "client": ("runtime",), "compiler": ("runtime",)}
OUTSIDE = ("vulkan/vulkan_core.h",)
# Asks vulkan_core.h for types alone: functions come from vk::Table.
MACROS = ("VK_NO_PROTOTYPES",)
ROW = re.compile(r"^([a-z]+) (\+ )?([\w/]+\.(?:h|def))$")
INCLUDE = re.compile(r'^\s*#\s*include\s*(["<])([^">]+)[">]', re.M)
DEFINE = re.compile(r"^\s*#\s*define\s+(\w+)", re.M)
FLAGS = ("-std=c++20", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-fsyntax-only")


def read_rows(root, problems):
    """header -> (component, whether it is public)."""
    rows = {}
    for number, line in enumerate((root / LIST).read_text().splitlines(), 1):
        if not line or line.startswith("#"):
            continue
        match = ROW.match(line)
        if not match or match[1] not in REQUIRES:
            problems.append(f"{LIST}:{number}: not a row: {line}")
        elif match[3] in rows:
            problems.append(f"{LIST}:{number}: {match[3]} is listed twice")
        elif not (root / match[3]).is_file():
            problems.append(f"{LIST}:{number}: {match[3]} does not exist")
        else:
            rows[match[3]] = (match[1], match[2] is None)
    return rows


def check_header(root, header, rows, included):
    component = rows[header][0]
    text = (root / header).read_text()
    for quote, name in INCLUDE.findall(text):
        if quote == '"' and name not in rows:
            yield f"{header}: includes {name}, which is not installed"
        elif quote == '"' and rows[name][0] not in (component, *REQUIRES[component]):
            yield f"{header}: {component} does not require {rows[name][0]}, which has {name}"
        elif quote == '"':
            included.add(name)
        elif ("/" in name or "." in name) and name not in OUTSIDE:
            yield f"{header}: includes <{name}>, which engines need not have"
    for macro in DEFINE.findall(text):
        if not macro.startswith("KILN_") and macro not in MACROS:
            yield f"{header}: defines {macro}"


def check_rows(root, rows):
    included, problems = set(), []
    for header in rows:
        problems += check_header(root, header, rows, included)
    return problems + [f"{header}: nothing includes it; remove the row or its +"
                       for header, (_, public) in rows.items() if not public and header not in included]


def compile_copy(root, rows, compiler):
    with tempfile.TemporaryDirectory() as folder:
        for header in rows:
            copy = pathlib.Path(folder, header)
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(root / header, copy)
        unit = "".join(f'#include "{header}"\n' for header, (_, public) in rows.items() if public)
        done = subprocess.run([compiler, *FLAGS, "-I", folder, "-x", "c++", "-"], input=unit, text=True,
                              capture_output=True, check=False, cwd=folder)
        return [] if done.returncode == 0 else [done.stderr]


def main():
    root = pathlib.Path(sys.argv[1])
    problems = []
    rows = read_rows(root, problems)
    problems += check_rows(root, rows)
    if not problems and len(sys.argv) > 2:
        problems += compile_copy(root, rows, sys.argv[2])
    public = sum(public for _, public in rows.values())
    print("\n".join(problems) if problems else f"{public} public headers, {len(rows) - public} that they include")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
