// SPDX-License-Identifier: MIT
// What resources of HLSL mean on a device: memory before, a program of one invocation, and what it
// finds, as numbers that were worked out by hand from spec/hlsl 15 and 19. So layouts are those of
// the specification, not only those that kiln's own parts agree about.
#include <array>
#include <bit>
#include <numeric>

#include <fmt/format.h>

#include "tests/hlsl/meaning_run.h"
#include "tests/oracle/operator_fixture.h"
#include "tests/support/compute_rig.h"

namespace kiln::hlsl {
namespace {

using Words = std::vector<uint32_t>;

struct Row {
  const char* name;
  const char* source;      // what stands before and in `main`, behind the name `made`
  const char* statements;  // `put (x);` adds a number to what is found
  std::map<std::string, Words> buffers;
  std::vector<float> expected;
  MemoryLayout layout = MemoryLayout::kRelaxed;
  std::string left_in = {};  // a buffer, of which the words afterwards are
  Words left = {};
  std::vector<std::string> options = {};
};

// 100, 101, 102 … as floats.
Words Counted(uint32_t count) {
  Words words(count);
  for (uint32_t i = 0; i < count; ++i) {
    words[i] = std::bit_cast<uint32_t>(100.0F + static_cast<float>(i));
  }
  return words;
}
Words Numbers(uint32_t count) {
  Words words(count);
  std::iota(words.begin(), words.end(), 0U);
  return words;
}

std::vector<std::byte> BytesOf(const Words& words) {
  const auto bytes = std::as_bytes(std::span(words));
  return {bytes.begin(), bytes.end()};
}

std::string TextOf(const Row& row) {
  return fmt::format(
      "RWStructuredBuffer<float> made : register (u90);\nstatic uint found = 0;\n"
      "void put (float x) {{ made[found++] = x; }}\n{}\n"
      "[numthreads (1, 1, 1)] void main (uint3 id : SV_DispatchThreadID) {{ {} }}\n",
      row.source, row.statements);
}

constexpr const char* kThree = "cbuffer c : register (b0) { float a; float3 b; float2 d; };";
constexpr const char* kPutThree = "put (a); put (b.x); put (b.z); put (d.x); put (d.y);";
constexpr const char* kArray = "cbuffer c : register (b0) { float3 a[2]; float b; };";
constexpr const char* kPutArray = "put (a[0].z); put (a[1].x); put (b);";

std::vector<Row> LayoutRows() {
  return {
      {.name = "relaxed lets a vector stand at any component of a line",
       .source = kThree,
       .statements = kPutThree,
       .buffers = {{"c", Counted(8)}},
       .expected = {100, 101, 103, 104, 105}},
      {.name = "std aligns vectors",
       .source = kThree,
       .statements = kPutThree,
       .buffers = {{"c", Counted(12)}},
       .expected = {100, 104, 106, 108, 109},
       .layout = MemoryLayout::kStd},
      {.name = "dx keeps members within lines",
       .source = "cbuffer c : register (b0) { float2 a; float3 b; float d; };",
       .statements = "put (a.y); put (b.x); put (b.z); put (d);",
       .buffers = {{"c", Counted(8)}},
       .expected = {101, 104, 106, 107},
       .layout = MemoryLayout::kDx},
      {.name = "relaxed pads the last item of an array",
       .source = kArray,
       .statements = kPutArray,
       .buffers = {{"c", Counted(12)}},
       .expected = {102, 104, 108}},
      {.name = "dx puts what follows behind the last item of an array",
       .source = kArray,
       .statements = kPutArray,
       .buffers = {{"c", Counted(8)}},
       .expected = {102, 104, 107},
       .layout = MemoryLayout::kDx},
      {.name = "scalar has no gaps",
       .source = kArray,
       .statements = kPutArray,
       .buffers = {{"c", Counted(8)}},
       .expected = {102, 103, 106},
       .layout = MemoryLayout::kScalar},
      {.name = "packoffset counts registers and components",
       .source = "cbuffer c : register (b0) { float a : packoffset (c1.y); float2 b : packoffset "
                 "(c0.z); };",
       .statements = "put (a); put (b.x); put (b.y);",
       .buffers = {{"c", Counted(8)}},
       .expected = {105, 102, 103}},
      {.name = "loose globals may say their registers",
       .source = "float4 a : register (c2); float b : register (c3);",
       .statements = "put (a.x); put (b);",
       .buffers = {{"$Globals", Counted(16)}},
       .expected = {108, 112}},
      {.name = "arrays of matrices that are not square lie column by column",
       .source = "cbuffer c : register (b0) { float4x3 m[2]; float last; };",
       .statements =
           "put (m[1][2][1]); float3 r = mul (float4 (1, 10, 100, 1000), m[1]); put (r.y - "
           "120000); float4x3 n[2] = m; put (n[1]._m32); put (last);",
       .buffers = {{"c", Counted(28)}},
       .expected = {118, 12086, 123, 124}},
      {.name = "and row by row",
       .source = "cbuffer c : register (b0) { row_major float3x4 m[2]; float last; };",
       .statements = "put (m[1][2][1]); put (m[0]._m13); row_major float3x4 n[2] = m; put "
                     "(n[1]._m03); put (last);",
       .buffers = {{"c", Counted(28)}},
       .expected = {121, 107, 115, 124}},
      {.name = "a structured buffer of matrices",
       .source = "StructuredBuffer<float3x2> b : register (t0);",
       .statements = "put (b[1][0][1]); put (b[0][2][0]);",
       .buffers = {{"b", Counted(16)}},
       .expected = {112, 102}},
      {.name = "a structured buffer says its stride",
       .source =
           "struct S { float a; float3 b; float2 c; }; StructuredBuffer<S> b : register (t0);",
       .statements = "uint n, s; b.GetDimensions (n, s); put (n); put (s); put (b[1].c.y);",
       .buffers = {{"b", Counted(24)}},
       .expected = {3, 32, 113}},
      {.name = "which scalar makes smaller",
       .source =
           "struct S { float a; float3 b; float2 c; }; StructuredBuffer<S> b : register (t0);",
       .statements = "uint n, s; b.GetDimensions (n, s); put (n); put (s); put (b[1].c.y);",
       .buffers = {{"b", Counted(24)}},
       .expected = {4, 24, 111},
       .layout = MemoryLayout::kScalar},
  };
}

std::vector<Row> BufferRows() {
  return {
      {.name = "booleans are words, of which each but 0 is true",
       .source =
           "struct F { bool a; bool3 b; bool c[2]; }; RWStructuredBuffer<F> f : register (u0);",
       .statements = "F g = f[0]; put (g.a); put (g.b.y); put (g.b.z); put (f[0].c[1]); f[0].b.x = "
                     "!f[0].b.x; f[0].c[0] = g.a && !g.c[0]; f[1] = g;",
       .buffers = {{"f", {7, 0, 0, 9, 0, 2, 0, 0, 3, 3, 3, 3, 3, 3, 3, 3}}},
       .expected = {1, 0, 1, 1},
       .left_in = "f",
       .left = {7, 1, 0, 9, 1, 2, 0, 0, 1, 0, 0, 1, 0, 1, 3, 3}},
      {.name = "bytes are loaded and stored by words",
       .source = "ByteAddressBuffer a : register (t0); RWByteAddressBuffer b : register (u1);",
       .statements =
           "put (a.Load (8)); uint2 p = a.Load2 (4); put (p.x * 10 + p.y); uint3 q = "
           "a.Load3 (12); put (q.z); uint4 r = a.Load4 (16); put (r.w); b.Store (0, 5); "
           "b.Store2 (4, uint2 (6, 7)); b.Store3 (12, q); uint at = 24; b.Store4 (at += 0, "
           "r + 10); uint n; a.GetDimensions (n); put (n);",
       .buffers = {{"a", Numbers(8)}, {"b", Words(10)}},
       .expected = {2, 12, 5, 7, 32},
       .left_in = "b",
       .left = {5, 6, 7, 3, 4, 5, 14, 15, 16, 17}},
      {.name = "words of bytes change at once",
       .source = "RWByteAddressBuffer b : register (u0);",
       .statements =
           "uint o; b.InterlockedAdd (0, 2, o); put (o); b.InterlockedMax (4, 9, o); put (o); "
           "b.InterlockedMin (8, 1); b.InterlockedAnd (12, 2); b.InterlockedOr (16, 8); "
           "b.InterlockedXor (20, 1); b.InterlockedExchange (24, 60, o); put (o); "
           "b.InterlockedCompareExchange (28, 7, 70, o); put (o); "
           "b.InterlockedCompareStore (32, 7, 80);",
       .buffers = {{"b", Numbers(9)}},
       .expected = {0, 1, 6, 7},
       .left_in = "b",
       .left = {2, 9, 1, 2, 12, 4, 60, 70, 8}},
      {.name = "a constant buffer is a struct",
       .source = "struct S { float a; float3 b; float sum () { return a + b.x; } }; "
                 "ConstantBuffer<S> c : register (b0); TextureBuffer<S> t : register (t1);",
       .statements = "S s = c; put (s.b.y); put (c.sum ()); put (t.b.z); S u = t; put (u.a);",
       .buffers = {{"c", Counted(4)}, {"t", Numbers(4)}},
       .expected = {102, 201, std::bit_cast<float>(3U), 0}},
      {.name = "resources are handed to functions",
       .source = "struct S { float v; }; StructuredBuffer<S> a : register (t0); "
                 "RWStructuredBuffer<S> b : register (u1); RWByteAddressBuffer d : register (u2);\n"
                 "ConstantBuffer<S> c : register (b3);\n"
                 "float get (StructuredBuffer<S> x, uint i) { return x[i].v; }\n"
                 "float next (StructuredBuffer<S> x, uint i) { return get (x, i + 1); }\n"
                 "void set (RWStructuredBuffer<S> x, uint i, float v) { x[i].v = v; }\n"
                 "void count (RWByteAddressBuffer x, uint i) { x.InterlockedAdd (i * 4, 1); }\n"
                 "float of (ConstantBuffer<S> x) { return x.v; }\n",
       .statements = "put (get (a, 1)); put (next (a, 1)); set (b, 2, get (a, 0)); put (b[2].v); "
                     "StructuredBuffer<S> other = a; put (other[3].v); put (of (c)); count (d, 1);",
       .buffers = {{"a", Counted(4)}, {"b", Words(4)}, {"c", Counted(4)}, {"d", {1, 2}}},
       .expected = {101, 102, 100, 103, 100},
       .left_in = "d",
       .left = {1, 3}},
      {.name = "methods write to what they are called with",
       .source = "struct S { float v; uint n; void add (float x) { v += x; n++; } }; "
                 "RWStructuredBuffer<S> b : register (u0); groupshared S shared_one;",
       .statements = "b[1].add (5); S s = b[1]; s.add (1); put (s.v); put (s.n); shared_one = s; "
                     "shared_one.add (1); put (shared_one.v); S list[2] = { b[0], s }; uint i = 0; "
                     "list[i++].add (7); put (list[0].v); put (i);",
       .buffers = {{"b", {std::bit_cast<uint32_t>(1.0F), 3, std::bit_cast<uint32_t>(2.0F), 4}}},
       .expected = {8, 6, 9, 8, 1},
       .left_in = "b",
       .left = {std::bit_cast<uint32_t>(1.0F), 3, std::bit_cast<uint32_t>(7.0F), 5}},
  };
}

// What comes back of calls: spec/hlsl 13.2.
std::vector<Row> CallRows() {
  return {
      {.name = "an inout argument is what it was when it stood there",
       .source = "int f (inout int a, int b) { a += 10; return a * 100 + b; }",
       .statements = "int x = 1; int r = f (x, x++); put (r); put (x);",
       .buffers = {},
       .expected = {1101, 11}},
      {.name = "an argument before it has done its work",
       .source = "int f (int b, inout int a) { a += 10; return a * 100 + b; }",
       .statements = "int x = 1; int r = f (x++, x); put (r); put (x);",
       .buffers = {},
       .expected = {1201, 12}},
      {.name = "a call behind it writes it as well",
       .source = "int g (inout int a) { a = 7; return 5; } int f (inout int a, int b) "
                 "{ a += 10; return a * 100 + b; }",
       .statements = "int x = 1; int r = f (x, g (x)); put (r); put (x);",
       .buffers = {},
       .expected = {1105, 11}},
  };
}

// Values of pipelines, and how code that is one for all of them uses them: spec/hlsl 8.1.
constexpr const char* kConstants =
    "[[vk::constant_id (7)]] const bool kFog = true;\n"
    "[[vk::constant_id (3)]] const int kSteps = -2;\n"
    "[[kiln::option (instance, specialize)]] static const float kScale = 1.5;\n"
    "[[kiln::option (instance, specialize)]] static const uint kCount = 3;\n"
    "static const float kTwice = kScale * 2;\n";
constexpr const char* kPutConstants =
    "put (kFog ? 1 : 2); put (kSteps * 10); put (kTwice); float r = 0; "
    "for (uint i = 0; i < kCount; ++i) r += kScale; put (r);";

std::vector<Row> ConstantRows() {
  return {
      {.name = "constants of a pipeline have their defaults",
       .source = kConstants,
       .statements = kPutConstants,
       .buffers = {},
       .expected = {1, -20, 3, 4.5}},
      {.name = "or what the variant says",
       .source = kConstants,
       .statements = kPutConstants,
       .buffers = {},
       .expected = {2, 70, 5, 2.5},
       .options = {"kFog=false", "kSteps=7", "kScale=2.5", "kCount=1u"}},
  };
}

class Resources : public oracle::OperatorFixture {
 protected:
  static void Check(const Row& row) {
    SCOPED_TRACE(row.name);
    VariantRequest request = MeaningRequest(TextOf(row), Version::k2021);
    request.inputs.hlsl.layout = row.layout;
    request.options = row.options;
    request.environment = "vulkan1.2";  // scalar layouts are a feature of its core
    const BuiltVariant variant(request);
    ASSERT_TRUE(variant.ok()) << variant.messages();
    oracle::ComputeRun run;
    for (const auto& [name, words] : row.buffers) {
      run.memory.buffers[name] = BytesOf(words);
    }
    run.memory.buffers["made"] = BytesOf(Words(row.expected.size()));
    const Result<oracle::ComputeMemory> left = oracle::RunCompute(bench(), variant, run);
    ASSERT_TRUE(left.ok()) << ErrorText(left.error());
    Words expected;
    for (const float number : row.expected) {
      expected.push_back(std::bit_cast<uint32_t>(number));
    }
    EXPECT_EQ(left->buffers.find("made")->second, BytesOf(expected)) << Found(*left, "made");
    if (!row.left_in.empty()) {
      EXPECT_EQ(left->buffers.find(row.left_in)->second, BytesOf(row.left))
          << Found(*left, row.left_in);
    }
  }

