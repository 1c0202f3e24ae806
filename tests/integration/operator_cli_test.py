#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The programs as an operator runs them: TLS and tokens, configuration, doctor, status, socket
activation, signals, idle shutdown.

usage: operator_cli_test.py BUILD_FOLDER ROOT
"""
import json
import os
import re
import shlex
import signal
import socket
import stat
import subprocess
import sys
import unittest
import urllib.request

from cli_case import BUILD, ROOT, CliCase
from waiting import PATIENCE, wait_until


class Operator(CliCase):
    def setUp(self):
        super().setUp()
        self.started = []

    def tearDown(self):
        for process in self.started:
            if process.poll() is None:
                process.kill()
                process.wait()
        super().tearDown()

    def kilnd(self, *arguments, **how):
        """A daemon in the foreground that is ready."""
        read, write = os.pipe()
        process = subprocess.Popen(
            [str(BUILD / "kilnd"), f"--ready-fd={write}", *map(str, arguments)],
            pass_fds=[write], cwd=self.dir, env=how.get("env", self.env),
            stderr=open(self.dir / "kilnd.log", "ab"))
        os.close(write)
        self.started.append(process)
        with os.fdopen(read) as pipe:
            said = json.loads(pipe.readline())
        self.assertTrue(said["ready"], said)
        return process

    def log(self):
        return (self.dir / "kilnd.log").read_text()

    def objects(self, result):
        return [json.loads(line) for line in result.stdout.splitlines()]

    # -- configuration

    def test_config_shows_value_and_origin_by_precedence(self):
        config = self.dir / "config/kiln"
        config.mkdir(parents=True)
        (config / "kilnd.toml").write_text('[queue]\nbatch = 7\n\n[jobs]\nworkers = 3\n')
        env = dict(self.env, KILN_JOBS_WORKERS="4")
        shown = {row["key"]: row for row in
                 self.objects(self.expect(self.kiln("--json", "config", "show", "--origin", env=env), 0))
                 if row["type"] == "config"}
        self.assertEqual((shown["queue.batch"]["value"], shown["queue.batch"]["origin"]),
                         ("7", f"{config}/kilnd.toml:2"))
        self.assertEqual((shown["jobs.workers"]["value"], shown["jobs.workers"]["origin"]),
                         ("4", "KILN_JOBS_WORKERS"))
        self.assertEqual(shown["queue.interactive"]["origin"], "default")
        flagged = self.run_program("kilnd", "--jobs.workers=5", "config", "show", "--origin", env=env)
        self.assertRegex(self.expect(flagged, 0).stdout, r"jobs\.workers +5 +--jobs\.workers")

    def test_config_check_table(self):
        rows = [
            ("[jobs]\nworkers = 2\n", 0, [": ok"]),
            ("[jobs]\nworkerz = 2\n", 2, [":2: unknown key 'jobs.workerz'", "'jobs.workers'"]),
            ("[cache]\nmax_size = true\n", 2, [":2: 'cache.max_size'", "a size like 20G"]),
            ("[security]\nallow_uids = [\"me\"]\n", 2, ["security.allow_uids"]),
            ("[security]\nallow_uids = [1, 2]\n", 0, []),
            ("[jobs]\nmemory_soft = \"80%\"\n", 2, ["jobs.memory_soft is above jobs.memory_hard"]),
            ("[[jobs]]\n", 2, ["unknown key 'jobs'"]),
            ("]", 2, [":1:"]),
        ]
        for text, code, texts in rows:
            with self.subTest(text=text):
                file = self.dir / "check.toml"
                file.write_text(text)
                self.expect(self.kiln("config", "check", file), code, *texts)
        self.expect(self.kiln("config", "check", self.dir / "no.toml"), 2, "no.toml")

    def test_sighup_reads_the_configuration_again(self):
        file = self.dir / "kilnd.toml"
        file.write_text('[log]\nlevel = "info"\n')
        process = self.kilnd("--config", file, "--listen.unix", self.dir / "run/kilnd.sock")
        file.write_text('[log]\nlevel = "warn"\n[jobs]\nworkers = 9\n')
        process.send_signal(signal.SIGHUP)
        wait_until(lambda: "needs a restart" in self.log())
        self.assertIn("jobs.workers", self.log())
        self.assertIsNone(process.poll())
        self.expect(self.kiln("status"), 0, "SERVING")
        file.write_text("[")
        process.send_signal(signal.SIGHUP)
        wait_until(lambda: "stays as it was" in self.log())
        self.assertIn("stays as it was", self.log())

    # -- tokens and TLS

    def openssl(self, *arguments):
        subprocess.run(["openssl", *map(str, arguments)], check=True, capture_output=True,
                       cwd=self.dir)

    def make_certificates(self):
        self.openssl("req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256",
                     "-nodes", "-keyout", "ca.key", "-out", "ca.pem", "-subj", "/CN=ca",
                     "-days", "2")
        (self.dir / "ext").write_text("subjectAltName=DNS:localhost,IP:127.0.0.1\n")
        for name in "server", "client":
            self.openssl("req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes",
                         "-keyout", f"{name}.key", "-out", f"{name}.csr", "-subj", f"/CN={name}")
            self.openssl("x509", "-req", "-in", f"{name}.csr", "-CA", "ca.pem", "-CAkey", "ca.key",
                         "-CAcreateserial", "-out", f"{name}.pem", "-days", "2", "-extfile", "ext")

    def test_token_verbs(self):
        made = self.expect(self.kiln("token", "create", "--scope", "write", "--expires", "30d",
                                     "--note", "CI of main"), 0)
        token = made.stdout.strip()
        self.assertRegex(token, r"^kiln_[0-9a-f]{16}_[0-9a-f]{64}$")
        file = self.dir / "config/kiln/tokens.toml"
        self.assertEqual(stat.S_IMODE(file.stat().st_mode), 0o600)
        self.assertNotIn(token.split("_")[2], file.read_text())
        listed = self.expect(self.kiln("token", "list"), 0, "write", "CI of main")
        self.assertNotIn(token.split("_")[2], listed.stdout)
        identity = token.split("_")[1]
        self.expect(self.kiln("token", "revoke", "0" * 16), 3, "there is no token")
        self.expect(self.kiln("token", "revoke", identity), 0, "revoked")
        self.assertEqual(self.kiln("token", "list").stdout, "")
        audit = [json.loads(line) for line in
                 (self.dir / "cache/audit.jsonl").read_text().splitlines()]
        self.assertEqual([(row["method"], row["object"]) for row in audit],
                         [("create", identity), ("revoke", identity)])
        for scope in ("read", "write", "peer", "admin"):
            self.expect(self.kiln("token", "create", "--scope", scope), 0)
            self.expect(self.kiln("token", "list"), 0, scope)
        for arguments in (["--scope", "root"], ["--scope", "read", "--expires", "soon"], []):
            with self.subTest(arguments=arguments):
                self.expect(self.kiln("token", "create", *arguments), 2)

    def test_token_that_cannot_be_told_is_not_kept(self):
        kept = self.expect(self.kiln("token", "create", "--scope", "read"), 0).stdout
        for json_flag in [], ["--json"]:
            for full in "> /dev/full", ">&-":
                with self.subTest(json_flag=json_flag, full=full):
                    words = [str(BUILD / "kiln"), *json_flag, "token", "create", "--scope", "write"]
                    ended = subprocess.run(["sh", "-c", shlex.join(words) + full], timeout=120,
                                           capture_output=True, text=True, cwd=self.dir,
                                           env=self.env)
                    self.assertEqual(ended.returncode, 5, ended.stderr)
                    self.assertEqual(len(self.kiln("token", "list").stdout.splitlines()), 1)
            for words in ["kiln", *json_flag, "token"], ["kilnd", "token"]:
                with self.subTest(words=words, reader="gone"):
                    reader, writer = os.pipe()
                    os.close(reader)
                    # Python ignores SIGPIPE; a shell does not.
                    ended = subprocess.run([str(BUILD / words[0]), *words[1:], "create", "--scope",
                                            "write"], timeout=120, stdout=writer,
                                           stderr=subprocess.PIPE, text=True, cwd=self.dir,
                                           env=self.env, restore_signals=True)
                    os.close(writer)
                    self.assertEqual(ended.returncode, 5, ended.stderr)
                    self.assertEqual(len(self.kiln("token", "list").stdout.splitlines()), 1)
        self.assertIn(kept.split("_")[1], self.kiln("token", "list").stdout)

    def test_token_that_has_no_room_in_its_file_ends_as_the_table_says(self):
        kept = self.expect(self.kiln("token", "create", "--scope", "read"), 0).stdout.split("_")[1]
        for verb in (["create", "--scope", "write"], ["revoke", kept]):
            with self.subTest(verb=verb):  # no file may grow: what a full disk does, too
                words = shlex.join([str(BUILD / "kiln"), "token", *verb])
                ended = subprocess.run(["sh", "-c", f"trap '' XFSZ; ulimit -f 0; exec {words}"],
                                       timeout=120, capture_output=True, text=True, cwd=self.dir,
                                       env=self.env)
                self.expect(ended, 5, "cannot write", "free space there")
        tokens = self.kiln("token", "list").stdout.splitlines()
        self.assertEqual([row.split()[0] for row in tokens], [kept])

    def test_token_verbs_work_on_the_tokens_of_a_configuration(self):
        self.make_certificates()
        config, other = self.dir / "kilnd.toml", self.dir / "other.toml"
        config.write_text('[listen]\ntcp = "127.0.0.1:0"\n[tls]\ncert = "server.pem"\n'
                          'key = "server.key"\nclient_ca = "ca.pem"\n')
        other.write_text('[security]\ntokens = "others/tokens.toml"\n')
        file = self.dir / "tokens.toml"
        made = self.expect(self.kiln("token", "create", "--scope", "read", "--config", config), 0)
        self.assertIn(f"wrote {file}\n", made.stderr)
        self.assertNotIn("warning", made.stderr)
        identity = made.stdout.split("_")[1]
        self.expect(self.kiln("token", "list", "--config", config), 0, identity, str(file))
        self.kilnd("--config", config, "--allow-root", "--listen.unix", self.dir / "run/kilnd.sock")
        made = self.expect(self.kiln("token", "create", "--scope", "read", "--config", config), 0)
        self.assertNotIn("warning", made.stderr)
        for arguments, written in ([], self.dir / "config/kiln/tokens.toml"), \
                                  (["--config", other], self.dir / "others/tokens.toml"):
            with self.subTest(arguments=arguments):
                made = self.expect(self.kiln("token", "create", "--scope", "read", *arguments), 0)
                self.assertIn(f"wrote {written}\n", made.stderr)
                self.assertIn(f"the daemon that runs reads {file}; kiln token --config {config}",
                              made.stderr)
                self.assertTrue(written.exists())
        rows = self.objects(self.expect(
            self.kiln("--json", "token", "create", "--scope", "read", "--config", config), 0))
        self.assertEqual(rows[0]["file"], str(file))
        self.expect(self.kiln("token", "revoke", identity), 3, "config/kiln/tokens.toml")
        self.expect(self.kiln("token", "revoke", identity, "--config", config), 0, "revoked")
        file.write_text("[[token]")
        self.expect(self.kiln("token", "list", "--config", config), 2, f"{file}:1")
        self.expect(self.kiln("token", "create", "--scope", "read", "--config", config), 2,
                    f"{file}:1")
        self.assertEqual(file.read_text(), "[[token]")
        self.expect(self.kiln("doctor"), 0, "tokens-unreadable", f"repair '{file}'")
        self.expect(self.kiln("token", "create", "--scope", "read", "--config", "no.toml"), 2,
                    "no.toml")

    def test_tokens_made_at_the_same_time_are_all_there(self):
        makers = [subprocess.Popen([str(BUILD / "kilnd"), "token", "create", "--scope", "read"],
                                   cwd=self.dir, env=self.env, stdout=subprocess.PIPE,
                                   stderr=subprocess.DEVNULL, text=True) for _ in range(20)]
        made = {maker.communicate()[0].split("_")[1] for maker in makers}
        self.assertEqual([maker.returncode for maker in makers], [0] * 20)
        listed = {line.split()[0] for line in self.kiln("token", "list").stdout.splitlines()}
        self.assertEqual(len(made), 20)
        self.assertEqual(listed, made)

    def test_config_check_looks_at_the_files_that_it_names(self):
        self.make_certificates()
        file = self.dir / "kilnd.toml"
        good = {"tcp": "127.0.0.1:0", "cert": "server.pem", "key": "server.key",
                "client_ca": "ca.pem", "tokens": "tokens.toml"}
        os.chmod(self.dir / "server.key", 0o600)
        (self.dir / "public.key").write_bytes((self.dir / "server.key").read_bytes())
        os.chmod(self.dir / "public.key", 0o644)
        (self.dir / "broken.toml").write_text("[[token]")
        os.chmod(self.dir / "broken.toml", 0o600)
        rows = [
            ({}, 0, ": ok"),
            ({"cert": "none.pem"}, 2, "none.pem"),
            ({"key": "none.key"}, 2, "none.key"),
            ({"client_ca": "none.pem"}, 2, "none.pem"),
            ({"key": "client.key"}, 2, "is not the key of"),
            ({"key": "public.key"}, 2, "chmod 600"),
            ({"cert": "ext"}, 2, "is no certificate"),
            ({"tokens": "broken.toml"}, 2, "broken.toml:1"),
        ]
        for change, code, text in rows:
            with self.subTest(change=change):
                v = good | change
                file.write_text(
                    f'[listen]\ntcp = "{v["tcp"]}"\n[tls]\ncert = "{v["cert"]}"\n'
                    f'key = "{v["key"]}"\nclient_ca = "{v["client_ca"]}"\n'
                    f'[security]\ntokens = "{v["tokens"]}"\n')
                self.expect(self.kiln("config", "check", file), code, text)
                self.expect(self.run_program("kilnd", "config", "check", file), code, text)
        for key in "token_file", "tls_ca", "tls_cert", "tls_key":
            with self.subTest(key=key):
                files = {"token_file": "ext", "tls_ca": "ca.pem", "tls_cert": "client.pem",
                         "tls_key": "client.key"}
                text = '[[upstream]]\nurl = "https://localhost:1"\n'
                for missing, code in (None, 0), (key, 2):
                    file.write_text(text + "".join(
                        f'{name} = "{"none" if name == missing else path}"\n'
                        for name, path in files.items()))
                    self.expect(self.kiln("config", "check", file), code, "none" if missing else "ok")

    def test_config_check_looks_at_when_certificates_of_upstreams_end(self):
        self.make_certificates()  # valid for two days
        file = self.dir / "kilnd.toml"
        self.openssl("req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes",
                     "-keyout", "old.key", "-out", "old.csr", "-subj", "/CN=old")
        for name, days in ("old", -1), ("long", 60):
            self.openssl("x509", "-req", "-in", "old.csr", "-CA", "ca.pem", "-CAkey", "ca.key",
                         "-CAcreateserial", "-out", f"{name}.pem", "-days", days)
        rows = [
            ({"tls_cert": "old.pem", "tls_key": "old.key"}, 2, ["old.pem' is a certificate that has expired"], []),
            ({"tls_ca": "old.pem"}, 2, ["old.pem' is a certificate that has expired"], []),
            ({"tls_cert": "long.pem", "tls_key": "client.key"}, 2, ["client.key' is not the key of"], []),
            ({"tls_ca": "ext"}, 2, ["ext' is no certificate"], []),
            ({"tls_cert": "client.pem", "tls_key": "client.key"}, 0,
             [": ok", "warning: ", "client.pem' is a certificate that expires in ", "; renew it"], []),
            ({"tls_cert": "long.pem", "tls_key": "old.key"}, 0, [": ok"], ["warning"]),
            ({}, 0, [": ok"], ["warning"]),
        ]
        for files, code, texts, absent in rows:
            with self.subTest(files=files):
                file.write_text('[[upstream]]\nurl = "https://localhost:1"\n' +
                                "".join(f'{key} = "{path}"\n' for key, path in files.items()))
                result = self.expect(self.kiln("config", "check", file), code, *texts)
                for text in absent:
                    self.assertNotIn(text, result.stdout + result.stderr)
                if "warning: " in texts:
                    self.assertRegex(result.stderr, "expires in (2 days|47 hours);")
        file.write_text('[[upstream]]\nurl = "https://localhost:1"\ntls_ca = "ca.pem"\n')
        told = self.expect(self.kiln("--json", "config", "check", file), 0)
        self.assertEqual([row["state"] for row in map(json.loads, told.stdout.splitlines())
                          if row["type"] == "check"], ["warn"])

    def check_what_read_does(self, remote, compile_it):
        """What operations.md promises of scope read: all that is known, and a clear word about
        the rest. `compile_it` was compiled by others."""
        self.write("kiln.toml", """[project]
