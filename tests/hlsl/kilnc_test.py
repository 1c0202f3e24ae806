#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""kilnc and HLSL's files: include folders, macros, settings, DXC's spelling, exit codes, places.

usage: kilnc_test.py KILNC
"""
import json
import os
import pathlib
import resource
import struct
import subprocess
import sys
import tempfile
import unittest

KILNC = ""
ROOT = """#include "near.hlsli"
#include <far.hlsli>
float4 main() : SV_Target { return float4(NEAR(FAR), STEPS, 0, 1); }
"""


class Files(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.write("root.hlsl", ROOT)
        self.write("near.hlsli", '#pragma once\n#include "parts/deep.hlsli"\n#define NEAR(x) DEEP(x)\n')
        self.write("parts/deep.hlsli", "#define DEEP(x) ((x) * 2.0)\n")
        self.write("lib/far.hlsli", "#define FAR 3.0\n")

    def write(self, name, text):
        path = pathlib.Path(self.folder.name, name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def kilnc(self, *arguments):
        done = subprocess.run([KILNC, *arguments], cwd=self.folder.name, capture_output=True, text=True, check=False)
        return done.returncode, done.stdout, done.stderr

    def magic(self, name):
        return struct.unpack("<I", pathlib.Path(self.folder.name, name).read_bytes()[:4])[0]

    def test_includes_are_read_from_the_folders(self):
        code, out, err = self.kilnc("compile", "root.hlsl", "-I", "lib", "--define", "STEPS=4", "--stage", "preprocess")
        self.assertEqual((code, err), (0, ""))
        self.assertEqual(out, "root.hlsl:3:1: float4 main() : SV_Target { return float4( (( 3.0 ) * 2.0) , 4, 0, 1); }\n")

    def test_a_variant_is_built(self):
        code, _, err = self.kilnc("compile", "root.hlsl", "-I", "lib", "--define", "STEPS=4", "--hlsl",
                                  "version=2018", "--entry", "fragment=main", "--out", "out")
        self.assertEqual((code, err), (0, ""))
        self.assertEqual(self.magic("out/fragment.spv"), 0x07230203)

    def test_integers_that_a_fragment_reads_are_flat(self):
        for text, flat in [
            ("uint s : SV_SampleIndex", 1),
            ("uint p : SV_PrimitiveID", 1),
            ("uint s : SV_SampleIndex, nointerpolation uint i : I", 2),
            ("float4 p : SV_Position, bool f : SV_IsFrontFace", 0),
        ]:
            self.write("root.hlsl", "float4 main(%s) : SV_Target { return 1; }\n" % text)
            code, _, err = self.kilnc("compile", "root.hlsl", "--entry", "fragment=main", "--out", "out")
            self.assertEqual((code, err), (0, ""), text)
            data = pathlib.Path(self.folder.name, "out/fragment.spv").read_bytes()
            words = struct.unpack("<%dI" % (len(data) // 4), data)
            at, found = 5, 0
            while at < len(words):
                found += words[at] == (3 << 16 | 71) and words[at + 2] == 14  # OpDecorate, Flat
                at += words[at] >> 16
            self.assertEqual(found, flat, text)

    def test_static_variables_have_first_values_of_every_type(self):
        for text in [
            "static float v[3] = { 1, 2, 3 }; float f() { return v[1]; }",
            "static float v[2][2] = (float[2][2]) 1; float f() { return v[1][0]; }",
            "struct S { float a; float2 b[2]; }; static S v = (S) 2; float f() { return v.b[1].x; }",
            "struct S { float a; }; static S v[2] = { 1, 2 }; float f() { return v[1].a; }",
            "static float2x2 v = { 1, 2, 3, 4 }; float f() { return v[1].x; }",
            "float f() { static int v[2] = { 1, 2 }; return v[0]++; }",
        ]:
            self.write("root.hlsl", text + " float4 main() : SV_Target { return f(); }\n")
            code, _, err = self.kilnc("compile", "root.hlsl", "--entry", "fragment=main", "--out", "out")
            self.assertEqual((code, err), (0, ""), text)

    def test_a_constant_is_wrong_where_it_is_named(self):
        for use, code in [("k = 2;", "HLSL2018"), ("int3 v = k.xx;", "HLSL2010"), ("k.x.y;", "HLSL2006")]:
            self.write("root.hlsl", "static const int k = 1;\nfloat4 main() : SV_Target {\n  %s\n  return 1;\n}\n" % use)
            _, out, _ = self.kilnc("compile", "root.hlsl", "--json")
            found = [(one["code"], one["line"]) for one in json.loads(out) if one["severity"] == "error"]
            self.assertEqual(found, [(code, 3)], use)

    def test_what_is_not_there_is_said_with_its_place(self):
        code, out, err = self.kilnc("compile", "root.hlsl", "--define", "STEPS=4", "--json")
        self.assertEqual((code, err), (1, ""))
        found = json.loads(out)[0]
        self.assertEqual((found["code"], found["path"], found["line"]), ("HLSL1010", "root.hlsl", 2))

    def test_places_are_those_of_the_included_file(self):
        self.write("parts/deep.hlsli", "#define DEEP(x) ((x) * 2.0)\nfloat f() { return 1 }\n")
        code, out, _ = self.kilnc("compile", "root.hlsl", "-I", "lib", "--define", "STEPS=4", "--json")
        self.assertEqual(code, 1)
        found = json.loads(out)[0]
        self.assertEqual((found["path"], found["line"]), ("parts/deep.hlsli", 2))
        texts = [label["text"] for label in found["labels"]]
        self.assertEqual(texts[-2:], ["'parts/deep.hlsli' is included here", "'near.hlsli' is included here"])

    def test_a_text_module_does_not_move_the_places_of_later_sources(self):
        self.write("empty.hlsl", "float f(float x) { return x; }\n")
        code, text, err = self.kilnc("compile", "empty.hlsl", "--stage", "lower")
        self.assertEqual((code, err), (0, ""))
        self.write("a.kir", text)
        self.write("lib/far.hlsli", "\n\n\nfloat g() { return 1 }\n")
        self.write("root.hlsl", '#include <far.hlsli>\n')
        for sources in [["root.hlsl"], ["a.kir", "root.hlsl"]]:
            code, out, err = self.kilnc("compile", *sources, "-I", "lib", "--stage", "parse")
            self.assertEqual(code, 1)
            self.assertIn("lib/far.hlsli:4:", out + err, sources)

    def test_errors_of_variants_are_in_the_included_file_too(self):
        self.write("near.hlsli", "float4 shade(float4 a : COLOR, float4 b : COLOR) : SV_Target { return a + b; }\n")
        self.write("root.hlsl", '\n#include "near.hlsli"\n')
        code, out, _ = self.kilnc("compile", "root.hlsl", "--entry", "fragment=shade", "--json")
        self.assertEqual(code, 1)
        found = json.loads(out)[0]
        self.assertEqual((found["code"], found["path"], found["line"]), ("HLSL5002", "near.hlsli", 1))
        self.assertEqual(found["labels"][-1]["text"], "'near.hlsli' is included here")

    def test_parser_and_preprocessor_are_heard_together(self):
        self.write("root.hlsl", "float f() { return 1 +; }\nint c = 08;\n")
        code, out, _ = self.kilnc("compile", "root.hlsl", "--json")
        self.assertEqual((code, [found["code"] for found in json.loads(out)]), (1, ["HLSL1040", "HLSL1005"]))

    def test_settings_and_macros_are_checked(self):
        for words in (["--hlsl", "version=2020"], ["--hlsl", "colour=red"], ["--hlsl", "version"],
                      ["--define", "1A"], ["--define", "A B"]):
            code, out, err = self.kilnc("compile", "root.hlsl", *words)
            self.assertEqual((code, out), (2, ""), words)
            self.assertIn("error: ", err)

    def test_an_include_that_is_no_source_is_a_failure(self):
        self.write("lib/far.hlsli", " " * (4 << 20) + "\n")
        code, _, err = self.kilnc("compile", "root.hlsl", "-I", "lib")
        self.assertEqual(code, 3)
        self.assertIn("lib/far.hlsli", err)
        self.write("root.hlsl", '#include "lib"\n')
        code, _, err = self.kilnc("compile", "root.hlsl")
        self.assertEqual(code, 1)
        self.assertIn("HLSL1010", err)

    def test_what_is_included_is_counted_before_all_of_it_is_read(self):
        """300 names of one file of 4 MiB would be 1.2 GB; 16 are what a module may include."""
        big = pathlib.Path(self.folder.name, "big.hlsli")
        big.write_bytes(b"\n" * (4 << 20))
        names = [f"big{i}.hlsli" for i in range(300)]
        for name in names:
            os.link(big, big.with_name(name))
        bound = lambda: resource.setrlimit(resource.RLIMIT_AS, (900 << 20,) * 2)

        def compiled():
            done = subprocess.run([KILNC, "compile", "all.hlsl"], cwd=self.folder.name, capture_output=True,
                                  text=True, check=False, preexec_fn=bound)
            return done.returncode, done.stderr
        self.write("all.hlsl", "".join(f'#include "{name}"\n' for name in names))
        code, err = compiled()
        self.assertEqual(code, 1, err)
        self.assertIn("HLSL1007", err)
        # Level by level the big ones come before what the first one includes.
        self.write("first.hlsli", '#include "second.hlsli"\n')
        self.write("second.hlsli", "")
        self.write("all.hlsl", '#include "first.hlsli"\n' + "".join(f'#include "{name}"\n' for name in names))
        code, err = compiled()
        self.assertEqual(code, 3, err)
        self.assertIn("includes lead to more than", err)

    def test_dxc_spellings_build_one_entry_point(self):
        code, out, err = self.kilnc("hlsl", "-T", "ps_6_0", "-E", "main", "-DSTEPS=4", "-Ilib", "-spirv", "-Zpr",
                                    "-fspv-target-env=vulkan1.1", "-Fo", "made.spv", "root.hlsl")
        self.assertEqual((code, out, err), (0, "", ""))
        self.assertEqual(self.magic("made.spv"), 0x07230203)

    def test_any_file_is_hlsl_for_the_command_hlsl(self):
        self.write("old.fx", "float4 main() : SV_Target { return 1; }\n")
        code, out, err = self.kilnc("hlsl", "-T", "ps_6_0", "old.fx")
        self.assertEqual((code, err), (0, ""))
        self.assertIn("OpEntryPoint Fragment", out)
        self.assertEqual(self.kilnc("compile", "old.fx")[0], 2)

    def text_module(self):
        self.write("other.hlsl", "float twice(float a) { return a * 2.0; }\n")
        code, out, err = self.kilnc("compile", "other.hlsl", "--stage", "lower")
        self.assertEqual((code, err), (0, ""))
        self.write("other.kir", out)

    def test_sources_beside_a_text_module_have_their_folders_and_macros(self):
        self.text_module()
        code, _, err = self.kilnc("compile", "other.kir", "root.hlsl", "-I", "lib", "--define", "STEPS=4",
                                  "--entry", "fragment=main", "--out", "out")
        self.assertEqual((code, err), (0, ""))
        self.assertEqual(self.magic("out/fragment.spv"), 0x07230203)

    def test_places_behind_a_text_module_are_in_their_files(self):
        self.text_module()
        self.write("near.hlsli", "#define NEAR(x) x\nfloat wrong() { return missing; }\n")
        for stage in (["--stage", "lower"], ["--entry", "fragment=main"]):
            code, _, err = self.kilnc("compile", "other.kir", "root.hlsl", "-I", "lib", "--define", "STEPS=4", *stage)
            self.assertEqual(code, 1, stage)
            self.assertIn("near.hlsli:2:", err, stage)

    def test_stores_into_arrays_of_images_are_a_feature_of_graphics(self):
        for image, feature in [
            ("RWTexture2D<float4> a : register(u0)", True),
            ("RWTexture2D<float4> a[2] : register(u0)", True),
            ("Texture2D<float4> a[2] : register(t0)", False),
        ]:
            first = "a[0]" if "[" in image else "a"
            use = f"{first}[uint2(0, 0)] = 1; return 1;" if feature else f"return {first}[uint2(0, 0)];"
            self.write("root.hlsl", f"{image};\nfloat4 main() : SV_Target {{ {use} }}\n")
            code, out, err = self.kilnc("compile", "root.hlsl", "--entry", "fragment=main", "--stage", "metadata")
            self.assertEqual((code, err), (0, ""), image)
            self.assertEqual("fragment_stores_and_atomics" in out, feature, image)

    def test_exit_codes_of_the_command_hlsl(self):
        self.write("wrong.hlsl", "float4 main() : SV_Target { return missing; }\n")
        self.assertEqual(self.kilnc("hlsl", "-T", "ps_6_0", "wrong.hlsl")[0], 1)
        self.assertEqual(self.kilnc("hlsl", "-T", "ps_6_0", "-fvk-invert-y", "wrong.hlsl")[0], 2)
        self.assertEqual(self.kilnc("hlsl", "wrong.hlsl")[0], 2)
        self.assertEqual(self.kilnc("hlsl", "-T", "ps_6_0", "absent.hlsl")[0], 3)
        code, out, _ = self.kilnc("hlsl", "--help")
        self.assertEqual(code, 0)
        self.assertIn("-fspv-target-env", out)

    def test_full_debug_names_each_file(self):
        self.write("near.hlsli", "float twice(float a) {\n  float b = a * 2.0;\n  return b;\n}\n#define NEAR(x) twice(x)\n")
        code, _, err = self.kilnc("compile", "root.hlsl", "-I", "lib", "--define", "STEPS=4", "--entry",
                                  "fragment=main", "--debug", "full", "--out", "out")
        self.assertEqual((code, err), (0, ""))
        words = pathlib.Path(self.folder.name, "out/fragment.spv").read_bytes()
        self.assertIn(b"near.hlsli\0", words)
        self.assertIn(b"root.hlsl\0", words)


if __name__ == "__main__":
    KILNC = str(pathlib.Path(sys.argv.pop(1)).resolve())
    unittest.main()
