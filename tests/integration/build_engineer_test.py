#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The build engineer's session of docs/users as it is written, and what that page says about
batches, reports, dependency files and CMake.

usage: build_engineer_test.py BUILD_FOLDER ROOT
"""
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

from waiting import PATIENCE, wait_until

BUILD, ROOT = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]).resolve()
PAGE = ROOT / "docs/users/build_engineer.md"


class Workplace(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory(prefix="kiln_be_")
        self.dir = pathlib.Path(self.folder.name)
        self.env = dict(
            os.environ,
            PATH=f"{BUILD}:{os.environ['PATH']}",
            KILN_DAEMON=f"unix:{self.dir}/run/kilnd.sock",
            KILN_CACHE_DIR=str(self.dir / "cache"),
            KILN_JOBS_POLITE="false",  # the machine of a test may be busy
            XDG_CACHE_HOME=str(self.dir / "xdg"),
            NO_COLOR="1",
        )
        self.project = self.dir / "project"
        self.project.mkdir()

    def tearDown(self):
        self.run_bash("kiln stop")
        self.folder.cleanup()

    def run_bash(self, command, last=0):
        return subprocess.run(
            ["bash", "-c", f"(exit {last}); {command}"], text=True, timeout=120,
            cwd=self.project, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            env=dict(self.env, KILN_PROGRESS="none"))  # whether there is any is a matter of time

    def kiln(self, *arguments, code=0):
        result = subprocess.run(
            [str(BUILD / "kiln"), *map(str, arguments)], capture_output=True, text=True,
            timeout=120, cwd=self.project, env=self.env)
        self.assertEqual(result.returncode, code, result.stdout + result.stderr)
        return result

    def write_session(self):
        """The files of the page, and its commands with what they print."""
        session = PAGE.read_text().split("\n## A session\n")[1].split("\n## ")[0]
        commands = []
        for name, kind, body in re.findall(r"(?:`([\w./]+)`\n)?```(\w+)\n(.*?)```", session, re.S):
            if name:
                path = self.project / name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(body)
            elif kind == "console":
                for line in body.splitlines():
                    if line.startswith("$ "):
                        commands.append((line[2:], []))
                    else:
                        commands[-1][1].append(line)
        return commands

    def wide_project(self, flags, axes=None):
        """A program whose results are 2^flags."""
        text = "".join(f"global f{i}: flag false;\n" for i in range(flags))
        body = "".join(
            f"conditional (f{i}) {{ x = x * {i + 2}.0 + 0.5; }}\n" for i in range(flags))
        (self.project / "wide.rpl").write_text(
            text + "void v (void)\n{\nf1 x = 1.0;\n" + body +
            "vertex_stage_output_position (f4 {x, 0.0, 0.0, 1.0});\n}\n")
        listed = ", ".join(f'f{i} = "*"' for i in range(axes or flags))
        (self.project / "kiln.toml").write_text(f"""[project]
