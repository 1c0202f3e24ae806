#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""kilnc judges uniformity as uniformity_rows.py has it: the code, its severity and what control depends on.

usage: uniformity_test.py KILNC
"""
import concurrent.futures
import pathlib
import subprocess
import sys
import tempfile
import unittest

import uniformity_rows

KILNC = ""
WORDS = {"error": ("error", 1), "warning": ("warning", 0)}


class Uniformity(unittest.TestCase):
    def test_rows(self):
        rows = list(uniformity_rows.programs())
        self.assertGreater(len(rows), 90)
        with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(2) as pool:
            def judged(number):
                path = pathlib.Path(folder) / f"{number}.wgsl"
                path.write_text(rows[number][1])
                return subprocess.run([KILNC, "compile", path, "--stage", "lower"], capture_output=True, text=True,
                                      check=False, timeout=120)
            for row, done in zip(rows, pool.map(judged, range(len(rows)))):
                name, _, code, text, severity = row
                with self.subTest(row=name):
                    if code is None:
                        self.assertEqual((done.returncode, done.stderr), (0, ""))
                        continue
                    word, exit_code = WORDS[severity]
                    self.assertEqual(done.returncode, exit_code, done.stderr)
                    self.assertEqual(done.stderr.count("[WGSL"), 1, done.stderr)
                    self.assertIn(f"{word}[{code}]", done.stderr)
                    self.assertIn(f"depends on '{text}'", done.stderr)

    def test_an_information_is_not_said(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "a.wgsl"
            path.write_text(uniformity_rows.information())
            done = subprocess.run([KILNC, "compile", path, "--stage", "lower"], capture_output=True, text=True,
                                  check=False, timeout=120)
            self.assertEqual((done.returncode, done.stderr), (0, ""))


if __name__ == "__main__":
    KILNC = str(pathlib.Path(sys.argv.pop(1)).resolve())
    unittest.main()
