# SPDX-License-Identifier: MIT
"""HLSL as its users have it: files that include files, through kiln, the daemon, a build, a watch
session and a picture.

usage: hlsl_cli_test.py BUILD_FOLDER ROOT
"""
import json
import struct
import unittest
import zlib

from cli_case import CliCase
from watch_cli_test import Session

ROOT_TEXT = """#include "common/tint.hlsli"
float4 vs_main(float3 position : POSITION) : SV_Position { return float4(position.xy, 0.5, 1); }
float4 ps_main() : SV_Target { return TINT; }
"""
RED = "#define TINT float4(1, 0, 0, 1)\n"
GREEN = "#define TINT float4(0, 1, 0, 1)\n"
ENTRIES = ["--entry", "vertex=vs_main", "--entry", "fragment=ps_main"]
SOFTWARE = {"VK_ICD_FILENAMES": "/usr/share/vulkan/icd.d/lvp_icd.x86_64.json"}
MANIFEST = """[project]
manifest = 1
name = "tints"
[hlsl]
include_roots = ["lib"]
defines = { STRENGTH = 2, HALF = true }
[defaults]
entry_points = { vertex = "vs_main", fragment = "ps_main" }
[[program]]
name = "tinted"
sources = ["tinted.hlsl"]
[[program]]
name = "plain"
sources = ["plain.hlsl"]
hlsl = { version = "2018", defines = { STRENGTH = 3 } }
"""
PLAIN = """#include "plain.hlsli"
float4 vs_main(float3 position : POSITION) : SV_Position { return float4(position.xy, 0.5, 1); }
float4 ps_main() : SV_Target { return float4(0, 0, STRENGTH, HALF); }
"""


