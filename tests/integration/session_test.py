#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs the session of a page of docs/users as it is written there.

Blocks that are marked `sh session` are one script, run in an empty folder. A block marked
`text session` behind one shows what it prints: each of its lines must be there, in this order; `…`
stands for anything.

usage: session_test.py BUILD_FOLDER PAGE
"""
import os
import pathlib
import re
import subprocess
import sys
import tempfile

BLOCK = re.compile(r"^```(sh|text) session\n(.*?)^```$", re.MULTILINE | re.DOTALL)
MARK = "=== step {} ==="


def pattern(line):
    return ".*".join(re.escape(part.strip()) for part in line.split("…"))


def missing(expected, said):
    """The first line that does not come, or nothing."""
    rest = iter(said.splitlines())
    for line in expected.splitlines():
        if line.strip() and not any(re.search(pattern(line), got) for got in rest):
            return line
    return None


def main():
    build, page = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2])
    blocks = BLOCK.findall(page.read_text())
    script, expected = ["set -e", "trap 'kill $(jobs -p) 2>/dev/null || true' EXIT"], {}
    for kind, text in blocks:
        if kind == "sh":
            script += [f"echo '{MARK.format(len(expected))}'", text]
            expected[len(expected)] = ""
        else:
            expected[len(expected) - 1] = text
    if not expected:
        sys.exit(f"{page}: there is no session")
    with tempfile.TemporaryDirectory(prefix="kiln_session_") as folder:
        env = dict(os.environ, KILN_ROOT=str(page.resolve().parents[2]), NO_COLOR="1",
                   PATH=f"{build}:{os.environ['PATH']}",
                   KILN_DAEMON=f"unix:{folder}/run/kilnd.sock", KILN_CACHE_DIR=f"{folder}/cache")
        home = pathlib.Path(folder) / "home"
        home.mkdir()
        done = subprocess.run(["bash", "-c", "\n".join(script)], cwd=home, env=env, timeout=580,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                              check=False)
        subprocess.run([build / "kiln", "stop"], env=env, timeout=60, capture_output=True,
                       check=False)
    print(done.stdout)
    steps = re.split(r"^=== step \d+ ===\n", done.stdout, flags=re.MULTILINE)[1:]
    if done.returncode != 0 or len(steps) != len(expected):
        sys.exit(f"step {len(steps) - 1} of {len(expected)} ended with {done.returncode}")
    for number, text in expected.items():
        line = missing(text, steps[number])
        if line is not None:
            sys.exit(f"step {number} does not say: {line}")


if __name__ == "__main__":
    main()
