#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The three programs as a user runs them: exit codes, messages, equal bytes, bad input.

usage: cli_test.py BUILD_FOLDER ROOT
"""
import ctypes
import filecmp
import json
import os
import shutil
import sqlite3
import stat
import struct
import subprocess
import sys
import unittest

from cli_case import BUILD, ROOT, CliCase
from waiting import wait_until

UBER = ROOT / "tests/bench/shaders/uber.rpl"
ENTRIES = ["--entry", "vertex=vertex_main", "--entry", "fragment=fragment_main"]


def pack_section(file, kind):
    """The columns of an index section of a pack that is no delta; empty if it has none of that kind."""
    data = file.read_bytes()
    for row in range(struct.unpack_from("<I", data, 24)[0]):
        name, _, offset, stored, raw, codec = struct.unpack_from("<4sIQQQI", data, 128 + 72 * row)
        if name == kind and codec == 0:
            return data[offset:offset + stored]
        if name == kind:
            unpack = ctypes.CDLL("libzstd.so.1").ZSTD_decompress
            unpack.restype = ctypes.c_size_t
            out = ctypes.create_string_buffer(raw)
            size = unpack(out, ctypes.c_size_t(raw), data[offset:offset + stored],
                          ctypes.c_size_t(stored))
            assert size == raw, (kind, size, raw)
            return out.raw
    return b""


class Programs(CliCase):
    def test_kilnc_table_of_bad_input(self):
        empty = self.write("empty.rpl", "")
        broken = self.write("broken.rpl", "void f (void) { x; }")
        binary = self.write("binary.rpl", b"\xff\xfe\x00")
        self.write("locked.rpl", "")
        rows = [
            ([self.dir / "missing.rpl"], 3, ["missing.rpl"]),
            ([self.dir], 2, ["no front end"]),
            ([binary], 1, ["RPL1001"]),
            ([empty, "--entry", "vertex=main"], 1, ["RPL5001", "main"]),
            ([broken, "--entry", "vertex=f"], 1, ["RPL6001", "broken.rpl:1:"]),
            ([UBER, *ENTRIES, "-o", "nonsense=1"], 1, ["RPL2003", "nonsense"]),
            ([UBER, *ENTRIES, "-o", "use_skinning=3"], 1, ["RPL2004", "use_skinning"]),
            ([UBER, *ENTRIES, "-o", "tonemap=9"], 1, ["RPL2006", "tonemap"]),
            ([UBER, "--entry", "vertex=nobody"], 1, ["RPL5001", "nobody"]),
            ([UBER, "--entry", "mesh=vertex_main"], 2, ["--entry"]),
            ([UBER, "--entry", "fragment:fragment_main"], 2,
             ["did you mean 'fragment=fragment_main'?"]),
            ([UBER, "--entry", "pixel=fragment_main"], 2,
             ["did you mean 'fragment=fragment_main'?"]),
            ([UBER, "--env", "metal"], 2, ["--env"]),
            ([UBER, *ENTRIES, "--out", "/proc/nowhere"], 3, ["cannot write"]),
            ([], 2, ["files"]),
        ]
        for arguments, code, texts in rows:
            with self.subTest(arguments=arguments):
                self.expect(self.run_program("kilnc", "compile", *arguments), code, *texts)
        self.expect(self.run_program("kilnc", "compile", empty, "--meta", self.dir / "m.json"), 0)

    def test_unreadable_file_is_not_found(self):
        # Opening works, reading gives an I/O error, also for root.
        unreadable = self.dir / "unreadable.rpl"
        unreadable.symlink_to("/proc/self/mem")
        for program in "kilnc", "kiln":
            with self.subTest(program=program):
                self.expect(self.run_program(program, "compile", unreadable), 3, "unreadable.rpl",
                            "Input/output error")

    def test_kilnc_json_is_one_array(self):
        broken = self.write("broken.rpl", "void f (void) { x; }")
        result = self.run_program("kilnc", "compile", broken, "--entry", "vertex=f", "--json")
        self.assertEqual(result.returncode, 1)
        found = json.loads(result.stdout)
        self.assertEqual([(d["code"], d["line"], d["column"]) for d in found], [("RPL6001", 1, 17)])

    def test_kilnc_dumps_every_stage(self):
        for stage, text in [("lex", "identifier"), ("parse", "vertex_main"), ("lower", "vertex_main"),
                            ("queries", "region vertex_main"), ("specialise", "vertex_main"),
                            ("layout", "light_data"), ("objects", "vertex_main"),
                            ("assemble", "OpEntryPoint"), ("metadata", "light_data")]:
            with self.subTest(stage=stage):
                result = self.run_program("kilnc", "compile", UBER, *ENTRIES, "--stage", stage,
                                          "--dump")
                self.expect(result, 0)
                self.assertIn(text, result.stdout)

    def test_kilnc_knows_the_stages_of_version_0_1(self):
        for was, now in ("questions", "queries"), ("close", "specialise"), ("pieces", "objects"):
            with self.subTest(was=was):
                old, new = (self.run_program("kilnc", "compile", UBER, *ENTRIES, "--stage", stage)
                            for stage in (was, now))
                self.expect(old, 0)
                self.assertEqual(old.stdout, new.stdout)
        self.expect(self.run_program("kilnc", "compile", UBER, *ENTRIES, "--stage", "closed"), 2, "--stage")

    def test_kilnc_and_kiln_give_equal_bytes(self):
        options = ["-o", "max_point_lights=3", "-o", "alpha_clip", "-o", "tonemap=1"]
        for extra in [], ["--combined"], ["--env", "vulkan1.3"]:
            with self.subTest(extra=extra):
                direct, daemon = self.dir / "direct", self.dir / ("daemon" + "".join(extra))
                meta = [self.dir / "a.json", self.dir / "b.json"]
                self.expect(self.run_program("kilnc", "compile", UBER, *ENTRIES, *options, *extra,
                                             "--out", direct, "--meta", meta[0]), 0)
                self.expect(self.run_program("kiln", "compile", UBER, *ENTRIES, *options, *extra,
                                             "--out", daemon, "--meta", meta[1]), 0)
                names = ["program"] if "--combined" in extra else ["vertex", "fragment"]
                for name in names:
                    stage = "" if name == "program" else name + "."
                    (theirs,) = daemon.glob(f"uber.*.{stage}spv")
                    self.assertTrue(filecmp.cmp(direct / f"{name}.spv", theirs, shallow=False))
                self.assertEqual(meta[0].read_text(), meta[1].read_text())

    def test_kiln_table_of_bad_input(self):
        broken = self.write("broken.rpl", "void f (void) { x; }")
        self.write("kiln.toml", "[project]\nmanifest = 1\n[[program]]\nname = \"p\"\nsorces = []\n")
        rows = [
            (["compile", self.dir / "missing.rpl"], 3, ["missing.rpl"]),
            (["compile", broken, "--entry", "vertex=f"], 1, ["RPL6001"]),
            (["compile", UBER, *ENTRIES, "-o", "nonsense=1"], 1, ["RPL2003"]),
            (["compile", UBER, "--entry", "vertex"], 2, ["STAGE=FUNCTION"]),
            (["compile", UBER, "--entry", "fragment:main"], 2,
             ["STAGE=FUNCTION", "did you mean 'fragment=main'?"]),
            (["compile", UBER, "--entry", "vertx=main"], 2, ["did you mean 'vertex=main'?"]),
            (["build"], 2, ["unknown key 'sorces'", "did you mean 'sources'"]),
            (["build", "--manifest", self.dir / "none.toml"], 3, ["none.toml"]),
            (["fetch", "--out", self.dir / "o"], 2, ["--all"]),
            (["inspect", self.dir / "missing.spv"], 3, ["missing.spv"]),
            (["inspect", self.write("broken.spv", "x" * 40)], 7, ["Invalid SPIR-V"]),
            (["inspect", self.write("short.spv", "x")], 7, ["1 bytes"]),
            (["inspect", self.write("broken.meta", "\xff")], 7, ["PipelineMetadata"]),
            (["inspect", broken, "--entry", "vertex=f"], 1, ["RPL6001"]),
            (["inspect", UBER, "--view", "nonsense"], 2, ["--view"]),
            (["frobnicate"], 2, ["frobnicate"]),
        ]
        for arguments, code, texts in rows:
            with self.subTest(arguments=arguments):
                self.expect(self.run_program("kiln", *arguments), code, *texts)

    SOFTWARE = {"VK_ICD_FILENAMES": "/usr/share/vulkan/icd.d/lvp_icd.x86_64.json"}

    def test_preview_table_of_bad_input(self):
        picture = self.dir / "picture.png"
        uber = ["preview", UBER, *ENTRIES, "--out", picture]
        broken = self.write("broken.rpl", "void f (void) { x; }")
        rows = [
            (["preview", UBER, *ENTRIES], 2, ["--out"]),
            ([*uber, "--size", "16"], 2, ["WIDTHxHEIGHT"]),
            ([*uber, "--size", "0x16"], 2, ["WIDTHxHEIGHT"]),
            ([*uber, "--mesh", "teapot"], 2, ["--mesh"]),
            ([*uber, "--mesh", f"{self.dir}/none.obj"], 3, ["none.obj"]),
            (["preview", UBER, *ENTRIES, "--out", f"{picture}.jpg"], 2, ["end in .png"]),
            ([*uber, "--set", "nonsense"], 2, ["NAME=VALUE"]),
            ([*uber, "--set", "nonsense=1"], 2, ["no parameter 'nonsense'"]),
            ([*uber, "--set", "time=soon"], 2, ["'soon' is no number"]),
            ([*uber, "--image", f"albedo={self.dir}/none.png"], 3, ["none.png"]),
            ([*uber, "--grid", "nonsense"], 3, ["no option 'nonsense'"]),
            ([*uber, "--grid", "max_point_lights"], 2, ["name the values"]),
            ([*uber, "--grid", "a,b,c"], 2, ["one axis or two"]),
            (["preview", broken, "--entry", "vertex=f", "--out", picture], 1, ["RPL6001"]),
        ]
        for arguments, code, texts in rows:
            with self.subTest(arguments=arguments):
                self.expect(self.run_program("kiln", *arguments, env=self.env | self.SOFTWARE), code, *texts)
                self.assertFalse(picture.exists())
        nothing = {"VK_ICD_FILENAMES": "/nonexistent.json", "VK_DRIVER_FILES": "/nonexistent.json"}
        self.expect(self.run_program("kiln", *uber, env=self.env | nothing), 4, "mesa-vulkan-drivers")

    def test_preview_draws_a_variant_and_a_grid(self):
        picture, sheet = self.dir / "picture.png", self.dir / "sheet.png"
        uber = ["preview", UBER, *ENTRIES, "--size", "24x16"]
        self.expect(self.run_program("kiln", *uber, "--out", picture, env=self.env | self.SOFTWARE), 0)
        self.expect(self.run_program("kiln", *uber, "--grid", "alpha_clip,max_point_lights=1:2:3",
                                     "--out", sheet, env=self.env | self.SOFTWARE), 0)
        sizes = [struct.unpack(">II", file.read_bytes()[16:24]) for file in (picture, sheet)]
        self.assertEqual(sizes, [(24, 16), (2 * 28 + 4, 3 * 32 + 4)])
        again = self.dir / "again.png"
        self.expect(self.run_program("kiln", *uber, "--out", again, env=self.env | self.SOFTWARE), 0)
        self.assertEqual(again.read_bytes(), picture.read_bytes())
        mesh = self.write("corner.obj", "v 0 0 0\nv 0 1 0\nv 1 0 0\nf 1 3 2\n")
        self.expect(self.run_program("kiln", *uber, "--mesh", mesh, "--out", again,
                                     env=self.env | self.SOFTWARE), 0)
        self.assertNotEqual(again.read_bytes(), picture.read_bytes())
        told = self.run_program("kiln", "--json", *uber, "--out", again, env=self.env | self.SOFTWARE)
        report = json.loads(told.stdout.splitlines()[0])
        self.assertEqual([report["type"], report["signature"]], ["preview", "default"])
        self.assertIn("R8G8B8A8_UNORM", report["formats"])
        self.assertEqual([report["lints"], report["validation"]], [[], []])

    def test_preview_draws_the_target_in_spirv(self):
        self.write("uber.rpl", UBER.read_text())
        picture, again = self.dir / "picture.png", self.dir / "again.png"
        for targets, code in [('"vk"', 0), ('"data", "web", "vk"', 0), ('"web", "data"', 2)]:
            self.write("kiln.toml", f"""[project]
