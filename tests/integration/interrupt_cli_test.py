#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""`kiln build` interrupted at random moments: the terminal is left clean, the exit code says what
happened, and the daemon goes on. See spec/cli 4.2, 12. KILN_FULL=1 takes 100 of each kind.

usage: interrupt_cli_test.py BUILD_FOLDER ROOT
"""
import fcntl
import os
import pty
import random
import re
import signal
import struct
import subprocess
import termios
import threading
import unittest

from cli_case import BUILD, CliCase
from waiting import let_pass, wait_until

EACH = 100 if os.environ.get("KILN_FULL") else 12
FLAGS = [f"flag{i}" for i in range(15)]
PROGRAMS = 6  # of 32,768 results each: seconds, longer than any wait below
CURSOR = re.compile(r"\x1b\[\?25([lh])")
COLOUR = re.compile(r"\x1b\[([\d;]*)m")


class Terminal:
    """A command on a terminal of its own; what it shows there."""

    def __init__(self, words, cwd, env):
        self.master, slave = pty.openpty()
        self.resize(100)
        self.process = subprocess.Popen(words, cwd=cwd, env=env, stdin=slave, stdout=slave,
                                        stderr=slave, start_new_session=True)
        os.close(slave)
        self.shown = b""
        self.reader = threading.Thread(target=self.read)
        self.reader.start()

    def resize(self, columns):
        fcntl.ioctl(self.master, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))

    def read(self):
        try:
            while data := os.read(self.master, 65536):
                self.shown += data
        except OSError:  # the other side is closed
            pass

    def has_bar(self):
        return b"\x1b[?25l" in self.shown

    def end(self):
        code = self.process.wait(timeout=60)
        self.reader.join(timeout=60)
        os.close(self.master)
        return code, self.shown.decode("utf-8", "replace")


class Interrupt(CliCase):
    def setUp(self):
        super().setUp()
        self.env.pop("NO_COLOR")
        self.env.update(TERM="xterm-256color")
        self.random = random.Random(25)
        self.edits = 0

    def edit(self):
        """A project of which nothing is cached, and which no machine has built before it is interrupted."""
        self.edits += 1
        flags = "\n".join(f"global {name}: flag false;" for name in FLAGS)
        axes = ", ".join(f'{name} = "*"' for name in FLAGS)
        manifest = '[project]\nmanifest = 1\nname = "long"\n'
        for program in range(PROGRAMS):
            moves = "\n".join(f"conditional ({name}) {{ x = x + {i}.{self.edits:04}{program}; }}"
                              for i, name in enumerate(FLAGS))
            self.write(f"some{program}.rpl", f"{flags}\nvoid v (void)\n{{\n    f1 x = 0.0;\n    {moves}\n"
                                             "    vertex_stage_output_position (f4 {x});\n}\n")
            manifest += f"""[[program]]
name = "some{program}"
sources = ["some{program}.rpl"]
entry_points = {{ vertex = "v" }}
axes = {{ {axes} }}
"""
        self.write("kiln.toml", manifest)

    def begin(self, wait):
        """A build with a bar on the terminal that has gone on for so long."""
        self.edit()
        terminal = Terminal([str(BUILD / "kiln"), "build"], self.dir, self.env)
        self.assertTrue(wait_until(terminal.has_bar), terminal.shown)
        let_pass(wait)
        return terminal

    def assert_clean(self, shown):
        self.assertEqual(CURSOR.findall(shown)[-1], "h", shown[-500:])
        colours = COLOUR.findall(shown)
        self.assertIn(colours[-1] if colours else "", ("", "0"), shown[-500:])

    def interrupt(self, act, codes):
        for wait in [self.random.random() * 0.4 for _ in range(EACH)]:
            with self.subTest(wait=wait):
                terminal = self.begin(wait)
                act(terminal)
                code, shown = terminal.end()
                self.assertIn(code, codes, shown[-500:])
                self.assert_clean(shown)
        self.expect(self.kiln("status"), 0)

    def test_ctrl_c_cancels_the_batch(self):
        self.interrupt(lambda t: t.process.send_signal(signal.SIGINT), [130])
        states = set()

        def all_are_cancelled():  # the command does not wait for the end of what it cancels
            listed = self.lines(self.kiln("batch", "list", "--json"))
            states.clear()
            states.update(row["state"] for row in listed if row["type"] == "batch")
            return states == {"CANCELLED"}

        self.assertTrue(wait_until(all_are_cancelled), states)

    def test_second_ctrl_c_ends_at_once(self):
        def twice(terminal):
            terminal.process.send_signal(signal.SIGINT)
            let_pass(self.random.random() * 0.01)
            terminal.process.send_signal(signal.SIGINT)
        self.interrupt(twice, [130])

    def test_killed(self):
        for number in signal.SIGTERM, signal.SIGHUP, signal.SIGABRT, signal.SIGSEGV:
            with self.subTest(signal=number):
                each = max(1, EACH // 4)
                for _ in range(each):
                    terminal = self.begin(self.random.random() * 0.4)
                    terminal.process.send_signal(number)
                    code, shown = terminal.end()
                    self.assertEqual(code, -number)
                    self.assert_clean(shown)
        self.expect(self.kiln("status"), 0)

    def test_resized(self):
        def resize(terminal):
            for _ in range(8):
                terminal.resize(self.random.randint(1, 200))
                let_pass(0.02)
            terminal.process.send_signal(signal.SIGINT)
        self.interrupt(resize, [130])

    def test_reader_of_stdout_goes_away(self):
        for wait in [self.random.random() * 0.4 for _ in range(EACH)]:
            with self.subTest(wait=wait):
                self.edit()
                process = subprocess.Popen(
                    [str(BUILD / "kiln"), "build", "--json", "--progress", "lines"], cwd=self.dir,
                    env=self.env, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
                process.stdout.readline()
                let_pass(wait)
                process.stdout.close()
                said = process.stderr.read().decode()
                process.stderr.close()
                self.assertIn(process.wait(timeout=60), (0, 141, -signal.SIGPIPE), said)
                self.assertNotIn("error", said)
        self.expect(self.kiln("status"), 0)


if __name__ == "__main__":
    unittest.main(argv=["interrupt_cli_test"], verbosity=2)
