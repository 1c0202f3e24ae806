#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""kiln watch as an artist runs it: real programs, real files, a real daemon.

usage: watch_cli_test.py BUILD_FOLDER ROOT
"""
import json
import os
import pathlib
import queue
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest

from waiting import wait_until, PATIENCE

BUILD, ROOT = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]).resolve()
SHADER = """
global fog: flag false;
color_output_container target { f4 color; };
void v (void) { vertex_stage_output_position (f4 {0.0}); }
void f (void)
{
    f4 color = f4 {1.0, 1.0, 1.0, 1.0};
    conditional (fog) { color = f4 {0.5}; }
    target.color = color;
}
"""
MANIFEST = """
[project]
manifest = 1
name = "scene"

[target.vk]
form = "spirv"

[defaults]
targets = ["vk"]
entry_points = { vertex = "v", fragment = "f" }

[[program]]
name = "rock"
sources = ["rock.rpl"]
axes = { fog = "*" }

[[program]]
name = "sand"
sources = ["sand.rpl"]
axes = { fog = "*" }
"""


class Session:
    """kiln watch in the background; its lines as they come."""

    def __init__(self, test, *arguments, folder=None):
        self.process = subprocess.Popen(
            [str(BUILD / "kiln"), "watch", *map(str, arguments)], cwd=folder or test.dir, env=test.env,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.lines = queue.Queue()
        self.errors = []
        self.threads = [threading.Thread(target=self.read, daemon=True),
                        threading.Thread(target=lambda: self.errors.extend(self.process.stderr),
                                         daemon=True)]
        for thread in self.threads:
            thread.start()

    def read(self):
        for line in self.process.stdout:
            self.lines.put(line.rstrip("\n"))
        self.lines.put(None)

    def until(self, wanted, timeout=PATIENCE):
        """Lines up to and including the first that is wanted."""
        found, end = [], time.monotonic() + timeout
        while True:
            try:
                line = self.lines.get(timeout=max(0.01, end - time.monotonic()))
            except queue.Empty:
                raise AssertionError(f"nothing of that kind in {found}; {self.errors}") from None
            if line is None:
                raise AssertionError(f"it ended: {found}; {self.errors}")
            found.append(line)
            if wanted(line):
                return found

    def events(self, kind="settled", timeout=PATIENCE):
        """Objects up to and including the first event of this kind."""
        lines = self.until(lambda line: json.loads(line).get("event") == kind, timeout)
        return [json.loads(line) for line in lines]

    def stop(self, number=signal.SIGINT):
        self.process.send_signal(number)
        return self.end()

    def end(self):
        code = self.process.wait(timeout=PATIENCE)
        for thread in self.threads:
            thread.join()
        rest = []
        while (line := self.lines.get(timeout=PATIENCE)) is not None:
            rest.append(line)
        self.process.stdout.close()
        self.process.stderr.close()
        return code, rest


class Watch(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory(prefix="kiln_watch_")
        self.top = pathlib.Path(self.folder.name)
        self.dir = self.top / "project"
        self.dir.mkdir()
        self.env = dict(os.environ, KILN_DAEMON=f"unix:{self.top}/run/kilnd.sock",
                        KILN_CACHE_DIR=str(self.top / "cache"), NO_COLOR="1")
        (self.dir / "kiln.toml").write_text(MANIFEST)
        for name in ("rock", "sand"):
            (self.dir / f"{name}.rpl").write_text(f"// {name}\n" + SHADER)
        self.sessions = []

    def tearDown(self):
        for session in self.sessions:
            if session.process.poll() is None:
                session.stop(signal.SIGKILL)
        self.kiln("stop")
        self.folder.cleanup()

    def kiln(self, *arguments):
        return subprocess.run([str(BUILD / "kiln"), *arguments], env=self.env, timeout=60,
                              capture_output=True, text=True, check=False)

    def watch(self, *arguments, folder=None):
        session = Session(self, *arguments, folder=folder)
        self.sessions.append(session)
        return session

    def save(self, name, old, new):
        """As most editors do: a new file is renamed over the old one."""
        path = self.dir / name
        text = path.read_text()
        self.assertIn(old, text)
        (self.dir / (name + ".tmp")).write_text(text.replace(old, new))
        os.rename(self.dir / (name + ".tmp"), path)

    def test_save_gives_artifacts_files_and_the_command(self):
        out = self.top / "out"
        session = self.watch("rock", "-o", "fog", "--json", "--out", out,
                             "--exec", f'echo "$KILN_CHANGED" >> {self.top}/log')
        first = session.events()
        self.assertEqual(first[0]["event"], "changed")
        self.assertEqual(sum(e["event"] == "artifact" for e in first), 2)
        before = json.loads((out / "index.json").read_text())
        self.save("rock.rpl", "0.5", "0.25")
        events = session.events()
        changed, artifacts = events[0], [e for e in events if e["event"] == "artifact"]
        self.assertEqual((changed["paths"], changed["programs"]), (["rock.rpl"], ["rock"]))
        self.assertEqual(artifacts[0]["options"], {"fog": True})
        self.assertEqual(artifacts[0]["change"], ["code"])
        self.assertGreater(artifacts[0]["ms"], 0)
        self.save("rock.rpl", "0.25", "0.75")
        session.events()
        # Ctrl-C ends a command that still runs.
        self.assertTrue(wait_until(lambda: (self.top / "log").read_text().split() == ["rock"] * 3))
        self.assertEqual(session.stop()[0], 130)
        after = json.loads((out / "index.json").read_text())
        files = {f for row in after for f in (*row["code"].values(), row["metadata"])}
        self.assertEqual({p.name for p in out.iterdir()}, files | {"index.json"})
        self.assertNotEqual(before, after)
        fog = next(row for row in after if row["options"] == {"fog": True})
        direct = self.top / "direct"
        done = subprocess.run([str(BUILD / "kiln"), "compile", "rock", "-o", "fog", "--out", direct],
                              cwd=self.dir, env=self.env, timeout=60, capture_output=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        for stage, name in fog["code"].items():
            made = next(direct.glob(f"*.{stage}.spv"))
            self.assertEqual((out / name).read_bytes(), made.read_bytes())
        self.assertEqual((self.top / "log").read_text().split(), ["rock"] * 3)

    def test_broken_source_keeps_outputs(self):
        out = self.top / "out"
        session = self.watch("rock", "--json", "--out", out)
        session.events()
        before = {p.name: p.read_bytes() for p in out.iterdir()}
        self.save("rock.rpl", "= color;", "= colour;")
        events = [json.loads(line) for line in
                  session.until(lambda line: json.loads(line).get("event") == "settled")]
        said = [e for e in events if e["type"] == "diagnostic"]
        self.assertEqual((said[0]["path"], said[0]["severity"]), ("rock.rpl", "error"))
        self.assertGreater(next(e for e in events if e.get("event") == "diagnostics")["errors"], 0)
        self.assertGreater(events[-1]["failed"], 0)
        self.assertEqual(before, {p.name: p.read_bytes() for p in out.iterdir()})
        self.save("rock.rpl", "= colour;", "= color;")
        kinds = [e["event"] for e in session.events()]
        self.assertIn("diagnostics", kinds)
        self.assertNotIn("artifact", kinds)

    def test_text_tells_what_happened(self):
        session = self.watch("rock")
        self.assertIn("watching", session.until(lambda line: True)[0])
        session.until(lambda line: "ready        2 results" in line)
        self.save("rock.rpl", "// rock", "// rocks")
        lines = session.until(lambda line: "settled" in line)
        self.assertRegex(lines[0], r"^\d\d:\d\d:\d\d  changed      rock.rpl$")
        self.assertRegex(lines[1], r"^ +unchanged +rock +IR identical \(comment.* \d+\.\d ms$")
        self.save("rock.rpl", "f4 {1.0, 1.0", "f4 {0.0, 1.0")
        lines = session.until(lambda line: "settled" in line)
        self.assertRegex(lines[1], r"^ +artifact +rock fog=false +code +\d+\.\d ms$")
        self.save("rock.rpl", "= color;", "= colour;")
        session.until(lambda line: "error; keeping artifacts of" in line or "errors; keeping" in line)
        code, _ = session.stop()
        self.assertEqual(code, 130)
        self.assertIn("rock.rpl:", "".join(session.errors))

    def test_new_uniform_changes_the_layout(self):
        session = self.watch("rock", "--json")
        session.events()
        self.save("rock.rpl", "void f (void)\n{", "set_material uniform_buffer tint { f4 shade; };\nvoid f (void)\n{")
        self.save("rock.rpl", "= color;", "= color * tint.shade;")
        changes = []
        while not any("layout" in change for change in changes):
            changes += [e["change"] for e in session.events() if e["event"] == "artifact"]

    def test_manifest_edit_adds_variants_and_a_broken_one_keeps_the_last(self):
        session = self.watch("--json")
        session.events()
        self.save("kiln.toml", 'sources = ["rock.rpl"]\naxes = { fog = "*" }',
                  'sources = ["rock.rpl"]\naxes = { fog = [true] }\n\n[[program]]\nname = "mud"\n'
                  'sources = ["rock.rpl"]')
        events = session.events()
        self.assertIn("mud", next(e for e in events if e["event"] == "changed")["programs"])
        self.assertIn("mud", [e["program"] for e in events if e["event"] == "artifact"])
        self.save("kiln.toml", 'name = "mud"', 'nome = "mud"')
        lines = session.until(lambda line: json.loads(line)["type"] == "error")
        self.assertIn("nome", lines[-1])
        self.save("rock.rpl", "f4 {1.0, 1.0", "f4 {0.0, 1.0")
        self.assertIn("mud", [e["program"] for e in session.events() if e["event"] == "artifact"])

    def test_mistake_that_a_new_program_has_too_is_not_told_again(self):
        """Each is of another generation, and a wrong source may change what the manifest means."""
        mud = '\n[[program]]\nname = "mud"\nsources = ["rock.rpl"]\n'
        for wrong in ("= colour;", "= color"):
            with self.subTest(wrong=wrong):
                (self.dir / "kiln.toml").write_text(MANIFEST)
                session = self.watch("--json")
                session.events()

                def told(wanted):
                    rows = [json.loads(line) for line in
                            session.until(lambda line: wanted(json.loads(line)))]
                    return rows, [(r["program"], r["code"]) for r in rows if r["type"] == "diagnostic"]

                def settled(row):
                    return row.get("event") == "settled"
                self.save("rock.rpl", "= color;", wrong)
                _, first = told(settled)
                self.assertEqual([program for program, _ in first], ["rock"] * len(first))
                self.assertTrue(first)
                (self.dir / "kiln.toml").write_text(MANIFEST + mud)
                rows, again = told(lambda row: row["type"] == "mistake")
                self.assertEqual(again, [], rows)
                self.assertEqual(rows[-1]["programs"], ["mud", "rock"])
                self.assertEqual(rows[-1]["code"], first[0][1])
                wrong_more = wrong.replace("=", "=\n   ")  # elsewhere, and so another one
                self.save("rock.rpl", wrong, wrong_more)
                rows, moved = told(lambda row: row["type"] == "mistake")
                self.assertEqual(len(moved), len(first), rows)
                self.save("rock.rpl", wrong_more, "= color;")
                self.assertEqual(told(settled)[1], [])
                self.save("rock.rpl", "= color;", wrong)
                self.assertEqual(len(told(lambda row: row["type"] == "mistake")[1]), len(first))
                session.stop()
                self.save("rock.rpl", wrong, "= color;")

    def test_new_option_becomes_an_axis_when_the_manifest_says_so(self):
        session = self.watch("rock", "--json")
        session.events()
        (self.dir / "kiln.toml").write_text(MANIFEST.replace('axes = { fog = "*" }',
                                                             'axes = { mist = "*" }', 1))
        lines = session.until(lambda line: json.loads(line)["type"] == "error")
        self.assertIn("'mist'", lines[-1])  # nobody declares it yet
        self.save("rock.rpl", "fog", "mist")
        seen = []
        while sorted(seen) != [False, True]:
            seen += [e["options"]["mist"] for e in session.events()
                     if e["event"] == "artifact" and "mist" in e["options"]]

    def test_subscriber_alone_hears_what_another_pushes(self):
        source = self.watch("--json")
        source.events()
        reader = self.watch("rock", "--no-source", "--json")
        self.assertEqual(sum(e["event"] == "artifact" for e in reader.events()), 2)
        self.save("rock.rpl", "0.5", "0.25")
        artifacts = [e for e in reader.events() if e["event"] == "artifact"]
        self.assertEqual([a["options"] for a in artifacts], [{"fog": True}])
        source.stop()
        self.assertEqual(reader.events("problem")[-1]["code"], "NO_SOURCE_CLIENT")

    def test_two_worktrees_of_one_project_never_meet(self):
        other = self.top / "other"
        shutil.copytree(self.dir, other)
        mine = self.watch("rock", "--json", "--out", self.top / "out")
        mine.events()
        theirs = self.watch("rock", "--json", "--out", self.top / "out2", folder=other)
        theirs.events()
        before = (self.top / "out2/index.json").read_bytes()
        self.save("rock.rpl", "= color;", "= colour;")
        mine.events()
        self.save("rock.rpl", "= colour;", "= color * 0.5;")
        mine.events()
        self.assertEqual((self.top / "out2/index.json").read_bytes(), before)
        (other / "rock.rpl").write_text((self.dir / "rock.rpl").read_text())
        events = theirs.events()
        self.assertEqual(sum(e.get("event") == "changed" for e in events), 1)
        self.assertEqual([e for e in events if e["type"] == "diagnostic"], [])
        self.assertEqual((self.top / "out2/index.json").read_bytes(),
                         (self.top / "out/index.json").read_bytes())

    def test_who_gives_the_same_name_meets_from_anywhere(self):
        other = self.top / "other"
        other.mkdir()
        shutil.copy(self.dir / "kiln.toml", other)
        self.watch("--json", "--workspace", "studio").events()
        reader = self.watch("rock", "--no-source", "--json", "--workspace", "studio", folder=other)
        self.assertEqual(sum(e["event"] == "artifact" for e in reader.events()), 2)
        lonely = self.watch("rock", "--no-source", "--json", folder=other)
        self.assertEqual(lonely.events("problem")[-1]["code"], "NO_SOURCE_CLIENT")

    def test_next_session_does_not_say_what_was_wrong_before(self):
        session = self.watch("rock")
        session.until(lambda line: "ready" in line)
        self.save("rock.rpl", "= color;", "= colour;")
        session.until(lambda line: "keeping" in line)
        session.stop()
        self.save("rock.rpl", "= colour;", "= color;")
        session = self.watch("rock", "-o", "fog")
        lines = session.until(lambda line: "ready" in line)
        self.assertIn("ready        2 results", lines[-1])
        self.assertEqual([line for line in lines if "again" in line or "error" in line], [])
        session.stop()
        self.assertEqual(session.errors, [])

    def test_daemon_restart_loses_nothing(self):
        session = self.watch("rock", "--json")
        session.events()
        self.assertEqual(self.kiln("stop").returncode, 0)
        session.events("problem")
        self.save("rock.rpl", "0.5", "0.25")
        seen = []
        while {"fog": True} not in [e.get("options") for e in seen]:
            seen += session.events("artifact")
        self.kiln("status")
        self.save("rock.rpl", "0.25", "0.125")
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            artifact = session.events("artifact")[-1]
            if artifact["options"] == {"fog": True}:
                break
        self.assertEqual(session.stop()[0], 130)

    def test_exit_codes(self):
        code, rest = None, None
        session = self.watch("rock", "--json")
        session.events()
        code, rest = session.stop(signal.SIGTERM)
        self.assertEqual(code, 143)
        last = json.loads(rest[-1])
        self.assertEqual((last["type"], last["verb"], last["exit"]), ("result", "watch", 143))
        self.assertEqual(self.watch("nobody").end()[0], 3)
        self.assertEqual(self.watch("rock", "-o", "no_such_option").end()[0], 3)
        self.assertEqual(self.watch("--frobnicate").end()[0], 2)
        lost = self.watch("rock", "--json")
        lost.events()
        shutil.rmtree(self.dir)
        self.assertEqual(lost.end()[0], 3)
        self.dir.mkdir()

    def test_no_daemon_is_unreachable(self):
        env, self.env = self.env, dict(self.env, KILN_AUTOSTART="no")
        self.assertEqual(self.watch("rock").end()[0], 4)
        self.env = env


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