manifest = 1
name = "forms"
[target.vk]
form = "spirv"
[target.web]
form = "wgsl"
[target.data]
form = "meta"
[[program]]
name = "uber"
sources = ["uber.rpl"]
entry_points = {{ vertex = "vertex_main", fragment = "fragment_main" }}
targets = [{targets}]
""")
            done = self.run_program("kiln", "preview", "uber", "--size", "24x16", "--out", again,
                                    env=self.env | self.SOFTWARE)
            self.expect(done, code, *(["no target in SPIR-V"] if code else []))
            if not picture.exists():
                picture.write_bytes(again.read_bytes())
            self.assertEqual(again.read_bytes(), picture.read_bytes(), targets)

    def test_inspect_shows_a_variant_and_its_files(self):
        views = {
            "stats": ["signature", "vertex", "fragment", "bytes"],
            "meta": ["light_data"],
            "options": ["max_point_lights", "alpha_clip", "true", "false", "yes", "no"],
            "disasm": ["OpEntryPoint Vertex", "OpEntryPoint Fragment"],
        }
        for view, texts in views.items():
            with self.subTest(view=view):
                self.expect(self.run_program("kiln", "inspect", UBER, *ENTRIES, "-o", "alpha_clip",
                                             "--view", view), 0, *texts)
        self.expect(self.run_program("kiln", "inspect", UBER, *ENTRIES), 0, "== stats", "== meta",
                    "== options")
        lines = self.json_lines("inspect", UBER, *ENTRIES)
        self.assertEqual([line["view"] for line in lines[:-1]], ["stats", "meta", "options"])
        out = self.dir / "out"
        self.expect(self.run_program("kiln", "compile", UBER, *ENTRIES, "--out", out), 0)
        for path in out.iterdir():
            with self.subTest(path=path.name):
                self.expect(self.run_program("kiln", "inspect", path), 0,
                            "light_data" if path.suffix == ".meta" else "OpEntryPoint")

    def test_inspect_of_keys_packs_and_differences(self):
        shown = self.run_program("kiln", "inspect", UBER, *ENTRIES, "--view", "stats").stdout
        words = dict(line.split(None, 1) for line in shown.splitlines())
        signature, module = words["signature"], words["fragment"].split()[-1]
        self.expect(self.run_program("kiln", "inspect", signature), 0, "== stats", "== meta",
                    "== options", module)
        self.expect(self.run_program("kiln", "inspect", signature, "--view", "disasm,glsl,layout"), 0,
                    "OpEntryPoint Fragment", "#version 450", "set ")
        self.expect(self.run_program("kiln", "inspect", module), 0, "spirv", "OpEntryPoint Fragment")
        self.expect(self.run_program("kiln", "inspect", UBER, *ENTRIES, "--view", "ir,msl,hlsl"), 0,
                    "== ir", "fragment_main", "metal_stdlib", "SV_Target")
        lines = self.json_lines("inspect", signature, "--view", "stats,meta")
        self.assertEqual(lines[0]["data"]["signature"], signature)
        self.assertIn("pipelineType", lines[1]["data"])
        self.expect(self.run_program("kiln", "inspect", signature, "--diff", signature), 2,
                    "is compared with itself", "--diff-option NAME=VALUE")
        other = self.run_program("kiln", "inspect", UBER, *ENTRIES, "-o", "alpha_clip", "--view",
                                 "stats").stdout.split()[1]
        self.expect(self.run_program("kiln", "inspect", signature, "--diff", other, "--view",
                                     "disasm,stats"), 0, "== disasm: -", "+ ", "2 differ")
        rows = [
            ([signature[::-1]], 3, ["no result and no content"]),
            ([signature, "--view", "ir"], 2, ["only a variant"]),
            ([signature, "--view", "wgsl"], 2, ["target of form WGSL"]),
            ([module, "--view", "meta"], 2, ["signature"]),
            ([self.write("a.msl", "void f() {}")], 0, ["void f() {}"]),
            ([self.write("a.wgsl", "fn f() {}")], 0, ["== stats"]),  # a source
            ([self.write("a.meta", "\xff"), "--view", "disasm"], 2, ["it has meta, layout"]),
            (["none.kpack:sky"], 3, ["none.kpack"]),
        ]
        for arguments, code, texts in rows:
            with self.subTest(arguments=arguments):
                self.expect(self.run_program("kiln", "inspect", *arguments), code, *texts)
        shutil.copy(UBER, self.dir / "uber.rpl")
        self.write("kiln.toml", """[project]
