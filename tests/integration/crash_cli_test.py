#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A daemon that is killed in the middle of its work: what ran has had one attempt, and after three
of them it is poison.

usage: crash_cli_test.py BUILD_FOLDER ROOT
"""
import os
import signal
import struct
import subprocess
import sys
import time
import unittest

from cli_case import BUILD, CliCase
from waiting import PATIENCE

ROWS, ROW, HEADER = 256, 32, 64
MODULE = 1  # the level of what a front end reads


def rows(data, table):
    """Of the file that server/jobs/crash_guard.h draws: those that hold something."""
    begin = HEADER + table * ROWS * ROW
    found = [data[at:at + ROW] for at in range(begin, begin + ROWS * ROW, ROW)]
    return [row for row in found if struct.unpack_from("<Q", row)[0]]


class Crash(CliCase):
    def setUp(self):
        super().setUp()
        # Some tenths of a second of reading, so that it can be hit.
        lines = "".join(f"    f1 a{i} = {i}.5 * {i}.25 + 1.0;\n" for i in range(40_000))
        for name in "big.rpl", "other.rpl":
            self.write(name, f"// {name}\nvoid v (void)\n{{\n{lines}"
                             "    vertex_stage_output_position (f4 {a1});\n}\n")
        self.write("small.rpl", "void v (void) { vertex_stage_output_position (f4 {0.0}); }\n")

    def start(self):
        read, write = os.pipe()
        daemon = subprocess.Popen(
            [str(BUILD / "kilnd"), f"--ready-fd={write}", f"--listen.unix={self.dir}/run/kilnd.sock"],
            pass_fds=[write], env=self.env, stderr=subprocess.DEVNULL)
        os.close(write)
        self.assertIn(b'"ready":true', os.read(read, 1000))
        os.close(read)
        return daemon

    def compile(self, name, *more):
        return self.kiln("compile", name, "--entry", "vertex=v", "--autostart", "no", *more)

    def attempts(self):
        return (self.dir / "cache" / "attempts").read_bytes()

    def kill_at_work(self, name):
        """Kills a daemon while it reads the source."""
        daemon = self.start()
        command = subprocess.Popen(
            [str(BUILD / "kiln"), "compile", name, "--entry", "vertex=v", "--autostart", "no"],
            cwd=self.dir, env=self.env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        until = time.monotonic() + PATIENCE
        with open(self.dir / "cache" / "attempts", "rb", buffering=0) as file:
            while time.monotonic() < until:
                file.seek(0)
                if any(row[0] == MODULE for row in rows(file.read(), 0)):
                    break
        daemon.send_signal(signal.SIGKILL)
        daemon.wait()
        command.kill()
        command.wait()
        running = rows(self.attempts(), 0)
        self.assertEqual([row[0] for row in running], [MODULE], "it was not hit at work")

    def stop(self, daemon):
        daemon.send_signal(signal.SIGTERM)
        self.assertEqual(daemon.wait(), 0)

    def test_input_that_ends_three_daemons_is_poison(self):
        for _ in range(3):
            self.kill_at_work("big.rpl")
        daemon = self.start()
        result = self.compile("big.rpl")
        self.expect(result, 1, "INPUT_POISON", "source 'big.rpl' ended the compiler three times")
        self.expect(self.compile("small.rpl"), 0)
        self.expect(self.compile("big.rpl", "--retry-failed"), 0)
        self.expect(self.compile("big.rpl"), 0)
        self.stop(daemon)
        self.assertEqual(rows(self.attempts(), 1), [])

    def test_poison_is_forgotten_when_failures_are(self):
        for _ in range(3):
            self.kill_at_work("big.rpl")
        daemon = self.start()
        self.expect(self.compile("big.rpl"), 1, "INPUT_POISON")
        self.expect(self.kiln("cache", "gc", "--failed"), 0)
        self.expect(self.compile("big.rpl"), 0)
        self.stop(daemon)

    def test_success_clears_what_a_kill_left(self):
        for name in "big.rpl", "other.rpl":
            self.kill_at_work(name)
            daemon = self.start()
            self.assertEqual(len(rows(self.attempts(), 1)), 1)
            self.expect(self.compile("small.rpl"), 0)
            self.assertEqual(len(rows(self.attempts(), 1)), 1)
            self.expect(self.compile(name), 0)
            self.assertEqual(rows(self.attempts(), 1), [])
            self.stop(daemon)

    def test_daemon_that_is_asked_to_end_leaves_nothing(self):
        daemon = self.start()
        self.expect(self.compile("small.rpl"), 0)
        self.stop(daemon)
        self.assertEqual(rows(self.attempts(), 0) + rows(self.attempts(), 1), [])


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0]])
