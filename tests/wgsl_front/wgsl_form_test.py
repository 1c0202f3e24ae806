#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Sources in WGSL and HLSL as WGSL: what is written is read back as the same text and becomes valid SPIR-V;
texts of small sources; what WGSL cannot say is refused with its place.

usage: wgsl_form_test.py KILNC ROOT
"""
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

KILNC = ""
ROOT = pathlib.Path()
STORE = "@group(0) @binding(0) var<storage, read_write> out : array<u32>;\n"
MAIN = "@compute @workgroup_size(1) fn main(@builtin(local_invocation_index) i : u32) {{ {} }}\n"

# Statements of a compute shader, and lines that stand in its text.
LINES = [
    ("out[i] = i / 3u;", ["out[i] = i / 3u;"]),
    ("out[i] = i % out[0];", ["out[i] = i % out[0u];"]),
    ("out[i] = u32(i32(i) >> 2u);", ["out[i] = bitcast<u32>((bitcast<i32>(i) >> 2u));"]),
    ("out[i] = u32(f32(i) * 0.5);", ["out[i] = u32((f32(i) * 0.5f));"]),
    ("out[i] = extractBits(i, out[1], 4u);", ["out[i] = extractBits(i, out[1u], 4u);"]),
    ("out[i] = insertBits(i, 3u, i, 5u);", ["out[i] = insertBits(i, 3u, i, 5u);"]),
    ("out[i] = u32(clamp(f32(i), 1.0, 2.0));", ["out[i] = u32(min(max(f32(i), 1.0f), 2.0f));"]),
    ("var x : u32; x = 0u; x += i; out[i] = x;", ["var x : u32;", "x = x + i;", "out[i] = x;"]),
    ("var x = 5u; out[i] = x;", ["x = 5u;", "out[i] = x;"]),
    ("for (var k = 0u; k < 4u; k++) { out[k] = i; }",
     ["var k : u32;", "loop {", "if (!(k < 4u)) {", "break;", "}", "out[k] = i;", "continuing {", "k = k + 1u;", "}"]),
    ("var k = i; loop { if k > 9u { break; } continuing { k *= 2u; break if k == 8u; } }",
     ["if (k > 9u) {", "k = k * 2u;", "break if k == 8u;"]),
    ("while (!(i < 3u)) { break; }", ["if (i < 3u) {"]),
    ("switch (i) { case 0, 4: { out[0] = 1u; } default: { } }",
     ["switch (i) {", "case 0u, 4u: {", "default: {"]),
    ("switch (i) { case 1: { if (out[0] == 2u) { break; } out[1] = 1u; } case default: { out[2] = 3u; } }",
     ["case 1u: {", "break;", "default: {"]),
    ("let r = frexp(f32(i)); out[i] = u32(r.exp);", ["frexp(f32(i))", ".exp"]),
    ("let r = modf(f32(i)); out[i] = u32(r.whole + r.fract);", ["= modf(f32(i));", ".whole", ".fract"]),
    ("out[i] = select(1u, 2u, i == 3u);", ["out[i] = select(1u, 2u, (i == 3u));"]),
    ("out[i] = bitcast<u32>(f32(i));", ["out[i] = bitcast<u32>(f32(i));"]),
    ("out[i] = countOneBits(i) + reverseBits(i) + firstLeadingBit(i);",
     ["out[i] = (countOneBits(i) + reverseBits(i)) + firstLeadingBit(i);"]),
    ("out[i] = arrayLength(&out);", ["out[i] = arrayLength(&out);"]),
    ("storageBarrier(); workgroupBarrier(); textureBarrier();",
     ["storageBarrier();", "workgroupBarrier();", "textureBarrier();"]),
]

# Sources in HLSL that have no WGSL form: what is said, and the line.
REFUSED = [
    ("double", "RWStructuredBuffer<uint> o : register(u0);\n[numthreads(1,1,1)] void main(uint3 i : SV_DispatchThreadID) {\n"
     "  double d = i.x;\n  o[0] = (uint)(d * 2.0L);\n}\n", "64 bits", 3),
    ("fall through", "RWStructuredBuffer<uint> o : register(u0);\n[numthreads(1,1,1)] void main(uint3 i : SV_DispatchThreadID) {\n"
     "  switch (i.x) {\n    case 0: o[0] = 1;\n    case 1: o[1] = 2; break;\n  }\n}\n", "falls through", 3),
    ("memory barrier", "[numthreads(1,1,1)] void main() {\n  GroupMemoryBarrier();\n}\n", "does not wait", 2),
]


class Work(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.path = pathlib.Path(self.folder.name)

    def kilnc(self, *arguments):
        return subprocess.run([KILNC, "compile", *map(str, arguments)], cwd=self.path, capture_output=True,
                              text=True, check=False, timeout=120)

    def emit(self, source, *entries, out="out", arguments=()):
        """Texts by stage."""
        words = [word for entry in entries for word in ("--entry", entry)]
        done = self.kilnc(source, *words, *arguments, "--form", "wgsl", "--out", out)
        self.assertEqual(done.returncode, 0, f"{source}: {done.stderr}")
        return {entry.split("=")[0]: (self.path / out / f"{entry.split('=')[0]}.wgsl").read_text()
                for entry in entries}

    def assert_fixed(self, text, entry):
        """What is written of `text` is `text`, and it is valid."""
        (self.path / "again.wgsl").write_text(text)
        stage = entry.split("=")[0]
        self.assertEqual(self.emit("again.wgsl", entry, out="again")[stage], text)
        done = self.kilnc("again.wgsl", "--entry", entry, "--out", "again")
        self.assertEqual(done.returncode, 0, done.stderr)
        valid = subprocess.run(["spirv-val", "--target-env", "vulkan1.3", self.path / "again" / f"{stage}.spv"],
                               capture_output=True, text=True, check=False)
        self.assertEqual(valid.returncode, 0, valid.stderr)


class Corpus(Work):
    def test_every_text_is_read_back_as_itself(self):
        sources = sorted((ROOT / "tests/wgsl_front/corpus").glob("*.wgsl"))
        self.assertGreaterEqual(len(sources), 30)
        for source in sources:
            entries = re.search(r"^// entries: (.*)$", source.read_text(), re.M)[1].split()
            texts = self.emit(source, *entries)
            for entry in entries:
                with self.subTest(source=source.name, entry=entry):
                    self.assert_fixed(texts[entry.split("=")[0]], entry)


class Text(Work):
    def test_statements(self):
        for statements, lines in LINES:
            with self.subTest(statements=statements):
                (self.path / "a.wgsl").write_text(STORE + MAIN.format(statements))
                text = self.emit("a.wgsl", "compute=main")["compute"]
                for line in lines:
                    self.assertIn(line, text)
                self.assert_fixed(text, "compute=main")

    def test_inputs_are_parameters_and_outputs_what_is_returned(self):
        (self.path / "a.wgsl").write_text("""struct V { @builtin(position) p : vec4f, @location(1) @interpolate(flat) k : u32 }
