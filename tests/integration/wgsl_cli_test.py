# SPDX-License-Identifier: MIT
"""WGSL as its users have it: a file through kiln and kilnc, overrides as options and axes, a build with
depfile and report, a pack, a fetch, a watch session, an editor and a picture.

usage: wgsl_cli_test.py BUILD_FOLDER ROOT
"""
import json
import pathlib
import sys
import unittest

from cli_case import BUILD, CliCase
from hlsl_cli_test import SOFTWARE, pixels_of
from watch_cli_test import Session

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "lsp"))
from lsp_client import LspClient  # pylint: disable=wrong-import-position

LANTERN = """override kWarm : bool = true;
@id(7) override kScale : f32 = 1.0;
override kCount : u32 = 2;
override kNobody = -1i;
struct Varyings { @builtin(position) place : vec4<f32>, @location(0) glow : f32 }
@vertex fn vs_main(@location(0) position : vec3<f32>) -> Varyings {
  return Varyings(vec4<f32>(position.xy * kScale, 0.5, 1.0), 1.0);
}
@fragment fn fs_main(in : Varyings) -> @location(0) vec4<f32> {
  var sum = vec4<f32>(0.0, 0.0, 0.0, 1.0);
  for (var i = 0u; i < kCount; i++) { sum.g += 1.0; }
  if (kWarm) { sum = vec4<f32>(in.glow, 0.0, 0.0, 1.0); }
  return sum;
}
"""
WORK = """override kWide : u32 = 4;
@group(0) @binding(0) var<storage, read_write> out : array<f32>;
@compute @workgroup_size(kWide) fn main(@builtin(global_invocation_id) id : vec3<u32>) { out[id.x] = 1.0; }
"""
ENTRIES = ["--entry", "vertex=vs_main", "--entry", "fragment=fs_main"]
MANIFEST = """[project]
manifest = 1
name = "lights"
[target.vk]
form = "spirv"
[[program]]
name = "lantern"
sources = ["shaders/lantern.wgsl"]
entry_points = { vertex = "vs_main", fragment = "fs_main" }
axes = { kWarm = "*", kCount = [1, 2, 3] }
[[program]]
name = "work"
pipeline = "compute"
sources = ["shaders/work.wgsl"]
entry_points = { compute = "main" }
"""


