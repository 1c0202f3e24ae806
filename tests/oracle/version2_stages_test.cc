// SPDX-License-Identifier: MIT
// Stage values, derivatives, specialised options and narrow floats of version 2 mean the same in
// the interpreter and on lavapipe. See spec/rpl 14.1, 14.2, 14.8, 14.9
#include <algorithm>

#include <fmt/format.h>

#include "compiler/base/bytes.h"
#include "runtime/vk/buffer.h"
#include "tests/oracle/operator_fixture.h"
#include "tests/support/pixel_rig_gpu.h"

namespace kiln::oracle {
namespace {

class Version2Stages : public OperatorFixture {
 protected:
  static Samples Inputs() {
    std::mt19937 random(15);
    Samples samples;
    FillFloats(samples, random, 0, 8, {.low = -4, .high = 4, .dyadic = true});
    FillUnsigned(samples, random, 0, 3, {});
    FillSigned(samples, random, 0, 3, {.low = INT32_MIN + 1});
    return samples;
  }

  static void Decided(const VariantRequest& request, const PixelRig::Extra& extra = {}) {
    EXPECT_EQ(AgreeOn(request, Inputs(), extra).open, 0U) << request.sources.back();
  }
};

TEST_F(Version2Stages, FragCoordAndFrontFacing_AreThoseOfThePixel) {
  Decided(BenchRequest("rpl 2;\n" + ProbeText("result.f0 = fragment_stage_frag_coord ();"
                                              "result.u0.x = fragment_stage_front_facing () ? 1u "
                                              ": 2u;")));
}

// Nothing is drawn, or not in place, unless the vertex stage sees its indices. Corners turn left as
// the bench's do, so the front is not seen.
TEST_F(Version2Stages, VertexIndex_PicksAConstantCorner) {
  constexpr char kCorners[] =
      "rpl 2;\nconstant f2[3] corner = f2[3] { f2 { -1.0 }, f2 { 3.0, -1.0 }, f2 { -1.0, 3.0 } };\n"
      "state_container marks { u1 instance; };\n"
      "void bench_vertex (void)\n{\n"
      "    f2 at = corner[vertex_stage_vertex_index ()];\n"
      "    vertex_stage_output_position (f4 { at, 0.0, 1.0 });\n"
      "    bench_screen.pixel = (f2 { at.x, -at.y } + f2 { 1.0 }) * 8.0;\n"
      "    marks.instance = vertex_stage_instance_index ();\n}\n";
  const std::string source =
      kCorners + ProbeText(
                     "result.f0 = f4 { bench_screen.pixel, fragment_stage_frag_coord ().xy };"
                     "result.u0 = u4 { marks.instance, given.u[0].xyz };");
  Surroundings last;
  const uint32_t instances = 3;  // without depth test the last one stays
  last.globals["marks.instance"] = {{.bits = instances - 1, .error = 0}};
  const Comparison comparison =
      AgreeOn(VertexBenchRequest(source), Inputs(),
              {.resources = {}, .push = {}, .instances = instances}, last);
  EXPECT_EQ(comparison.open, 0U);

  const BuiltVariant variant(VertexBenchRequest(source));
  ASSERT_TRUE(variant.ok()) << variant.messages();
  Surroundings around;
  oracle::Inputs vertex;
  vertex.stage[ir::StageVariable::kVertexIndex] = ExactValue(std::array{1U});
  vertex.stage[ir::StageVariable::kInstanceIndex] = ExactValue(std::array{5U});
  const Outcome outcome = Interpret(variant.specialised(), ir::Stage::kVertex, around, vertex);
  EXPECT_EQ(outcome.undecided, "");
  EXPECT_EQ(FloatOf(outcome.written.at("position")[0]), 3.0F);
  EXPECT_EQ(outcome.written.at("marks.instance")[0].bits, 5U);
}

TEST_F(Version2Stages, FrontFacing_IsTrueOfTheOtherSide) {
  const VariantRequest request = VertexBenchRequest(
      "rpl 2;\nvoid bench_vertex (void)\n{\n"
      "    u1 n = 2u - vertex_stage_vertex_index ();\n"
      "    f2 at = f2 { n == 1u ? 3.0 : -1.0, n == 2u ? 3.0 : -1.0 };\n"
      "    vertex_stage_output_position (f4 { at, 0.0, 1.0 });\n"
      "    bench_screen.pixel = (f2 { at.x, -at.y } + f2 { 1.0 }) * 8.0;\n}\n" +
      ProbeText("result.u0.x = u1 { fragment_stage_front_facing () };"));
  const BuiltVariant variant(request);
  ASSERT_TRUE(variant.ok()) << variant.messages();
  const Result<Pixels> pixels = bench().Run(variant, Inputs());
  ASSERT_TRUE(pixels.ok()) << ErrorText(pixels.error());
  for (const Pixel& pixel : *pixels) {
    EXPECT_EQ(pixel[16], 1U);
  }
}

TEST_F(Version2Stages, Derivatives_OfLinearFunctions) {
  for (const std::string_view form : {"", "_fine", "_coarse"}) {
    for (uint32_t rows = 1; rows <= 4; ++rows) {
      const std::string letters = std::string("xyzw").substr(0, rows);
      const std::string type = fmt::format("f{}", rows);
      const std::string value =
          rows == 1 ? "at.x * 3.0 - at.y"
                    : fmt::format("f4 {{ at * 2.0, at.x - at.y * 0.5, 7.0 }}.{}", letters);
      std::string text = fmt::format(
          "f2 at = fragment_stage_frag_coord ().xy; {0} value = {1};"
          "{0} x = ddx{2}_{0} (value); {0} y = ddy{2}_{0} (value); {0} sum = fwidth_{0} (value);",
          type, value, form);
      for (uint32_t i = 0; i < rows; ++i) {
        const std::string part = rows == 1 ? "" : fmt::format(".{}", letters[i]);
        text += fmt::format(" result.f0.{0} = x{1}; result.f1.{0} = y{1}; result.f2.{0} = sum{1};",
                            "xyzw"[i], part);
      }
      Decided(BenchRequest("rpl 2;\n" + ProbeText(text)));
    }
  }
}

// Values differ without order from pixel to pixel: fine derivatives are those of the own row and
// column, coarse ones of either. They are computed, not loaded: lavapipe cuts the bench's triangle,
// and its helper invocations along the cut load 0.
TEST_F(Version2Stages, Derivatives_OfAnything) {
  constexpr char kValue[] =
      "u2 at = u2 { fragment_stage_frag_coord ().xy };"
      "f1 a = f1 { (at.x * at.x * 7u + at.y * 5u + at.x * at.y * 3u) % 64u } * 0.125;"
      "f4 v = f4 { a, a * 2.0, f1 { at.y * at.y % 16u }, f1 { (at.x ^ at.y) % 8u } };";
  for (const std::string_view calls :
       {"result.f0 = ddx_fine_f4 (v); result.f1 = ddy_fine_f4 (v);",
        "result.f0 = ddx_coarse_f4 (v); result.f1 = ddy_coarse_f4 (v);",
        "result.f0 = ddx_f4 (v); result.f1 = ddy_f4 (v); result.f2 = fwidth_f4 (v);",
        "f1 x = 0.0; if (index % 16u < 8u) { x = ddx_fine_f1 (v.x); } result.f0.x = x;"}) {
    Decided(BenchRequest("rpl 2;\n" + ProbeText(kValue + std::string(calls))));
  }
}

TEST_F(Version2Stages, FragDepth_DecidesTheDepthTest) {
  const BuiltVariant variant(BenchRequest(
      "rpl 2;\n" + ProbeText("fragment_stage_output_frag_depth (given.f[0].x * 0.125 + 0.5);"
                             "result.f0.x = given.f[0].x;")));
  ASSERT_TRUE(variant.ok()) << variant.messages();
  const Samples samples = Inputs();
  const std::vector<Outcome> outcomes = InterpretPixels(variant, samples);
  for (uint32_t i = 0; i < kBenchPixels; ++i) {
    EXPECT_EQ(FloatOf(outcomes[i].written.at("frag_depth")[0]), samples[i].f[0] * 0.125F + 0.5F);
  }
  Decided(BenchRequest("rpl 2;\n" + ProbeText("fragment_stage_output_frag_depth (0.5);"
                                              "result.f0 = given.f[0];")));
}

// Memory is written by fragments, too: each pixel its own item, and all of them a counter.
TEST_F(Version2Stages, FragmentsWriteBuffers) {
  PixelRig::Gpu& gpu = bench().gpu();
  auto buffer = vk::CreateBuffer(bench().device(), gpu.memory, 16 + 4 * kBenchPixels,
                                 VK_BUFFER_USAGE_STORAGE_BUFFER_BIT, vk::MemoryUse::kReadback);
  ASSERT_TRUE(buffer.ok());
  std::ranges::fill(buffer->mapped(), std::byte{0});
  const std::string source =
      "rpl 2;\nset_pass read_write_storage_buffer log { u1 sum; u1 most; u2 pad; u1... items; "
      "};\n" +
      ProbeText(
          "log.items[index] = given.u[0].x * 3u; atomic_add (log.sum, given.u[0].x);"
          "atomic_max (log.most, given.u[0].x); result.u0.x = array_length (log.items);");
  const BuiltVariant variant(BenchRequest(source));
  ASSERT_TRUE(variant.ok()) << variant.messages();
  const Samples samples = Inputs();
  PixelRig::Extra extra;
  extra.resources["log"] = buffer->handle.get();
  const Result<Pixels> pixels = bench().Run(variant, samples, extra);
  ASSERT_TRUE(pixels.ok()) << ErrorText(pixels.error());
  uint32_t sum = 0;
  uint32_t most = 0;
  for (uint32_t i = 0; i < kBenchPixels; ++i) {
    sum += samples[i].u[0];
    most = std::max(most, samples[i].u[0]);
    EXPECT_EQ(ReadLittle<uint32_t>(buffer->mapped(), 16 + 4 * i), samples[i].u[0] * 3);
    EXPECT_EQ((*pixels)[i][16], kBenchPixels);
  }
  EXPECT_EQ(ReadLittle<uint32_t>(buffer->mapped(), 0), sum);
  EXPECT_EQ(ReadLittle<uint32_t>(buffer->mapped(), 4), most);
}

// Equal to a variant that folds the same values (spec/rpl 14.9).
TEST_F(Version2Stages, SpecialisedOptions_MeanWhatFoldedOnesMean) {
  constexpr char kUse[] =
      "u1 n = 0u; for (u1 i = 0u; i < taps; i += 1u) { n += 3u; }"
      "s1 low = bias * 2; f1 x = fast_value * strength;"
      "result.u0 = u4 { n, taps, taps * 5u >> 1u, 0u }; result.s0 = s4 { low, -bias, bias / 3, 0 };"
      "result.f0 = f4 { x, strength + 1.0, given.f[0].x * strength, -strength };";
  struct Case {
    std::vector<std::string> options;
    float fast;
  };
  const Case cases[] = {
      {{}, 4},
      {{"taps=7", "bias=-9", "strength=-1.5", "fast=false"}, 2},
      {{"taps=0", "bias=2147483647", "strength=0.25", "fast=true"}, 4},
  };
  for (const Case& row : cases) {
    VariantRequest special = BenchRequest(
        "rpl 2;\ninstance specialize taps: uint 4;\ninstance specialize bias: sint -2;\n"
        "instance specialize unused: float 9.0;\n"
        "instance specialize strength: float 0.5;\ninstance specialize fast: flag true;\n" +
        ProbeText(std::string("f1 fast_value = fast ? 4.0 : 2.0;") + kUse));
    special.options = row.options;
    VariantRequest folded = BenchRequest(
        "rpl 2;\ninstance taps: uint 4;\ninstance bias: sint -2;\ninstance strength: float 0.5;\n"
        "instance fast: flag true;\n" +
        ProbeText(fmt::format("f1 fast_value = {:.1f};", row.fast) + kUse));
    folded.options = row.options;
    Decided(special);
    Decided(folded);
    const BuiltVariant a(special);
    const BuiltVariant b(folded);
    const Result<Pixels> one = bench().Run(a, Inputs());
    const Result<Pixels> other = bench().Run(b, Inputs());
    ASSERT_TRUE(one.ok() && other.ok());
    EXPECT_EQ(*one, *other);
  }
}

// Numbers that 16 bits hold: reduced or not, the results are these.
TEST_F(Version2Stages, RelaxedFloats_HoldWhatSixteenBitsHold) {
  Decided(BenchRequest(
      "rpl 2;\nrelaxed f1 halved (in relaxed f1 x) { return x * 0.5; }\n"
      "void grow (in out relaxed f4 x) { x = x + f4 { 1.0 }; }\n" +
      ProbeText("relaxed f4 x = given.f[0]; relaxed f4 y = x * 2.0 - given.f[1]; grow (y);"
                "result.f0 = y; result.f1.x = halved (y.x);"
                "relaxed f1[2] list; list[0] = x.x; list[1] = y.y;"
                "result.f1.y = list[given.u[0].x % 2u]; result.f2 = max_f4 (x, y);")));
}

}  // namespace
}  // namespace kiln::oracle