@vertex fn vs(@location(0) place : vec3f, @builtin(vertex_index) i : u32) -> V { return V(vec4f(place, 1.0), i); }
@fragment fn fs(v : V) -> @location(0) vec4f { return vec4f(f32(v.k)); }
""")
        texts = self.emit("a.wgsl", "vertex=vs", "fragment=fs")
        self.assertEqual(texts["vertex"], """struct vs_out {
  @builtin(position) p : vec4<f32>,
  @location(1) @interpolate(flat) k : u32,
}

@vertex
fn vs(@location(0) place : vec3<f32>, @builtin(vertex_index) i : u32) -> vs_out {
  return vs_out(vec4<f32>(place, 1.0f), i);
}
""")
        self.assertIn("-> @location(0) vec4<f32> {", texts["fragment"])
        for stage, name in (("vertex", "vs"), ("fragment", "fs")):
            self.assert_fixed(texts[stage], f"{stage}={name}")

    def test_workgroup_memory_is_not_written_with_zero(self):
        (self.path / "a.wgsl").write_text(STORE + "var<workgroup> w : array<vec2u, 9>;\n"
                                          + MAIN.format("w[i].x = i; workgroupBarrier(); out[i] = w[0].x;"))
        text = self.emit("a.wgsl", "compute=main")["compute"]
        self.assertEqual(text.count("workgroupBarrier"), 1)
        self.assertEqual(text.count("w["), 2)
        self.assert_fixed(text, "compute=main")

    def test_memory_that_is_written_before_is_written_with_zero(self):
        (self.path / "a.wgsl").write_text(STORE + "var<workgroup> w : array<u32, 9>;\n" + MAIN.format(
            "w[i] = 4u; if (i == 0u) { w[1] = 0u; } workgroupBarrier(); out[i] = w[1];"))
        text = self.emit("a.wgsl", "compute=main")["compute"]
        self.assertIn("w[1u] = 0u;", text)
        self.assert_fixed(text, "compute=main")

    def test_sizes_stand_where_the_source_has_them(self):
        (self.path / "a.wgsl").write_text("struct S { a : f32, @align(16) b : vec2f, c : u32 }\n"
                                          "@group(0) @binding(0) var<storage, read_write> s : S;\n"
                                          + MAIN.format("s.b.x = s.a; s.c = i;"))
        text = self.emit("a.wgsl", "compute=main")["compute"]
        self.assertIn("  @size(16) a : f32,\n  b : vec2<f32>,\n  c : u32,\n", text)
        self.assert_fixed(text, "compute=main")

    def test_names_that_wgsl_will_not_have_get_a_number(self):
        (self.path / "a.hlsl").write_text("RWStructuredBuffer<uint> fn : register(u0);\nuint var_of(uint var) { return var + 1; }\n"
                                          "[numthreads(2,1,1)] void main(uint3 loop : SV_DispatchThreadID) { fn[loop.x] = var_of(loop.x); }\n")
        text = self.emit("a.hlsl", "compute=main")["compute"]
        for part in ("fn_1", "fn var_of(var_1 : u32)", "loop_1"):
            self.assertIn(part, text)
        self.assert_fixed(text, "compute=main")

    def test_overloads_and_versions_have_numbers(self):
        (self.path / "a.wgsl").write_text(
            "@group(0) @binding(0) var<storage, read_write> a : array<u32>;\n"
            "@group(0) @binding(1) var<storage, read_write> b : array<u32>;\n"
            "fn put(p : ptr<storage, array<u32>, read_write>, put_1 : u32) { (*p)[0] = put_1; }\n"
            + MAIN.format("put(&a, i); put(&b, i);"))
        text = self.emit("a.wgsl", "compute=main")["compute"]
        self.assertEqual(re.findall(r"fn (put\w*)\((\w+) :", text), [("put", "put_1"), ("put_2", "put_1")])
        self.assert_fixed(text, "compute=main")

    def test_hlsl_is_wgsl(self):
        (self.path / "a.hlsl").write_text("""cbuffer Frame : register(b0) { float4 tint; float scale; };