manifest = 1
[[program]]
name = "rock"
sources = ["uber.rpl"]
entry_points = { vertex = "vertex_main", fragment = "fragment_main" }
axes = { alpha_clip = "*" }
""")
        self.expect(self.run_program("kiln", "pack", "build", "--out", "all.kpack"), 0)
        self.expect(self.run_program("kiln", "inspect", "all.kpack:rock", "-o", "alpha_clip", "--diff",
                                     "rock", "--view", "disasm,meta"), 0, "== disasm: equal",
                    "== meta: equal")
        self.expect(self.run_program("kiln", "inspect", "all.kpack:rock"), 0, "live key", "light_data")
        self.expect(self.run_program("kiln", "inspect", "all.kpack:sky"), 3, "no program 'sky'")
        self.expect(self.run_program("kiln", "inspect", "all.kpack:rock", "--view", "msl"), 2, "msl")

    def test_private_daemon_ends_with_its_command(self):
        shared, own = self.dir / "shared", self.dir / "own"
        run = lambda *arguments, env=self.env: self.run_program("kiln", *arguments, env=env)
        compile_it = ["compile", UBER, *ENTRIES, "-o", "alpha_clip", "--out"]
        # Over the user's cache; nothing is left behind.
        self.expect(run("--no-daemon", "-j", "1", *compile_it, own), 0)
        self.assertFalse((self.dir / "run").exists(), "a shared daemon was started")
        self.assertEqual(list((self.dir / "tmp").iterdir()), [])
        self.assertTrue((self.dir / "cache").exists())
        # The same bytes beside a daemon that has the cache.
        self.expect(run(*compile_it, shared), 0, "started kilnd")
        shutil.rmtree(own)
        self.expect(run("--no-daemon", *compile_it, own), 0)
        names = sorted(path.name for path in shared.iterdir())
        self.assertEqual(names, sorted(path.name for path in own.iterdir()))
        self.assertEqual(filecmp.cmpfiles(shared, own, names, shallow=False)[0], names)
        self.expect(run("-j", "2", *compile_it, own), 0, "ignored")
        # What it cannot do it says, and its exit codes are those of a shared one.
        self.expect(run("--no-daemon", "compile", self.dir / "missing.rpl"), 3)
        broken = self.write("broken.rpl", "void f (void) { x; }")
        self.expect(run("--no-daemon", "compile", broken, "--entry", "vertex=f"), 1, "RPL6001")
        # A build server leaves no daemon behind, unless it names one.
        home = self.dir / "home"
        quiet = {k: v for k, v in self.env.items() if k != "KILN_DAEMON"} | {
            "CI": "true", "XDG_RUNTIME_DIR": str(home), "KILN_CACHE_DIR": str(home / "cache")}
        self.expect(run(*compile_it, own, env=quiet), 0)
        self.assertFalse((home / "kiln").exists(), "a shared daemon was started")

    def test_private_daemon_leaves_nothing_behind_when_its_command_is_killed(self):
        self.write("kiln.toml", '[project]\nmanifest = 1\nname = "one"\n[[program]]\nname = "one"\n'
                   'sources = ["one.rpl"]\nentry_points = { vertex = "v" }\n')
        self.write("one.rpl", "void v (void) { vertex_stage_output_position (f4 {0.0}); }\n")
        own = self.dir / "tmp"
        moments = {"it starts": lambda: list(own.glob("kiln-*")),
                   "it serves": lambda: list((self.dir / "o").glob("**/index.json"))}
        for what, moment in moments.items():
            with self.subTest(what):
                command = subprocess.Popen(
                    [str(BUILD / "kiln"), "--no-daemon", "watch", "--out", "o"], cwd=self.dir,
                    env=self.env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
                self.assertTrue(wait_until(moment))
                command.kill()
                command.wait()
                self.assertTrue(wait_until(lambda: not list(own.iterdir())), list(own.rglob("*")))

    def test_daemon_that_leaves_its_private_folder_removes_it_as_a_program_of_one_thread(self):
        for name, stays in {"kiln-abcdef": False, "home": True}.items():
            (self.dir / name).mkdir(mode=0o700)
            self.assertEqual(self.run_program("kilnd", "--remove-after", self.dir / name, "7").returncode, 7)
            self.assertEqual((self.dir / name).exists(), stays, name)

    def test_private_daemon_makes_its_folder_itself(self):
        """So there is no moment in which a command that is killed leaves it to nobody."""
        programs = self.dir / "programs"
        programs.mkdir()
        shutil.copy(BUILD / "kiln", programs)
        daemon = programs / "kilnd"
        daemon.write_text('#!/bin/sh\nls -A "$TMPDIR" > "$0.saw"\nexit 1\n')
        daemon.chmod(0o755)
        self.write("one.rpl", "void v (void) { vertex_stage_output_position (f4 {0.0}); }\n")
        ended = subprocess.run(
            [programs / "kiln", "--no-daemon", "compile", "one.rpl", "--entry", "vertex=v"],
            cwd=self.dir, env=self.env, capture_output=True, text=True)
        self.expect(ended, 4, "kilnd ended before it was ready")
        self.assertEqual((programs / "kilnd.saw").read_text(), "")
        self.assertEqual(list((self.dir / "tmp").iterdir()), [])

    def test_version_deadline_and_the_last_line(self):
        self.expect(self.run_program("kiln", "version"), 0, "kiln 0.")
        self.assertEqual(self.json_lines("version")[0]["type"], "version")
        rows = [(["--deadline", "soon", "status"], 2), (["--deadline", "0s", "status"], 2),
                (["--deadline", "1ms", "--no-daemon", "compile", UBER, *ENTRIES], 6),
                (["--deadline", "1h", "compile", UBER, *ENTRIES], 0)]
        for arguments, code in rows:
            with self.subTest(arguments=arguments):
                self.expect(self.run_program("kiln", *arguments), code)
                lines = self.run_program("kiln", "--json", *arguments).stdout.splitlines()
                last = json.loads(lines[-1])
                self.assertEqual((last["type"], last["exit"]), ("result", code))
        for arguments, code in [(["compile", self.dir / "missing.rpl"], 3), (["status"], 0),
                                (["cache", "why", "0" * 32], 3), (["batch", "list"], 0)]:
            with self.subTest(arguments=arguments):
                self.json_lines(*arguments, code=code)

    def test_stdout_that_is_full(self):
        for program, *arguments in (["kiln", "--help"], ["kiln", "--version"], ["kiln"],
                                    ["kiln", "config", "show"], ["kilnd", "--help"],
                                    ["kilnd", "--version"], ["kilnc", "--help"],
                                    ["kilnc", "compile", UBER, *ENTRIES, "--stage", "lex"],
                                    ["kilnc", "compile", UBER, *ENTRIES, "--stage", "assemble"],
                                    ["kilnc", "compile", UBER, *ENTRIES, "--json"]):
            with self.subTest(program=program, arguments=arguments), open("/dev/full", "w") as full:
                ended = subprocess.run([str(BUILD / program), *arguments], stdout=full,
                                       stderr=subprocess.PIPE, text=True, timeout=120, cwd=self.dir,
                                       env=self.env)
                self.assertEqual(ended.returncode, 5, ended.stderr)
                self.assertNotIn("internal", ended.stderr)

    def test_build_says_a_mistake_of_some_variants_once_with_its_condition(self):
        self.write("some.rpl", """
global skinning: flag false;
global instancing: flag false;
global fog: flag false;
void v (void)
{
    vertex_stage_output_position (f4 {0.0});
    conditional (fog) { vertex_stage_output_position (f4 {1.0}); }
    conditional (skinning && !instancing) { f1 x = 1u; }
}
""")
        self.write("kiln.toml", """[project]
