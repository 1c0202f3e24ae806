# SPDX-License-Identifier: MIT
"""Permutations of HLSL sources by macros, as their users have them: in a manifest and in the source
itself, through kiln, the daemon, a build and a pack.

usage: hlsl_macros_cli_test.py BUILD_FOLDER ROOT
"""
import json
import unittest

from cli_case import CliCase

SOURCE = """float4 vs_main(float3 position : POSITION) : SV_Position { return float4(position.xy, 0.5, 1); }
float4 ps_main() : SV_Target {
    float x = 0;
#ifdef SHADOWS
    x += 1;
#endif
#if LIGHTS > 1
    x += LIGHTS;
#endif
    return float4(x, 0, 0, 1);
}
"""
MANIFEST = """[project]
manifest = 1
name = "lights"
[[program]]
name = "lit"
sources = ["lit.hlsl"]
entry_points = { vertex = "vs_main", fragment = "ps_main" }
macros = { SHADOWS = [false, true], LIGHTS = [0, 1, 2, 4], DEAD = ["soft", "hard"] }
exclude = ["SHADOWS && LIGHTS == 0u"]
[[pack]]
name = "all"
programs = ["lit"]
"""


class Macros(CliCase):
    def setUp(self):
        super().setUp()
        self.write("lit.hlsl", SOURCE)
        self.write("kiln.toml", MANIFEST)

    def compile(self, *arguments, code=0):
        """The artifact of `kiln compile`, as --json tells it."""
        objects = self.lines(self.kiln("--json", "compile", *arguments), code)
        return next((row for row in objects if row["type"] == "item"), None)

    def test_a_variant_is_chosen_by_its_macros(self):
        usual = self.compile("lit")
        self.assertEqual(usual["origin"], "compiled")
        dark = self.compile("lit", "-o", "SHADOWS")
        self.assertNotEqual(dark["signature"], usual["signature"])
        self.assertEqual(self.compile("lit", "-o", "SHADOWS=true")["signature"], dark["signature"])
        # A macro that no list asks for makes no other result.
        self.assertEqual(self.compile("lit", "-o", "DEAD=hard")["signature"], usual["signature"])
        self.assertNotEqual(self.compile("lit", "-o", "LIGHTS=4")["signature"], usual["signature"])

    def test_what_is_no_value_is_refused(self):
        self.expect(self.kiln("compile", "lit", "-o", "LIGHTS=3"), 1, "RPL2006", "LIGHTS", "0, 1, 2, 4")
        self.expect(self.kiln("compile", "lit", "-o", "DEAD=wet"), 1, "RPL2006", "soft")
        self.expect(self.kiln("compile", "lit", "-o", "LIGHT=1"), 1, "RPL2003", "LIGHTS")
        rows = [("[0, 1, 2, 4]", "[0, 1.5]", "no flag, whole number of 32 bits or word"),
                ("[0, 1, 2, 4]", '[0, "many"]', "must all be flags"),
                ("[0, 1, 2, 4]", "[0, 0]", "'0' twice"),
                ("LIGHTS", "2X", "not the name of a macro"),
                ('exclude = ["', 'options = { LIGHTS = 3 }\nexclude = ["', "has no value 3u"),
                ('"lit.hlsl"', '"lit.rpl"', "only sources in HLSL have macros")]
        self.write("lit.rpl", "void v (void) { vertex_stage_output_position (f4 {0.0}); }")
        for before, after, text in rows:
            with self.subTest(after=after):
                self.write("kiln.toml", MANIFEST.replace(before, after, 1))
                self.expect(self.kiln("build"), 2, text)

    def count_of(self, *words):
        (row,) = [row for row in self.lines(self.kiln("--json", "options", *words), 0) if row["type"] == "count"]
        return row

    def test_the_space_is_counted_and_filtered(self):
        shown = self.kiln("options", "lit")
        self.expect(shown, 0, "SHADOWS", "macro", "0 1 2 4", "soft hard")
        rows = {row["name"]: row for row in self.lines(self.kiln("--json", "options", "lit"), 0)
                if row["type"] == "option"}
        self.assertEqual(rows["LIGHTS"]["values"], ["0", "1", "2", "4"])
        self.assertEqual((rows["LIGHTS"]["kind"], rows["LIGHTS"]["macro"]), ("uint", True))
        # 2 x 4 x 2 without those with shadows of no light.
        count = self.count_of("lit")
        self.assertEqual(count["variants"], "14")
        count = self.count_of("lit", "--where", "LIGHTS == 4u")
        self.assertEqual(count["variants"], "4")

    def test_a_project_is_built_and_packed(self):
        self.expect(self.kiln("build", "--out", "out"), 0)
        index = json.loads((self.dir / "out/index.json").read_text())
        # No shadows: 0, 1, 2, 4 lights; shadows: 1, 2, 4. DEAD makes no result of its own.
        self.assertEqual(len({row["signature"] for row in index}), 7)
        self.assertEqual(self.compile("lit", "-o", "LIGHTS=2", "-o", "SHADOWS")["origin"], "memory")
        self.expect(self.kiln("pack", "build", "--out", "all.pack"), 0)
        self.expect(self.kiln("pack", "show", "all.pack"), 0, "complete", "6 pipelines")

    def test_an_option_or_an_axis_narrows_a_macro(self):
        self.write("kiln.toml", MANIFEST.replace("exclude", 'options = { DEAD = "hard" }\naxes = { LIGHTS = [0, 4] }\nexclude'))
        count = self.count_of("lit")
        self.assertEqual(count["variants"], "3")

    def test_a_source_lists_its_macros(self):
        self.write("lit.hlsl", "#pragma multi_compile _ SHADOWS\n#pragma kiln macro LIGHTS 0 4\n" + SOURCE)
        self.write("kiln.toml", MANIFEST.replace(next(
            line for line in MANIFEST.splitlines() if line.startswith("macros")) + "\n", ""))
        count = self.count_of("lit")
        self.assertEqual(count["variants"], "3")
        self.expect(self.kiln("build"), 0)
        entries = ["--entry", "vertex=vs_main", "--entry", "fragment=ps_main"]
        usual = self.compile("lit.hlsl", *entries)
        self.assertNotEqual(self.compile("lit.hlsl", *entries, "-o", "SHADOWS")["signature"],
                            usual["signature"])

    def test_what_is_wrong_with_one_list_is_said_with_it(self):
        self.write("lit.hlsl", SOURCE.replace("x += 1;", "x += nothing;"))
        self.expect(self.kiln("compile", "lit"), 0)
        self.expect(self.kiln("compile", "lit", "-o", "SHADOWS"), 1, "lit.hlsl:5", "nothing")
        self.expect(self.kiln("build"), 1, "lit.hlsl:5", "nothing", "SHADOWS")

    def test_explain_names_the_macro(self):
        self.compile("lit")
        self.expect(self.kiln("compile", "lit", "-o", "SHADOWS", "--explain"), 0, "SHADOWS", "macro")

    def test_files_of_other_lists_are_included(self):
        self.write("lib/dark.hlsli", "x += 7;\n")
        self.write("lit.hlsl", SOURCE.replace("    x += 1;", '#include "lib/dark.hlsli"'))
        usual = self.compile("lit")
        dark = self.compile("lit", "-o", "SHADOWS")
        self.assertNotEqual(usual["signature"], dark["signature"])
        self.write("lib/dark.hlsli", "x += 8;\n")
        self.assertEqual(self.compile("lit")["signature"], usual["signature"])
        self.assertNotEqual(self.compile("lit", "-o", "SHADOWS")["signature"], dark["signature"])


if __name__ == "__main__":
    unittest.main(argv=["hlsl_macros_cli_test.py"])