Texture2D<float4> Map : register(t1);
SamplerState Linear : register(s2);
float4 main(float2 uv : TEXCOORD0) : SV_Target { clip(uv.x - 0.5); return Map.Sample(Linear, uv * scale) * tint; }
""")
        text = self.emit("a.hlsl", "fragment=main")["fragment"]
        for part in ("struct Frame_block", "textureSample(Map, Linear,", "discard;", "-> @location(0) vec4<f32>"):
            self.assertIn(part, text)
        self.assert_fixed(text, "fragment=main")


class Refused(Work):
    def test_what_has_no_form_is_told_with_its_place(self):
        for name, source, part, line in REFUSED:
            with self.subTest(name=name):
                (self.path / "a.hlsl").write_text(source)
                done = self.kilnc("a.hlsl", "--entry", "compute=main", "--form", "wgsl", "--out", "out")
                self.assertEqual(done.returncode, 1, done.stderr)
                self.assertIn("WGSL8202", done.stderr)
                self.assertIn(part, done.stderr)
                self.assertRegex(done.stderr, rf"a\.hlsl:{line}\b")
                self.assertFalse((self.path / "out/compute.wgsl").exists())
                spirv = self.kilnc("a.hlsl", "--entry", "compute=main", "--out", "out")
                self.assertEqual(spirv.returncode, 0, spirv.stderr)


if __name__ == "__main__":
    KILNC = str(pathlib.Path(sys.argv.pop(1)).resolve())
    ROOT = pathlib.Path(sys.argv.pop(1)).resolve()
    unittest.main()
