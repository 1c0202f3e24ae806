#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What the command line says about itself: short and long help of every verb, manual pages with the
same words, examples that run, and what was probably meant.

usage: help_cli_test.py BUILD_FOLDER ROOT
"""
import re
import subprocess
import sys
import unittest

from cli_case import BUILD, CliCase

RPL = """
global fog: flag false;
global instancing: flag false;
global shadows: enum "off" "low" "high";
global light_count: uint 4;
color_output_container target { f4 color; };
void main_vertex (void) { vertex_stage_output_position (f4 {0.0}); }
void main_fragment (void)
{
    f4 color = f4 {1.0, 1.0, 1.0, 1.0};
    conditional (fog) { color = color * f4 {0.5, 0.5, 0.5, 1.0}; }
    target.color = color;
}
"""


def words(text):
    return text.split()


class Help(CliCase):
    def verbs(self):
        """All commands: "build", "pack build"."""
        found = []
        for line in self.kiln().stdout.splitlines():
            match = re.match(r"(?:\w[\w ]*)?\s+kiln (\w+) ", line)
            if match:
                found.append(match.group(1))
        below = [f"{verb} {row.split()[0]}" for verb in ("batch", "cache", "config", "pack", "token")
                 for row in re.search(r"\n\n(.*?)\n\n", self.rows(verb), re.S).group(1).splitlines()
                 if not row.split()[0].startswith("-")]
        return found + below

    def rows(self, verb):
        return "\n\n" + self.expect(self.kiln(verb, "-h"), 0).stdout.split("\n\n", 2)[2]

    def test_kiln_alone_is_a_table(self):
        for arguments in [], ["-h"]:
            text = self.expect(self.kiln(*arguments), 0).stdout
            self.assertLessEqual(len(text.splitlines()), 30)
            for group in "start here", "build", "look at one", "operate":
                self.assertRegex(text, rf"(?m)^{group}")
        self.assertGreater(len(self.verbs()), 40)

    def test_short_help_has_two_examples_first_in_24_lines(self):
        for verb in self.verbs():
            with self.subTest(verb=verb):
                lines = self.expect(self.kiln(*verb.split(), "-h"), 0).stdout.splitlines()
                self.assertLessEqual(len(lines), 24)
                self.assertLessEqual(max(map(len, lines)), 100)
                self.assertRegex(lines[0], rf"^  kiln {verb.split()[0]}\b")
                self.assertRegex(lines[1], rf"^  kiln {verb.split()[0]}\b")
                self.assertEqual(lines[2], "")
                self.assertRegex(lines[3], rf"^kiln {verb}: ")

    def test_long_help_is_the_manual_page(self):
        self.expect(self.kiln("manual", "--out", "man"), 0)
        pages = {path.name for path in (self.dir / "man").iterdir()}
        verbs = ["", *self.verbs()]
        self.assertEqual(pages, {"-".join(["kiln", *verb.split()]) + ".1" for verb in verbs} |
                         {"kiln.toml.5"})
        for verb in verbs:
            with self.subTest(verb=verb):
                page = (self.dir / "man" / ("-".join(["kiln", *verb.split()]) + ".1")).read_text()
                plain = re.sub(r"(?m)^\.(TH.*|TP|nf|fi)$", "", page)
                plain = re.sub(r"(?m)^\.(SH|B) ", "", plain).replace("\\-", "-")
                plain = plain.replace("\\&", "").replace("\\e", "\\")
                self.assertEqual(words(self.expect(self.kiln(*verb.split(), "--help"), 0).stdout),
                                 words(plain))

    def test_every_flag_is_in_the_long_help_once(self):
        for verb in self.verbs():
            with self.subTest(verb=verb):
                text = self.kiln(*verb.split(), "--help").stdout
                flags = re.findall(r"(?m)^  (?:-\w,)?(--[a-z-]+)", text)
                self.assertEqual(len(flags), len(set(flags)))
                short = self.kiln(*verb.split(), "-h").stdout
                for flag in flags:
                    if flag != "--help":
                        self.assertTrue(flag in short or "..." in short, flag)

    def test_what_was_meant_table(self):
        rows = [
            (["buld"], ["unknown verb 'buld'", "did you mean 'build'?"]),
            (["frobnicate"], ["unknown verb 'frobnicate'; see kiln -h"]),
            (["pack", "biuld"], ["unknown verb 'biuld'", "did you mean 'build'?"]),
            (["pack", "frobnicate"], ["unknown verb 'frobnicate'; see kiln pack -h"]),
            (["build", "--reprot", "json:x"], ["unknown flag '--reprot'; did you mean '--report'?"]),
            (["build", "--dry-runn"], ["did you mean '--dry-run'?"]),
            (["build", "--jsn"], ["did you mean '--json'?"]),
            (["--colour", "never", "status"], ["did you mean '--color'?"]),
            (["fetch", "--al"], ["unknown flag '--al'; did you mean '--all'?"]),
            (["fetch", "--all", "--otu=x"], ["unknown flag '--otu'; did you mean '--out'?"]),
            (["build", "--xylophone"], ["unknown flag '--xylophone'; see kiln build -h"]),
            (["status", "-x"], ["unknown flag '-x'; see kiln status -h"]),
            (["status", "now"], ["unexpected word 'now'"]),
            (["pack"], ["subcommand", "see kiln pack -h"]),
            (["build", "--color", "always", "--color", "never"], ["--color"]),
        ]
        for arguments, texts in rows:
            with self.subTest(arguments=arguments):
                result = self.expect(self.kiln(*arguments), 2, *texts)
                self.assertEqual((result.stdout, result.stderr.count("\n")), ("", 1))

    def make_place_for_examples(self):
        for path in "shaders/rock.rpl", "shaders/pass.rpl", "rock.rpl":
            self.write(path, RPL if "pass" not in path else "// nothing\n")
        self.write("kiln.toml", """[project]
manifest = 1
name = "demo"
[[program]]
name = "rock/forward"
sources = ["rock.rpl"]
entry_points = { vertex = "main_vertex", fragment = "main_fragment" }
axes = { fog = "*", light_count = [1, 4], shadows = "*" }
variants = [ { warm = true, options = { fog = true } } ]
""")

    def test_every_example_is_understood(self):
        self.make_place_for_examples()
        self.expect(self.kiln("build"), 0)
        for name in "demo", "old", "new", "base", "delta":
            self.expect(self.kiln("pack", "build", "--out", f"{name}.kpack"), 0)
        self.expect(self.kiln("cache", "export", "cache.kpack"), 0)
        for verb in self.verbs():
            if verb in ("serve", "stop", "start", "watch"):
                continue  # they do not end, or end what the others need
            text = self.kiln(*verb.split(), "--help").stdout
            if "\nEXAMPLES\n" not in text:
                continue
            for example in text.split("\nEXAMPLES\n")[1].split("\n\n")[0].splitlines():
                with self.subTest(example=example):
                    command = example.strip()
                    self.assertTrue(command.startswith("kiln "), command)
                    result = subprocess.run(
                        ["bash", "-c", command], capture_output=True, text=True, timeout=60,
                        cwd=self.dir, env=self.env | {"PATH": f"{BUILD}:{self.env['PATH']}",
                                                      "KILN_DEADLINE": "30s"})
                    self.assertNotIn("; see kiln", result.stderr)
                    self.assertNotEqual(result.returncode, 70, result.stderr)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
