#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What tests/bench/build_figures.py says to words that are wrong, and to a request for help.

usage: build_figures_test.py
"""
import pathlib
import subprocess
import sys
import tempfile
import unittest

SCRIPT = pathlib.Path(__file__).resolve().parent / "bench/build_figures.py"


def told(*words):
    return subprocess.run([sys.executable, str(SCRIPT), *words], capture_output=True, text=True, timeout=60, check=False)


class Words(unittest.TestCase):
    def test_help_is_told_and_no_error(self):
        for word in ("--help", "-h"):
            with self.subTest(word):
                done = told(word)
                self.assertEqual((done.returncode, done.stderr), (0, ""))
                for way in ("--of BUILD", "--build BUILD", "--steps ROOT", "--first ROOT", "--suite ROOT", "--edit ROOT"):
                    self.assertIn(way, done.stdout)

    def test_wrong_words_are_answered_with_the_usage(self):
        for words in ((), ("--first",), ("--last", "."), (".", "--first"), ("--first", ".", "."), ("--of", "/nowhere")):
            with self.subTest(words):
                done = told(*words)
                self.assertEqual((done.returncode, done.stdout), (2, ""))
                self.assertRegex(done.stderr, r"^usage: build_figures\.py --of\|.*\n$")

    def test_a_tree_that_was_built_is_described(self):
        with tempfile.TemporaryDirectory() as folder:
            build = pathlib.Path(folder)
            (build / "CMakeCache.txt").write_text("KILN_UNITY:BOOL=ON\n")
            (build / ".ninja_log").write_text("# ninja log v5\n0\t1500\t0\ta/CMakeFiles/a.dir/a.cc.o\t0\n")
            done = told("--of", folder)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertIn('"steps": 1', done.stdout)
            self.assertIn('"a": 1.5', done.stdout)


if __name__ == "__main__":
    unittest.main()
