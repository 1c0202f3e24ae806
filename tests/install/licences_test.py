#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The test `licences` on a build that came without ninja's log: skipped with the reason, not failed.

usage: licences_test.py ROOT
"""
import pathlib
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(sys.argv[1])


class Licences(unittest.TestCase):
    def test_build_without_the_log_of_ninja_is_skipped(self):
        with tempfile.TemporaryDirectory(prefix="kiln_licences_") as build:
            done = subprocess.run([sys.executable, str(ROOT / "cmake/package/licences.py"), "--check", build, str(ROOT)],
                                  capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 77, done.stdout + done.stderr)
        self.assertIn("skipped: ", done.stdout)
        self.assertIn(".ninja_deps", done.stdout)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
