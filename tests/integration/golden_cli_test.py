#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""What every verb says, word for word, as text and as JSON: when it goes well, with a wrong source,
with wrong words, without a daemon, at a limit; and diagnostics at three widths, with colours and
without. What changes from run to run (ids, sizes, times, places) is left out of the texts.

usage: golden_cli_test.py BUILD_FOLDER ROOT
KILN_UPDATE_GOLDENS=1 writes tests/integration/goldens anew.
"""
import fcntl
import json
import os
import pty
import re
import struct
import subprocess
import sys
import termios
import unittest

import grpc

from cli_case import BUILD, ROOT, CliCase, daemon_that_refuses, protobuf

GOLDENS = ROOT / "tests/integration/goldens"
UPDATE = os.environ.get("KILN_UPDATE_GOLDENS") == "1"
NOBODY = ["--autostart", "no", "--daemon"]
LIMIT = protobuf(_1="QUEUE_FULL", _3="queue.interactive", _4=256, _5=257,
                 _9="repeat the call after the time that is named")
FRAME = """{"resources": [{"name": "x", "kind": "buffer", "bytes": 16}], "passes": [
 {"name": "p", "type": "compute", "creates": [{"resource": "x", "access": "SHADER_STORAGE_WRITE"}]}],
 "outputs": ["x"]}"""
KEPT_NUMBERS = {"v", "exit", "line", "column", "end_line", "end_column", "max", "actual"}

# Verb -> words that go well, words with a wrong source, whether the daemon is asked.
VERBS = {
    "batch attach": (["BATCH"], None, True),
    "batch cancel": (["BATCH"], None, True),
    "batch items": (["BATCH"], None, True),
    "batch list": ([], None, True),
    "batch pause": (["BATCH"], None, True),
    "batch resume": (["BATCH"], None, True),
    "batch show": (["BATCH"], None, True),
    "build": ([], [], True),
    "cache export": (["rows.kpack"], None, False),
    "cache gc": (["--failed"], None, False),
    "cache import": (["rows.kpack"], None, False),
    "cache pin": (["kept", "KEY"], None, False),
    "cache pins": ([], None, False),
    "cache repair": ([], None, False),
    "cache stats": ([], None, False),
    "cache unpin": (["kept"], None, False),
    "cache verify": ([], None, False),
    "cache why": (["KEY"], None, False),
    "compile": (["some", "-o", "fog", "--out", "out"], ["some"], True),
    "completion": (["fish"], None, False),
    "config check": (["kilnd.toml"], None, False),
    "config show": ([], None, False),
    "doctor": ([], None, False),
    "explain": (["some", "-o", "fog"], ["some", "-o", "fog"], True),
    "fetch": (["--all", "--out", "fetched"], ["--all", "--out", "fetched"], True),
    "fmt": (["--check", "styled.rpl"], None, False),
    "graph": (["frame.json"], None, False),
    "init": (["--force"], None, False),
    "inspect": (["some", "--view", "options"], ["some", "--view", "options"], True),
    "options": (["some", "--list"], ["some"], True),
    "pack build": (["--out", "a.kpack"], ["--out", "b.kpack"], True),
    "pack diff": (["a.kpack", "a.kpack"], None, False),
    "pack extract": (["a.kpack", "some", "-o", "fog", "--out", "extracted"], None, False),
    "pack flatten": (["a.kpack", "--out", "flat.kpack"], None, False),
    "pack keygen": (["--out", "key"], None, False),
    "pack show": (["a.kpack"], None, False),
    "pack stats": (["a.kpack"], None, False),
    "pack verify": (["a.kpack"], None, False),
    "start": ([], None, False),
    "status": ([], None, True),
    "token create": (["--scope", "read"], None, False),
    "token list": ([], None, False),
    "token revoke": (["0" * 16], None, False),
    "version": ([], None, False),
    "stop": ([], None, False),
}
# Numbers of these are those of the machine or of the moment.
NO_NUMBERS = {"status", "doctor", "cache stats", "config show", "pack show", "pack stats",
              "pack verify",
              "pack build", "cache export", "cache import", "cache repair", "cache verify",
              "cache gc", "fetch", "graph", "build", "start", "stop"}


class Golden(CliCase):
    def setUp(self):
        super().setUp()
        self.env["KILN_PROGRESS"] = "none"

    def normal(self, text, verb):
        """A text without what is of this run."""
        text = text.replace(str(self.dir), "/DIR").replace(str(BUILD), "/BUILD")
        text = re.sub(r"kiln_[0-9a-f]{16}_[0-9a-f]{64}", "TOKEN", text)
        text = re.sub(r"\b[0-9a-f]{32,64}\b", "HEX", text)
        # The id of a result may happen to have digits alone: it stands behind the outcome.
        text = re.sub(r"(?m)^((?:ok|source_error|limit|poison) +)[0-9a-f]{8}(?=  )", r"\1HEX", text)
        text = re.sub(r"\b(?=[0-9a-f]*[a-f])(?=[0-9a-f]*\d)[0-9a-f]{8,16}\b|\b0{16}\b", "HEX", text)
        text = re.sub(r"\bpid \d+", "pid N", text)
        # Whether it was still in memory is a matter of time.
        text = re.sub(r"\((compiled|memory|local)\b[^)]*\)", "(FOUND)", text)
        text = re.sub(r'"(origin|level)": "(memory|local)"', r'"\1": "FOUND"', text)
        text = re.sub(r"\d\d\d\d-\d\d-\d\d[T ]\d\d:\d\d:\d\dZ?|\d\d:\d\d:\d\d", "TIME", text)
        text = re.sub(r"\d+(\.\d+)?( ?)(ms|us|s|MB/s|MB|KiB|MiB|GiB|bytes)\b", r"N\2\3", text)
        text = re.sub(r"\b0\.2\.0\b", "VERSION", text)  # of CMakeLists.txt
        if verb == "doctor":  # what it finds is the machine's
            text = "".join(re.sub(r"^(\w+ +\S+).*", r"\1", line) + "\n" for line in text.splitlines()
                           if not line.startswith("fix "))
            text = re.sub(r"(?m)^(ok|warn|FAIL) +", "STATE  ", text)
        if verb == "cache stats":  # units and columns are those of their numbers
            text = re.sub(r"\bN (bytes|KiB)\b", "N KiB", text)
            text = re.sub(r"(?<=\S) {2,}", "  ", text)
        if verb == "pack stats":  # columns are as wide as their numbers
            text = re.sub(r"(?<=\S) {2,}", "  ", text)
            text = re.sub(r"\d+\.\dx", "Nx", text)
        if verb == "config show":
            text = re.sub(r"(?m)(?<=\S) +\S.*$", " ...", text)
        return re.sub(r"\d+(\.\d+)?", "N", text) if verb in NO_NUMBERS else text

    def normal_json(self, text, verb):
        lines = []
        for line in text.splitlines():
            row = json.loads(line)
            if row["type"] == "check":
                row["state"] = row["detail"] = row["fix"] = "..."
            if row["type"] == "config":
                row["value"] = "..."
            if row["type"] in ("graph", "code"):
                row["plan"] = "..."
            lines.append(self.normal(json.dumps(self.without_numbers(row)), verb if verb in (
                "status", "doctor") else ""))
        return "\n".join(lines) + ("\n" if lines else "")

    def without_numbers(self, value, name=""):
        if isinstance(value, dict):
            return {key: self.without_numbers(member, key) for key, member in value.items()}
        if isinstance(value, list):
            return [self.without_numbers(member, name) for member in value]
        is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
        return "N" if is_number and name not in KEPT_NUMBERS else value

    def said(self, verb, arguments, env=None):
        """One call as text, then as JSON."""
        text = ""
        for flag in [], ["--json"]:
            words = [*flag, *verb.split(), *arguments]
            if flag and verb == "completion":
                continue
            result = self.kiln(*words, env=env)
            shown = " ".join("..." if word in (self.batch, self.key) else word for word in words)
            out = self.normal_json(result.stdout, verb) if flag else self.normal(result.stdout, verb)
            text += f"$ kiln {self.normal(shown, '')}\nexit {result.returncode}\n"
            text += f"--- stdout\n{out}" if out else ""
            error = self.normal(result.stderr, verb)
            text += f"--- stderr\n{error}" if error else ""
            text += "\n"
        return text

    def compare(self, name, text):
        path = GOLDENS / (name.replace(" ", "_") + ".txt")
        if UPDATE:
            path.parent.mkdir(exist_ok=True)
            path.write_text(text)
        self.assertTrue(path.exists(), f"{path} is not there; KILN_UPDATE_GOLDENS=1 writes it")
        self.assertEqual(text, path.read_text(), f"{path.name} says something else")

    def place(self, words):
        return [{"BATCH": self.batch, "KEY": self.key}.get(word, word) for word in words]

    def test_every_verb_has_a_golden(self):
        pages = self.dir / "man"
        self.expect(self.kiln("manual", "--out", pages), 0)
        commands = {path.stem[5:] for path in pages.glob("kiln-*.1")}
        groups = {"batch", "cache", "config", "pack", "token"}
        self.assertEqual({verb.replace(" ", "-") for verb in VERBS} | groups |
                         {"dashboard", "lsp", "preview", "serve", "watch"}, commands)

    def test_verbs(self):
        self.write("kilnd.toml", "[jobs]\nworkers = 2\n")
        self.write("frame.json", FRAME)
        self.write("styled.rpl", "global fog: flag false;\n")
        self.write_project()
        self.expect(self.kiln("build"), 0)
        self.batch = self.lines(self.kiln("--json", "batch", "list"))[0]["id"]
        self.key = self.lines(self.kiln("--json", "compile", "some", "-o", "fog"))[0]["signature"]
        self.expect(self.kiln("cache", "export", "rows.kpack"), 0)
        self.expect(self.kiln("pack", "build", "--out", "a.kpack"), 0)
        nobody = f"unix:{self.dir}/nobody/kilnd.sock"
        texts = {}
        for verb, (good, wrong, asks) in VERBS.items():
            if verb == "init":  # beside the manifest of the others
                self.write("fresh/hello.rpl", "void main_vertex (void) "
                           "{ vertex_stage_output_position (f4 {0.0}); }")
                good = ["--force", "-C", "fresh"]
            texts[verb] = "# goes well\n\n" + self.said(verb, self.place(good))
            texts[verb] += "# wrong words\n\n" + self.said(verb, [*self.place(good), "--nonsense"])
            if asks:
                texts[verb] += "# no daemon\n\n" + self.said(
                    verb, [*NOBODY, nobody, *self.place(good)])
                with daemon_that_refuses(self.dir / "full/kilnd.sock",
                                         grpc.StatusCode.RESOURCE_EXHAUSTED, "the lane is full", LIMIT):
                    texts[verb] += "# a limit\n\n" + self.said(
                        verb, ["--daemon", f"unix:{self.dir}/full/kilnd.sock", *self.place(good)])
            if wrong is not None:
                self.write_project("x;")
                texts[verb] += "# a wrong source\n\n" + self.said(verb, wrong)
                self.write_project()
        for verb, text in texts.items():
            with self.subTest(verb=verb):
                self.compare(verb, text)

    def on_terminal(self, columns, colour, *arguments):
        """What goes to stderr of a terminal of that width."""
        main, side = pty.openpty()
        fcntl.ioctl(side, termios.TIOCSWINSZ, struct.pack("HHHH", 40, columns, 0, 0))
        env = {**self.env, "TERM": "xterm"}
        env.pop("NO_COLOR")
        process = subprocess.Popen(
            [str(BUILD / "kiln"), "--color", "auto" if colour else "never", *map(str, arguments)],
            stdout=subprocess.DEVNULL, stderr=side, cwd=self.dir, env=env)
        os.close(side)
        said = b""
        while True:
            try:
                piece = os.read(main, 65536)
            except OSError:  # the last one has closed it
                piece = b""
            if not piece:
                break
            said += piece
        os.close(main)
        process.wait(timeout=60)
        return said.decode().replace("\r\n", "\n")

    def test_diagnostics_at_three_widths(self):
        self.write("wide.rpl", f"""void main_vertex (void)
{{
    f4 position = f4 {{0.0}}; // {"a long remark, " * 12}
    f1 x = 1u + position.x + {" + ".join(["position.y"] * 14)} + f3 {{1.0}};
\tnobody;
    x = 2.0;
}}
""")
        self.expect(self.kiln("start"), 0)
        text = ""
        for columns in 60, 100, 200:
            for colour in False, True:
                said = self.on_terminal(columns, colour, "compile", "wide.rpl", "--entry",
                                        "vertex=main_vertex")
                self.assertEqual("\x1b[" in said, colour)
                for line in re.sub(r"\x1b\[[0-9;]*m", "", said).splitlines():
                    if re.match(r" *\d* \|", line):
                        self.assertLessEqual(len(line.expandtabs(4)), columns)
                text += f"# {columns} columns, colours {'on' if colour else 'off'}\n\n"
                text += said.replace("\x1b", "\\x1b") + "\n"
        self.compare("diagnostics", text)

    def test_paths_are_links_where_the_terminal_says_so(self):
        self.write("sub dir/broken.rpl", "void f (void) { x; }")
        compile_it = ["compile", "sub dir/broken.rpl", "--entry", "vertex=f"]
        link = f"\x1b]8;;file://{self.dir}/sub%20dir/broken.rpl\x1b\\"
        self.expect(self.kiln("start"), 0)
        for name, value, colour, linked in [("VTE_VERSION", "7000", True, True),
                                            ("VTE_VERSION", "4000", True, False),
                                            ("TERM_PROGRAM", "WezTerm", True, True),
                                            ("TERM_PROGRAM", "WezTerm", False, False),
                                            ("TERM_PROGRAM", "Apple_Terminal", True, False)]:
            with self.subTest(name=name, value=value, colour=colour):
                self.env[name] = value
                said = self.on_terminal(100, colour, *compile_it)
                del self.env[name]
                self.assertEqual(link in said, linked, repr(said))
                self.assertIn("sub dir/broken.rpl:1:17", said)
        self.env["VTE_VERSION"] = "7000"
        self.assertNotIn("\x1b", self.kiln(*compile_it).stderr)  # no terminal


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
