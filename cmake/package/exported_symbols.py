#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What a shared library of C++ exports, as a version script for the linker: the symbols of its archive
that headers of headers.txt declare, and nothing else.

usage: exported_symbols.py ROOT COMPONENT NAME OUT NM ARCHIVE…

A symbol is declared if its class, or itself if it is a function of a namespace, is defined or declared
with parameters in a header of the component. NAME is the version of the symbols.
"""
import pathlib
import re
import subprocess
import sys

CLASS = re.compile(r"\b(?:class|struct)\s+(?:\[\[\w+\]\]\s+)?(?:\w+\(.*?\)\s+)?(\w+)(?:\s+final)?\s*[:{]")
FUNCTION = re.compile(r"\b([A-Z]\w*)\(")
SPECIAL = re.compile(r"^(?:vtable|typeinfo(?: name)?|VTT|guard variable|non-virtual thunk) (?:for|to) ")


def declared(root, component):
    names = set()
    for line in (root / "cmake/package/headers.txt").read_text().splitlines():
        if not line.startswith(component + " "):
            continue
        text = re.sub(r"//.*", "", (root / line.split()[-1]).read_text())
        names.update(CLASS.findall(text), FUNCTION.findall(text))
    return names


def first_name(demangled):
    """`kiln::pack::Pack::Open(…)` -> Pack; nothing if it is not of kiln, or of no header by its form."""
    text = SPECIAL.sub("", demangled)
    head = re.split(r"[(<\[]", text, maxsplit=1)[0]
    if "(anonymous namespace)" in text.split(")", 1)[0] + ")" or not head.startswith("kiln::"):
        return None
    for part in head.split("::"):
        if part and not part[0].islower():
            return part.lstrip("~")
    return None


def main():
    root, component, version, out, nm = pathlib.Path(sys.argv[1]), *sys.argv[2:6]
    names = declared(root, component)
    symbols = set()
    mangled = subprocess.run([nm, "--defined-only", "--extern-only", "--format=posix", *sys.argv[6:]],
                             capture_output=True, text=True, check=True).stdout
    rows = [line.split() for line in mangled.splitlines()]
    candidates = sorted({row[0] for row in rows if len(row) >= 2 and row[0].startswith("_Z")})
    plain = subprocess.run(["c++filt"], input="\n".join(candidates), capture_output=True, text=True,
                           check=True).stdout.splitlines()
    for symbol, text in zip(candidates, plain):
        if first_name(text) in names:
            symbols.add(symbol)
    if not symbols:
        sys.exit(f"{component}: nothing is exported")
    lines = [f"# Made by exported_symbols.py of the public headers of {component}.", f"{version} {{", "  global:"]
    lines += [f"    {symbol};" for symbol in sorted(symbols)] + ["  local:", "    *;", "};"]
    pathlib.Path(out).write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
