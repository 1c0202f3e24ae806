// SPDX-License-Identifier: MIT
#include "compiler/layout/reflection/reflection.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "tests/support/program_writer.h"

namespace kiln::layout {
namespace {

Json Reflect(ProgramWriter& w, Platform platform, const std::vector<ParameterUsage>& usage = {}) {
  const ProgramLayout layout = w.Run(platform);
  EXPECT_TRUE(layout.ok());
  return Json::parse(ReflectionJson(w.program(), layout, w.bytes(), usage));
}

Hash128 HashOf(ProgramWriter& w) {
  const ProgramLayout layout = w.Run(Platform::kVulkan);
  return LayoutHash(w.program(), layout, w.bytes());
}

// The example of the specification.
TEST(Reflection, LooseStructAndTexture_AreDescribed) {
  ProgramWriter w;
  w.Struct("Light", {{"pos", "vec3<f32>"}, {"map", "Texture2D"}});
  w.Add("light", "Light");
  w.Add("t", "Texture2D");
  w.Entry("shade", "fragment").parameters = {
      {.varying = Varying{.name = "uv", .type = w.Type("vec2<f32>")}}};
  Json found = Reflect(w, Platform::kVulkan, {{"light", {"fragment"}}, {"t", {}}});
  EXPECT_EQ(found["layout_hash"].get<std::string>().size(), 32u);
  found.erase("layout_hash");
  EXPECT_EQ(found, Json::parse(R"({ "version": 1, "target": "vulkan", "policy": "first_fit",
    "pack": "per_variant",
    "parameters": [
      { "name": "light", "unit": "u0", "type": "Light", "explicit": false,
        "leaves": [ { "path": "light.map", "type": "Texture2D", "kind": "slot", "space": 0,
                      "index": 1, "count": 1, "strides": [] } ] },
      { "name": "t", "unit": "u0", "type": "Texture2D", "explicit": false,
        "leaves": [ { "path": "t", "type": "Texture2D", "kind": "slot", "space": 0,
                      "index": 2, "count": 1, "strides": [] } ] } ],
    "globals": { "kind": "slot", "space": 0, "index": 0,
      "block": { "rules": "std140", "size": 16, "align": 16, "main_size": 16,
        "members": [ { "path": "light", "type": "Light", "offset": 0, "size": 16 },
                     { "path": "light.pos", "type": "vec3<f32>", "offset": 0, "size": 12 } ] } },
    "vertex_buffers": [], "push": null, "spec": [],
    "entry_points": [ { "name": "shade", "stage": "fragment",
      "in": [ { "name": "uv", "type": "vec2<f32>", "location": 0, "count": 1 } ], "out": [] } ],
    "usage": { "light": ["fragment"], "t": [] } })"));
}

TEST(Reflection, ElementsOfBuffers_HaveAStride) {
  ProgramWriter w;
  w.Struct("S", {{"a", "vec3<f32>"}});
  w.Add("s", "StructuredBuffer<S>[2]");
  const Json found = Reflect(w, Platform::kD3d12);
  const Json& leaf = found["parameters"][0]["leaves"][0];
  EXPECT_EQ(leaf["element"]["element_stride"], 12);
  EXPECT_EQ(leaf["count"], 2);
  EXPECT_EQ(leaf["strides"], Json::array({1}));
}

TEST(LayoutHash, DependsOnTheInterfaceOnly) {
  ProgramWriter a;
  a.Add("t", "Texture2D");
  const Hash128 plain = HashOf(a);
  a.Entry("main", "vertex").parameters = {
      {.varying = Varying{.name = "uv", .type = a.Type("vec2<f32>")}}};
  EXPECT_EQ(HashOf(a), plain);
  a.Add("s", "SamplerState");
  EXPECT_NE(HashOf(a), plain);
}

}  // namespace
}  // namespace kiln::layout