manifest = 1
[[program]]
name = "some"
sources = ["some.rpl"]
entry_points = { vertex = "v" }
axes = { skinning = "*", instancing = "*", fog = "*" }
exclude = ["fog && instancing"]
""")
        result = self.run_program("kiln", "build")
        self.expect(result, 1, "in 2 of 6 variants, when skinning && !instancing; e.g. ",
                    "skinning=true", "in some: 2 variants fail")
        self.assertEqual(result.stderr.count("error["), 1)
        lines = self.run_program("kiln", "--json", "build").stdout.splitlines()
        found = [json.loads(line) for line in lines if '"RPL6026"' in line]
        self.assertEqual([(row["variants"]["failing"], row["variants"]["total"],
                           row["variants"]["condition"]) for row in found],
                         [("2", "6", "skinning && !instancing")])

    def test_options_shows_and_lists_a_space(self):
        self.write("fog.rpl", """
global fog: flag false;
global mode: enum "low" "mid" "high";
global lights: uint 4;
global width: uint 1;
void v (void)
{
    vertex_stage_output_position (f4 {0.0});
    conditional (fog && lights > 2u) { vertex_stage_output_position (f4 {1.0}); }
}
""")
        self.write("kiln.toml", """[project]
manifest = 1
[[program]]
name = "fog"
sources = ["fog.rpl"]
entry_points = { vertex = "v" }
axes = { fog = "*", mode = "*", lights = [1, 4, 8] }
exclude = ["fog && lights == 1u"]
""")
        result = self.run_program("kiln", "options", "fog")
        self.expect(result, 0, "15 variants after 1 exclusion (of 18), at most 5 results per target, "
                    "0 cached", "false true", "low mid high", "1 4 8", "(fixed 1)", "live in")
        self.expect(self.run_program("kiln", "build"), 0)
        result = self.run_program("kiln", "options", "fog", "--where", "fog", "--list", "3")
        self.expect(result, 0, "6 variants", "2 cached", "fog=true lights=4u mode=low")
        self.assertEqual(result.stdout.count("cached   fog="), 3)
        lines = [json.loads(line) for line in
                 self.run_program("kiln", "--json", "options", "fog").stdout.splitlines()]
        self.assertEqual([line["name"] for line in lines if line["type"] == "option"],
                         ["fog", "lights", "mode", "width"])
        self.assertEqual([line["live_in"] for line in lines if line["type"] == "option"],
                         [["code"], ["code"], [], []])
        self.assertEqual([line["variants"] for line in lines if line["type"] == "count"], ["15"])
        self.expect(self.run_program("kiln", "options", "fogg"), 3, "did you mean 'fog'?")
        self.expect(self.run_program("kiln", "options", "fog", "--where", "fog &&"), 2)
        self.expect(self.run_program("kiln", "options", "fog", "--list", "0"), 2)
        result = self.run_program("kiln", "options", "fog", "--list")
        self.assertEqual(result.stdout.count("fog="), 15)
        self.expect(self.run_program("kiln", "options"), 2)

    def test_completion_knows_verbs_flags_programs_and_options(self):
        self.write("kiln.toml", """[project]