manifest = 1
name = "mist"
[[program]]
name = "mist"
sources = ["s.rpl"]
entry_points = { vertex = "mist_vertex", fragment = "mist_fragment" }
axes = { cheap = "*", cut = "*" }
""")
        refused = ["would have to be compiled and stored", "needs scope write", "has scope read",
                   "let a build that has it run first"]
        fail = ["fetch", "--all", "--on-miss", "fail", "--out", "known"]
        self.expect(remote("read", *compile_it), 0)
        self.expect(remote("read", "build"), 9, "of 4 variants are not in the cache", *refused)
        self.expect(remote("read", *fail), 3, "are not in the cache")
        self.expect(remote("write", "build"), 0, "ok.")
        self.expect(remote("read", "build", "--out", "served"), 0, "ok.")  # what others built
        self.assertTrue((self.dir / "served/index.json").exists())
        manifest = (self.dir / "kiln.toml").read_text()
        self.write("kiln.toml", manifest.replace('name = "mist"', 'name = "other"', 1))
        self.expect(remote("read", "build", "--out", "again"), 0, "nothing is compiled",
                    "fetched 4 results")
        self.assertTrue((self.dir / "again/index.json").exists())
        self.write("kiln.toml", manifest)
        self.expect(remote("read", *fail), 0, "fetched 4 results")
        for verb in (["compile", "mist", "-o", "cheap=true"], ["options", "mist"],
                     ["explain", "mist"], ["inspect", "mist"]):
            with self.subTest(verb=verb):
                self.expect(remote("read", *verb), 0)
        pack = ["pack", "build", "--out"]
        self.expect(remote("read", *pack, "p.kpack"), 9, "nobody has made exactly this pack",
                    "needs scope write")
        self.expect(remote("write", *pack, "w.kpack"), 0)
        self.expect(remote("read", *pack, "p.kpack"), 0)
        self.assertEqual((self.dir / "p.kpack").read_bytes(), (self.dir / "w.kpack").read_bytes())
        self.expect(remote("read", "watch", "--no-source"), 9, "Watch needs scope write",
                    "every edit compiled and kept")
        source = self.dir / "s.rpl"
        source.write_text(source.read_text() + "\n// of a branch\n")
        for verb in (["build"], ["options", "mist"], ["compile", "mist"]):
            with self.subTest(verb=verb):
                self.expect(remote("read", *verb), 9, "does not have 's.rpl' as here",
                            "needs scope write")

    def test_daemon_behind_https(self):
        self.make_certificates()
        for scope in "read", "write", "admin":
            (self.dir / scope).write_text(
                self.expect(self.kiln("token", "create", "--scope", scope), 0).stdout)
        (self.dir / "wrong").write_text("kiln_0123456789abcdef_" + "0" * 64 + "\n")
        (self.dir / "kilnd.toml").write_text(
            '[listen]\ntcp = "127.0.0.1:0"\n[tls]\ncert = "server.pem"\nkey = "server.key"\n'
            'client_ca = "ca.pem"\n[security]\ntokens = "config/kiln/tokens.toml"\n')
        self.kilnd("--config", self.dir / "kilnd.toml", "--allow-root",
                   "--listen.unix", self.dir / "run/kilnd.sock")
        address = [t for t in json.loads(self.kiln("status", "--json").stdout.splitlines()[0])
                   ["transports"] if t.startswith("tcp:")][0]
        url = "https://localhost:" + address.rsplit(":", 1)[1]

        def remote(token, *arguments, cert="client"):
            files = ["--tls-ca", "ca.pem"]
            if cert:
                files += ["--tls-cert", f"{cert}.pem", "--tls-key", f"{cert}.key"]
            return self.kiln("--daemon", url, "--token-file", token, *files, *arguments)

        (self.dir / "s.rpl").write_text(
            (ROOT / "tests/acceptance/rpl/early_return.rpl").read_text())
        compile_it = ["compile", "s.rpl", "--entry", "vertex=mist_vertex", "--entry",
                      "fragment=mist_fragment", "--out", "out"]
        rows = [
            (remote("read", "status"), 0, "SERVING"),
            (remote("read", *compile_it), 9, "needs scope write"),
            (remote("write", *compile_it), 0, ""),
            (remote("write", "stop"), 9, "needs scope admin"),
            (remote("wrong", "status"), 9, "not known"),
            (remote("missing", "status"), 3, "missing"),
            (remote("ext", "status"), 2, "no token"),
            (remote("read", "status", cert=None), 9, "client certificate"),
            (self.kiln("--daemon", url, "status"), 2, "--token-file"),
            (self.kiln("--daemon", "ftp://x", "status"), 2, "is no daemon"),
            (remote("read", "start"), 2, "unix:PATH"),
        ]
        for result, code, text in rows:
            with self.subTest(arguments=result.args[1:]):
                self.expect(result, code, text)
        self.assertTrue(list((self.dir / "out").glob("*.spv")))
        self.check_what_read_does(remote, compile_it)
        bill = self.kiln("--json", "doctor")
        self.assertIn('"type":"check","name":"tls"', bill.stdout)
        self.expect(remote("admin", "stop"), 0)
        drained = '"method":"Drain","result":"OK"'  # written behind the reply
        wait_until(lambda: drained in (self.dir / "cache/audit.jsonl").read_text())
        self.assertIn(drained, (self.dir / "cache/audit.jsonl").read_text())

    # -- status and doctor

    def test_status_forms(self):
        self.expect(self.kiln("status"), 4, "kiln start")
        self.assertEqual(self.expect(self.kiln("status", "--quiet"), 4).stdout, "")
        self.expect(self.kiln("start"), 0, "started kilnd")
        text = self.expect(self.kiln("status"), 0, "SERVING", "interactive", "memory", "cache").stdout
        self.assertIn("listens on unix:", text)
        self.assertEqual(self.expect(self.kiln("status", "--quiet"), 0).stdout, "")
        rows = self.objects(self.expect(self.kiln("--json", "status", "--jobs"), 0))
        self.assertEqual([row["type"] for row in rows][0], "status")
        self.assertEqual(rows[-1]["type"], "result")
        for key in ("state", "reasons", "version", "uptime_ms", "lanes", "batches", "cache"):
            self.assertIn(key, rows[0])
        self.expect(self.kiln("status", "--trace", "0" * 32), 3, "is remembered")

    def test_doctor_names_what_is_wrong(self):
        self.expect(self.kiln("doctor"), 4, "FAIL  daemon", "fix daemon: kiln start")
        self.expect(self.kiln("start"), 0)
        rows = self.objects(self.kiln("--json", "doctor"))
        checks = {row["name"]: row for row in rows if row["type"] == "check"}
        self.assertEqual(
            list(checks),
            ["versions", "config", "daemon", "socket", "lock", "disk", "integrity", "inotify",
             "clock", "vulkan", "spirv-tools", "tls", "upstream", "crash", "fingerprints",
             "pressure"])
        for name in "versions", "config", "daemon", "socket", "lock", "integrity", "clock":
            self.assertEqual(checks[name]["state"], "ok", checks[name])
        self.assertEqual(rows[-1] | {"trace_id": ""},
                         {"v": 1, "type": "result", "verb": "doctor", "ok": True, "counts": {},
                          "seconds": 0.0, "trace_id": "", "exit": 0})
        bundle = self.dir / "report.json"
        self.expect(self.kiln("doctor", "--bundle", bundle), 0)
        self.assertEqual(json.loads(bundle.read_text())["config"]["cache.dir"],
                         str(self.dir / "cache"))
        os.chmod(self.dir / "run", 0o755)
        self.expect(self.kiln("doctor"), 2, "FAIL  socket", f"chmod 0700 {self.dir}/run")
        os.chmod(self.dir / "run", 0o700)
        config = self.dir / "config/kiln"
        config.mkdir(parents=True)
        (config / "kilnd.toml").write_text("[jobs]\nworkerz = 1\n")
        self.expect(self.kiln("doctor"), 2, "FAIL  config", "workerz")
        rows = self.objects(self.kiln("--json", "doctor"))
        checks = {row["name"]: row for row in rows if row["type"] == "check"}
        for name in "lock", "disk":
            self.assertEqual(checks[name]["state"], "warn", checks[name])
            self.assertIn("nobody says where the cache is", checks[name]["detail"])

    def doctor_says_of_the_upstream(self, env):
        rows = self.objects(self.kiln("--json", "doctor", env=env))
        return next(row for row in rows if row.get("name") == "upstream"), rows[-1]["exit"]

    def test_doctor_asks_the_daemon_for_its_upstreams(self):
        upstream = f"unix:{self.dir}/up/kilnd.sock"
        self.expect(self.kiln("start", env={"KILN_UPSTREAM_URL": upstream}), 0)
        found, code = self.doctor_says_of_the_upstream({})  # whose configuration names none
        self.assertEqual((found["state"], code), ("fail", 4), found)
        self.assertIn(upstream + " fails: ", found["detail"])
        self.kilnd("--listen.unix", self.dir / "up/kilnd.sock",
                   env=dict(self.env, KILN_CACHE_DIR=str(self.dir / "upcache")))
        # The daemon looks again and connects.
        wait_until(lambda: self.doctor_says_of_the_upstream({})[0]["state"] == "ok")
        found, code = self.doctor_says_of_the_upstream({})
        self.assertEqual((found["state"], code), ("ok", 0), found)
        self.assertRegex(found["detail"], upstream + r" answers in [0-9.]+ ms")

    def test_doctor_reaches_the_configured_upstream_without_a_daemon(self):
        upstream = f"unix:{self.dir}/up/kilnd.sock"
        env = {"KILN_UPSTREAM_URL": upstream}
        found, _ = self.doctor_says_of_the_upstream(env)
        self.assertEqual(found["state"], "fail", found)
        self.assertIn(upstream, found["detail"])
        self.assertIn("upstream.url", found["fix"])
        self.kilnd("--listen.unix", self.dir / "up/kilnd.sock",
                   env=dict(self.env, KILN_CACHE_DIR=str(self.dir / "upcache")))
        found, _ = self.doctor_says_of_the_upstream(env)
        self.assertEqual(found["state"], "ok", found)
        self.assertRegex(found["detail"], r"answers in [0-9.]+ ms, kilnd ")
        found, _ = self.doctor_says_of_the_upstream({"KILN_UPSTREAM_URL": "https://localhost:1"})
        self.assertEqual(found["state"], "fail", found)

    def test_damage_is_found_by_doctor(self):
        self.expect(self.kiln("start"), 0)
        (self.dir / "s.rpl").write_text(
            (ROOT / "tests/acceptance/rpl/early_return.rpl").read_text())
        self.expect(self.kiln("compile", "s.rpl", "--entry", "vertex=mist_vertex", "--out", "o"), 0)
        self.assertEqual(self.kiln("doctor").returncode, 0)

    # -- life

    def test_socket_activation_and_readiness(self):
        listener = socket.socket(socket.AF_UNIX)
        (self.dir / "run").mkdir(mode=0o700)
        listener.bind(str(self.dir / "run/kilnd.sock"))
        listener.listen(8)
        told = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        told.bind(str(self.dir / "notify"))
        told.settimeout(PATIENCE)
        env = dict(self.env, LISTEN_FDS="1", LISTEN_FDNAMES="unix",
                   NOTIFY_SOCKET=str(self.dir / "notify"))
        process = subprocess.Popen(
            ["/bin/sh", "-c", f'exec 3<&{listener.fileno()}; LISTEN_PID=$$ exec {BUILD}/kilnd '
             f'--listen.unix {self.dir}/run/kilnd.sock'],
            pass_fds=[listener.fileno()], cwd=self.dir, env=env, stderr=subprocess.DEVNULL)
        self.started.append(process)
        self.assertEqual(told.recv(100), b"READY=1")
        self.expect(self.kiln("status"), 0, "systemd")
        process.terminate()
        self.assertEqual(told.recv(100), b"STOPPING=1")
        self.assertEqual(process.wait(timeout=PATIENCE), 0)
        self.assertTrue((self.dir / "run/kilnd.sock").exists())  # it is systemd's

    def test_idle_daemon_ends_and_metrics_are_served(self):
        process = self.kilnd("--listen.unix", self.dir / "run/kilnd.sock",
                             "--lifecycle.idle_timeout=2s", "--metrics.listen=127.0.0.1:0",
                             "--log.format=json")
        line = next(json.loads(l) for l in self.log().splitlines() if "serving metrics" in l)
        with urllib.request.urlopen(f"http://{line['address']}/readyz", timeout=PATIENCE) as reply:
            self.assertEqual(reply.read(), b"SERVING\n")
        with urllib.request.urlopen(f"http://{line['address']}/metrics", timeout=PATIENCE) as reply:
            self.assertIn(b"kiln_build_info{", reply.read())
        self.assertEqual(process.wait(timeout=PATIENCE), 0)

    def test_second_signal_ends_at_once(self):
        process = self.kilnd("--listen.unix", self.dir / "run/kilnd.sock")
        process.send_signal(signal.SIGTERM)
        self.assertIn(process.wait(timeout=PATIENCE), (0, 143))

    def test_stop_now(self):
        self.expect(self.kiln("start"), 0)
        self.expect(self.kiln("stop", "--now"), 0, "stopped kilnd")
        self.expect(self.kiln("stop"), 0, "no daemon is running")

    # -- manual

    def test_manual_has_a_page_for_every_verb_and_every_flag_of_its_help(self):
        man = self.dir / "man"
        self.expect(self.kiln("manual", "--out", man), 0)
        self.expect(self.run_program("kilnd", "manual", "--out", man), 0)
        pages = {page.name: page.read_text() for page in man.iterdir()}
        umask = os.umask(0o22)
        os.umask(umask)
        self.assertEqual({page.stat().st_mode & 0o777 for page in man.iterdir()}, {0o644 & ~umask})
        verbs = re.findall(r"^\w*\s+kiln ([a-z]+) ", self.kiln().stdout, re.M)
        self.assertGreater(len(verbs), 15)
        for verb in verbs:
            with self.subTest(verb=verb):
                page = pages[f"kiln-{verb}.1"].replace("\\-", "-")
                self.assertIn(".SH OPTIONS", page)
                for flag in re.findall(r"^  (?:-\w,)?(--[a-z-]+)", self.kiln(verb, "--help").stdout,
                                       re.M):
                    self.assertIn(flag, page)
        config = pages["kilnd.toml.5"].replace("\\-", "-")
        for row in self.objects(self.kiln("--json", "config", "show")):
            if row["type"] == "config":
                self.assertIn(f".B {row['key']}\n", config)
        for page in "kiln.1", "kilnd.8", "kiln.toml.5":
            self.assertTrue(pages[page].startswith(".TH "))

    # -- projects

    def test_no_source_leaves_the_project(self):
        (self.dir / "outside.rpl").write_text("")
        project = self.dir / "project"
        (project / "sub").mkdir(parents=True)
        (project / "link.rpl").symlink_to("../outside.rpl")
        (project / "up").symlink_to("..")
        os.mkfifo(project / "pipe.rpl")
        for path in "../outside.rpl", "sub/../../outside.rpl", "link.rpl", "up/outside.rpl", \
                "/etc/passwd", "pipe.rpl", "sub":
            with self.subTest(path=path):
                (project / "kiln.toml").write_text(
                    '[project]\nmanifest = 1\nname = "p"\n[[program]]\nname = "a"\n'
                    f'sources = ["{path}"]\nentry_points = {{ vertex = "f" }}\n')
                result = self.kiln("-C", project, "build")
                self.assertEqual(result.returncode, 2, result.stdout + result.stderr)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0]])
