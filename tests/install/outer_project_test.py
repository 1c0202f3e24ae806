#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""kiln inside another project, by add_subdirectory and by FetchContent: it configures, brings its targets, and
neither tests nor flags.

usage: outer_project_test.py ROOT FOLDER CMAKE GENERATOR COMPILER [--build]

Nothing but the unit of the outer project is compiled, and that is only parsed. With --build all that it links is
compiled, in units of many sources, and it is run.
"""
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import unittest

ROOT, FOLDER = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2])
CMAKE, GENERATOR, COMPILER = sys.argv[3:6]
OUTER = ROOT / "tests/install/outer"


class OuterProject(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        shutil.rmtree(FOLDER, ignore_errors=True)
        cls.configure(FOLDER)

    @classmethod
    def configure(cls, folder, *flags):
        done = subprocess.run(
            [CMAKE, "-S", str(OUTER), "-B", str(folder), "-G", GENERATOR, f"-DKILN={ROOT}",
             f"-DCMAKE_CXX_COMPILER={COMPILER}", "-DCMAKE_EXPORT_COMPILE_COMMANDS=ON", *flags],
            capture_output=True, text=True, timeout=280, check=False)
        cls.said = done.stdout + done.stderr
        cls.code = done.returncode

    def command_of(self, name):
        rows = json.loads((FOLDER / "compile_commands.json").read_text())
        return next(row["command"] for row in rows if row["file"].endswith(name))

    def test_it_configures_and_changes_nothing(self):
        self.assertEqual(self.code, 0, self.said)

    def test_it_is_fetched_and_linked(self):
        fetched = FOLDER.with_name("fetched")
        shutil.rmtree(fetched, ignore_errors=True)
        self.configure(fetched, "-DFETCH=ON", "-DKILN_UNITY=ON", "-DCMAKE_BUILD_TYPE=Release")
        self.assertEqual(self.code, 0, self.said)
        if "--build" in sys.argv:
            subprocess.run([CMAKE, "--build", str(fetched), "--target", "outer", "--parallel",
                            os.environ.get("KILN_JOBS", "2")], check=True)
            done = subprocess.run([fetched / "outer"], capture_output=True, text=True, check=False)
            self.assertEqual(done.returncode, 0, done.stdout)
            self.assertIn("not.there", done.stdout)

    def test_there_are_no_tests_and_nothing_to_install(self):
        done = subprocess.run(["ctest", "-N"], cwd=FOLDER, capture_output=True, text=True, check=False)
        self.assertIn("Total Tests: 0", done.stdout)
        self.assertNotIn("kiln_archive", (FOLDER / "compile_commands.json").read_text())

    def test_flags_of_kiln_stay_with_kiln(self):
        command = self.command_of("outer.cc")
        for flag in ("-Werror", "-Wpedantic", "-ffile-prefix-map", "fuse-ld", "-fpch"):
            self.assertNotIn(flag, command)
        self.assertRegex(command, r"-std=(gnu|c)\+\+20")
        self.assertNotIn("-Werror", self.command_of("runtime/pipeline/pipelines.cc"))

    def test_headers_have_the_names_that_they_have_when_installed(self):
        command = re.sub(r" -o \S+ -c ", " -fsyntax-only ", self.command_of("outer.cc"))
        done = subprocess.run(command, shell=True, cwd=FOLDER, capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
