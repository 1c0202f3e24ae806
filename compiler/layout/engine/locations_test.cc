// SPDX-License-Identifier: MIT
#include "compiler/layout/engine/locations.h"

#include <gtest/gtest.h>

#include "tests/support/program_writer.h"

namespace kiln::layout {
namespace {

// The lines of the dump that are about entry points.
std::string Entries(ProgramWriter& w, Platform platform = Platform::kVulkan) {
  const std::string text = w.Text(platform);
  const size_t entry = text.find("entry ");
  return entry == std::string::npos ? text : text.substr(entry);
}

Varying In(ProgramWriter& w, std::string_view name, std::string_view type) {
  return {.name = name, .type = w.Type(type)};
}
Varying Out(ProgramWriter& w, std::string_view name, std::string_view type) {
  return {.name = name, .type = w.Type(type), .direction = Direction::kOut};
}

TEST(Locations, Widths_FollowTheType) {
  ProgramWriter w;
  w.Struct("S", {{"x", "f32"}, {"m", "mat_r2c3<f32>[2]"}});
  w.Entry("main", "vertex").parameters = {{.varying = In(w, "a", "vec3<f64>")},
                                          {.varying = In(w, "b", "f32[4]")},
                                          {.varying = In(w, "s", "S")},
                                          {.varying = In(w, "e", "u32")}};
  EXPECT_EQ(Entries(w),
            "entry main vertex\n"
            "  in 0 a vec3<f64>\n"
            "  in 2 b f32[4]\n"
            "  in 6 s.x f32\n"
            "  in 7 s.m mat_r2c3<f32>[2]\n"
            "  in 13 e u32\n");
  w.settings().matrices_by_row = true;
  EXPECT_NE(Entries(w).find("  in 11 e u32\n"), std::string::npos);
}

TEST(Locations, Directions_AreCountedApart_AndBuiltinsTakeNone) {
  ProgramWriter w;
  Varying position = In(w, "coord", "vec4<f32>");
  position.builtin = "position";
  Varying flat = In(w, "id", "u32");
  flat.interpolation = "flat";
  w.Entry("shade", "fragment").parameters = {{.varying = In(w, "uv", "vec2<f32>")},
                                             {.varying = position},
                                             {.varying = flat},
                                             {.varying = Out(w, "colour", "vec4<f32>")}};
  EXPECT_EQ(Entries(w),
            "entry shade fragment\n"
            "  in 0 uv vec2<f32>\n"
            "  in - coord vec4<f32> builtin position\n"
            "  in 1 id u32 flat\n"
            "  out 0 colour vec4<f32>\n");
}

TEST(Locations, SemanticOfAStruct_OverridesThoseInside_AndCountsUpward) {
  ProgramWriter w;
  w.Struct("S", {{"x", "f32"}, {"y", "vec2<f32>[2]"}, {"z", "f32"}});
  Varying s = In(w, "s", "S");
  s.semantic = "TEXCOORD";
  s.semantic_index = 3;
  Varying inner = In(w, "x", "f32");
  inner.semantic = "NORMAL";
  s.fields = {inner, In(w, "y", "vec2<f32>[2]"), In(w, "z", "f32")};
  w.Entry("main", "vertex").parameters = {{.varying = s}};
  EXPECT_EQ(Entries(w),
            "entry main vertex\n"
            "  in 0 s.x f32 semantic TEXCOORD3\n"
            "  in 1 s.y vec2<f32>[2] semantic TEXCOORD4\n"
            "  in 3 s.z f32 semantic TEXCOORD6\n");
}

TEST(Locations, Targets_TakeTheirIndex_OthersTheLowestFree) {
  ProgramWriter w;
  Varying second = Out(w, "second", "vec4<f32>");
  second.semantic = "sv_target";
  second.semantic_index = 0;
  w.Entry("main", "fragment").parameters = {{.varying = Out(w, "first", "f32")},
                                            {.varying = second}};
  EXPECT_EQ(Entries(w),
            "entry main fragment\n"
            "  out 1 first f32\n"
            "  out 0 second vec4<f32> semantic sv_target0\n");
}

TEST(Locations, WrittenLocations_AreHonoured_AndMustNotMeet) {
  ProgramWriter w;
  Varying a = In(w, "a", "vec4<f32>[2]");
  a.location = 3;
  Varying b = In(w, "b", "f32");
  b.location = 4;
  w.Entry("main", "vertex").parameters = {{.varying = a}, {.varying = b}};
  EXPECT_EQ(w.Messages(Platform::kVulkan), "LAY2001 'b' overlaps 'a' at location 4");
  w.program().units[0].entry_points[0].parameters[1].varying->location = 5;
  EXPECT_EQ(Entries(w),
            "entry main vertex\n"
            "  in 3 a vec4<f32>[2]\n"
            "  in 5 b f32\n");
}

}  // namespace
}  // namespace kiln::layout
