#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""No test sleeps to wait for something: on a machine with other work that is a coin toss. What
waits looks at what it waits for (compiler/base/test_wait.h, tests/integration/waiting.py), and
nothing else in tests may sleep. Programs that make load or measure do not judge by time alone, and
a test of system calls that are refused names them: they are left out.

usage: check_waits.py ROOT
"""
import pathlib
import re
import sys

HOMES = {"compiler/base/test_wait.h", "tests/integration/waiting.py", "tests/check_waits.py"}
LEFT_OUT = ("tests/bench/", "server/worker/lock_test.cc", "tests/integration/load_main.cc", "tests/gpu/presentation_thread.h")
SLEEP = re.compile(r"\bsleep_for\b|\bsleep_until\b|\bnanosleep\b|\busleep\b|\btime\.sleep\b|[^_\w]sleep\s*\(")


def is_test(name):
    return name.startswith("tests/") or name.endswith("_test.cc") or "/test_" in name


def main():
    root = pathlib.Path(sys.argv[1])
    wrong, seen = [], 0
    for folder in ("cache", "client", "compiler", "examples", "docs", "runtime", "server", "tests"):
        for path in sorted((root / folder).rglob("*")):
            name = path.relative_to(root).as_posix()
            if path.suffix not in (".cc", ".h", ".py", ".sh") or not is_test(name):
                continue
            if name in HOMES or name.startswith(LEFT_OUT):
                continue
            seen += 1
            for number, line in enumerate(path.read_text().splitlines(), 1):
                if SLEEP.search(line.split("//")[0]):
                    wrong.append(f"{name}:{number}: {line.strip()}")
    for line in wrong:
        print(line)
    print(f"{seen} files of tests, {len(wrong)} that sleep")
    return 1 if wrong or seen < 300 else 0


sys.exit(main())
