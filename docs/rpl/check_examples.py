#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compiles every ```rpl, ```hlsl or ```wgsl block of a guide without a diagnostic. The comment above a
block holds what the compiler is told: entry points as stage=function, then flags of kilnc.

usage: check_examples.py KILNC FILE.md...
"""
import pathlib
import re
import subprocess
import sys
import tempfile

BLOCK = re.compile(r"<!-- (.*?)-->\n```(rpl|hlsl|wgsl)\n(.*?)```", re.S)
FENCE = re.compile(r"```(?:rpl|hlsl|wgsl)\n")
STAGES = ("vertex=", "fragment=", "compute=")


def arguments_of(words):
    arguments = []
    for word in words.split():
        arguments += ["--entry", word] if word.startswith(STAGES) else [word]
    return arguments


def check(kilnc, source, language, words, folder):
    path = pathlib.Path(folder) / f"example.{language}"
    path.write_text(source)
    command = [kilnc, "compile", str(path), *arguments_of(words), "--out", folder, "--meta",
               f"{folder}/meta.json"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    return done.stderr if done.returncode == 0 else f"exit {done.returncode}\n{done.stderr}"


def main():
    kilnc, *files = sys.argv[1:]
    failed = count = 0
    for name in files:
        text = pathlib.Path(name).read_text()
        blocks = BLOCK.findall(text)
        if len(blocks) != len(FENCE.findall(text)):
            print(f"{name}: a block has no comment above it")
            failed += 1
        for words, language, source in blocks:
            count += 1
            with tempfile.TemporaryDirectory() as folder:
                report = check(kilnc, source, language, words, folder)
            if report:
                failed += 1
                print(f"{name}: example {count}\n{source}{report}")
    print(f"{count} examples, {failed} failed")
    return 1 if failed or count == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
