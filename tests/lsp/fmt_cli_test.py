#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""`kiln fmt` on files and folders: what changes, what is refused, how it ends.

usage: fmt_cli_test.py BUILD_FOLDER ROOT
"""
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

BUILD, ROOT = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]).resolve()
UGLY = "global a:flag  false; // why\nconstant b=1.0;\n"
GOOD = "global a: flag false;   // why\nconstant b = 1.0;\n"
WRONG = "global a flag;\n"


class Fmt(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory(prefix="kiln_fmt_")
        self.dir = pathlib.Path(self.folder.name)
        (self.dir / "below").mkdir()
        (self.dir / "kiln.toml").write_text('[project]\nmanifest = 1\nname = "x"\n')
        self.ugly = self.dir / "below/ugly.rpl"
        self.ugly.write_text(UGLY)
        (self.dir / "good.rpl").write_text(GOOD)

    def tearDown(self):
        self.folder.cleanup()

    def fmt(self, *words):
        return subprocess.run([BUILD / "kiln", "fmt", *words], cwd=self.dir, capture_output=True,
                              text=True, timeout=60)

    def test_the_project_is_formatted_once(self):
        self.assertEqual(self.fmt().stdout, "1 of 2 files changed\n")
        self.assertEqual(self.ugly.read_text(), GOOD)
        self.assertEqual(self.fmt().stdout, "0 of 2 files changed\n")

    def test_check_changes_nothing_and_fails(self):
        done = self.fmt("--check")
        self.assertEqual(done.returncode, 1)
        self.assertIn("ugly.rpl' is not formatted", done.stderr)
        self.assertEqual(self.ugly.read_text(), UGLY)
        self.assertEqual(self.fmt("--check", "good.rpl").returncode, 0)

    def test_words_are_files_and_folders(self):
        self.assertEqual(self.fmt("good.rpl").stdout, "0 of 1 files changed\n")
        self.assertEqual(self.fmt("below").stdout, "1 of 1 files changed\n")

    def test_a_wrong_source_is_left_alone(self):
        wrong = self.dir / "wrong.rpl"
        wrong.write_text(WRONG)
        done = self.fmt("wrong.rpl", "below/ugly.rpl")
        self.assertEqual(done.returncode, 1)
        self.assertIn("wrong.rpl:1:10:", done.stderr)
        self.assertEqual(wrong.read_text(), WRONG)
        self.assertEqual(self.ugly.read_text(), GOOD)

    def test_table_of_bad_input(self):
        (self.dir / "a.txt").write_text("x")
        for words, status in [(["absent.rpl"], 3), (["a.txt"], 1), (["--chek"], 2)]:
            done = self.fmt(*words)
            self.assertEqual(done.returncode, status, done.stderr)
            self.assertIn("error: ", done.stderr)

    def test_json_ends_with_the_result(self):
        rows = [json.loads(line) for line in self.fmt("--json").stdout.splitlines()]
        self.assertEqual(rows[-1]["type"], "result")
        self.assertEqual(rows[-1]["exit"], 0)


if __name__ == "__main__":
    sys.argv = sys.argv[:1]
    unittest.main()
