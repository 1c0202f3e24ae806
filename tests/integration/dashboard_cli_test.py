#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""`kiln dashboard`: who is served, what each question answers, and what Chromium shows of it.

usage: dashboard_cli_test.py BUILD_FOLDER ROOT
"""
import http.client
import json
import re
import shutil
import signal
import subprocess
import tempfile
import unittest
import urllib.parse

from cli_case import BUILD, CliCase
from waiting import PATIENCE, wait_until

NOWHERE = "0" * 32  # an id that no batch has
HOSTILE = "<img src=x onerror=alert(1)>"


class Served(CliCase):
    """A project that was built, and the command that shows it."""

    def setUp(self):
        super().setUp()
        self.write_project(extra=f'tags = ["{HOSTILE}"]')
        self.expect(self.kiln("build"), 0)
        self.links = open(self.dir / "links", "w+", encoding="utf-8")
        self.said = open(self.dir / "said", "w+", encoding="utf-8")
        self.server = subprocess.Popen([BUILD / "kiln", "dashboard"], cwd=self.dir, env=self.env,
                                       stdout=self.links, stderr=self.said)
        self.assertTrue(wait_until(self.link))
        self.port = int(re.search(r":(\d+)/", self.link()).group(1))
        self.cookie = None

    def tearDown(self):
        self.server.terminate()
        self.server.wait(timeout=PATIENCE)
        self.links.close()
        self.said.close()
        super().tearDown()

    def all_links(self):
        return (self.dir / "links").read_text(encoding="utf-8").splitlines()

    def link(self):
        """The last one that was printed; a link is good once."""
        return self.all_links()[-1] if self.all_links() else ""

    def request(self, path, method="GET", **headers):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE)
        sent = {"Cookie": self.cookie} if self.cookie else {}
        sent.update({name.replace("_", "-"): value for name, value in headers.items()})
        connection.request(method, path, headers={k: v for k, v in sent.items() if v is not None})
        reply = connection.getresponse()
        reply.text = reply.read().decode()
        connection.close()
        return reply

    def open_link(self):
        before = len(self.all_links())
        reply = self.request(self.link().split(str(self.port))[1])
        self.assertEqual((reply.status, reply.headers["Location"]), (303, "/"))
        self.cookie = reply.headers["Set-Cookie"].split(";")[0]
        self.assertTrue(wait_until(lambda: len(self.all_links()) > before))

    def ask(self, name, code=200, **query):
        words = [(key, one) for key, value in query.items() for one in (value if isinstance(value, list) else [value])]
        reply = self.request(f"/api/v1/{name}?{urllib.parse.urlencode(words)}")
        self.assertEqual(reply.status, code, reply.text)
        self.assertEqual(reply.headers["Content-Type"], "application/json")
        return json.loads(reply.text)


class Dashboard(Served):
    def test_a_link_opens_once_and_another_follows(self):
        first = self.link()
        self.assertEqual(self.request("/").status, 401)
        self.assertEqual(self.request("/open?key=" + "0" * 64).status, 403)
        self.assertEqual(self.request("/open").status, 403)
        self.open_link()
        self.assertNotEqual(self.link(), first)
        self.assertEqual(self.request("/").status, 200)
        self.assertEqual(self.request("/open?" + first.split("?")[1]).status, 403, "it was used")
        self.assertEqual(self.request("/", Cookie=self.cookie + "0").status, 401)

    def test_who_is_served(self):
        self.open_link()
        here = f"127.0.0.1:{self.port}"
        for headers, status in (({}, 200), ({"Host": f"localhost:{self.port}"}, 200),
                                ({"Origin": f"http://{here}"}, 200), ({"Sec_Fetch_Site": "same-origin"}, 200),
                                ({"Host": "evil.example"}, 403), ({"Host": f"evil.example:{self.port}"}, 403),
                                ({"Origin": "http://evil.example"}, 403), ({"Origin": "null"}, 403),
                                ({"Sec_Fetch_Site": "cross-site"}, 403), ({"Cookie": None}, 401)):
            for path in ("/", "/style.css", "/api/v1/overview"):
                self.assertEqual(self.request(path, **headers).status, status, (path, headers))
        for method in ("POST", "PUT", "DELETE", "OPTIONS", "PATCH"):
            self.assertEqual(self.request("/api/v1/overview", method=method).status, 405, method)
        self.assertEqual(self.request("/", method="HEAD").text, "")
        for path in ("/nothing", "/api/v1/../../kiln.toml", "/kiln.toml", "/api/v1/", "/api/v2/overview"):
            self.assertEqual(self.request(path).status, 404, path)
        self.assertGreaterEqual(self.request("/" + "a" * 20000).status, 400)

    def test_every_answer_has_the_headers_of_a_page_that_loads_nothing_else(self):
        self.open_link()
        for path in ("/", "/app.js", "/api/v1/overview", "/nothing"):
            headers = self.request(path).headers
            self.assertIn("default-src 'none'; script-src 'self'", headers["Content-Security-Policy"], path)
            self.assertIn("frame-ancestors 'none'", headers["Content-Security-Policy"], path)
            self.assertEqual(headers["X-Content-Type-Options"], "nosniff", path)
            self.assertEqual(headers["Referrer-Policy"], "no-referrer", path)
            self.assertEqual(headers["Cache-Control"], "no-store", path)
        page = self.request("/").text
        self.assertNotRegex(page, r"<script>|<style|\s(style|on\w+)=")

    def test_what_each_question_answers(self):
        self.open_link()
        overview = self.ask("overview")
        self.assertIn(overview["status"]["health"], ("SERVING", "DEGRADED"))
        (batch,) = overview["batches"]
        self.assertEqual((batch["project"], batch["state"], batch["variants_total"]), ("small", "DONE", "4"))
        one = self.ask("batch", id=batch["id"])
        self.assertEqual((one["failed"], one["explained"]["causes"]), ([], [{"cause": "first_seen", "count": 4}]))
        self.assertEqual(self.ask("cache")["stats"]["signatures"], 4)
        (program,) = self.ask("programs")["programs"]
        self.assertEqual((program["name"], program["axes"]), ("some", 2))
        space = self.ask("program", program="some")
        self.assertEqual(space["count"]["variants"], "4")
        options = {option["name"]: option for option in space["options"]}
        self.assertEqual(options["fog"]["live_in"], ["code"])
        self.assertEqual(options["lights"]["live_in"], [])
        self.assertEqual(len(self.ask("variants", program="some")["rows"]), 4)
        self.assertEqual([row["options"]["fog"] for row in self.ask("variants", program="some", where="fog")["rows"]],
                         [True, True])
        self.assertEqual({row["cause"] for row in self.ask("latest", count=50)["records"]}, {"first_seen"})
        (why,) = self.ask("explain", program="some", o=["fog=true"])["records"]
        self.assertEqual((why["result"], why["options"]["fog"]), ("hit", True))
        (view,) = self.ask("inspect", program="some", o=["fog=true"], view="glsl")["views"]
        self.assertIn("void main()", view["text"])

    def test_what_is_refused(self):
        self.open_link()
        for status, name, query, text in (
                (400, "batch", {}, "the query has no 'id'"),
                (400, "batch", {"id": "x"}, "id"),
                (404, "batch", {"id": NOWHERE}, "batch"),
                (400, "program", {}, "the query has no 'program'"),
                (404, "program", {"program": "nobody"}, "nobody"),
                (404, "inspect", {"program": "some.rpl", "view": "glsl"}, "some.rpl"),
                (404, "inspect", {"program": "/etc/passwd", "view": "glsl"}, "passwd"),
                (400, "inspect", {"program": "some"}, "the query has no 'view'"),
                (400, "inspect", {"program": "some", "view": "picture"}, "picture"),
                (404, "inspect", {"program": "some", "view": "glsl", "o": ["mist=true"]}, "mist"),
                (404, "explain", {"program": "some", "o": ["mist=true"]}, "mist"),
                (400, "variants", {"program": "some", "where": "fog &&"}, ""),
                (400, "latest", {"count": "0"}, "from 1 to 200"),
                (400, "latest", {"count": "many"}, "from 1 to 200"),
                (400, "latest", {"count": "201"}, "from 1 to 200"),
                (404, "nothing", {}, "there is no /api/v1/nothing")):
            self.assertIn(text, self.ask(name, status, **query)["error"], (name, query))

    def test_wrong_sources_are_shown_as_such(self):
        self.open_link()
        self.write_project(body="conditional (", extra="")
        space = self.ask("program", program="some")
        self.assertIsNone(space["count"])
        self.assertEqual(space["diagnostics"][0]["severity"], "error")
        self.assertEqual(self.ask("variants", program="some")["rows"], [])
        self.assertEqual(self.ask("explain", program="some")["records"], [])
        self.assertEqual(self.ask("inspect", program="some", view="glsl")["views"], [])

    def test_a_daemon_that_goes_is_told(self):
        self.open_link()
        self.expect(self.kiln("stop"), 0)
        self.assertTrue(wait_until(lambda: self.request("/api/v1/overview").status == 503))
        self.assertEqual(self.request("/").status, 200, "the page itself is there")

    def test_signals_end_it(self):
        for sent, code in ((signal.SIGINT, 130), (signal.SIGTERM, 143)):
            process = subprocess.Popen([BUILD / "kiln", "dashboard", "--json"], cwd=self.dir, env=self.env,
                                       stdout=subprocess.PIPE, text=True)
            self.assertEqual(json.loads(process.stdout.readline())["type"], "link")
            process.send_signal(sent)
            rest = process.communicate(timeout=PATIENCE)[0]
            self.assertEqual(process.returncode, code)
            self.assertEqual(json.loads(rest)["type"], "result")

    def test_a_port_that_is_taken(self):
        self.expect(self.kiln("dashboard", "--port", self.port), 4, f"127.0.0.1:{self.port}", "--port 0")
        self.expect(self.kiln("dashboard", "--port", 70000), 2, "--port")

    def test_without_a_project(self):
        self.open_link()
        (self.dir / "kiln.toml").unlink()
        answer = self.ask("programs")
        self.assertEqual((answer["project"], answer["programs"]), (None, []))
        self.ask("program", 404, program="some")


class Browser(Served):
    """What Chromium has of each view behind a link."""

    def look(self, view):
        before = len(self.all_links())
        with tempfile.TemporaryDirectory(prefix="kiln_chromium_") as profile:
            done = subprocess.run(
                ["chromium", "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", f"--user-data-dir={profile}",
                 "--enable-logging=stderr", "--window-size=400,900", "--virtual-time-budget=3000", "--dump-dom",
                 f"{self.link()}#/{view}"], capture_output=True, text=True, timeout=PATIENCE, check=False,
                env={**self.env, "HOME": profile})
        self.assertEqual(done.returncode, 0, done.stderr[-2000:])
        self.assertTrue(wait_until(lambda: len(self.all_links()) > before))
        said = [line for line in done.stderr.splitlines() if "CONSOLE" in line]
        self.assertEqual(said, [], "the page has no faults and loads nothing that is forbidden")
        self.assertIn('data-ready="true"', done.stdout)
        self.assertNotIn('role="alert"', done.stdout)
        return done.stdout

    @unittest.skipUnless(shutil.which("chromium"), "chromium is not installed")
    def test_views(self):
        batch = json.loads(self.kiln("batch", "list", "--json").stdout.splitlines()[0])["id"]
        for view, texts in (
                ("", ["<h2>Overview</h2>", "kilnd ", "interactive", "small"]),
                ("overview", ['aria-current="page">Overview']),
                ("batches", ["<h2>Batches</h2>", batch[:8], "done"]),
                (f"batches/{batch}", ["Why results were compiled", "first seen"]),
                ("programs", ["Programs of small", "some.rpl", "&lt;img src=x onerror=alert(1)&gt;"]),
                ("programs/some", ["Option space", "skinning", "lights (dead)", "One variant"]),
                ("programs/some?o.fog=true&view=glsl", ["void main()"]),
                ("programs/some?o.fog=true&view=why", ["hit (memory)", "fog=true"]),
                ("reasons", ["first seen: no earlier request"]),
                ("cache", ["Misses by cause", "signature"])):
            shown = self.look(view)
            for text in texts:
                self.assertIn(text, shown, view)
            self.assertNotIn("<img", shown, view)


if __name__ == "__main__":
    unittest.main(argv=["dashboard_cli_test.py"])
