#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Programs that start from a daemon and follow every save, in C++ and in C, as projects of their own built
against the installed tree; an edit is made while they run, and the pictures before and after are looked at.

usage: installed_live_test.py BUILD ROOT CMAKE GENERATOR COMPILER
"""
import queue
import subprocess
import sys
import threading
import unittest

from installed_tree import InstalledTree

PATIENCE = 120


class Lines:
    """What a program prints, as it comes."""

    def __init__(self, process):
        self.lines, self.seen = queue.Queue(), []
        threading.Thread(target=self.read, args=(process.stdout,), daemon=True).start()

    def read(self, stream):
        for line in stream:
            self.lines.put(line)
        self.lines.put(None)

    def heard(self, word):
        """Now, or before."""
        return any(word in line for line in self.seen) or self.until(word)

    def until(self, word):
        while True:
            line = self.lines.get(timeout=PATIENCE)
            if line is None:
                raise AssertionError(f"it ended before it said '{word}':\n{''.join(self.seen)}")
            self.seen.append(line)
            if word in line:
                return line


class InstalledLive(InstalledTree):
    def follow(self, example):
        project, built = self.copy_example(example), self.dir / f"built_{example}"
        self.build(project, built)
        shader = project / "shaders/triangle.rpl"
        text = shader.read_text()
        process = subprocess.Popen([built / example, project / "kiln.toml", self.dir / example, "2"], env=self.env,
                                   stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, cwd=self.dir)
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        lines = Lines(process)
        self.assertIn("-0.ppm", lines.until("wrote"))
        self.assertTrue(any("fetched 1 of 1" in line for line in lines.seen), lines.seen)
        self.look_at(self.dir / f"{example}-0.ppm", (255, 128, 0))
        lines.heard(" built, ")  # the watch has seen the state of the start
        # A mistake is told, and what was good draws on; then it is mended, with another colour.
        shader.write_text(text + "golbal")
        lines.until("triangle.rpl:23:")
        shader.write_text(text.replace("f4 {1.0, 0.5 + 0.1", "f4 {0.0, 0.5 + 0.1"))
        self.assertIn("-1.ppm", lines.until("wrote"))
        self.assertEqual(process.wait(timeout=PATIENCE), 0)
        self.look_at(self.dir / f"{example}-1.ppm", (0, 128, 0))

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