manifest = 1
[[program]]
name = "rock/forward"
sources = ["a.rpl"]
entry_points = { vertex = "v" }
axes = { fog = "*", lights = [1, 4] }
[[program]]
name = "sky"
sources = ["a.rpl"]
entry_points = { vertex = "v" }
axes = { stars = "*" }
""")
        rows = [
            (["bui"], ["build"]),
            (["in"], ["init", "inspect"]),
            (["compl"], ["completion"]),
            (["cache", "st"], ["stats"]),
            (["pack", "ver"], ["verify"]),
            (["build", "--ret"], ["--retry-failed"]),
            (["build", "--js"], ["--json"]),
            (["--color", "al"], ["always"]),
            (["status", "--progress", ""], ["auto", "bar", "lines", "none"]),
            (["build", "ro"], ["rock/forward"]),
            (["compile", ""], ["rock/forward", "sky"]),
            (["compile", "sky", "-o", ""], ["stars="]),
            (["compile", "-o", ""], ["fog=", "lights=", "stars="]),
            (["compile", "rock/forward", "-o", "lights="], ["lights=1", "lights=4"]),
            (["status", "x"], []),
            (["nonsense", "--js"], ["--json"]),
        ]
        for words, expected in rows:
            with self.subTest(words=words):
                result = self.run_program("kiln", "complete", "--", *words)
                self.expect(result, 0)
                self.assertEqual(result.stdout.split(), expected)
        self.assertFalse((self.dir / "run").exists(), "a daemon was started")
        for shell, check in [("bash", ["bash", "-n"]), ("zsh", None), ("fish", None)]:
            result = self.run_program("kiln", "completion", shell)
            self.expect(result, 0, "kiln complete --")
            if check is not None:
                subprocess.run(check, input=result.stdout, text=True, check=True)
        self.expect(self.run_program("kiln", "completion", "tcsh"), 2)
        self.expect(self.run_program("kiln", "buld"), 2, "did you mean 'build'?")
        self.expect(self.run_program("kiln", "frobnicate"), 2, "unknown verb 'frobnicate'")

    def test_manifest_is_read_up_to_its_limit(self):
        with open(self.dir / "kiln.toml", "wb") as file:
            file.truncate(5 << 20)
        self.expect(self.run_program("kiln", "options", "one"), 5,
                    "kiln.toml' exceeds the limit of 4194304 bytes")
        (self.dir / "kiln.toml").unlink()
        (self.dir / "kiln.toml").symlink_to("/proc/self/pagemap")  # says that it has no bytes
        self.assertIn(self.run_program("kiln", "options", "one").returncode, (3, 5))
        (self.dir / "kiln.toml").unlink()

    def test_deep_folders_are_refused(self):
        deep = self.dir / "deep"
        for depth, exits in (40, (0, 0)), (80, (2, 5)):
            with self.subTest(depth=depth):
                folder = deep.joinpath(*["d"] * depth)
                folder.mkdir(parents=True)
                self.write("deep/a.rpl", "void v (void) { }\n")
                for verb, code in zip((["init", "--force"], ["fmt", "--check", "."]), exits):
                    ended = self.run_program("kiln", "-C", deep, *verb)
                    if code == 0:
                        self.assertIn(ended.returncode, (0, 1), ended.stderr)
                    else:
                        self.expect(ended, code, "too much to look through")

    def test_init_makes_a_project_that_builds(self):
        self.expect(self.run_program("kiln", "init"), 0, "1 program from 1 source, 1 option, 1 pass",
                    "next: kiln options hello    kiln build")
        self.expect(self.run_program("kiln", "options", "hello"), 0, "2 variants")
        self.expect(self.run_program("kiln", "build"), 0)
        self.expect(self.run_program("kiln", "pack", "build", "--out", "hello.kpack"), 0,
                    "2 artifacts", "2 pipelines")
        self.expect(self.run_program("kiln", "pack", "show", "hello.kpack"), 0, "PASS", "WARM")
        self.expect(self.run_program("kiln", "init"), 2, "is there already", "--force")
        self.expect(self.run_program("kiln", "init", "--force"), 0)
        demo = self.dir / "demo"
        shutil.copytree(ROOT / "examples/demo/shaders", demo / "shaders")
        self.expect(self.run_program("kiln", "-C", demo, "init"), 0, "from 10 sources")
        self.expect(self.run_program("kiln", "-C", demo, "build"), 0)
        self.expect(self.run_program("kiln", "init", "--force", "--from", "/etc/hosts"), 2,
                    "is not below")
        self.expect(self.run_program("kiln", "init", "--force", "--from", "no.rpl"), 3, "no.rpl")

    def test_retry_failed_asks_again(self):
        broken = self.write("broken.rpl", "void f (void) { x; }")
        for flags in [], ["--retry-failed"]:
            with self.subTest(flags=flags):
                self.expect(self.run_program("kiln", "compile", broken, "--entry", "vertex=f",
                                             *flags), 1, "RPL6001")

    def test_daemon_is_started_found_and_stopped(self):
        self.expect(self.run_program("kiln", "status"), 4, "no daemon answers")
        self.expect(self.run_program("kiln", "--autostart", "no", "compile", UBER), 4, "kiln start")
        self.expect(self.run_program("kiln", "start"), 0, "started kilnd")
        self.expect(self.run_program("kiln", "start"), 0, "running already")
        self.expect(self.run_program("kiln", "status"), 0, "SERVING")
        second = self.run_program("kilnd", f"--listen.unix={self.dir}/run/kilnd.sock")
        self.assertNotEqual(second.returncode, 0)
        self.assertRegex(second.stderr, r"pid \d+")
        self.expect(self.run_program("kiln", "stop"), 0, "stopped")
        self.expect(self.run_program("kiln", "stop"), 0, "no daemon is running")

    def test_daemon_of_another_build_makes_way_or_is_named(self):
        ours = self.dir / "ours"
        ours.mkdir()
        shutil.copy(BUILD / "kiln", ours / "kiln")
        (ours / "kilnd").write_text(
            f"#!/bin/sh\nif [ \"$1\" = --build-id ]; then echo {'ab' * 16}; exit; fi\n"
            f"exec '{BUILD}/kilnd' \"$@\"\n")
        (ours / "kilnd").chmod(0o755)

        def compile_with_ours():
            return self.expect(
                subprocess.run([ours / "kiln", "compile", UBER, *ENTRIES], capture_output=True,
                               text=True, timeout=60, cwd=self.dir, env=self.env), 0)

        def pid():
            said = self.run_program("kiln", "--json", "status").stdout
            return json.loads(said.splitlines()[0])["pid"]

        self.expect(self.run_program("kiln", "start"), 0, "started kilnd")
        first = pid()
        self.assertIn("started kilnd", compile_with_ours().stderr)
        second = pid()
        self.assertNotEqual(first, second)
        self.expect(self.run_program("kiln", "stop"), 0)
        with subprocess.Popen([BUILD / "kilnd", f"--listen.unix={self.dir}/run/kilnd.sock"],
                              env=self.env, cwd=self.dir,
                              stderr=subprocess.DEVNULL) as served:  # nobody else's to end
            try:
                self.assertTrue(
                    wait_until(lambda: self.run_program("kiln", "status").returncode == 0))
                self.assertIn("warning: artifacts come from build", compile_with_ours().stderr)
                self.assertIn("abababababab", compile_with_ours().stderr)
                self.assertEqual(pid(), served.pid)
            finally:
                served.terminate()

    def test_socket_path_too_long_says_so(self):
        env = dict(self.env, KILN_DAEMON=f"unix:{self.dir}/{'x' * 120}/kilnd.sock")
        self.expect(self.run_program("kiln", "start", env=env), 4, "107")

    def test_cache_file_that_is_no_database_is_set_aside(self):
        cache = self.dir / "cache"
        cache.mkdir(mode=0o700)
        (cache / "cache.db").write_bytes(b"this is not a database" * 1000)
        self.expect(self.run_program("kiln", "compile", UBER, *ENTRIES), 0)
        again = self.run_program("kiln", "--json", "compile", UBER, *ENTRIES)
        self.expect(again, 0)
        self.assertNotIn('"compiled"', again.stdout)

    def fill_cache(self):
        """Results of a few variants and of a broken source in self.dir/cache; no daemon runs."""
        for lights in 1, 2, 3:
            self.expect(self.run_program("kiln", "compile", UBER, *ENTRIES,
                                         "-o", f"max_point_lights={lights}"), 0)
        broken = self.write("broken.rpl", "void f (void) { x; }")
        self.expect(self.run_program("kiln", "compile", broken, "--entry", "vertex=f"), 1)
        self.expect(self.run_program("kiln", "stop"), 0, "stopped")

    def json_lines(self, *arguments, code=0):
        result = self.run_program("kiln", "--json", *arguments)
        self.expect(result, code)
        lines = [json.loads(line) for line in result.stdout.splitlines()]
        self.assertTrue(all(line["v"] == 1 for line in lines))
        self.assertEqual((lines[-1]["type"], lines[-1]["exit"]), ("result", code))
        return lines

    def test_cache_table_of_bad_input(self):
        text = self.write("text.kpack", "no pack")
        rows = [
            (["cache"], 2, ["subcommand"]),
            (["cache", "stats"], 3, ["there is no cache in"]),
            (["cache", "verify"], 3, ["there is no cache in"]),
            (["cache", "export", self.dir / "a.kpack"], 3, ["there is no cache in"]),
            (["cache", "gc"], 2, ["--to SIZE"]),
            (["cache", "gc", "--to", "5 apples"], 2, ["10GiB"]),
            (["cache", "gc", "--older-than", "x"], 2, ["7d"]),
            (["cache", "verify", "--sample", "101"], 2, ["--sample"]),
            (["cache", "import", self.dir / "none"], 3, ["none"]),
            (["cache", "import", text], 7, ["does not begin like a pack"]),
            (["cache", "pin", "a", "b"], 2, ["32 hex digits"]),
            (["cache", "unpin", "a"], 3, ["pin a"]),
            (["pack"], 2, ["subcommand"]),
            (["pack", "show", self.dir / "none"], 3, ["none"]),
            (["pack", "show", text], 7, ["does not begin like a pack"]),
            (["pack", "verify", text, "--require-signature", text], 2, ["no public key"]),
            (["pack", "diff", text], 2, ["files"]),
        ]
        for arguments, code, texts in rows:
            with self.subTest(arguments=arguments):
                self.expect(self.run_program("kiln", *arguments), code, *texts)

    def test_cache_is_looked_at_verified_and_repaired(self):
        self.fill_cache()
        self.expect(self.run_program("kiln", "cache", "stats"), 0, "signature", "1 source errors")
        stats = self.json_lines("cache", "stats")[0]
        levels = {level["name"]: level["rows"] for level in stats["levels"]}
        self.assertGreaterEqual(levels["signature"], 2)
        self.expect(self.run_program("kiln", "cache", "verify"), 0, "sound")
        with sqlite3.connect(self.dir / "cache" / "cache.db") as database:
            database.execute("UPDATE blob SET data=zeroblob(length(data)) WHERE rid=2")
        database.close()
        self.expect(self.run_program("kiln", "cache", "verify"), 7, "blob content/", "repair")
        faults = self.json_lines("cache", "verify", code=7)
        self.assertEqual(faults[0]["kind"], "blob")
        self.expect(self.run_program("kiln", "cache", "repair"), 0, "1 dropped", "sound")
        self.expect(self.run_program("kiln", "cache", "repair"), 0, "0 faults")
        self.expect(self.run_program("kiln", "cache", "verify"), 0, "sound")

    def test_cache_is_collected_pinned_and_moved(self):
        self.fill_cache()
        file, other = self.dir / "a.kpack", self.dir / "other"
        self.expect(self.run_program("kiln", "cache", "export", file), 0, "rows")
        self.expect(self.run_program("kiln", "cache", "--dir", other, "import", file), 0, "new")
        again = self.json_lines("cache", "--dir", other, "import", file)[-1]["counts"]
        self.assertEqual((again["added"], again["other"]), (0, 0))
        self.expect(self.run_program("kiln", "cache", "--dir", other, "verify"), 0, "sound")
        second = self.dir / "b.kpack"
        self.expect(self.run_program("kiln", "cache", "--dir", other, "export", second), 0)
        self.assertTrue(filecmp.cmp(file, second, shallow=False))
        dry = self.json_lines("cache", "gc", "--failed", "--dry-run")[-1]["counts"]
        self.assertEqual(dry["records"], 1)
        done = self.json_lines("cache", "gc", "--failed", "--vacuum")[-1]["counts"]
        self.assertEqual(done["records"], 1)
        with sqlite3.connect(self.dir / "cache" / "cache.db") as database:
            (key,) = database.execute("SELECT hex(key) FROM entry WHERE level=3").fetchone()
        database.close()
        self.expect(self.run_program("kiln", "cache", "pin", "release", key.lower(), "--note",
                                     "shipped"), 0, "pinned 1 of 1")
        self.expect(self.run_program("kiln", "cache", "pin", "none", "0" * 32), 3)
        self.expect(self.run_program("kiln", "cache", "pins"), 0, "release", "shipped")
        self.expect(self.run_program("kiln", "cache", "export", file, "--pin", "release"), 0)
        self.expect(self.run_program("kiln", "cache", "export", file, "--pin", "no"), 3, "pin no")
        self.expect(self.run_program("kiln", "cache", "unpin", "release"), 0)

    def test_pins_have_their_share_with_a_daemon_and_without(self):
        lines = [self.json_lines("compile", UBER, *ENTRIES, "-o", f"max_point_lights={n}")[0]
                 for n in (1, 2)]
        first, second = [line["signature"] for line in lines]
        bytes_of_one = sum(code["bytes"] for code in lines[0]["artifacts"][0]["code"])
        small = self.env | {"KILN_CACHE_MAX_SIZE": f"{bytes_of_one * 2 // 1024}K"}
        for running in True, False:
            with self.subTest(running=running):
                self.expect(self.run_program("kiln", "stop"), 0)
                if running:
                    self.expect(self.run_program("kiln", "start", env=small), 0)
                run = lambda *words: self.run_program("kiln", "cache", *words, env=small)
                self.expect(run("pin", "one", first), 0, "pinned 1 of 1")
                self.expect(run("pin", "two", second), 5, "pins would keep", "the largest are one")
                self.expect(run("pin", "one", first), 0)  # its own bytes are not counted twice
                self.expect(run("unpin", "one"), 0)
                self.expect(run("pin", "two", second), 0)
                self.expect(run("unpin", "two"), 0)

    def test_cache_of_a_running_daemon_is_kept_up_by_the_daemon(self):
        self.expect(self.run_program("kiln", "compile", UBER, *ENTRIES), 0)
        self.expect(self.run_program("kiln", "compile", UBER, *ENTRIES), 0)
        broken = self.write("broken.rpl", "void f (void) { x; }")
        self.expect(self.run_program("kiln", "compile", broken, "--entry", "vertex=f"), 1)
        self.expect(self.run_program("kiln", "cache", "stats"), 0, "used by pid", "hits of",
                    "first_seen")
        elsewhere = self.env | {"KILN_CACHE_DIR": str(self.dir / "elsewhere")}
        named = "--daemon", self.env["KILN_DAEMON"]
        self.expect(self.run_program("kiln", "cache", "stats", *named, env=elsewhere), 0,
                    "used by pid", "first_seen")
        self.expect(self.run_program("kiln", "cache", "stats", "--daemon",
                                     f"unix:{self.dir}/nobody.sock"), 4)
        stats = self.json_lines("cache", "stats")[0]
        self.assertGreater(stats["memory_bytes"], 0)
        self.assertEqual(stats["misses"]["first_seen"], 2)
        self.assertEqual({level["name"]: level["rows"] for level in stats["levels"]}["signature"], 2)
        self.expect(self.run_program("kiln", "cache", "verify"), 0, "sound")
        self.expect(self.run_program("kiln", "cache", "export", self.dir / "a.kpack"), 0)
        dry = self.json_lines("cache", "gc", "--failed", "--dry-run")[-1]["counts"]
        self.assertEqual(dry["records"], 1)
        done = self.json_lines("cache", "gc", "--failed")[-1]["counts"]
        self.assertEqual((done["records"], done["kept"]), (1, 0))
        with sqlite3.connect(self.dir / "cache" / "cache.db") as database:
            (key,) = database.execute("SELECT hex(key) FROM entry WHERE level=3").fetchone()
            database.execute("UPDATE blob SET data=zeroblob(length(data)) WHERE rid=2")
        database.close()
        self.expect(self.run_program("kiln", "cache", "pin", "release", key.lower()), 0,
                    "pinned 1 of 1")
        self.expect(self.run_program("kiln", "cache", "pin", "none", "0" * 32), 3)
        self.expect(self.run_program("kiln", "cache", "pins"), 0, "release")
        self.expect(self.run_program("kiln", "cache", "pins", *named, env=elsewhere), 0, "release")
        self.expect(self.run_program("kiln", "cache", "pins", "--daemon",
                                     f"unix:{self.dir}/nobody.sock"), 4)
        self.expect(self.run_program("kiln", "cache", "unpin", "release"), 0)
        self.expect(self.run_program("kiln", "cache", "unpin", "release"), 3, "no pin 'release'")
        self.expect(self.run_program("kiln", "cache", "verify"), 7, "blob content/", "repair")
        faults = self.json_lines("cache", "verify", code=7)
        self.assertEqual((faults[0]["type"], faults[0]["kind"]), ("fault", "blob"))
        self.expect(self.run_program("kiln", "cache", "repair"), 0, "1 dropped", "sound")
        self.expect(self.run_program("kiln", "cache", "verify"), 0, "sound")
        self.expect(self.run_program("kiln", "compile", UBER, *ENTRIES), 0)
        self.expect(self.run_program("kiln", "cache", "gc", "--to", "1"), 5, "records are kept",
                    "repeat after", "cache.max_size")
        kept = self.json_lines("cache", "gc", "--to", "1K", code=5)
        self.assertEqual([kept[0]["type"], kept[0]["reason"]], ["error", "CACHE_KEPT"])
        self.assertGreater(kept[-1]["counts"]["kept"], 0)
        self.expect(self.run_program("kiln", "cache", "gc", "--to", "50G"), 0)
        taken = self.json_lines("cache", "import", self.dir / "a.kpack")[-1]["counts"]
        self.assertEqual((taken["added"] > 0, taken["other"]), (True, 0))
        again = self.json_lines("cache", "import", self.dir / "a.kpack")[-1]["counts"]
        self.assertEqual((again["rows"], again["added"], again["other"]), (taken["rows"], 0, 0))
        self.assertGreaterEqual(again["present"], taken["rows"])
        self.expect(self.run_program("kiln", "cache", "verify"), 0, "sound")

    def test_store_of_another_daemon_is_looked_at_but_not_changed(self):
        self.expect(self.run_program("kiln", "compile", UBER, *ENTRIES), 0)
        env = dict(self.env, KILN_DAEMON=f"unix:{self.dir}/other/kilnd.sock")
        for verb in ["stats"], ["verify"], ["pins"], ["gc", "--failed", "--dry-run"]:
            with self.subTest(verb=verb):
                self.expect(self.run_program("kiln", "cache", *verb, env=env), 0)
        file = self.dir / "a.kpack"
        self.expect(self.run_program("kiln", "cache", "export", file, env=env), 0)
        for verb in ["gc", "--failed"], ["repair"], ["unpin", "x"], ["import", file]:
            with self.subTest(verb=verb):
                self.expect(self.run_program("kiln", "cache", *verb, env=env), 4, "pid",
                            "kiln stop")
        second = self.run_program("kilnd", f"--listen.unix={self.dir}/other/kilnd.sock", env=env)
        self.assertNotEqual(second.returncode, 0)
        self.assertRegex(second.stderr, r"pid \d+")

    def test_explain_tells_hits_and_misses(self):
        fog = ["-o", "max_point_lights=3"]
        self.expect(self.run_program("kiln", "explain", UBER, *ENTRIES, *fog), 0, "miss: first_seen")
        self.expect(self.run_program("kiln", "compile", UBER, *ENTRIES, *fog, "--explain"), 0,
                    "miss: first_seen")
        self.expect(self.run_program("kiln", "explain", UBER, *ENTRIES, *fog), 0, "hit (memory",
                    "same variant")
        self.expect(self.run_program("kiln", "explain", UBER, *ENTRIES, "-o", "max_point_lights=4"),
                    0, "miss: option   max_point_lights 3u → 4u")
        lines = self.json_lines("compile", UBER, *ENTRIES, *fog)
        key = lines[0]["signature"]
        self.expect(self.run_program("kiln", "explain", key), 0, "hit (memory")
        found = self.json_lines("explain", key)[0]
        self.assertEqual((found["type"], found["result"], found["level"], found["program"]),
                         ("explain", "hit", "memory", "uber"))
        self.assertEqual(found["options"]["max_point_lights"], 3)
        self.expect(self.run_program("kiln", "explain", "--last", "1"), 0, "uber spirv   hit")
        self.expect(self.run_program("kiln", "explain", "--last"), 0, "uber spirv   hit")
        self.expect(self.run_program("kiln", "cache", "why", key), 0, "uber spirv   hit (memory")
        self.expect(self.run_program("kiln", "stop"), 0, "stopped")
        self.expect(self.run_program("kiln", "cache", "why", key), 0, "uber spirv   hit (memory")
        self.assertEqual(self.json_lines("cache", "why", key)[0]["signature"], key)
        rows = [
            (["explain"], 2, ["--batch ID"]),
            (["explain", "0" * 32], 3, ["is remembered"]),
            (["explain", "--batch", "12"], 3, ["no batch '12'"]),
            (["explain", "--last", "0"], 2, ["--last"]),
            (["explain", "--code", "RPL6022"], 0, ["# RPL6022: operator-types", "What to do"]),
            (["explain", "--code", "operator-types"], 0, ["# RPL6022"]),
            (["explain", "--code", "lay1003"], 0, ["misaligned-offset", "docs/LAYOUT.md"]),
            (["explain", "--code", "RPL602"], 3, ["no diagnostic 'RPL602'", "did you mean RPL6"]),
            (["explain", "--code", "queue_full"], 0, ["QUEUE_FULL", "lane of the call is full", "repeat the call"]),
            (["explain", "--code", "QUEUE_FUL"], 3, ["did you mean QUEUE_FULL"]),
            (["explain", "--code", "RPL6022", "some"], 2, ["--code"]),
            (["explain", "--option", "fog"], 2, ["a program"]),
            (["explain", "--option", "max_point_light", UBER, *ENTRIES], 3, ["no option"]),
            (["explain", self.dir / "missing.rpl"], 3, ["missing.rpl"]),
            (["--autostart", "no", "--daemon", f"unix:{self.dir}/none.sock", "explain", "0" * 32],
             4, ["kiln start"]),
            (["cache", "why", "0" * 32], 3, ["is remembered"]),
            (["cache", "why", "x"], 2, ["32 hex digits"]),
        ]
        for arguments, code, texts in rows:
            with self.subTest(arguments=arguments):
                self.expect(self.run_program("kiln", *arguments), code, *texts)

    def test_explain_tells_of_an_option(self):
        self.write_project()
        text = self.run_program("kiln", "explain", "--option", "fog", "some")
        self.expect(text, 0, "fog   global flag, default false, some.rpl:3", "live in   code",
                    "targets   ", "read by   function v, some.rpl:5", "factor    2.0 of 4 variants",
                    "bytes     false", "(default)", "(+")
        option = self.json_lines("explain", "--option", "fog", "some", "-o", "skinning")[0]
        self.assertEqual((option["type"], option["name"], option["kind"], option["factor"]),
                         ("option", "fog", "flag", 2.0))
        off, on = option["values"]
        self.assertEqual((off["value"], off["default"], on["value"]), ("false", True, "true"))
        (target,) = off["bytes"]
        self.assertGreater(on["bytes"][target], off["bytes"][target])
        self.assertEqual(self.json_lines("explain", "--code", "RPL6022")[0]["name"],
                         "operator-types")

    def test_explain_tells_what_a_batch_missed(self):
        self.write_project()
        first = self.run_program("kiln", "build")
        self.expect(first, 0, "batch ")
        batch = first.stdout.split("batch ")[1].split()[0]
        self.expect(self.run_program("kiln", "explain", "--batch", batch, "--misses"), 0,
                    "4 misses of 4", "first_seen")
        self.write_project("vertex_stage_output_position (f4 {3.0});")
        second = self.run_program("kiln", "build").stdout.split("batch ")[1].split()[0]
        self.assertNotEqual(batch, second)
        self.expect(self.run_program("kiln", "explain", "--batch", second, "--misses"), 0,
                    "4 misses of 4", "source_changed", "some.rpl", "module re-parsed")
        causes = [line for line in self.json_lines("explain", "--batch", second)
                  if line["type"] == "cause"]
        self.assertEqual([(line["cause"], line["count"]) for line in causes],
                         [("source_changed", 4)])

    def test_pack_build_writes_signed_and_smaller_packs(self):
        self.write_project(extra="variants = [ { warm = true, options = { fog = true } } ]")
        plain, again = self.dir / "plain.kpack", self.dir / "again.kpack"
        self.expect(self.run_program("kiln", "pack", "build", "--out", plain), 0, "1 programs",
                    "4 artifacts")
        self.expect(self.run_program("kiln", "pack", "verify", plain), 0, "sound")
        self.expect(self.run_program("kiln", "pack", "show", plain), 0, "some", "3 options")
        self.expect(self.run_program("kiln", "pack", "extract", plain, "some", "-o", "fog",
                                     "--out", self.dir / "out"), 0, "2 files")
        self.expect(self.run_program("kiln", "compile", "some", "-o", "fog", "--out",
                                     self.dir / "compiled"), 0)
        (packed,) = (self.dir / "out").glob("*.spv")
        (direct,) = (self.dir / "compiled").glob("*.spv")
        self.assertTrue(filecmp.cmp(packed, direct, shallow=False))
        self.expect(self.run_program("kiln", "stop"), 0)
        self.expect(self.run_program("kiln", "pack", "build", "some", "--out", again), 0)
        self.assertTrue(filecmp.cmp(plain, again, shallow=False))
        self.expect(self.run_program("kiln", "pack", "keygen", "--out", self.dir / "good"), 0)
        signed = self.dir / "signed.kpack"
        self.expect(self.run_program("kiln", "pack", "build", "--out", signed, "--small", "--sign",
                                     self.dir / "good.key"), 0)
        self.expect(self.run_program("kiln", "pack", "verify", signed, "--require-signature",
                                     self.dir / "good.pub"), 0, "signed with the key")
        self.write_project("vertex_stage_output_position (f4 {3.0});")
        warm = self.write("warm.list", '{"program": "some", "options": {"fog": true}}\n')
        for base in plain, signed:  # the daemon has the first one only
            with self.subTest(base=base.name):
                delta = self.dir / f"delta_{base.name}"
                self.expect(self.run_program("kiln", "pack", "build", "--out", delta, "--base",
                                             base, "--warm", warm), 0)
                self.expect(self.run_program("kiln", "pack", "show", delta), 0, "delta")
                self.expect(self.run_program("kiln", "pack", "verify", delta), 0, "sound")
        self.expect(self.run_program("kiln", "pack", "build", "--out", plain, "--pin", "shipped"), 0)
        self.expect(self.run_program("kiln", "cache", "pins"), 0, "shipped", "4 records")

    def test_pack_build_takes_the_formats_of_passes(self):
        def write(color):
            self.write("pass.rpl", """
