# SPDX-License-Identifier: MIT
"""A program with images that only HLSL has, through everything: compiler, daemon, build, pack, the
runtime that makes pipelines of the pack, and a picture.

usage: hlsl_images_cli_test.py BUILD_FOLDER ROOT
"""
import json
import unittest

from cli_case import CliCase
from hlsl_cli_test import SOFTWARE, pixels_of

SOURCE = """#include "scene.hlsli"
SamplerState point_clamp : register(s0, space1);
Buffer<float4> palette : register(t1, space1);
Buffer<uint> order[2] : register(t2, space1);
Texture1D<float4> ramp : register(t3, space1);
TextureCubeArray<float4> probes : register(t4, space1);
Texture2DMS<float4> resolved : register(t5, space1);
Texture2DMSArray<uint> masks : register(t6, space1);
ConstantBuffer<Tint> tints[3] : register(b7, space1);
SamplerState others[2] : register(s8, space1);

float4 vs_main(float3 position : POSITION) : SV_Position { return float4(position.xy, 0.5, 1); }

float4 ps_main(float4 at : SV_Position) : SV_Target {
    uint width;
    ramp.GetDimensions(width);
    float zero = masks.Load(int3(0, 0, 0), 1) - 1 + tints[2].colour.x + (order[1][0] == 0) + width - 1;
    return float4(palette[1].x + zero, resolved.Load(int2(0, 0), 2).x,
                  probes.Sample(point_clamp, float4(0, 0, 1, 0)).z * ramp.Sample(others[1], 0.5).x, 1);
}

RWBuffer<float> bars : register(u0);
RWTexture1D<float> line_out : register(u1);
RWTexture1DArray<uint> counts : register(u2);

[numthreads(1, 1, 1)]
void cs_main(uint3 id : SV_DispatchThreadID) {
    bars[id.x] = palette[0].x;
    line_out[id.x] = bars[1];
    InterlockedAdd(counts[uint2(0, 0)], 1);
}
"""
SCENE = "struct Tint { float4 colour; };\n"
MANIFEST = """[project]
manifest = 1
name = "scene"
[[program]]
name = "scene"
sources = ["scene.hlsl"]
entry_points = { vertex = "vs_main", fragment = "ps_main" }
[[program]]
name = "bars"
sources = ["scene.hlsl"]
pipeline = "compute"
entry_points = { compute = "cs_main" }
"""
# As metadata, and as descriptions of pipelines, have the resources of set 1.
IMAGES = {"palette": "texel_buffer", "order": "texel_buffer", "ramp": "image_color_1d",
          "probes": "image_color_cube_array", "resolved": "image_color_2d_ms",
          "masks": "image_color_2d_ms_array"}
BINDINGS = ["set 1 binding 0 SAMPLER count=1 point_clamp",
            "set 1 binding 1 UNIFORM_TEXEL_BUFFER count=1 palette",
            "set 1 binding 2 UNIFORM_TEXEL_BUFFER count=2 order",
            "set 1 binding 3 SAMPLED_IMAGE count=1 ramp",
            "set 1 binding 4 SAMPLED_IMAGE count=1 probes",
            "set 1 binding 7 UNIFORM_BUFFER count=3 tints",
            "set 1 binding 8 SAMPLER count=2 others",
            "set 0 binding 0 STORAGE_TEXEL_BUFFER count=1 bars",
            "set 0 binding 1 STORAGE_IMAGE count=1 line_out",
            "set 0 binding 2 STORAGE_IMAGE count=1 counts"]
ENTRIES = ["--entry", "vertex=vs_main", "--entry", "fragment=ps_main"]


class Images(CliCase):
    def setUp(self):
        super().setUp()
        self.write("scene.hlsl", SOURCE)
        self.write("scene.hlsli", SCENE)
        self.write("kiln.toml", MANIFEST)

    def test_metadata_are_read_by_everything_that_shows_them(self):
        self.expect(self.run_program("kilnc", "compile", "scene.hlsl", *ENTRIES, "--out", "out", "--meta",
                                     "meta.json"), 0)
        sets = json.loads((self.dir / "meta.json").read_text())["sets"]
        images = {row["name"]: row for row in sets["material"]["images"]}
        self.assertEqual({name: row["type"] for name, row in images.items()}, IMAGES)
        self.assertEqual(images["order"]["imageArraySize"], 2)
        self.assertEqual({name for name, row in images.items() if row["item"] == "uint"},
                         {"order", "masks"})
        for view in ("meta", "layout"):
            shown = self.kiln("inspect", "scene", "--view", view)
            self.expect(shown, 0, *IMAGES.values())

    def test_the_daemon_makes_what_the_compiler_makes(self):
        for out, program in (("here", "kilnc"), ("there", "kiln")):
            self.expect(self.run_program(program, "compile", "scene.hlsl", *ENTRIES, "--out", out), 0)
        words = [sorted(path.read_bytes() for path in (self.dir / out).glob("*.spv"))
                 for out in ("here", "there")]
        self.assertEqual(words[0], words[1])
        self.assertEqual(len(words[0]), 2)

    def test_a_pack_becomes_pipelines_that_draw(self):
        self.expect(self.kiln("build", "--out", "out"), 0)
        self.expect(self.kiln("pack", "build", "--out", "scene.kpack"), 0)
        self.expect(self.kiln("pack", "verify", "scene.kpack"), 0)
        self.expect(self.kiln("inspect", "scene.kpack:scene", "--view", "meta"), 0, *IMAGES.values())
        made = self.run_program("pack_pipelines", "scene.kpack", env={**self.env, **SOFTWARE})
        self.expect(made, 0, *BINDINGS, "needs image_cube_array", "drawn 2")

    def test_a_picture_has_what_stands_in(self):
        # The second tint of the palette, the grey of samples, blue of a probe by red of the ramp.
        self.expect(self.kiln("preview", "scene", "--size", "32x32", "--set",
                              "tints.colour=0,0,0,0", "--out", "picture.png",
                              env={**self.env, **SOFTWARE}), 0)
        pixels = [pixel[:3] for pixel in pixels_of((self.dir / "picture.png").read_bytes())]
        red, green, blue = pixels[16 * 32 + 16]
        self.assertEqual((red, blue), (128, 255))
        self.assertIn(green, (127, 128))


if __name__ == "__main__":
    unittest.main(argv=["hlsl_images_cli_test"], verbosity=2)
