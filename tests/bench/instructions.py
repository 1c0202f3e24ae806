#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Instructions of each path, counted by callgrind: variant_bench -> one JSON object.

usage: instructions.py VARIANT_BENCH [--variants N]
"""
import argparse
import json
import os
import re
import subprocess
import tempfile

WORD_GATE = 43.0  # instructions of the assembler per emitted word
WORD_TARGET = 16.0
KNOWN_GATE = 20.0  # times cheaper than a distinct variant
FEW = 20  # variants of the slow paths
PATHS = {"assembler": "*BuildAllAssembled*", "known": "*FindAllKnown*",
         "direct": "*BuildAllDirect*", "glslang": "*CompileAll*"}


def of_hashing(file: str) -> int:
    """Instructions of SHA-256 itself in an output file of callgrind. Valgrind has no SHA instructions,
    so content ids are computed there the long way: more than ten times as many as a processor with
    them executes, and no matter of the path that is measured."""
    hashing = re.compile(r"kiln::(\(anonymous namespace\)::)?(Sha256Blocks|PlainBlock)")
    names, own, number, inclusive = {}, 0, "", False
    with open(file) as lines:
        for line in lines:
            if (named := re.match(r"(c?)fn=(\(\d+\))(?: (.*))?", line)) is not None:
                names.setdefault(named[2], named[3] or "")
                number = number if named[1] else named[2]
            elif line.startswith("calls="):
                inclusive = True  # the next line has what was called, too
            elif line[0].isdigit() or line[0] in "+-*":
                counts = hashing.match(names.get(number, "")) is not None and not inclusive
                own += int(line.split()[-1]) if counts else 0
                inclusive = False
    return own


def count(bench: str, path: str, variants: int) -> dict:
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(
            ["valgrind", "--tool=callgrind", f"--toggle-collect={PATHS[path]}",
             "--compress-pos=no", f"--callgrind-out-file={os.path.join(folder, 'out')}",
             bench, "--only", path, "--variants", str(variants)],
            capture_output=True, text=True, check=True)
    instructions = int(re.search(r"Collected : (\d+)", done.stderr).group(1))
    result = {"variants": variants, "instructions_per_variant": instructions / variants}
    if path in ("assembler", "direct"):
        words = int(done.stdout)
        result["instructions_per_word"] = instructions / words
        result["words_per_variant"] = words / variants
    return result


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("bench")
    parser.add_argument("--variants", type=int, default=1000)
    arguments = parser.parse_args()
    few = min(arguments.variants, FEW)
    paths = {path: count(arguments.bench, path,
                         few if path in ("direct", "glslang") else arguments.variants)
             for path in PATHS}
    of = {path: row["instructions_per_variant"] for path, row in paths.items()}
    per_word = paths["assembler"]["instructions_per_word"]
    cheaper = of["assembler"] / of["known"]
    print(json.dumps({
        "bench": "instructions", **paths,
        "glslang_times": {path: of["glslang"] / of[path] for path in PATHS},
        "targets": {"assembler_instructions_per_word": WORD_TARGET},
        "gates": {"assembler_instructions_per_word":
                  {"value": per_word, "gate": WORD_GATE, "ok": per_word <= WORD_GATE},
                  "known_variant_times_fewer_instructions":
                  {"value": cheaper, "gate": KNOWN_GATE, "ok": cheaper >= KNOWN_GATE}}},
        indent=1))


if __name__ == "__main__":
    main()