 private:
  static std::string Found(const oracle::ComputeMemory& memory, const std::string& name) {
    const std::vector<std::byte>& bytes = memory.buffers.find(name)->second;
    std::string text = name + ":";
    for (size_t at = 0; at + 4 <= bytes.size(); at += 4) {
      std::array<std::byte, 4> word;
      std::copy_n(bytes.begin() + static_cast<std::ptrdiff_t>(at), 4, word.begin());
      const auto bits = std::bit_cast<uint32_t>(word);
      text += fmt::format(" {} ({})", bits, std::bit_cast<float>(bits));
    }
    return text;
  }
};

TEST_F(Resources, Layouts_AreThoseOfTheRules) {
  for (const Row& row : LayoutRows()) {
    Check(row);
  }
}
TEST_F(Resources, ConstantsOfPipelines_HaveTheValuesOfTheVariant) {
  for (const Row& row : ConstantRows()) {
    Check(row);
  }
}
// Ids that are written stand; others are the lowest that are free. The code is one for all values.
TEST_F(Resources, ConstantsOfPipelines_HaveTheirIds) {
  const auto built = [](std::vector<std::string> options) {
    VariantRequest request = MeaningRequest(
        TextOf({.name = "", .source = kConstants, .statements = kPutConstants}), Version::k2021);
    request.options = std::move(options);
    return BuiltVariant(request);
  };
  const BuiltVariant plain = built({});
  const BuiltVariant other = built({"kSteps=7", "kScale=2.5"});
  ASSERT_TRUE(plain.ok() && other.ok()) << plain.messages() << other.messages();
  std::string text;
  for (const artifact::Specialization& row : other.metadata().specialization) {
    text += fmt::format("{} {} {:#x} {:#x}\n", row.id, row.name, row.default_bits, row.value_bits);
  }
  EXPECT_EQ(text,
            "0 kScale 0x3fc00000 0x40200000\n1 kCount 0x3 0x3\n3 kSteps 0xfffffffe 0x7\n"
            "7 kFog 0x1 0x1\n");
  EXPECT_EQ(plain.words(ir::Stage::kCompute), other.words(ir::Stage::kCompute));
}
TEST_F(Resources, ConstantsOfPipelinesWithOneId_AreRefused) {
  const BuiltVariant variant(
      MeaningRequest(TextOf({.name = "",
                             .source = "[[vk::constant_id (7)]] const bool a = true;\n"
                                       "[[vk::constant_id (7)]] const uint b = 1;\n",
                             .statements = "put (a ? b : 0);"}),
                     Version::k2021));
  EXPECT_FALSE(variant.ok());
  EXPECT_THAT(variant.messages(), ::testing::HasSubstr("LAY2001 'b' overlaps 'a' at spec 7"));
}
TEST_F(Resources, Arguments_AreEvaluatedInOrder) {
  for (const Row& row : CallRows()) {
    Check(row);
  }
}
TEST_F(Resources, Buffers_HoldWhatIsWritten) {
  for (const Row& row : BufferRows()) {
    Check(row);
  }
}

}  // namespace
}  // namespace kiln::hlsl
