// SPDX-License-Identifier: MIT
// What stands in modules of WGSL, by the rules of spec/wgsl. Whether modules are valid is asked of
// validators (validators_test.py); here it is asked whether they say what they should.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "compiler/artifact/metadata_json.h"
#include "tests/wgsl/emitted_program.h"

namespace kiln::wgsl {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

// The body of a compute program over one buffer of every scalar.
std::string Compute(const std::string& body, const std::string& globals = "") {
  return "rpl 2;\nset_pass read_write_storage_buffer data { u4 ints; s4 sints; f4 floats; u1 "
         "result; };\n" +
         globals + "void main (void)\n{\n" + body + "\n}\n";
}

std::string Emitted(const std::string& body, const std::string& globals = "") {
  const EmittedProgram emitted = EmitText(Compute(body, globals), "compute:main");
  EXPECT_EQ(emitted.texts.size(), 1u) << emitted.messages;
  return emitted.texts.empty() ? emitted.messages : emitted.texts[0];
}

// --- operators
TEST(WgslRows, ModulusOfSignedIntegers_IsAHelper) {
  const std::string text = Emitted("data.sints = data.sints % data.sints.yzwx;");
  EXPECT_THAT(text, HasSubstr("fn kiln__modulus_4("));
  EXPECT_THAT(text, HasSubstr("data.sints = kiln__modulus_4(data.sints, data.sints.yzwx);"));
}

TEST(WgslRows, ShiftOfSignedIntegers_BringsZeros) {
  EXPECT_THAT(
      Emitted("data.sints.x = data.sints.y >> data.sints.z;"),
      HasSubstr("bitcast<i32>((bitcast<u32>(data.sints.y) >> bitcast<u32>(data.sints.z)))"));
  EXPECT_THAT(Emitted("data.sints.x = shift_right_arithmetic_s1 (data.sints.y, data.sints.z);"),
              HasSubstr("data.sints.y >> bitcast<u32>(data.sints.z)"));
}

TEST(WgslRows, ConstantsThatFail_GoThroughAVariable) {
  EXPECT_THAT(Emitted("data.result = data.ints.x / 0u;"), HasSubstr("var _1 : u32 = 0u;"));
  EXPECT_THAT(Emitted("data.result = data.ints.x / 3u;"), HasSubstr("data.ints.x / 3u;"));
  EXPECT_THAT(Emitted("data.result = data.ints.x << 32u;"), HasSubstr("var _1 : u32 = 32u;"));
  EXPECT_THAT(Emitted("data.result = data.ints.x << 31u;"), HasSubstr("data.ints.x << 31u;"));
  EXPECT_THAT(Emitted("data.floats.x = sqrt_f1 (-1.0);"), HasSubstr(" = sqrt(_"));
  EXPECT_THAT(Emitted("data.floats.x = clamp_f1 (data.floats.y, 1.0, 0.0);"),
              HasSubstr("clamp(data.floats.y, _1, 0.0f)"));
  EXPECT_THAT(Emitted("data.floats.x = clamp_f1 (data.floats.y, 0.0, 1.0);"),
              HasSubstr("clamp(data.floats.y, 0.0f, 1.0f)"));
}

TEST(WgslRows, ScalarsThatWgslDoesNotReflect_HaveAHelper) {
  EXPECT_THAT(Emitted("data.floats.x = reflect_f1 (data.floats.x, data.floats.y);"),
              HasSubstr("kiln__reflect_f32(data.floats.x, data.floats.y)"));
  EXPECT_THAT(Emitted("data.floats.xy; f2 v = reflect_f2 (data.floats.xy, data.floats.zw); "
                      "data.floats.x = v.x;"),
              HasSubstr("reflect(data.floats.xy, data.floats.zw)"));
}

// --- text
TEST(WgslText, RightOperandThatIsACall_RunsOnlyIfNeeded) {
  const std::string text =
      Emitted("if (data.ints.x == 0u && asked (data.ints.y) == 1u) { data.result = 1u; }",
              "u1 asked (in u1 x) { data.result = x; return x; }\n");
  EXPECT_THAT(text, HasSubstr("  var _2 : bool = data.ints.x == 0u;\n"
                              "  if (_2) {\n"
                              "    let _1 : u32 = asked(data.ints.y);\n"
                              "    _2 = _1 == 1u;\n"
                              "  }\n"
                              "  if (_2) {\n"));
}

TEST(WgslText, LoopThatContinues_RunsItsStep) {
  const std::string text = Emitted(
      "for (u1 i = 0u; i < 4u; i = i + 1u) { if (i == data.ints.x) { continue; } data.result = i; "
      "}");
  EXPECT_THAT(text, HasSubstr("    if (!(i < 4u)) { break; }\n"));
  EXPECT_THAT(text, HasSubstr("        continue;\n"));
  EXPECT_THAT(text, HasSubstr("    continuing {\n      i = i + 1u;\n    }\n"));
}

TEST(WgslText, LoadBeforeAStore_KeepsItsValue) {
  const std::string text = Emitted("u1 old = data.result; data.result = 3u; data.ints.x = old;");
  EXPECT_THAT(text, HasSubstr("old = data.result;\n  data.result = 3u;\n  data.ints.x = old;\n"));
  const std::string sum =
      Emitted("data.ints.x = data.result + bump ();",
              "u1 bump (void) { data.result = data.result + 1u; return 1u; }\n");
  EXPECT_THAT(sum, HasSubstr("let _1 : u32 = data.result;\n  let _2 : u32 = bump();\n"
                             "  data.ints.x = _1 + _2;\n"));
}

TEST(WgslText, DiscardInALoop_LeavesIt) {
  const EmittedProgram emitted = EmitText(
      "state_container s { f1 x; };\ncolor_output_container t { f4 c; };\n"
      "void cut (void) { if (s.x < 0.5) { fragment_stage_discard (); } }\n"
      "void main (void) { for (u1 i = 0u; i < 4u; i = i + 1u) { cut (); } cut (); t.c = f4 {1.0}; "
      "}\n",
      "fragment:main");
  ASSERT_EQ(emitted.texts.size(), 1u) << emitted.messages;
  EXPECT_THAT(emitted.texts[0], HasSubstr("    kiln__discarded = true;\n    discard;\n  }\n"));
  EXPECT_THAT(emitted.texts[0],
              HasSubstr("      cut();\n      if (kiln__discarded) { return; }\n"));
  EXPECT_THAT(emitted.texts[0], HasSubstr("  }\n  cut();\n  t__c = "));
}

// --- inputs and outputs
TEST(WgslInterface, MatrixAttribute_GoesByColumns) {
  const EmittedProgram emitted = EmitText(
      "instanced_attribute_container p { f4x4 m; };\nvertex_attribute_container a { u1 id; f3 x; "
      "};\n"
      "state_container s { u1 id; };\n"
      "void main (void) { s.id = a.id; vertex_stage_output_position (p.m * f4 {a.x, 1.0}); }\n",
      "vertex:main");
  ASSERT_EQ(emitted.texts.size(), 1u) << emitted.messages;
  EXPECT_THAT(emitted.texts[0], HasSubstr("@location(1) p__m__1__arg : vec4<f32>"));
  EXPECT_THAT(emitted.texts[0], HasSubstr("p__m[3u] = p__m__3__arg;"));
  EXPECT_THAT(emitted.texts[0], HasSubstr("@location(0) @interpolate(flat) s__id : u32"));
  EXPECT_THAT(emitted.texts[0], Not(HasSubstr("@interpolate(flat) a__id")));
}

TEST(WgslInterface, VertexStage_ReturnsWhatTheFragmentStageReads) {
  const EmittedProgram emitted = EmitText(
      "state_container s { f1 x; f1 y; };\ncolor_output_container t { f4 c; };\n"
      "void v (void) { vertex_stage_output_position (f4 {0.0}); }\nvoid f (void) { t.c = f4 {s.y}; "
      "}\n",
      "vertex:v fragment:f");
  ASSERT_EQ(emitted.texts.size(), 2u) << emitted.messages;
  EXPECT_THAT(emitted.texts[0], HasSubstr("@location(1) s__y : f32"));
  EXPECT_THAT(emitted.texts[0], Not(HasSubstr("s__x")));
}

TEST(WgslInterface, WorkgroupId_IsHandedFromFunctionToFunction) {
  const std::string text = Emitted("data.result = outer (1u);",
                                   "u1 inner (void) { return compute_stage_workgroup_id ().x; "
                                   "}\nu1 outer (in u1 a) { return a + inner (); }\n");
  EXPECT_THAT(text, HasSubstr("fn inner(kiln__workgroup_id : vec3<u32>) -> u32 {"));
  EXPECT_THAT(text, HasSubstr("fn outer(a : u32, kiln__workgroup_id : vec3<u32>) -> u32 {"));
  EXPECT_THAT(text, HasSubstr("inner(kiln__workgroup_id)"));
  EXPECT_THAT(text, HasSubstr("main__inner(kiln__workgroup_id__arg);"));
}

TEST(WgslInterface, Combined_HasBothVersionsOfAFunctionThatSamples) {
  target::Target target = WgslTarget();
  target.combined = true;
  const EmittedProgram emitted = EmitText(
      "set_pass sampler s;\nset_pass image_color_2d i;\ncolor_output_container t { f4 c; };\n"
      "f4 look (void) { return sample (s, i, f2 {0.5}); }\n"
      "void v (void) { vertex_stage_output_position (look ()); }\nvoid f (void) { t.c = look (); "
      "}\n",
      "vertex:v fragment:f", target);
  ASSERT_EQ(emitted.texts.size(), 1u) << emitted.messages;
  EXPECT_THAT(emitted.texts[0],
              HasSubstr("fn look__vertex() -> vec4<f32> {\n  return textureSampleLevel("));
  EXPECT_THAT(emitted.texts[0],
              HasSubstr("fn look__fragment() -> vec4<f32> {\n  return textureSample("));
}

// --- memory
constexpr char kCounters[] =
    "struct cell_t { u1 count; f4 sum; };\n"
    "set_pass read_write_storage_buffer grid { cell_t[4] cells; u1 plain; };\nworkgroup u1 "
    "total;\n";

TEST(WgslMemory, AtomicMember_IsAtomicWhereverItIsUsed) {
  const std::string text = Emitted(
      "data.result = atomic_add (grid.cells[data.ints.x].count, 1u);\n"
      "grid.cells[0].count = 7u;\ncell_t one = grid.cells[1];\ngrid.plain = one.count;",
      kCounters);
  EXPECT_THAT(text,
              HasSubstr("struct cell_t__a1 {\n  count : atomic<u32>,\n  sum : vec4<f32>,\n}\n"));
  EXPECT_THAT(text, HasSubstr("cells : array<cell_t__a1, 4>,\n  plain : u32,\n"));
  EXPECT_THAT(text, HasSubstr("= atomicAdd(&grid.cells[data.ints.x].count, 1u);"));
  EXPECT_THAT(text, HasSubstr("atomicStore(&grid.cells[0u].count, 7u);"));
  EXPECT_THAT(text, HasSubstr(".count = atomicLoad(&grid.cells[1u].count);"));
}

TEST(WgslMemory, WithoutAtomics_MemoryIsPlain) {
  EXPECT_THAT(Emitted("grid.cells[0].count = 7u;", kCounters), Not(HasSubstr("atomic")));
}

TEST(WgslMemory, CompareExchange_IsTriedAgain) {
  const std::string text =
      Emitted("data.result = atomic_compare_exchange (total, data.ints.x, 2u);", kCounters);
  EXPECT_THAT(text, HasSubstr("var<workgroup> total : atomic<u32>;"));
  EXPECT_THAT(text, HasSubstr("atomicCompareExchangeWeak(&total, "));
  EXPECT_THAT(text, HasSubstr(".exchanged || ("));
}

TEST(WgslMemory, AtomicOnAComponent_IsRefused) {
  EXPECT_THAT(
      EmitText(Compute("data.result = atomic_add (data.ints.x, 1u);"), "compute:main").messages,
      HasSubstr("WGSL8202"));
}

TEST(WgslMemory, StructThatEndsInARuntimeArray_GivesItsMembersToTheBlock) {
  const std::string text = Emitted(
      "data.floats = list.tail.items[data.ints.x]; data.result = array_length (list.tail.items);",
      "struct tail_t { f1 scale; f4... items; };\nset_pass read_only_storage_buffer list { f1 "
      "head; tail_t tail; };\n");
  EXPECT_THAT(text,
              HasSubstr("struct list__block {\n  @size(16) head : f32,\n  tail__scale : f32,\n"
                        "  tail__items : array<vec4<f32>>,\n}\n"));
  EXPECT_THAT(text, HasSubstr("arrayLength(&list.tail__items)"));
}

// --- textures
std::string Fragment(const std::string& resources, const std::string& value) {
  const EmittedProgram emitted = EmitText(
      "rpl 2;\nstate_container s { f2 uv; u1 i; };\ncolor_output_container t { f4 c; };\n" +
          resources + "void main (void) { t.c = f4 {" + value + "}; }\n",
      "fragment:main");
  return emitted.texts.empty() ? emitted.messages : emitted.texts[0];
}

TEST(WgslTextures, Layer_IsAnArgument) {
  EXPECT_THAT(Fragment("set_pass sampler p;\nset_pass image_color_2d_array a;\n",
                       "sample (p, a, s.i, s.uv)"),
              HasSubstr("textureSample(a, p, s__uv, s__i)"));
}

TEST(WgslTextures, DepthImage_GivesOneNumber) {
  const std::string text =
      Fragment("set_pass sampler p;\nset_pass image_depth_2d d;\n", "sample_lod (p, d, s.uv, 0.0)");
  EXPECT_THAT(text, HasSubstr("vec4<f32>(textureSampleLevel(d, p, s__uv, 0i), 0.0f, 0.0f, 1.0f)"));
}

TEST(WgslTextures, SamplerThatCompares_IsOfThatKindInParametersToo) {
  const EmittedProgram emitted = EmitText(
      "color_output_container t { f4 c; };\nset_pass sampler p;\nset_pass image_depth_2d d;\n"
      "f1 lit (in sampler q) { return sample_dref (q, d, f2 {0.5}, 0.5); }\nvoid main (void) { t.c "
      "= f4 {lit (p)}; }\n",
      "fragment:main");
  ASSERT_EQ(emitted.texts.size(), 1u) << emitted.messages;
  EXPECT_THAT(emitted.texts[0], HasSubstr("var p : sampler_comparison;"));
  EXPECT_THAT(emitted.texts[0], HasSubstr("fn lit(q : sampler_comparison) -> f32 {"));
}

TEST(WgslTextures, ArrayOfImages_IsAVariableForEachElement) {
  const std::string text =
      Fragment("set_pass sampler p;\nset_pass image_color_2d[3] a;\n", "sample (p, a[s.i], s.uv)");
  EXPECT_THAT(text, HasSubstr("@group(0) @binding(1) var a__0 : texture_2d<f32>;"));
  EXPECT_THAT(text, HasSubstr("@group(0) @binding(512) var a__1 : texture_2d<f32>;"));
  EXPECT_THAT(text, HasSubstr("default: { _4 = textureSampleGrad(a__2, p, _1, _2, _3); }"));
  EXPECT_THAT(
      Fragment("set_pass sampler p;\nset_pass image_color_2d[3] a;\n", "sample (p, a[1], s.uv)"),
      HasSubstr("textureSample(a__1, p, s__uv)"));
}

TEST(WgslTextures, PushConstant_IsAUniformBuffer) {
  const std::string text = Fragment("push_constant tint { f4 color; };\n", "tint.color");
  EXPECT_THAT(text, HasSubstr("@group(3) @binding(999) var<uniform> tint : tint__block;"));
}

TEST(WgslTextures, SpecialisedOption_IsAnOverride) {
  EXPECT_THAT(Emitted("data.result = data.ints.x / taps;", "instance specialize taps: uint 4;\n"),
              HasSubstr("@id(0) override taps : u32 = 4u;"));
}

// --- limits: at the limit and above
TEST(WgslLimits, SampledTextures_AtMostSixteen) {
  const auto with = [](int count) {
    return Fragment(
        "set_pass sampler p;\nset_pass image_color_2d[" + std::to_string(count) + "] a;\n",
        "sample (p, a[s.i], s.uv)");
  };
  EXPECT_THAT(with(16), HasSubstr("a__15"));
  EXPECT_THAT(with(17), HasSubstr("WGSL8206 17 sampled textures, the target allows 16"));
}

TEST(WgslLimits, WorkgroupMemory_AtMost16KiB) {
  const auto with = [](int count) {
    return EmitText(Compute("many[0] = f4 {1.0}; data.floats = many[1];",
                            "workgroup f4[" + std::to_string(count) + "] many;\n"),
                    "compute:main")
        .messages;
  };
  EXPECT_THAT(with(1024), Not(HasSubstr("WGSL8206")));
  EXPECT_THAT(with(1025), HasSubstr("WGSL8206 16400 bytes of workgroup memory"));
}

// --- metadata
TEST(WgslMetadata, Artifact_ListsNamesAndBindings) {
  const EmittedProgram emitted = EmitText(
      "state_container s { f2 uv; };\ncolor_output_container t { f4 vec4; };\nset_pass sampler p;\n"
      "set_pass image_color_2d[2] a;\nf1 sin (void) { return 0.5; }\n"
      "void main (void) { t.vec4 = sample (p, a[1], s.uv) * sin (); }\n",
      "fragment:main");
  ASSERT_FALSE(emitted.metadata.empty()) << emitted.messages;
  const Result<std::string> json = artifact::MetadataJson(emitted.metadata);
  ASSERT_TRUE(json.ok());
  EXPECT_THAT(*json, HasSubstr("\"e__sin\""));
  EXPECT_THAT(*json, HasSubstr("\"a[1]\""));
  EXPECT_THAT(*json, HasSubstr("\"texture_2d\\u003cf32\\u003e\""));
  EXPECT_THAT(*json, HasSubstr("512"));
}

}  // namespace
}  // namespace kiln::wgsl