class Wgsl(CliCase):
    def write_lights(self):
        self.write("shaders/lantern.wgsl", LANTERN)
        self.write("shaders/work.wgsl", WORK)
        self.write("kiln.toml", MANIFEST)

    def compile(self, *arguments, code=0):
        """The artifact of `kiln compile`, as --json tells it."""
        objects = self.lines(self.kiln("--json", "compile", *arguments), code)
        return next((row for row in objects if row["type"] == "item"), None)

    def test_a_file_is_compiled_and_known_again(self):
        self.write("lantern.wgsl", LANTERN)
        first = self.compile("lantern.wgsl", *ENTRIES)
        self.assertEqual(first["origin"], "compiled")
        again = self.compile("lantern.wgsl", *ENTRIES)
        self.assertEqual((again["origin"], again["signature"]), ("memory", first["signature"]))
        self.write("lantern.wgsl", LANTERN.replace("in.glow, 0.0", "in.glow, 0.5"))
        self.assertNotEqual(self.compile("lantern.wgsl", *ENTRIES)["signature"], first["signature"])

    def test_the_same_words_as_of_kilnc(self):
        self.write("lantern.wgsl", LANTERN)
        for out, program in (("here", "kilnc"), ("there", "kiln")):
            self.expect(self.run_program(program, "compile", "lantern.wgsl", *ENTRIES, "-o", "kCount=3",
                                         "-o", "kWarm=false", "--out", out), 0)
        words = [sorted(path.read_bytes() for path in (self.dir / out).glob("*.spv"))
                 for out in ("here", "there")]
        self.assertEqual(len(words[0]), 2)
        self.assertEqual(words[0], words[1])

    def test_a_source_is_no_artifact(self):
        self.write("lantern.wgsl", LANTERN)
        self.expect(self.kiln("inspect", "lantern.wgsl", *ENTRIES, "--view", "disasm"), 0, "OpEntryPoint")

    def test_overrides_are_options(self):
        self.write_lights()
        shown = self.expect(self.kiln("options", "lantern"), 0, "kScale", "6 variants").stdout
        rows = {line.split()[0]: line.split() for line in shown.splitlines() if line.startswith("k")}
        self.assertEqual([rows[name][1:4] for name in ("kCount", "kNobody", "kScale", "kWarm")],
                         [["instance", "uint", "2"], ["instance", "sint", "-1"],
                          ["instance", "float", "1"], ["instance", "flag", "true"]])
        self.assertEqual([rows[name][-1] for name in ("kNobody", "kScale")], ["-", "code"])

    def test_only_values_that_matter_make_a_result(self):
        self.write_lights()
        first = self.compile("lantern")
        self.assertEqual(self.compile("lantern", "-o", "kNobody=5")["signature"], first["signature"])
        self.assertNotEqual(self.compile("lantern", "-o", "kCount=3")["signature"], first["signature"])
        sizes = {self.compile("work", "-o", f"kWide={wide}")["signature"] for wide in (4, 8)}
        self.assertEqual(len(sizes), 2)

    def test_values_that_no_override_has_are_refused(self):
        self.write_lights()
        self.expect(self.kiln("compile", "lantern", "-o", "kScale=wide"), 2, "kScale", "float")
        self.expect(self.kiln("compile", "lantern", "-o", "kNope=1"), 1, "RPL2003", "kNope")
        self.expect(self.kiln("compile", "work", "-o", "kWide=0"), 1)

    def test_mistakes_are_said_where_they_are(self):
        self.write("wrong.wgsl", "fn f() -> u32 {\n  return nothing;\n}\n")
        said = self.expect(self.kiln("compile", "wrong.wgsl", "--entry", "fragment=f"), 1, "WGSL2005",
                           "wrong.wgsl:2:10", "return nothing;")
        self.assertNotIn("HLSL", said.stdout + said.stderr)
        self.expect(self.kiln("explain", "--code", "WGSL2005"), 0, "is not declared")

    def test_front_ends_may_run_in_processes_of_their_own(self):
        self.env["KILN_JOBS_ISOLATION"] = "all"
        self.write_lights()
        self.assertEqual(self.compile("lantern")["origin"], "compiled")
        self.write("shaders/lantern.wgsl", LANTERN.replace("1.0", "true"))
        self.expect(self.kiln("compile", "lantern"), 1, "lantern.wgsl:2", "WGSL")

    def test_languages_do_not_mix(self):
        self.write("lantern.wgsl", LANTERN)
        self.write("some.rpl", "void v (void) { vertex_stage_output_position (f4 {0.0}); }")
        self.expect(self.kiln("compile", "some.rpl", "lantern.wgsl", "--entry", "vertex=v"), 1,
                    "RPL2011", "wgsl", "rpl")

    def test_depfiles_name_the_source_and_the_manifest(self):
        self.write_lights()
        self.compile("lantern", "--out", "out", "--deps", "out.d")
        named = (self.dir / "out.d").read_text()
        for file in ("kiln.toml", "shaders/lantern.wgsl"):
            self.assertIn(file, named)
        self.assertNotIn("work.wgsl", named)

    def test_a_project_is_built_reported_packed_and_fetched(self):
        self.write_lights()
        self.expect(self.kiln("build", "--out", "out", "--pack", "lights.kpack", "--deps", "out.d",
                              "--report", "junit:report.xml", "--report", "json:report.json"), 0)
        self.assertEqual(len(json.loads((self.dir / "out/index.json").read_text())), 7)  # 6 and 1
        self.assertIn("shaders/work.wgsl", (self.dir / "out.d").read_text())
        self.assertIn('failures="0"', (self.dir / "report.xml").read_text())
        json.loads((self.dir / "report.json").read_text())
        self.expect(self.kiln("pack", "stats", "lights.kpack"), 0, "7")
        self.expect(self.kiln("pack", "build", "--out", "again.kpack"), 0, "2 programs")
        self.expect(self.kiln("fetch", "lantern", "--out", "fetched"), 0, "fetched")
        self.assertEqual(self.compile("lantern", "-o", "kCount=3")["origin"], "memory")

    def test_a_report_names_the_mistake_and_the_build_fails(self):
        self.write_lights()
        self.write("shaders/work.wgsl", WORK.replace("= 1.0", "= true"))
        self.expect(self.kiln("build", "--report", "junit:report.xml"), 1, "work.wgsl:3")
        report = (self.dir / "report.xml").read_text()
        self.assertIn("WGSL2002", report)
        self.assertIn("shaders/work.wgsl", report)

    def test_explain_names_the_override_that_changed(self):
        self.write_lights()
        self.compile("lantern", "-o", "kCount=2")
        self.expect(self.kiln("compile", "lantern", "-o", "kCount=9", "--explain"), 0, "kCount", "9u",
                    "live", "lantern.wgsl:9")
        self.write("shaders/lantern.wgsl", LANTERN + "// edited\n")
        self.expect(self.kiln("explain", "lantern", "-o", "kCount=9"), 0)

    def test_an_edit_reaches_its_program_and_a_mistake_keeps_the_last(self):
        self.write_lights()
        session = Session(self, "--json")
        try:
            session.events()
            self.write("shaders/work.wgsl", WORK.replace("= 1.0", "= 2.0"))
            told = session.events()
            self.assertEqual({row["program"] for row in told if row.get("event") == "artifact"}, {"work"})
            self.write("shaders/work.wgsl", WORK.replace("= 1.0", "= true"))
            told = session.events()
            self.assertIn("WGSL2002", [row.get("code") for row in told])
            self.assertFalse([row for row in told if row.get("event") == "artifact"])
            self.write("shaders/work.wgsl", WORK.replace("= 1.0", "= 3.0"))
            told = session.events()
            self.assertEqual({row["program"] for row in told if row.get("event") == "artifact"}, {"work"})
        finally:
            session.stop()

    def test_an_editor_is_told_while_it_types(self):
        self.write_lights()
        path = self.dir / "shaders/lantern.wgsl"
        client = LspClient(BUILD / "kiln", self.dir)
        try:
            client.open(path, LANTERN.replace("in.glow, 0.0", "in.glow, true"))
            found = client.diagnostics(path, bool)
            self.assertTrue(found[0]["code"].startswith("WGSL"), found)
            self.assertEqual(found[0]["range"]["start"]["line"], 11)
            client.change(path, LANTERN)
            client.diagnostics(path, lambda rows: not rows)
        finally:
            client.close()

    def test_a_picture_from_wgsl(self):
        self.write("lantern.wgsl", LANTERN)
        for options, colour in ((["kWarm=true"], (255, 0, 0)), (["kWarm=false"], (0, 255, 0))):
            chosen = [word for option in options for word in ("-o", option)]
            self.expect(self.kiln("preview", "lantern.wgsl", *ENTRIES, *chosen, "--size", "32x32", "--out",
                                  "picture.png", env=SOFTWARE), 0)
            pixels = [pixel[:3] for pixel in pixels_of((self.dir / "picture.png").read_bytes())]
            self.assertEqual(pixels[16 * 32 + 16], colour)


if __name__ == "__main__":
    unittest.main(argv=["wgsl_cli_test"], verbosity=2)
