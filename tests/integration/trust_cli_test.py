#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""What the programs trust and what they do not: folders, sockets and files that others have
prepared, names that lead elsewhere, text that moves cursors. As root, which is how CI runs, other
users are made up; else the same is tried with links, modes and files.

usage: trust_cli_test.py BUILD_FOLDER ROOT
"""
import os
import pathlib
import re
import shlex
import shutil
import socket
import subprocess
import sys
import threading
import time
import unittest

import grpc

from cli_case import BUILD, ROOT, CliCase, daemon_that_refuses, protobuf

ROOT_USER = os.geteuid() == 0
STRANGER = 65534
UBER = ROOT / "tests/bench/shaders/uber.rpl"
HOSTILE = "he\x1b]0;x\x07llo\u202e\u009b31m\x7f; touch pwn"
PRINTABLE = "he'$(llo) `x` | <b> \u00e9; touch pwn"  # what the name of a project may be


def controls(text):
    return re.findall("[\x00-\x09\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]", text)


class Listener:
    """Somebody who answers at a path and takes what is sent; `as_user`: who listens."""

    def __init__(self, path, as_user=None):
        self.received = []
        self.pid = 0
        if as_user is None:
            self.socket = self.listen(path)
            threading.Thread(target=self.serve, daemon=True).start()
            return
        ready, said = os.pipe()
        self.pid = os.fork()
        if self.pid == 0:
            bound = socket.socket(socket.AF_UNIX)
            bound.bind(str(path))
            os.setuid(as_user)
            bound.listen()
            os.write(said, b"x")
            while True:
                bound.accept()[0].close()
        os.read(ready, 1)
        os.close(ready)
        os.close(said)

    @staticmethod
    def listen(path):
        bound = socket.socket(socket.AF_UNIX)
        bound.bind(str(path))
        bound.listen()
        return bound

    def serve(self):
        while True:
            try:
                connection = self.socket.accept()[0]
            except OSError:
                return
            self.received.append(connection.recv(1 << 16))
            connection.close()

    def end(self):
        if self.pid != 0:
            os.kill(self.pid, 9)
            os.waitpid(self.pid, 0)
        else:
            self.socket.shutdown(socket.SHUT_RDWR)
            self.socket.close()


class DefaultSocket(CliCase):
    """Without KILN_DAEMON."""

    def setUp(self):
        super().setUp()
        del self.env["KILN_DAEMON"]
        self.runtime = self.dir / "rt"
        self.runtime.mkdir(mode=0o700)
        self.env["XDG_RUNTIME_DIR"] = str(self.runtime)
        self.folder_of_socket = self.runtime / "kiln"
        self.victim = self.write("home/.bashrc", "mine\n")

    def fresh(self):
        path = self.folder_of_socket
        if path.is_symlink() or path.is_file():
            path.unlink()
        elif path.exists():
            shutil.rmtree(path)

    def test_daemon_of_this_user_is_started_found_and_stopped(self):
        old = os.umask(0)
        try:
            self.expect(self.kiln("stop"), 0, "no daemon is running")
            self.expect(self.kiln("status"), 4, "no daemon answers", "kiln start")
            self.expect(self.kiln("start"), 0, "started kilnd")
        finally:
            os.umask(old)
        self.assertEqual(self.folder_of_socket.stat().st_mode & 0o7777, 0o700)
        for name in "autostart.lock", "kilnd.log":
            self.assertEqual((self.folder_of_socket / name).stat().st_mode & 0o7777, 0o600, name)
        self.expect(self.kiln("status"), 0, "SERVING")
        self.expect(self.kiln("doctor"), 0, "ok    socket")
        self.expect(self.kiln("stop"), 0, "stopped")

    def test_without_runtime_folder_it_is_below_the_home(self):
        del self.env["XDG_RUNTIME_DIR"]
        del self.env["XDG_CACHE_HOME"]
        self.expect(self.kiln("start"), 0, f"{self.dir}/.cache/kiln/run/kilnd.sock")
        for part in ".cache", ".cache/kiln", ".cache/kiln/run":
            self.assertEqual((self.dir / part).stat().st_mode & 0o777, 0o700, part)

    def test_without_any_folder_of_the_user_there_is_no_default(self):
        for name in "HOME", "XDG_RUNTIME_DIR", "XDG_CACHE_HOME", "XDG_CONFIG_HOME", "KILN_CACHE_DIR":
            self.env.pop(name)
        before = set(os.listdir("/tmp"))
        for verb in ["status"], ["start"], ["stop"], ["compile", UBER, "--entry", "vertex=v"]:
            self.expect(self.kiln(*verb), 2, "XDG_RUNTIME_DIR or HOME")
        self.expect(self.kiln("cache", "stats"), 2, "KILN_CACHE_DIR or HOME")
        self.expect(self.run_program("kilnd", "config", "show"), 2, "KILN_CACHE_DIR, or HOME")
        self.assertFalse([name for name in set(os.listdir("/tmp")) - before
                          if name == ".cache" or name == f"kiln-{os.getuid()}"])

    def test_prepared_folder_is_refused_before_anything_is_done(self):
        elsewhere = self.dir / "elsewhere"
        elsewhere.mkdir(mode=0o700)
        path = self.folder_of_socket

        def mode(bits):
            path.mkdir()
            path.chmod(bits)

        def owner():
            path.mkdir(mode=0o700)
            os.chown(path, STRANGER, STRANGER)

        rows = [("link", lambda: path.symlink_to(elsewhere)), ("file", lambda: path.write_text("x")),
                ("all", lambda: mode(0o777)), ("group", lambda: mode(0o770)),
                ("sticky", lambda: mode(0o1777))]
        for name, prepare in rows + ([("owner", owner)] if ROOT_USER else []):
            prepare()
            for verb in ["start"], ["status"], ["stop"], ["compile", UBER, "--entry", "vertex=v"]:
                with self.subTest(name=name, verb=verb):
                    self.expect(self.kiln(*verb), 9, str(path))
            with self.subTest(name=name):
                self.expect(self.kiln("doctor"), 9, "FAIL  daemon")
                self.assertEqual(os.listdir(elsewhere), [])
                if path.is_dir():
                    self.assertEqual(os.listdir(path), [])
            self.fresh()

    def test_socket_of_another_gets_no_byte(self):
        path = self.folder_of_socket / "kilnd.sock"
        other = self.dir / "other.sock"
        rows = [("link", lambda: (path.symlink_to(other), Listener(other))[1]),
                ("file", lambda: path.write_text("x") and None)]
        if ROOT_USER:
            def given_away():
                listener = Listener(path)
                os.chown(path, STRANGER, STRANGER)
                return listener
            rows += [("owner", given_away), ("process", lambda: Listener(path, STRANGER))]
        for name, prepare in rows:
            self.folder_of_socket.mkdir(mode=0o700)
            listener = prepare()
            try:
                for verb in ["status"], ["start"], ["compile", UBER, "--entry", "vertex=v"]:
                    with self.subTest(name=name, verb=verb):
                        self.expect(self.kiln(*verb), 9, str(path), "nothing was sent")
                if listener is not None:
                    self.assertEqual(b"".join(listener.received), b"")
            finally:
                if listener is not None:
                    listener.end()
            self.fresh()
            other.unlink(missing_ok=True)

    def test_prepared_lock_and_log_are_not_followed_and_not_waited_for(self):
        new = self.dir / "home/new"
        prepare = {"link": lambda path: path.symlink_to(self.victim),
                   "dangling": lambda path: path.symlink_to(new),
                   "pipe": lambda path: os.mkfifo(path, 0o600),
                   "twin": lambda path: os.link(self.victim, path),
                   "open": lambda path: (path.write_text(""), path.chmod(0o666))}
        if ROOT_USER:
            prepare["owner"] = lambda path: (path.write_text(""), os.chown(path, STRANGER, STRANGER))
        for file in "autostart.lock", "kilnd.log":
            for name, make in prepare.items():
                with self.subTest(file=file, name=name):
                    self.folder_of_socket.mkdir(mode=0o700)
                    make(self.folder_of_socket / file)
                    begun = time.monotonic()
                    self.expect(self.kiln("start"), 9, file)
                    self.assertLess(time.monotonic() - begun, 60)
                    self.assertEqual(self.victim.read_text(), "mine\n")
                    self.assertFalse(new.exists())
                self.fresh()

    def test_socket_that_was_named_may_be_another_users_and_the_doctor_says_so(self):
        path = self.dir / "named.sock"
        listener = Listener(path, STRANGER if ROOT_USER else None)
        try:
            said = self.kiln("doctor", "--daemon", f"unix:{path}").stdout
            row = f"warn  socket        '{path}' is answered by a process of user {STRANGER}"
            (self.assertIn if ROOT_USER else self.assertNotIn)(row, said)
            named = self.kiln("--autostart", "no", "status", "--daemon", f"unix:{path}")
            self.expect(named, 4)  # it was asked, and does not speak
        finally:
            listener.end()


    def test_silent_daemon_that_was_named_answers_nothing(self):
        folder = self.dir / "neighbour"
        folder.mkdir()
        listener = Listener(folder / "named.sock")
        folder.chmod(0o777)  # so nothing can be started there
        try:
            said = self.kiln("--autostart", "yes", "--daemon", f"unix:{folder}/named.sock", "batch",
                             "list")
            self.expect(said, 4, "no daemon answers at", "none can be started there")
        finally:
            listener.end()


class PreparedCache(CliCase):
    """kilnd and a cache that others can change."""

    def test_it_is_refused_with_a_message(self):
        cache = self.dir / "cache"
        elsewhere = self.write("elsewhere.db", "")

        def file(name, make):
            cache.mkdir(mode=0o700)
            make(cache / name)

        def opened(path):
            path.write_bytes(b"")
            path.chmod(0o666)

        rows = [
            ("others", lambda: (cache.mkdir(), cache.chmod(0o777)), "may be written by others"),
            ("group", lambda: (cache.mkdir(), cache.chmod(0o770)), "may be written by others"),
            ("file", lambda: file("cache.db", opened), "cache.db' may be written by others"),
            ("link", lambda: file("cache.db", lambda p: p.symlink_to(elsewhere)), "cache.db' is no"),
            ("lock", lambda: file("cache.lock", lambda p: p.symlink_to(elsewhere)), "cache.lock' is"),
            ("pipe", lambda: file("cache.lock", os.mkfifo), "cache.lock' is no regular file"),
            ("wal", lambda: file("cache.db-wal", lambda p: p.symlink_to(elsewhere)), "cache.db-wal'"),
        ]
        if ROOT_USER:
            rows += [("owner", lambda: (cache.mkdir(mode=0o700), os.chown(cache, STRANGER, STRANGER)),
                      f"belongs to user {STRANGER}"),
                     ("owned", lambda: file("cache.db", lambda p: (p.write_bytes(b""),
                                                                   os.chown(p, STRANGER, STRANGER))),
                      f"belongs to user {STRANGER}")]
        for name, prepare, text in rows:
            with self.subTest(name=name):
                prepare()
                self.expect(self.kiln("start"), 4, "cache", text, "cache.dir")
                self.assertEqual(elsewhere.read_bytes(), b"")
            shutil.rmtree(cache)

    def test_audit_log_that_was_prepared_is_not_written(self):
        victim = self.write("victim", "mine\n")
        for name, make in {"link": lambda p: p.symlink_to(victim), "twin": lambda p: os.link(victim, p),
                           "pipe": os.mkfifo}.items():
            with self.subTest(name=name):
                (self.dir / "cache").mkdir(mode=0o700)
                make(self.dir / "cache/audit.jsonl")
                self.expect(self.kiln("start"), 0)
                self.expect(self.kiln("stop"), 0)
                self.assertEqual(victim.read_text(), "mine\n")
                shutil.rmtree(self.dir / "cache")


class Inputs(CliCase):
    """Files that are none, and files that are too much."""

    def run_measured(self, program, *arguments):
        """(exit code, what it said, peak MiB)"""
        with open(self.dir / "said", "w+b") as said:
            process = subprocess.Popen([BUILD / program, *map(str, arguments)], stdout=said, stderr=said,
                                       stdin=subprocess.DEVNULL, cwd=self.dir, env=self.env)
            guard = threading.Timer(60, process.kill)
            guard.start()
            _, status, usage = os.wait4(process.pid, 0)
            guard.cancel()
            process.returncode = os.waitstatus_to_exitcode(status)
            said.seek(0)
            return process.returncode, said.read().decode(), usage.ru_maxrss // 1024

    def test_pipes_devices_and_folders_are_refused_at_once(self):
        pipe = self.dir / "pipe"
        os.mkfifo(pipe)
        good = self.write("good.rpl", "void v (void) { vertex_stage_output_position (f4 {0.0}); }\n")
        self.write_project()
        entry = ["--entry", "vertex=v"]
        for path in pipe, "/dev/zero", self.dir:
            for row in [("kilnc", "compile", path, *entry), ("kiln", "compile", path, *entry),
                        ("kiln", "options", "some", "--manifest", path),
                        ("kiln", "pack", "show", path), ("kiln", "graph", path),
                        ("kiln", "pack", "build", "--out", "a.kpack", "--sign", path),
                        ("kiln", "pack", "build", "--out", "a.kpack", "--warm", path),
                        ("kilnd", "--config", path, "config", "show")]:
                with self.subTest(path=path, row=row):
                    code, said, _ = self.run_measured(*row)
                    self.assertGreater(code, 0, said)
                    self.assertLess(code, 70, said)
                    self.assertIn(str(path), said)
        code, said, _ = self.run_measured("kilnc", "compile", good, *entry, "--meta", pipe)
        self.assertIn("cannot write", said)
        self.assertGreater(code, 0)

    def test_file_above_its_limit_is_refused_by_its_size(self):
        large = self.dir / "large.rpl"
        with open(large, "wb") as file:
            file.truncate(5 << 30)  # sparse
        for program in "kilnc", "kiln":
            code, said, peak = self.run_measured(program, "compile", large, "--entry", "vertex=v")
            self.assertIn("exceeds the limit", said)
            self.assertGreater(code, 0)
            self.assertLess(peak, 200)

    def test_lists_without_end_are_refused(self):
        self.write_project()
        for depth in 9, 200_000:
            line = '{"program": "some", "options": {"fog": ' + "[" * depth + "]" * depth + "}}"
            warm = self.write("warm.jsonl", line + "\n")
            self.expect(self.kiln("pack", "build", "--warm", warm, "--out", "a.kpack"), 2,
                        "line 1 of the warm list")

    def test_keys_without_end_are_refused_by_all_who_read_toml(self):
        deep = "a" + ".a" * 99_999 + " = 1\n"
        self.write("kiln.toml", "[project]\nmanifest = 1\n" + deep)
        self.expect(self.kiln("options", "some"), 5, "kiln.toml:3:64: a key of more than 32 parts")
        config = self.write("kilnd.toml", deep)
        self.expect(self.run_program("kilnd", "config", "check", config), 2, "more than 32 parts")
        tokens = self.write("tokens.toml", deep)
        tokens.chmod(0o600)
        self.expect(self.run_program("kilnd", "token", "list", "--security.tokens", tokens), 2,
                    "more than 32 parts")


class Outputs(CliCase):
    """What is written stays inside of --out."""

    def setUp(self):
        super().setUp()
        self.write_project()
        self.elsewhere = self.dir / "elsewhere"
        self.elsewhere.mkdir()
        self.victim = self.write("victim", "mine\n")

    def untouched(self):
        self.assertEqual(os.listdir(self.elsewhere), [])
        self.assertEqual(self.victim.read_text(), "mine\n")

    def test_folder_below_out_that_is_a_link_is_refused(self):
        for verb in ["build"], ["fetch", "some"]:
            out = self.dir / f"out_{verb[0]}"
            out.mkdir()
            (out / "blobs").symlink_to(self.elsewhere)
            result = self.kiln(*verb, "--out", out)
            self.assertNotEqual(result.returncode, 0, result.stdout)
            self.assertIn("link", result.stderr)
            self.untouched()

    def test_file_in_out_that_is_a_link_is_replaced(self):
        for row in [("kiln", "build"), ("kiln", "fetch", "some"), ("kiln", "compile", "some"),
                    ("kilnc", "compile", "some.rpl", "--entry", "vertex=v")]:
            out = self.dir / "-".join(row[:2])
            self.expect(self.run_program(*row, "--out", out), 0)
            files = [path for path in out.rglob("*") if path.is_file()]
            self.assertTrue(files)
            for path in files:
                path.unlink()
                path.symlink_to(self.victim)
                pathlib.Path(f"{path}.part").symlink_to(self.victim)
            self.expect(self.run_program(*row, "--out", out), 0)
            self.untouched()
            self.assertFalse([path for path in files if path.is_symlink()])

    def test_fmt_keeps_modes_and_links_and_leaves_the_project_alone(self):
        ugly, good = "void  v(void){ }\n", None
        below = self.dir / "sources"
        below.mkdir()
        source = below / "s.rpl"
        source.write_text(ugly)
        source.chmod(0o600)
        outside = self.elsewhere / "o.rpl"
        outside.write_text(ugly)
        (below / "link.rpl").symlink_to(outside)
        self.expect(self.kiln("fmt", below), 0, "1 of 1 files changed")
        good = source.read_text()
        self.assertNotEqual(good, ugly)
        self.assertEqual(source.stat().st_mode & 0o777, 0o600)
        self.assertTrue((below / "link.rpl").is_symlink())
        self.assertEqual(outside.read_text(), ugly)
        outside.chmod(0o640)
        self.expect(self.kiln("fmt", below / "link.rpl"), 0)
        self.assertTrue((below / "link.rpl").is_symlink())
        self.assertEqual((outside.read_text(), outside.stat().st_mode & 0o777), (good, 0o640))

    def test_names_of_files_are_values_of_the_manifest_that_init_writes(self):
        where = self.dir / 'new "project'
        where.mkdir()
        text = "void v (void) { vertex_stage_output_position (f4 {0.0}); }\n"
        (where / 'a"b.rpl').write_text(text)
        self.expect(self.kiln("-C", where, "init"), 0)
        self.expect(self.kiln("-C", where, "build", "--dry-run"), 0, "a_b")
        (where / 'x"]\n[evil].rpl').write_text(text)
        self.expect(self.kiln("-C", where, "init", "--force"), 2, "cannot name")

    def test_depfile_is_not_written_with_what_make_would_run(self):
        name = "z;touch${IFS}pwned;.rpl"
        self.write(name, "void z (void) { vertex_stage_output_position (f4 {0.0}); }\n")
        self.expect(self.kiln("compile", name, "--entry", "vertex=z", "--out", "o", "--deps",
                              "o/z.d"), 2, "Make or Ninja")
        self.assertFalse((self.dir / "o/z.d").exists())

    def test_includes_of_kilnc_follow_no_link(self):
        source = self.write("shader.hlsl", '#include "sub/a.hlsli"\n'
                            "float4 v () : SV_Position { return A; }\n")
        (self.dir / "sub").mkdir()
        included = self.dir / "sub/a.hlsli"
        included.write_text("static const float4 A = 1;\n")
        outside = self.elsewhere / "a.hlsli"
        outside.write_text("static const float4 A = 2;\n")
        for path in "shader.hlsl", source:
            with self.subTest(path=path):
                words = ["kilnc", "compile", path, "--entry", "vertex=v", "--out", "o"]
                self.expect(self.run_program(*words), 0)
                included.unlink()
                included.symlink_to(outside)
                self.expect(self.run_program(*words), 3, "link")
                self.expect(self.run_program(*words, "-I", self.elsewhere), 3, "link")
                included.unlink()
                self.expect(self.run_program(*words), 1)
                included.write_text("static const float4 A = 1;\n")

    def test_names_of_programs_lead_nowhere(self):
        name = "x/../../../elsewhere/y"
        self.write("kiln.toml", (self.dir / "kiln.toml").read_text().replace('name = "some"',
                                                                            f'name = "{name}"'))
        out = self.dir / "a/b/out"
        self.expect(self.kiln("compile", name, "--out", out), 0)
        self.untouched()
        self.assertEqual({path.parent for path in self.dir.rglob("*.spv")}, {out})


class Text(CliCase):
    """What is printed is clean, whoever wrote it."""

    def clean(self, result):
        for text in result.stdout, result.stderr:
            self.assertEqual(controls(text), [], text)
        return result

    def run_program(self, program, *arguments, env=None):
        said = subprocess.run([str(BUILD / program), *map(str, arguments)], capture_output=True,
                              timeout=120, cwd=self.dir, env=env or self.env)
        said.stdout = said.stdout.decode("utf-8")  # strictly: ill-formed UTF-8 is an error, too
        said.stderr = said.stderr.decode("utf-8")
        return said

    def write_hostile_project(self):
        self.write_project()
        toml = (self.dir / "kiln.toml").read_text()
        self.write("kiln.toml", toml.replace('name = "small"', f'name = "{PRINTABLE}"'))

    def test_control_characters_in_names_of_a_manifest_are_refused(self):
        self.write_project()
        toml = (self.dir / "kiln.toml").read_text()
        escaped = "".join(c if " " < c < "\x7f" else f"\\u{ord(c):04x}" for c in HOSTILE)
        self.write("kiln.toml", toml.replace('name = "small"', f'name = "{escaped}"'))
        for verb in ["build"], ["build", "--dry-run"], ["options", "some"], ["pack", "build", "--out", "a"]:
            for flags in [], ["--json"]:
                with self.subTest(verb=verb, flags=flags):
                    self.clean(self.expect(self.kiln(*flags, *verb), 2, "control characters"))

    def test_names_of_a_manifest_in_every_verb(self):
        self.write_hostile_project()
        build = self.clean(self.expect(self.kiln("build"), 0, "$(llo)"))
        command = re.search(r"kiln pack build --out (.*)", build.stdout).group(1)
        self.assertEqual(shlex.split(command), [PRINTABLE + ".kpack"], command)
        signature = "".join(re.findall(r'"signature": "([0-9a-f]+)"',
                                       self.kiln("--json", "compile", "some").stdout)[:1])
        rows = [["build", "--dry-run"], ["options", "some"], ["options", "some", "--list", "2"],
                ["compile", "some"], ["compile", "some", "--explain"], ["explain", "some"],
                ["explain", "--last", "3"], ["explain", "--option", "fog", "some"], ["batch", "list"],
                ["batch", "show", "0"], ["fetch", "some", "--out", "out"], ["status"],
                ["status", "--jobs"], ["doctor"], ["inspect", "some"], ["inspect", signature or "0"],
                ["pack", "build", "--out", "a.kpack"], ["pack", "show", "a.kpack"],
                ["pack", "verify", "a.kpack"], ["pack", "diff", "a.kpack", "a.kpack"],
                ["pack", "extract", "a.kpack", "some", "--out", "x"], ["cache", "stats"],
                ["cache", "pin", HOSTILE, "--note", HOSTILE], ["cache", "pins"],
                ["build", "--pin", HOSTILE], ["cache", "pins"], ["config", "show", "--origin"],
                ["build", "--report", "md:r.md", "--progress", "lines"], ["build", "-v"], ["build", "-vv"]]
        for row in rows:
            for flags in [], ["--json"]:
                with self.subTest(row=row, flags=flags):
                    self.clean(self.kiln(*flags, *row))

    def test_wrong_names_in_every_verb(self):
        self.write_project()
        path = self.dir / f"{HOSTILE}.rpl"
        path.write_text("void v (void) { x; }")
        rows = [[HOSTILE], ["build", HOSTILE], ["build", "-t", HOSTILE], ["build", "--where", HOSTILE],
                ["compile", HOSTILE], ["compile", path, "--entry", "vertex=v"],
                ["compile", path, "--entry", "vertex=v", "--diagnostics", "short"],
                ["compile", path, "--entry", "vertex=v", "--diagnostics", "github"],
                ["compile", "some", "-o", f"{HOSTILE}=1"], ["compile", "some", "-t", HOSTILE],
                ["compile", "some", "-o", f"lights={HOSTILE}"], ["compile", "some", f"--{HOSTILE}"],
                ["compile", "some", "--out", f"/dev/null/{HOSTILE}"],
                ["options", HOSTILE], ["options", "some", "--where", HOSTILE], ["explain", HOSTILE],
                ["explain", "--code", HOSTILE], ["explain", "--option", HOSTILE, "some"],
                ["explain", "--batch", HOSTILE], ["inspect", HOSTILE], ["inspect", "some", "--view", HOSTILE],
                ["batch", "show", HOSTILE], ["batch", "items", HOSTILE], ["fetch", HOSTILE, "--out", "o"],
                ["fetch", "some", "--out", "o", "--have", path], ["graph", path], ["graph", HOSTILE],
                ["pack", "show", HOSTILE], ["pack", "show", path], ["pack", "build", HOSTILE, "--out", "a"],
                ["pack", "build", "--warm", path, "--out", "a"], ["cache", "why", HOSTILE],
                ["cache", "unpin", HOSTILE], ["cache", "import", HOSTILE], ["cache", "gc", "--to", HOSTILE],
                ["preview", HOSTILE, "--out", "p.png"], ["status", "--trace", HOSTILE],
                ["--deadline", HOSTILE, "status"], ["--autostart", "no", "status", "--daemon", HOSTILE],
                ["--autostart", "no", "status", "--daemon", f"unix:/nowhere/{HOSTILE}"],
                ["--manifest", HOSTILE, "build"], ["-C", HOSTILE, "build"], ["completion", HOSTILE],
                ["complete", "--", "kiln", HOSTILE], ["token", "create", "--scope", HOSTILE],
                ["token", "revoke", HOSTILE], ["config", "check", HOSTILE], ["config", "check", path]]
        for row in rows:
            for flags in [], ["--json"]:
                with self.subTest(row=row, flags=flags):
                    self.clean(self.kiln(*flags, *row))
        for row in [("kilnc", "compile", path, "--entry", "vertex=v"), ("kilnc", "compile", HOSTILE),
                    ("kilnc", "compile", path, "--entry", f"vertex={HOSTILE}"),
                    ("kilnc", "compile", path, "--stage", "lex", "--dump"),
                    ("kilnd", "config", "check", HOSTILE), ("kilnd", f"--{HOSTILE}"),
                    ("kilnd", f"--jobs.workers={HOSTILE}", "config", "show"),
                    ("kilnd", f"--cache.dir={self.dir}/{HOSTILE}", "config", "show"),
                    ("kilnd", f"--listen.unix=/dev/null/{HOSTILE}/s")]:
            with self.subTest(row=row):
                self.clean(self.run_program(*row))

    def test_messages_of_a_daemon(self):
        for flags in [], ["--json"], ["--trace"]:
            for verb in ["batch", "list"], ["status"], ["cache", "stats"], ["batch", "show", "00"]:
                with self.subTest(flags=flags, verb=verb):
                    detail = protobuf(_1=HOSTILE, _3=HOSTILE, _4=1, _5=2, _8=HOSTILE, _9=HOSTILE)
                    with daemon_that_refuses(self.dir / "run/kilnd.sock", grpc.StatusCode.NOT_FOUND,
                                             f"gone\nerror: {HOSTILE}", detail):
                        said = self.clean(self.kiln(*flags, *verb))
                        self.assertFalse(re.search(r"^error: he", said.stderr, re.M), said.stderr)

    def test_logs_of_a_daemon_are_clean(self):
        self.write_hostile_project()
        self.expect(self.kiln("build"), 0)
        self.kiln("compile", self.write(f"{HOSTILE}.rpl", "void v (void) { x; }"), "--entry", "vertex=v")
        self.expect(self.kiln("build", "--pin", HOSTILE), 2)  # a pin has a printable name
        self.kiln("cache", "unpin", HOSTILE)
        self.kiln("stop")
        for path in [*self.dir.glob("run/*.log"), *self.dir.glob("cache/*.jsonl")]:
            self.assertEqual(controls(path.read_text()), [], path)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