void v (void) { vertex_stage_output_position (f4 {0.0}); }
void f (void) { target.color = f4 {1.0}; }
""")
            self.write("rock.rpl", "color_output_container target { f4 color; };\n")
            self.write("kiln.toml", f"""[project]
manifest = 1
name = "passes"
[[pass]]
name = "view"
sources = ["pass.rpl"]
{color}
[[material]]
name = "rock"
sources = ["rock.rpl"]
entry_points = {{ vertex = "v", fragment = "f" }}
passes = ["view"]
""")
        plain, formats = self.dir / "plain.kpack", self.dir / "formats.kpack"
        build = ["kiln", "pack", "build", "--out"]
        write("")
        self.expect(self.run_program(*build, plain), 0, "2 programs")
        write('color = ["rgba16_float"]\ndepth = "d32_float"')
        self.expect(self.run_program(*build, formats), 0, "2 programs")
        self.expect(self.run_program("kiln", "pack", "verify", formats), 0, "sound")
        # The section PASS: one row with the name, R16G16B16A16_SFLOAT (97) and D32_SFLOAT (126).
        row = struct.pack("<IHHI", 0, 1, 1, 97) + b"\0" * 28 + struct.pack("<I", 126)
        self.assertEqual(b"", pack_section(plain, b"PASS"))
        self.assertTrue(pack_section(formats, b"PASS").endswith(row))
        again = self.dir / "again.kpack"
        self.expect(self.run_program(*build, again), 0)
        self.assertEqual(again.read_bytes(), formats.read_bytes())
        # A recorded line: formats of the manifest's pass, times, a hint.
        line = {"program": "rock/view", "options": {},
                "pass": {"color": ["rgba16_float"], "depth": "d32_float", "samples": 1, "view_mask": 0},
                "creation_us": 1200, "first_use_us": 34,
                "hints": [{"set": 1, "binding": 2, "sampler": 3, "format": 37}]}
        warm = self.write("warm.list", json.dumps(line) + "\n")
        self.expect(self.run_program(*build, again, "--warm", warm), 0)
        self.expect(self.run_program("kiln", "pack", "verify", again), 0, "sound")
        self.assertTrue(pack_section(again, b"WARM").endswith(struct.pack("<II", 1200, 34)))
        self.assertEqual(struct.pack("<BBHI", 1, 2, 3, 37), pack_section(again, b"WHNT"))
        self.assertTrue(pack_section(again, b"PASS").endswith(row))
        line["pass"]["depth"] = "deep"
        warm = self.write("warm.list", json.dumps(line) + "\n")
        self.expect(self.run_program(*build, again, "--warm", warm), 2, "line 1", "its pass")
        write('color = ["rgba16"]')
        self.expect(self.run_program(*build, again), 2, "pass 'view'", "'rgba16'")

    def test_pack_build_table_of_bad_input(self):
        self.write_project()
        wrong_warm = self.write("warm.list", "{}\n")
        out = self.dir / "a.kpack"
        rows = [
            (["--out", out, "nobody"], 3, ["no program 'nobody'"]),
            ([], 2, ["--out"]),
            (["--out", out, "--fast", "--small"], 2, ["excludes"]),
            (["--out", out, "--base", self.dir / "none.kpack"], 3, ["none.kpack"]),
            (["--out", out, "--base", wrong_warm], 7, ["does not begin like a pack"]),
            (["--out", out, "--sign", self.dir / "none.key"], 3, ["none.key"]),
            (["--out", out, "--warm", wrong_warm], 2, ["line 1 of the warm list"]),
            (["--out", "/proc/nowhere/a.kpack"], 3, ["cannot write"]),
        ]
        for arguments, code, texts in rows:
            with self.subTest(arguments=arguments):
                self.expect(self.run_program("kiln", "pack", "build", *arguments), code, *texts)
        self.write_project("x;")
        self.expect(self.run_program("kiln", "pack", "build", "--out", out), 1, "RPL6001")
        self.assertFalse(out.exists())
        self.assertEqual([path.name for path in self.dir.glob("*.kpack*")], [])

    def test_packs_are_signed_checked_and_compared(self):
        self.fill_cache()
        plain, signed = self.dir / "plain.kpack", self.dir / "signed.kpack"
        self.expect(self.run_program("kiln", "cache", "export", plain), 0)
        for name in "good", "other":
            self.expect(self.run_program("kiln", "pack", "keygen", "--out", self.dir / name), 0)
        self.assertEqual(stat.S_IMODE((self.dir / "good.key").stat().st_mode), 0o600)
        self.expect(self.run_program("kiln", "pack", "keygen", "--out", self.dir / "good"), 3,
                    "File exists")
        self.expect(self.run_program("kiln", "pack", "flatten", plain, "--out", signed, "--sign",
                                     self.dir / "good.key"), 0)
        self.expect(self.run_program("kiln", "pack", "show", signed), 0, "SIGN", "cache export")
        self.assertEqual(self.json_lines("pack", "show", plain)[0]["type"], "pack")
        cut = self.write("cut.kpack", signed.read_bytes()[:-7])
        rows = [
            ([plain], 0, ["sound"]),
            ([signed], 0, ["sound"]),
            ([signed, "--require-signature", self.dir / "good.pub"], 0, ["signed with the key"]),
            ([signed, "--require-signature", self.dir / "other.pub"], 7, ["not accepted"]),
            ([plain, "--require-signature", self.dir / "good.pub"], 7, ["not signed"]),
            ([cut], 7, ["blocks complete"]),
        ]
        for arguments, code, texts in rows:
            with self.subTest(arguments=arguments):
                self.expect(self.run_program("kiln", "pack", "verify", *arguments), code, *texts)
        self.expect(self.run_program("kiln", "pack", "diff", plain, signed), 0, "0 blobs")
        self.expect(self.run_program("kiln", "pack", "extract", plain, "rock", "--out", self.dir),
                    3, "no program 'rock'")

    def run_on_small_disk(self, size, *commands):
        """Runs `commands` where self.dir/disk is a file system of `size` bytes of its own."""
        disk = self.dir / "disk"
        disk.mkdir(exist_ok=True)
        script = f"mount -t tmpfs -o size={size} none {disk} || exit 99\n" + "\n".join(commands)
        unshare = ["unshare", "--mount"] if os.geteuid() == 0 else ["unshare", "-Urm"]
        return subprocess.run([*unshare, "sh", "-c", script], capture_output=True, text=True,
                              timeout=120, cwd=self.dir,
                              env=dict(self.env, KILN_CACHE_DIR=str(disk / "cache")))

    def need_small_disk(self):
        if self.run_on_small_disk(65536, "true").returncode != 0:
            self.skipTest("this machine does not let the test mount a tmpfs")

    def test_full_disk_of_results_says_so(self):
        self.need_small_disk()
        for program, code in ((f"{BUILD}/kilnc", 5),
                              (f"KILN_CACHE_DIR={self.dir}/cache {BUILD}/kiln", 5)):
            with self.subTest(program=program):
                result = self.run_on_small_disk(
                    16384, f"{program} compile {UBER} {' '.join(ENTRIES)} --out {self.dir}/disk/out")
                self.expect(result, code, "cannot write", "No space left on device",
                            "free space there")

    def test_nearly_full_disk_says_what_is_not_kept(self):
        self.need_small_disk()
        options, size = range(12), 3 << 20  # 4,096 results do not fit
        self.write("many.rpl", "".join(f"global o{i}: flag false;\n" for i in options) +
                   "vertex_attribute_container mesh { f4 a; };\n"
                   "void v (void)\n{\n    f4 p = f4 {0.0};\n" +
                   "".join(f"    conditional (o{i}) {{ p = p * {i + 2}.25 + mesh.a; }}\n"
                           for i in options) + "    vertex_stage_output_position (p);\n}\n")
        self.write("kiln.toml", '[project]\nmanifest = 1\nname = "many"\n[[program]]\nname = "many"\n'
                   'sources = ["many.rpl"]\nentry_points = { vertex = "v" }\naxes = { ' +
                   ", ".join(f'o{i} = "*"' for i in options) + " }\n")
        build = f"{BUILD}/kiln --progress none build"
        result = self.run_on_small_disk(size, f"{build} --report junit:{self.dir}/a.xml; code=$?",
                                        f"{BUILD}/kiln stop; exit $code")
        self.expect(result, 0, "warning: ", "built, but not kept in the cache", "disk is full",
                    "free space where the cache is", "ok. again")
        self.assertIn("<error message", (self.dir / "a.xml").read_text())
        result = self.run_on_small_disk(size, f"{build} --pin release; code=$?",
                                        f"{BUILD}/kiln stop; exit $code")
        self.expect(result, 8, "error: ", "not kept in the cache", "disk is full")

    def test_build_writes_results_that_a_full_disk_of_the_cache_has_lost(self):
        self.need_small_disk()
        options = range(12)  # 4,096 results do not fit
        self.write("many.rpl", "".join(f"global o{i}: flag false;\n" for i in options) +
                   "vertex_attribute_container mesh { f4 a; };\n"
                   "void v (void)\n{\n    f4 p = f4 {0.0};\n" +
                   "".join(f"    conditional (o{i}) {{ p = p * {i + 2}.25 + mesh.a; }}\n"
                           for i in options) + "    vertex_stage_output_position (p);\n}\n")
        self.write("kiln.toml", '[project]\nmanifest = 1\nname = "many"\n[[program]]\nname = "many"\n'
                   'sources = ["many.rpl"]\nentry_points = { vertex = "v" }\naxes = { ' +
                   ", ".join(f'o{i} = "*"' for i in options) + " }\n")
        out = self.dir / "out"
        result = self.run_on_small_disk(
            3 << 20, f"{BUILD}/kiln --progress none build --out {out}; code=$?",
            f"{BUILD}/kiln stop; exit $code")
        self.expect(result, 0, "warning: ", "built, but not kept in the cache", "disk is full")
        rows = json.loads((out / "index.json").read_text())
        self.assertEqual(len({row["signature"] for row in rows}), 4096)
        for row in rows:
            for blob in [row["metadata"], *row["code"].values()]:
                self.assertTrue((out / "blobs" / blob).exists(), row)

    def test_full_disk_of_the_cache_costs_the_cache_not_the_result(self):
        self.need_small_disk()
        compile_ = f"{BUILD}/kiln compile {UBER} {' '.join(ENTRIES)}"
        for size in 65536, 229376:
            with self.subTest(size=size):
                result = self.run_on_small_disk(
                    size, f"{BUILD}/kiln start",
                    *[f"{compile_} -o max_point_lights={n} --out {self.dir}/out{size} || exit $?"
                      for n in range(1, 9)],
                    f"{BUILD}/kiln status", f"{BUILD}/kiln stop")
                self.expect(result, 0, "DEGRADED", "cache-full")
                self.assertEqual(len(list((self.dir / f"out{size}").glob("*.fragment.spv"))), 8)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
