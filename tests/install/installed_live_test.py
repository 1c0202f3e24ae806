#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Programs that start from a daemon and follow every save, in C++ and in C, as projects of their own built
against the installed tree; an edit is made while they run, and the pictures before and after are looked at.

usage: installed_live_test.py BUILD ROOT CMAKE GENERATOR COMPILER
"""
import subprocess
import sys
import unittest

from following import follow
from installed_tree import InstalledTree


class InstalledLive(InstalledTree):
    def follow(self, example):
        project, built = self.copy_example(example), self.dir / f"built_{example}"
        self.build(project, built)
        process = subprocess.Popen([built / example, project / "kiln.toml", self.dir / example, "2"], env=self.env,
                                   stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, cwd=self.dir)
        follow(self, process, project, self.dir / example)

    def setUp(self):
        # Programs find the user's own daemon.
        self.env = dict(self.env, XDG_RUNTIME_DIR=str(self.dir / "own"))
        (self.dir / "own").mkdir(mode=0o700, exist_ok=True)
        self.env.pop("KILN_DAEMON", None)
        self.addCleanup(subprocess.run, [self.prefix / "bin/kiln", "stop"], env=self.env, capture_output=True)

    def test_the_example_in_cxx_follows_a_save(self):
        self.follow("live")

    def test_the_example_in_c_follows_a_save(self):
        self.follow("live_c")

    def test_in_c_the_program_itself_needs_no_grpc(self):
        self.build(self.copy_example("live_c"), self.dir / "built_live_c")
        needs = subprocess.run(["readelf", "-d", self.dir / "built_live_c/live_c"], capture_output=True, text=True,
                               check=True).stdout
        self.assertIn("[libkiln-client-c.so.0]", needs)
        self.assertNotIn("grpc", needs)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
