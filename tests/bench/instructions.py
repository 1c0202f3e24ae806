#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Instructions per emitted word, counted by callgrind: variant_bench -> one JSON object.

usage: instructions.py VARIANT_BENCH [--variants N]
"""
import argparse
import json
import os
import re
import subprocess
import tempfile

GATE = 43.0  # of the assembler
PATHS = {"assembler": "*BuildAllAssembled*", "direct": "*BuildAllDirect*"}


def count(bench: str, path: str, variants: int) -> dict:
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(
            ["valgrind", "--tool=callgrind", f"--toggle-collect={PATHS[path]}",
             f"--callgrind-out-file={os.path.join(folder, 'out')}",
             bench, "--only", path, "--variants", str(variants)],
            capture_output=True, text=True, check=True)
    instructions = int(re.search(r"Collected : (\d+)", done.stderr).group(1))
    words = int(done.stdout)
    return {"variants": variants, "instructions_per_word": instructions / words,
            "instructions_per_variant": instructions / variants,
            "words_per_variant": words / variants}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("bench")
    parser.add_argument("--variants", type=int, default=1000)
    arguments = parser.parse_args()
    assembler = count(arguments.bench, "assembler", arguments.variants)
    direct = count(arguments.bench, "direct", min(arguments.variants, 100))
    value = assembler["instructions_per_word"]
    print(json.dumps({
        "bench": "instructions", "assembler": assembler, "direct": direct,
        "gates": {"assembler_instructions_per_word":
                  {"value": value, "gate": GATE, "ok": value <= GATE}}}, indent=1))


if __name__ == "__main__":
    main()
