#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Every line of --json of every verb, against docs/schema.

usage: json_cli_test.py BUILD_FOLDER ROOT
"""
import json
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
import unittest

from cli_case import BUILD, ROOT, SOURCE, CliCase
from waiting import PATIENCE
from json_schema import faults, load

UBER = ROOT / "tests/bench/shaders/uber.rpl"
ENTRIES = ["--entry", "vertex=vertex_main", "--entry", "fragment=fragment_main"]
SOFTWARE = {"VK_ICD_FILENAMES": "/usr/share/vulkan/icd.d/lvp_icd.x86_64.json"}
FRAME = """{"resources": [{"name": "x", "kind": "buffer", "bytes": 16}], "passes": [
 {"name": "p", "type": "compute", "creates": [{"resource": "x", "access": "SHADER_STORAGE_WRITE"}]}],
 "outputs": ["x"]}"""


class Json(CliCase):
    schemas = load(ROOT / "docs/schema")
    seen = set()

    def check(self, text):
        """Lines of stdout; the types that they have."""
        types = []
        for line in text.splitlines():
            row = json.loads(line)
            self.assertIn(row["type"], self.schemas, line)
            self.assertEqual(faults(row, self.schemas[row["type"]]), [], line)
            types.append(row["type"])
        Json.seen.update(types)
        return types

    def run_row(self, arguments, code, *expected, env=None):
        with self.subTest(arguments=arguments):
            result = self.kiln("--json", *arguments, env=env)
            self.assertEqual(result.returncode, code, result.stdout + result.stderr)
            types = self.check(result.stdout)
            self.assertEqual(types[-1:], ["result"], result.stdout)
            self.assertEqual(types.count("result"), 1)
            for name in expected:
                self.assertIn(name, types)
            return [json.loads(line) for line in result.stdout.splitlines()]

    def test_every_schema_is_whole_and_its_own(self):
        for name, schema in self.schemas.items():
            with self.subTest(name=name):
                self.assertEqual(schema["properties"]["type"], {"const": name})
                self.assertEqual(list(schema["properties"])[:2], ["v", "type"])
                self.assertEqual(schema["required"][:2], ["v", "type"])
        item = {"v": 1, "type": "version", "version": "kiln"}
        self.assertEqual(faults(item, self.schemas["version"]), [])
        for wrong in ({**item, "v": 2}, {**item, "more": 1}, {"type": "version", "v": 1, "version": ""},
                      {"v": 1, "type": "version"}, {**item, "version": 1}):
            with self.subTest(wrong=wrong):
                self.assertNotEqual(faults(wrong, self.schemas["version"]), [])

    def test_every_verb(self):
        broken = self.write("broken.rpl", "void f (void) { x; }")
        self.write("shaders/rock.rpl", "void main_vertex (void) "
                   "{ vertex_stage_output_position (f4 {0.0}); }")
        self.run_row(["status"], 4, "error")
        self.run_row(["stop"], 0, "daemon")
        self.run_row(["start"], 0, "daemon")
        self.run_row(["start"], 0, "daemon")
        self.run_row(["version"], 0, "version")
        self.run_row(["init"], 0)
        self.write_project(extra="variants = [ { warm = true, options = { fog = true } } ]")
        rows = self.run_row(["compile", "some", "-o", "fog", "--out", "out", "--explain"], 0,
                            "item", "explain")
        some = next(row for row in rows if row["type"] == "item")
        self.assertEqual(some["options"], {"fog": True})
        paths = [code["path"] for code in some["artifacts"][0]["code"]]
        self.assertTrue(all((self.dir / path).is_file() for path in paths), paths)
        self.run_row(["compile", broken, "--entry", "vertex=f"], 1, "diagnostic", "item")
        self.run_row(["options", "some", "--list"], 0, "option", "count", "variant")
        self.run_row(["explain", "some", "-o", "fog"], 0, "explain")
        self.run_row(["explain", "--code", "RPL6022"], 0, "code")
        self.run_row(["explain", "--code", "QUEUE_FULL"], 0, "reason")
        self.run_row(["explain", "--option", "fog", "some"], 0, "option")
        self.run_row(["inspect", "some"], 0, "view")
        self.run_row(["inspect", "some", "--diff", some["signature"]], 0, "difference")
        self.write("frame.json", FRAME)
        self.run_row(["graph", "frame.json"], 0, "graph")
        self.run_row(["preview", UBER, *ENTRIES, "--size", "16x16", "--out", "a.png"], 0, "preview",
                     env=SOFTWARE)
        self.check_batches()
        self.check_packs()
        self.run_row(["status", "--jobs"], 0, "status")
        self.run_row(["status", "--caches"], 0, "status", "memory_cache")
        self.run_row(["status", "--trace", "0" * 31 + "1"], 3, "error")
        trace = self.run_row(["compile", "some"], 0)[-1]["trace_id"]
        self.run_row(["status", "--trace", trace], 0, "trace")
        self.run_row(["doctor"], 0, "check")
        self.run_row(["config", "show", "--origin"], 0, "config")
        self.run_row(["config", "check", "none.toml"], 2, "error")
        token = self.run_row(["token", "create", "--scope", "read"], 0, "token")[0]["id"]
        self.run_row(["token", "list"], 0, "token")
        self.run_row(["token", "revoke", token], 0)
        self.check_watch()
        self.check_dashboard()
        self.check_cache(some["signature"])
        self.run_row(["stop"], 0, "daemon")
        self.assertEqual(set(self.schemas) - Json.seen - {"job"}, set(), "nothing showed these")

    def check_batches(self):
        done = self.run_row(["--progress", "lines", "build", "--dry-run"], 0, "count")
        self.run_row(["--progress", "lines", "build"], 0, "progress")
        self.assertGreater(done[-1]["counts"]["programs"], 0)
        batch = self.run_row(["batch", "list"], 0, "batch")[0]["id"]
        for what in "show", "items", "attach", "pause", "resume", "cancel":
            self.run_row(["batch", what, batch], 0, "item" if what == "items" else "result")
        self.run_row(["explain", "--batch", batch], 0, "cause")
        self.run_row(["build", "--detach"], 0, "batch")
        self.run_row(["build", "--resume"], 0)
        self.run_row(["build", "--pack", "b.kpack"], 0)
        self.run_row(["fetch", "--all", "--out", "fetched"], 0)
        self.run_row(["batch", "show", "zz"], 3, "error")

    def check_packs(self):
        self.run_row(["pack", "build", "--out", "a.kpack"], 0)
        self.run_row(["pack", "show", "a.kpack"], 0, "pack")
        self.run_row(["pack", "stats", "a.kpack"], 0, "pack_stats")
        self.run_row(["pack", "verify", "a.kpack"], 0)
        self.run_row(["pack", "keygen", "--out", "key"], 0)
        self.run_row(["pack", "flatten", "a.kpack", "--out", "flat.kpack", "--sign", "key.key"], 0)
        self.run_row(["pack", "extract", "a.kpack", "some", "--out", "extracted"], 0)
        self.write_project("vertex_stage_output_position (f4 {3.0});")
        self.run_row(["pack", "build", "--out", "new.kpack"], 0)
        self.run_row(["pack", "diff", "a.kpack", "new.kpack"], 0, "difference")
        self.run_row(["pack", "show", "frame.json"], 7, "error")

    def check_dashboard(self):
        """It goes on, too: the link, and when a signal ends it the result."""
        served = subprocess.Popen([str(BUILD / "kiln"), "--json", "dashboard"], stdout=subprocess.PIPE,
                                  stderr=subprocess.DEVNULL, text=True, cwd=self.dir, env=self.env)
        first = served.stdout.readline()
        served.send_signal(signal.SIGTERM)
        rest, _ = served.communicate(timeout=PATIENCE)
        self.assertEqual(served.returncode, 143)
        self.assertEqual(self.check(first + rest), ["link", "result"])

    def check_watch(self):
        began = time.monotonic()
        watch = subprocess.Popen([str(BUILD / "kiln"), "--json", "watch"], stdout=subprocess.PIPE,
                                 stderr=subprocess.PIPE, text=True, cwd=self.dir, env=self.env)
        lines = []

        def read_until(word):
            lines.append(watch.stdout.readline())
            while word not in lines[-1]:
                self.assertTrue(lines[-1], f"{word} did not come: {''.join(lines)}")
                lines.append(watch.stdout.readline())
        read_until('"settled"')
        twin = '[[program]]\nname = "twin"\nsources = ["some.rpl"]\nentry_points = { vertex = "v" }'
        self.write_project(extra=twin)
        read_until('"twin"')
        read_until('"settled"')
        self.write("some.rpl", SOURCE.format(body="x;"))  # one mistake of two programs
        read_until('"mistake"')
        watch.send_signal(signal.SIGINT)
        rest, errors = watch.communicate(timeout=PATIENCE)
        self.assertEqual(watch.returncode, 130, errors)
        types = self.check("".join(lines) + rest)
        self.assertEqual(types[-1], "result")
        self.assertIn("watch", types)
        self.assertLess(json.loads(rest.splitlines()[-1])["seconds"], time.monotonic() - began)
        self.assertEqual(json.loads(lines[-1])["programs"], ["some", "twin"])

    def check_cache(self, signature):
        for running in True, False:
            self.run_row(["cache", "stats"], 0, "stats")
            self.run_row(["cache", "verify"], 0)
            self.run_row(["cache", "pin", f"p{running}", signature], 0)
            self.run_row(["cache", "pins"], 0, "pin")
            self.run_row(["cache", "unpin", f"p{running}"], 0)
            self.run_row(["cache", "why", signature], 0, "explain")
            self.run_row(["cache", "export", "rows.kpack"], 0)
            self.run_row(["cache", "import", "rows.kpack"], 0)
            self.run_row(["cache", "gc", "--failed"], 0)
            self.run_row(["cache", "repair"], 0)
            if running:
                self.run_row(["stop"], 0, "daemon")
        damaged = self.dir / "damaged"
        shutil.copytree(self.dir / "cache", damaged)
        with sqlite3.connect(damaged / "cache.db") as database:
            database.execute("UPDATE blob SET data=zeroblob(length(data)) WHERE rid=2")
        database.close()
        self.run_row(["cache", "--dir", damaged, "verify"], 7, "fault")

    def test_graph_under_the_variable(self):
        """Its --json names a file; the variable asks for lines as everywhere."""
        frame = self.write("frame.json", FRAME)
        result = self.expect(self.kiln("graph", frame, env={"KILN_JSON": "1"}), 0)
        self.assertEqual(self.check(result.stdout), ["graph", "result"])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