manifest = 1
name = "wide"
[[program]]
name = "wide"
sources = ["wide.rpl"]
entry_points = {{ vertex = "v" }}
axes = {{ {listed} }}
""")


class Session(Workplace):
    def test_runs_as_it_is_written(self):
        commands = self.write_session()
        self.assertGreater(len(commands), 10)
        last = 0
        for command, expected in commands:
            with self.subTest(command=command):
                result = self.run_bash(command, last)
                last = result.returncode
                pattern = "".join(
                    r"(?:.*\n)*?" if line == "…" else
                    r".*".join(re.escape(part) for part in line.split("…")) + "\n"
                    for line in expected)
                self.assertRegex(result.stdout, re.compile(r"\A" + pattern + r"\Z"))


class Build(Workplace):
    def test_detached_batch_survives_the_death_of_the_daemon(self):
        self.wide_project(13)
        self.kiln("status", code=4)
        self.kiln("build", "--dry-run")
        pid = json.loads(self.kiln("--json", "status").stdout.splitlines()[0])["pid"]
        started = json.loads(self.kiln("--json", "build", "--detach").stdout.splitlines()[0])
        os.kill(pid, signal.SIGKILL)
        command_line = pathlib.Path(f"/proc/{pid}/cmdline")
        wait_until(lambda: not command_line.exists() or not command_line.read_bytes())

        def done():  # nobody starts it again: it goes on by itself
            batch = json.loads(self.kiln("--json", "batch", "list").stdout.splitlines()[0])
            self.assertEqual(batch["id"], started["id"])
            self.assertIn(batch["state"], ["QUEUED", "RUNNING", "DONE"])
            return batch if batch["state"] == "DONE" else None
        batch = wait_until(done)
        self.assertEqual(batch["results_done"], 8192)
        self.kiln("batch", "attach", batch["id"][:6])

    def test_batches_are_shown_paused_resumed_listed_and_cancelled(self):
        self.wide_project(14)
        id = json.loads(self.kiln("--json", "build", "--detach").stdout.splitlines()[0])["id"]
        state = json.loads(self.kiln("--json", "batch", "pause", id[:8]).stdout.splitlines()[0])
        if state["state"] == "PAUSED":  # a fast machine may have finished it
            shown = json.loads(self.kiln("--json", "batch", "show", id).stdout.splitlines()[0])
            self.assertEqual(shown["state"], "PAUSED")
            self.assertEqual(shown["paused_by"], "owner")
            self.assertIn("PAUSED by owner", self.kiln("batch", "show", id).stdout)
            self.kiln("batch", "resume", id[:8])
        self.kiln("build", "--resume")
        items = self.kiln("--json", "batch", "items", id, "--kinds", "slow").stdout.splitlines()
        self.assertEqual(len(items) - 1, 100)
        costs = [json.loads(line)["cpu_ms"] for line in items[:-1]]
        self.assertEqual(costs, sorted(costs, reverse=True))
        self.kiln("batch", "items", id, "--kinds", "fast", code=2)
        self.kiln("batch", "show", "ffffffff", code=3)
        self.kiln("batch", "cancel", id)  # it is over: nothing changes
        self.assertIn("DONE", self.kiln("batch", "show", id).stdout)
        self.assertIn("DONE", self.kiln("batch", "list").stdout)

    def test_space_of_a_thousand_million_variants(self):
        self.wide_project(12)
        text = (self.project / "kiln.toml").read_text()
        source = (self.project / "wide.rpl").read_text()
        (self.project / "wide.rpl").write_text(
            "".join(f"global g{i}: flag false;\n" for i in range(18)) + source)
        dead = ", ".join(f'g{i} = "*"' for i in range(18))
        (self.project / "kiln.toml").write_text(text.replace("axes = { ", f"axes = {{ {dead}, "))
        result = self.kiln("build")
        self.assertIn("1073741824 variants allowed", result.stdout)
        self.assertIn("4096 distinct results", result.stdout)

    def test_budget_is_refused_with_advice(self):
        self.wide_project(30)
        start = time.monotonic()
        result = self.kiln("build", code=5)
        self.assertLess(time.monotonic() - start, PATIENCE)
        self.assertIn("1073741824 distinct results", result.stderr)
        self.assertIn("cut axes, first 'f0'", result.stderr)
        result = self.kiln("build", "--dry-run", code=5)
        self.assertIn("too many", result.stdout)
        self.assertIn("edit: remove 'f0'", result.stdout)

    def test_explored_is_what_only_building_can_strip(self):
        flags = 18
        body = "x = 2.0;"
        for i in reversed(range(flags)):
            body = f"conditional (f{i}) {{ x = x + {i}.0; {body} }}"
        self.wide_project(flags)
        (self.project / "wide.rpl").write_text(
            "".join(f"global f{i}: flag false;\n" for i in range(flags)) +
            "void v (void)\n{\nf1 x = 1.0;\n" + body +
            "\nvertex_stage_output_position (f4 {x, 0.0, 0.0, 1.0});\n}\n")
        refused = self.kiln("build", code=5)
        self.assertIn("262144 distinct results", refused.stderr)
        beyond = self.kiln("build", "--explore", "10", code=5)
        self.assertIn("more than 10 distinct results were found", beyond.stderr)
        explored = self.kiln("build", "--explore", "50", "--json")
        last = json.loads(explored.stdout.splitlines()[-1])
        self.assertEqual(last["counts"]["results"], flags + 1)
        self.assertLess(last["counts"]["compiled"], flags + 1)

    def test_wrong_expression_is_told_where_it_stands(self):
        self.wide_project(2)
        with open(self.project / "kiln.toml", "a") as file:
            file.write('exclude = ["f0 && f9"]\n')
        result = self.kiln("build", code=2)
        self.assertRegex(result.stderr, r"kiln\.toml:9:\d+\n")
        self.assertIn("f9", result.stderr)

    def test_paths_that_lead_out_of_the_project(self):
        self.wide_project(1)
        os.symlink("/etc/passwd", self.project / "link.rpl")
        manifest = (self.project / "kiln.toml").read_text()
        for path, said in [("../wide.rpl", "relative to the root"), ("/etc/passwd", "relative"),
                           ("link.rpl", "is a link or leads out")]:
            with self.subTest(path=path):
                (self.project / "kiln.toml").write_text(manifest.replace("wide.rpl", path))
                self.assertIn(said, self.kiln("build", code=2).stderr)

    def test_table_of_wrong_usage(self):
        self.wide_project(1)
        for arguments in (["--report", "xml:a"], ["--on-error", "sometimes"], ["--priority", "10"],
                          ["--deps", "a.d"], ["--detach", "--out", "o"], ["--durability", "none"]):
            with self.subTest(arguments=arguments):
                self.kiln("build", *arguments, code=2)
        self.kiln("build", "-t", "nowhere", code=2)
        self.kiln("build", "--resume", "abcdef", code=3)

    def test_recipes_once_per_module(self):
        self.wide_project(4)
        with open(self.project / "kiln.toml", "a") as file:
            file.write('targets = ["best", "web", "dx"]\n[target.best]\n'
                       'recipes = ["val", "opt;level=Os;val=after"]\n'
                       '[target.web]\nform = "glsl"\nversion = "310es"\n'
                       '[target.dx]\nform = "hlsl"\n')
        lines = self.kiln("--json", "--progress", "lines", "build").stdout.splitlines()
        last = [json.loads(line) for line in lines if '"progress"' in line][-1]
        self.assertEqual((last["validated"], last["optimised"], last["failed"]), (16, 16, 0))
        self.assertEqual(last["results_done"], 48)
        again = json.loads(self.kiln("--json", "build").stdout.splitlines()[-1])
        self.assertEqual(again["counts"]["compiled"], 0)
        result = self.kiln("compile", "wide", "-o", "f1", "-t", "web", "--out", "-")
        self.assertIn("#version 310 es", result.stdout)

    def test_wrong_recipe_is_refused(self):
        self.wide_project(1)
        with open(self.project / "kiln.toml", "a") as file:
            file.write('targets = ["a"]\n[target.a]\nrecipes = ["opt;level=9"]\n')
        self.assertIn("level=O or level=Os", self.kiln("build", code=2).stderr)

    @unittest.skipUnless(shutil.which("ninja"), "there is no ninja")
    def test_cmake_builds_what_changed(self):
        self.wide_project(2)
        (self.project / "CMakeLists.txt").write_text(
            "cmake_minimum_required(VERSION 3.20)\nproject(game NONE)\n"
            f"list(APPEND CMAKE_MODULE_PATH {ROOT}/deploy/cmake)\ninclude(KilnShaders)\n"
            "kiln_shaders(shaders MANIFEST kiln.toml OUT ${CMAKE_BINARY_DIR}/shaders)\n")
        self.assertEqual(self.run_bash("cmake -G Ninja -S . -B b").returncode, 0)
        first = self.run_bash("ninja -C b")
        self.assertEqual(first.returncode, 0, first.stdout)
        self.assertTrue((self.project / "b/shaders/index.json").exists())
        self.assertIn("no work to do", self.run_bash("ninja -C b").stdout)
        source = self.project / "wide.rpl"
        built = source.stat().st_mtime_ns

        def edit():  # until it is newer, however coarse the clock of the file system is
            source.write_text(source.read_text().replace("0.5", "0.25"))
            return source.stat().st_mtime_ns > built
        self.assertTrue(wait_until(edit))
        self.assertNotIn("no work to do", self.run_bash("ninja -C b").stdout)
        self.assertIn("no work to do", self.run_bash("ninja -C b").stdout)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
