// SPDX-License-Identifier: MIT
// The edges of arithmetic and of copying: extreme integers against each other, what no number is,
// arguments that overlap, whole structs and arrays through functions. See spec/rpl 5.2, 5.5, 8.7
#include <cfloat>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "tests/oracle/traps.h"

namespace kiln::oracle {
namespace {

class Edges : public RplTraps {
 protected:
  // Pixel 16 x + y has the pair (numbers[x], numbers[y]) in `.x` and `.y` of the first items.
  static Samples Pairs() {
    constexpr std::array<int32_t, 16> kNumbers = {
        0, 1, -1, 2, -2, 3, -3, 7, -7, 31, 32, 65535, INT32_MAX, INT32_MIN, INT32_MIN + 1, 46341};
    constexpr float kInfinity = std::numeric_limits<float>::infinity();
    const std::array<float, 16> floats = {
        0,       -0.0F,    1,         -1,         0.5F,          3,       -3, 8, FLT_MIN, -FLT_MIN,
        FLT_MAX, -FLT_MAX, kInfinity, -kInfinity, std::nanf(""), 16777216};
    Samples samples;
    for (uint32_t i = 0; i < kBenchPixels; ++i) {
      Sample& sample = samples[i];
      sample.s[0] = kNumbers[i / 16];
      sample.s[1] = kNumbers[i % 16];
      sample.u[0] = static_cast<uint32_t>(sample.s[0]);
      sample.u[1] = static_cast<uint32_t>(sample.s[1]);
      sample.f[0] = floats[i / 16];
      sample.f[1] = floats[i % 16];
    }
    return samples;
  }