def pixels_of(png):
    """The pixels of a picture of 8 bits RGB or RGBA, as tuples."""
    at, data, width, channels = 8, b"", 0, 0
    while at < len(png):
        size, kind = struct.unpack(">I4s", png[at:at + 8])
        body = png[at + 8:at + 8 + size]
        if kind == b"IHDR":
            width, _, depth, colour = struct.unpack(">IIBB", body[:10])
            assert depth == 8
            channels = {2: 3, 6: 4}[colour]
        elif kind == b"IDAT":
            data += body
        at += size + 12
    raw, stride = zlib.decompress(data), width * channels
    above, rows = bytes(stride), []
    for begin in range(0, len(raw), stride + 1):
        kind, row = raw[begin], bytearray(raw[begin + 1:begin + 1 + stride])
        for i in range(stride):
            left = row[i - channels] if i >= channels else 0
            corner = above[i - channels] if i >= channels else 0
            guess = left + above[i] - corner
            paeth = min((left, above[i], corner), key=lambda value: abs(guess - value))
            row[i] = (row[i] + (0, left, above[i], (left + above[i]) // 2, paeth)[kind]) & 255
        above = bytes(row)
        rows += [tuple(row[i:i + channels]) for i in range(0, stride, channels)]
    return rows


class Hlsl(CliCase):
    def write_tinted(self, tint=RED):
        self.write("tinted.hlsl", ROOT_TEXT)
        self.write("common/tint.hlsli", tint)

    def write_tints(self):
        self.write_tinted()
        self.write("plain.hlsl", PLAIN)
        self.write("lib/plain.hlsli", "// nothing\n")
        self.write("kiln.toml", MANIFEST)

    def compile(self, *arguments, code=0):
        """The artifact of `kiln compile`, as --json tells it."""
        objects = self.lines(self.kiln("--json", "compile", *arguments), code)
        return next((row for row in objects if row["type"] == "item"), None)

    def test_a_file_is_compiled_with_what_it_includes(self):
        self.write_tinted()
        first = self.compile("tinted.hlsl", *ENTRIES)
        self.assertEqual(first["origin"], "compiled")
        self.assertEqual(self.compile("tinted.hlsl", *ENTRIES)["signature"], first["signature"])
        self.write("common/tint.hlsli", GREEN)
        self.assertNotEqual(self.compile("tinted.hlsl", *ENTRIES)["signature"], first["signature"])

    def test_the_same_words_as_of_kilnc(self):
        self.write_tinted()
        for out, program in (("here", "kilnc"), ("there", "kiln")):
            self.expect(self.run_program(program, "compile", "tinted.hlsl", *ENTRIES, "--out", out), 0)
        self.assertEqual(sorted(path.read_bytes() for path in (self.dir / "here").glob("*.spv")),
                         sorted(path.read_bytes() for path in (self.dir / "there").glob("*.spv")))

    def test_a_new_file_that_shadows_another_changes_the_result(self):
        self.write("tinted.hlsl", ROOT_TEXT)
        self.write("lib/common/tint.hlsli", RED)
        first = self.compile("tinted.hlsl", *ENTRIES, "-I", "lib")
        self.write("common/tint.hlsli", GREEN)
        second = self.compile("tinted.hlsl", *ENTRIES, "-I", "lib")
        self.assertNotEqual(first["signature"], second["signature"])
        self.expect(self.kiln("explain", "tinted.hlsl", *ENTRIES, "-I", "lib"), 0)

    def test_defines_and_settings_are_part_of_the_request(self):
        self.write("p.hlsl", PLAIN.replace('#include "plain.hlsli"\n', ""))
        rows = [["--define", "STRENGTH=1", "--define", "HALF"],
                ["--define", "STRENGTH=2", "--define", "HALF"],
                ["--define", "STRENGTH=F(2)", "--define", "HALF", "--define", "F(x)=x+1"]]
        signatures = {self.compile("p.hlsl", *ENTRIES, *row)["signature"] for row in rows}
        self.assertEqual(len(signatures), 3)
        self.expect(self.kiln("compile", "p.hlsl", *ENTRIES, "--hlsl", "version=1999"), 2, "1999",
                    "2021, 2018")
        self.expect(self.kiln("compile", "p.hlsl", *ENTRIES, "--hlsl", "vrsion=2018"), 2, "vrsion")
        self.expect(self.kiln("compile", "p.hlsl", *ENTRIES, "--define", "2X=1"), 2, "2X")
        self.expect(self.kiln("compile", "p.hlsl", *ENTRIES, "-I", "/etc"), 2, "-I /etc")

    def test_mistakes_are_said_where_they_are(self):
        self.write_tinted("#define TINT float4(1, 0, 0, 1)\nfloat wrong = unknown;\n")
        self.expect(self.kiln("compile", "tinted.hlsl", *ENTRIES), 1, "common/tint.hlsli:2",
                    "float wrong = unknown;", "tinted.hlsl:1")
        self.write("tinted.hlsl", ROOT_TEXT.replace("common/tint", "nowhere"))
        self.expect(self.kiln("compile", "tinted.hlsl", *ENTRIES), 1, "HLSL1010", "nowhere.hlsli")
        self.write("tinted.hlsl", ROOT_TEXT.replace("common/tint", "../../../etc/hosts"))
        self.expect(self.kiln("compile", "tinted.hlsl", *ENTRIES), 1, "HLSL1011")
        self.write("tinted.hlsl", '#include "tinted.hlsl"\n')
        self.expect(self.kiln("compile", "tinted.hlsl", *ENTRIES), 1, "HLSL1012")

    def test_languages_do_not_mix(self):
        self.write_tinted()
        self.write("some.rpl", "void v (void) { vertex_stage_output_position (f4 {0.0}); }")
        self.expect(self.kiln("compile", "some.rpl", "tinted.hlsl", "--entry", "vertex=v"), 1,
                    "RPL2011", "hlsl", "rpl")

    def test_depfiles_name_what_was_included(self):
        self.write_tinted()
        self.write("common/unused.hlsli", "")
        self.compile("tinted.hlsl", *ENTRIES, "--out", "out", "--deps", "out.d")
        named = (self.dir / "out.d").read_text()
        self.assertIn("tinted.hlsl", named)
        self.assertIn("common/tint.hlsli", named)
        self.assertNotIn("unused", named)

    def test_a_project_is_built(self):
        self.write_tints()
        self.expect(self.kiln("build", "--out", "out", "--deps", "out.d"), 0)
        self.assertIn("lib/plain.hlsli", (self.dir / "out.d").read_text())
        self.assertEqual(len(json.loads((self.dir / "out/index.json").read_text())), 2)
        self.assertEqual(self.compile("tinted")["origin"], "memory")

    def test_explain_names_the_include_and_the_macro_that_changed(self):
        self.write_tints()
        self.compile("tinted")
        self.write("common/tint.hlsli", GREEN)
        self.expect(self.kiln("compile", "tinted", "--explain"), 0, "dependency",
                    "common/tint.hlsli", "changed")
        self.compile("plain")
        self.write("kiln.toml", MANIFEST.replace("STRENGTH = 3", "STRENGTH = 4"))
        self.expect(self.kiln("compile", "plain", "--explain"), 0, "language", "define STRENGTH", "3",
                    "4")

    def test_bad_manifests_say_what_is_wrong(self):
        self.write_tints()
        rows = [("STRENGTH = 2", "STRENGTH = 2.5", "whole number"),
                ('["lib"]', '["../lib"]', "'../lib'"),
                ('["lib"]', '["/lib"]', "'/lib'"),
                ("include_roots", "include_rots", "did you mean 'include_roots'?"),
                ('version = "2018"', "version = 2018", "'version' must be text"),
                ('version = "2018"', 'include = ["lib/*"]', "without wildcards")]
        for before, after, text in rows:
            with self.subTest(after=after):
                self.write("kiln.toml", MANIFEST.replace(before, after))
                self.expect(self.kiln("compile", "plain"), 2, text)

    def test_an_edit_of_an_include_reaches_those_who_include_it(self):
        self.write_tints()
        session = Session(self, "--json")
        try:
            session.events()
            self.write("common/tint.hlsli", GREEN)
            told = session.events()
            self.assertEqual({row["program"] for row in told if row.get("event") == "artifact"}, {"tinted"})
            changed = [row for row in told if row.get("event") == "changed"]
            self.assertEqual([row["programs"] for row in changed], [["tinted"]])

            # A file that would be found first, and that was looked for before in vain.
            self.write("lib/common/tint.hlsli", RED)
            self.write("tinted.hlsl", ROOT_TEXT + "// edited\n")
            session.events()
            self.write("plain.hlsli", "#define HALF 0.25\n")
            told = session.events()
            self.assertEqual({row["program"] for row in told if row.get("event") == "artifact"}, {"plain"})

            # An edit that leads to a file that was there all the time.
            self.write("lib/new.hlsli", "#define TINT float4(0, 0, 1, 1)\n")
            self.write("tinted.hlsl", ROOT_TEXT.replace("common/tint", "new"))
            told = session.events()
            self.assertEqual({row["program"] for row in told if row.get("event") == "artifact"}, {"tinted"})

            # And the file goes.
            (self.dir / "lib/new.hlsli").unlink()
            told = session.events()
            self.assertIn("HLSL1010", [row.get("code") for row in told])
        finally:
            session.stop()

    def test_a_picture_from_hlsl(self):
        self.write_tinted()
        for tint, colour in ((RED, (255, 0, 0)), (GREEN, (0, 255, 0))):
            self.write("common/tint.hlsli", tint)
            self.expect(self.kiln("preview", "tinted.hlsl", *ENTRIES, "--size", "32x32", "--out",
                                  "picture.png", env=SOFTWARE), 0)
            pixels = [pixel[:3] for pixel in pixels_of((self.dir / "picture.png").read_bytes())]
            self.assertEqual(len(pixels), 32 * 32)
            self.assertEqual(pixels[16 * 32 + 16], colour)
            self.assertGreater(pixels.count(colour), 100)
            self.assertNotEqual(pixels[0], colour)


if __name__ == "__main__":
    unittest.main(argv=["hlsl_cli_test"], verbosity=2)