  static void SkipTheQuotientThatDoesNotFit(Samples& samples) {
    for (Sample& sample : samples) {
      if (sample.s[0] == INT32_MIN && sample.s[1] == -1) {
        sample.s[1] = 5;
      }
    }
  }
};

TEST_F(Edges, ExtremeIntegers_WrapAround) {
  for (const std::string_view op : {"+", "-", "*", "&", "|", "^"}) {
    const Comparison comparison =
        Agree(ProbeText(fmt::format("result.s0.x = given.s[0].x {0} given.s[0].y;"
                                    "result.u0.x = given.u[0].x {0} given.u[0].y;"
                                    "result.s0.y = -given.s[0].x; result.s0.z = ~given.s[0].x;",
                                    op)),
              Pairs());
    EXPECT_EQ(comparison.open, 0U) << op;
  }
  for (const std::string_view op : {"<", ">", "<=", ">=", "==", "!="}) {
    const Comparison comparison =
        Agree(ProbeText(fmt::format("if (given.s[0].x {0} given.s[0].y) {{ result.u0.x = 1u; }}"
                                    "if (given.u[0].x {0} given.u[0].y) {{ result.u0.y = 1u; }}",
                                    op)),
              Pairs());
    EXPECT_EQ(comparison.open, 0U) << op;
  }
}

// Division drops the rest; only by zero it is open. The least number by -1 has no result at all.
TEST_F(Edges, ExtremeIntegers_Divide) {
  Samples samples = Pairs();
  SkipTheQuotientThatDoesNotFit(samples);
  const Comparison comparison = Agree(ProbeText("result.s0.x = given.s[0].x / given.s[0].y;"
                                                "result.u0.x = given.u[0].x / given.u[0].y;"
                                                "result.u0.y = given.u[0].x % given.u[0].y;"),
                                      samples);
  EXPECT_EQ(comparison.open, 16U * 3);
}

// The sign of the right operand. Vulkan leaves OpSMod of negative operands open, and lavapipe makes
// 1 of 1 % -2: the interpreter and the instruction alone.
TEST_F(Edges, SignedModulus_HasTheSignOfTheRightOperand) {
  const BuiltVariant variant(BenchRequest(ProbeText("result.s0.x = given.s[0].x % given.s[0].y;")));
  ASSERT_TRUE(variant.ok()) << variant.messages();
  EXPECT_THAT(variant.Disassembly(ir::Stage::kFragment), ::testing::HasSubstr("OpSMod"));
  Samples samples = Pairs();
  SkipTheQuotientThatDoesNotFit(samples);
  const std::vector<Outcome> outcomes = InterpretPixels(variant, samples);
  for (uint32_t i = 0; i < kBenchPixels; ++i) {
    const int64_t left = samples[i].s[0];
    const int64_t right = samples[i].s[1];
    if (right != 0) {
      const int64_t modulus = ((left % right) + right) % right;
      EXPECT_EQ(static_cast<int32_t>(outcomes[i].written.at("result.s0")[0].bits), modulus)
          << left << " % " << right;
    }
  }
}

TEST_F(Edges, Shifts_ByEveryAmount) {
  Samples samples;
  for (uint32_t i = 0; i < kBenchPixels; ++i) {
    samples[i].u = {0x80000001U * (i / 32 + 1), i % 32};
    samples[i].s = {static_cast<int32_t>(0x90000003U * (i / 32 + 1)), static_cast<int32_t>(i % 32)};
  }
  const Comparison comparison =
      Agree("rpl 2;\n" +
                ProbeText("result.u0.x = given.u[0].x << given.u[0].y;"
                          "result.u0.y = given.u[0].x >> given.u[0].y;"
                          "result.s0.x = given.s[0].x << given.s[0].y;"
                          "result.s0.y = given.s[0].x >> given.s[0].y;"
                          "result.s0.z = shift_right_arithmetic_s1 (given.s[0].x, given.s[0].y);"),
            samples);
  EXPECT_EQ(comparison.open, 0U);
}

// Ordered comparisons are false of what is no number, `!=` is true (spec/rpl 5.2).
TEST_F(Edges, Comparisons_OfWhatIsNoNumber) {
  for (const std::string_view op : {"<", ">", "<=", ">=", "==", "!="}) {
    const Comparison comparison = Agree(
        "rpl 2;\n" +
            ProbeText(fmt::format("if (given.f[0].x {0} given.f[0].y) {{ result.u0.x = 1u; }}"
                                  "if (!(given.f[0].x {0} given.f[0].y)) {{ result.u0.y = 1u; }}"
                                  "b2 both = given.f[0].xy {0} given.f[0].yx;"
                                  "result.u0.z = u1 {{ both.x }}; result.u0.w = u1 {{ both.y }};"
                                  "result.s0.x = given.f[0].x {0} given.f[0].y ? 1 : 2;",
                                  op)),
        Pairs());
    EXPECT_EQ(comparison.open, 0U) << op;
  }
}

// --- copying
TEST_F(Edges, AssignedCall_StoresBehindTheWriteBack) {
  Unsigneds("u1 grow (in out u1 x) { x = x + 5u; return x * 10u; }\n" +
                Probe("u1 x = 1u; x = grow (x); u1[3] list; list[0] = 9u; list[1] = 9u;"
                      "list[2] = 9u; u1 i = 0u; list[i % 3u] = grow (i);"
                      "result.u0 = u4 { x, list[0], list[2], i };"),
            {60, 50, 9, 5});
}

TEST_F(Edges, WholeAndPart_TheLastArgumentIsLeft) {
  constexpr char kChange[] =
      "struct box_t { u2 size; u1[2] marks; };\n"
      "void both (in out box_t box, in out u1 part)\n"
      "{ box.size.x = box.size.x + 10u; box.marks[1] = 7u; part = part + 100u; }\n"
      "void swapped (in out u1 part, in out box_t box)\n"
      "{ box.size.x = box.size.x + 10u; box.marks[1] = 7u; part = part + 100u; }\n";
  const std::string make = "box_t b; b.size = u2 { 1u, 2u }; b.marks[0] = 3u; b.marks[1] = 4u;";
  Unsigneds(
      kChange +
          Probe(make + "both (b, b.size.x); result.u0 = u4 { b.size, b.marks[0], b.marks[1] };"),
      {101, 2, 3, 7});
  Unsigneds(
      kChange +
          Probe(make + "swapped (b.size.x, b); result.u0 = u4 { b.size, b.marks[0], b.marks[1] };"),
      {11, 2, 3, 7});
  Unsigneds(
      kChange +
          Probe(make + "both (b, b.marks[1]); result.u0 = u4 { b.size, b.marks[0], b.marks[1] };"),
      {11, 2, 3, 104});
}

TEST_F(Edges, IndexChangedByTheCall_IsThatFromBefore) {
  Unsigneds("void set (in out u1 i, out u1 item, in u1 value) { i = i + 1u; item = value; }\n" +
                Probe("u1[4] list; for (u1 n = 0u; n < 4u; n = n + 1u) { list[n] = 0u; }"
                      "u1 i = 1u; set (i, list[i], i + 40u); set (i, list[i], i + 40u);"
                      "result.u0 = u4 { list[0], list[1], list[2], list[3] };"),
            {0, 41, 42, 0});
}

TEST_F(Edges, ParametersOfParameters_AreWrittenThrough) {
  Floats(
      "void inner (in out f2 v, out f1 sum) { v = v * 2.0; sum = v.x + v.y; }\n"
      "void middle (in out f4x4 m, out f1 sum) { f2 v = m.y.xy; inner (v, sum);"
      " m.y.x = v.y; inner (v, m.z.w); }\n"
      "struct frame_t { f4x4[2] turns; };\n"
      "f1 outer (in out frame_t frame, in u1 which)\n"
      "{ f1 sum = 0.0; middle (frame.turns[which], sum); return sum; }\n" +
          Probe("frame_t f; f4 c = f4 { 1.0, 2.0, 3.0, 4.0 }; f.turns[0] = f4x4 { c, c, c, c };"
                "f.turns[1] = f.turns[0]; f1 sum = outer (f, 1u + index * 0u);"
                "result.f0 = f4 { sum, f.turns[1].y.x, f.turns[1].z.w, f.turns[0].y.x };"),
      {6, 4, 12, 1});
}

TEST_F(Edges, StructsAndArrays_AreValues) {
  Unsigneds(
      "struct leaf_t { u2[2] pair; };\nstruct tree_t { leaf_t[2] leaves; u1 name; };\n"
      "tree_t turned (in tree_t tree)\n"
      "{ tree_t other = tree; other.leaves[0] = tree.leaves[1]; other.leaves[1] = tree.leaves[0];"
      " other.name = tree.name + 1u; return other; }\n"
      "u1 total (in leaf_t[2] leaves, in u1 which)\n"
      "{ return leaves[which].pair[1].x * 10u + leaves[1u - which].pair[0].y; }\n" +
          Probe("tree_t t; for (u1 i = 0u; i < 4u; i = i + 1u)"
                "{ t.leaves[i / 2u].pair[i % 2u] = u2 { i * 2u + 1u, i * 2u + 2u }; } t.name = 5u;"
                "tree_t o = turned (turned (turned (t)));"
                "result.u0 = u4 { total (t.leaves, 0u), total (o.leaves, 0u), o.name,"
                " turned (t).leaves[0].pair[1].y };"),
      {3 * 10 + 6, 7 * 10 + 2, 8, 8});
}

}  // namespace
}  // namespace kiln::oracle
