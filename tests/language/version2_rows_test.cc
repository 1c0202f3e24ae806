// SPDX-License-Identifier: MIT
// Every legal row of version 2 compiles without a message, passes the validator and shows its
// instruction. See spec/rpl 14
#include <gtest/gtest.h>

#include "tests/language/source_rows.h"

namespace kiln::language {
namespace {

struct Row {
  const char* stage;
  const char* body;
  const char* shows;  // what the text must contain, parts divided by '|'
  const char* decls = "";
  target::Environment environment = target::Environment::kVulkan11;
};

bool HasAll(const std::string& text, std::string_view parts) {
  while (!parts.empty()) {
    const size_t end = parts.find('|');
    if (text.find(parts.substr(0, end)) == std::string::npos) {
      return false;
    }
    parts.remove_prefix(end == std::string_view::npos ? parts.size() : end + 1);
  }
  return true;
}

void CheckRows(std::initializer_list<Row> rows) {
  for (const Row& row : rows) {
    const Built built = BuildBody(row.stage, row.body, row.decls, row.environment);
    EXPECT_EQ(built.codes, "") << row.decls << row.body;
    EXPECT_TRUE(HasAll(built.text, row.shows)) << row.body << "\n" << built.text;
  }
}

constexpr auto kVulkan12 = target::Environment::kVulkan12;

TEST(Version2Rows, StageValues_AreBuiltIns) {
  CheckRows({
      {"vertex", "u1 x = vertex_stage_vertex_index ();", "BuiltIn VertexIndex"},
      {"vertex", "u1 x = vertex_stage_instance_index ();", "BuiltIn InstanceIndex"},
      {"fragment", "o.color = fragment_stage_frag_coord ();", "BuiltIn FragCoord"},
      {"fragment", "if (fragment_stage_front_facing ()) { o.color = f4 {1.0}; }",
       "BuiltIn FrontFacing"},
      {"fragment", "fragment_stage_output_frag_depth (0.5);", "BuiltIn FragDepth|DepthReplacing"},
      {"compute", "rw.count = compute_stage_global_id ().x;", "BuiltIn GlobalInvocationId"},
      {"compute", "rw.count = compute_stage_local_id ().y;", "BuiltIn LocalInvocationId"},
      {"compute", "rw.count = compute_stage_local_index ();", "BuiltIn LocalInvocationIndex"},
      {"compute", "rw.count = compute_stage_workgroup_id ().z;", "BuiltIn WorkgroupId"},
      {"compute", "rw.count = compute_stage_workgroup_count ().x;", "BuiltIn NumWorkgroups"},
      {"vertex", "u1 x = vertex_stage_vertex_index () + vertex_stage_instance_index ();",
       "BuiltIn VertexIndex|BuiltIn InstanceIndex", "", kVulkan12},
  });
}

TEST(Version2Rows, Images_AreSampledFetchedAndAsked) {
  CheckRows({
      {"vertex", "f4 x = sample_lod (sm, im, f2 {0.5}, 1.0);", "OpImageSampleExplicitLod|Lod"},
      {"fragment", "f4 x = sample_lod (sm, ima, 1u, f2 {0.5}, 1.0);",
       "OpImageSampleExplicitLod|OpConvertUToF"},
      {"fragment", "f4 x = sample_lod (sm, dm, f2 {0.5}, 1.0);", "OpImageSampleExplicitLod"},
      {"fragment", "f4 x = sample_grad (sm, im, f2 {0.5}, f2 {0.1}, f2 {0.1});", " Grad "},
      {"vertex", "f4 x = sample_grad (sm, im3, f3 {0.5}, f3 {0.1}, f3 {0.1});", " Grad "},
      {"vertex", "f4 x = sample_grad (sm, imc, f3 {0.5}, f3 {0.1}, f3 {0.1});", " Grad "},
      {"vertex", "f4 x = sample_grad (sm, ima, 0u, f2 {0.5}, f2 {0.1}, f2 {0.1});", " Grad "},
      {"vertex", "f1 x = sample_dref_lod (sm, dm, f2 {0.5}, 0.5, 0.0);",
       "OpImageSampleDrefExplicitLod"},
      {"vertex", "f1 x = sample_dref_lod (sm, dmc, f3 {0.5}, 0.5, 0.0);",
       "OpImageSampleDrefExplicitLod"},
      {"vertex", "f1 x = sample_dref_lod (sm, dma, 1u, f2 {0.5}, 0.5, 0.0);",
       "OpImageSampleDrefExplicitLod"},
      {"fragment", "f4 x = gather (sm, im, f2 {0.5}, 2u);", "OpImageGather"},
      {"fragment", "f4 x = gather (sm, imc, f3 {0.5}, 0u);", "OpImageGather"},
      {"fragment", "f4 x = gather (sm, ima, 1u, f2 {0.5}, which);", "OpImageGather",
       "constant which = 3u;"},
      {"fragment", "f4 x = gather_dref (sm, dm, f2 {0.5}, 0.5);", "OpImageDrefGather"},
      {"fragment", "f4 x = gather_dref (sm, dma, 1u, f2 {0.5}, 0.5);", "OpImageDrefGather"},
      {"vertex", "f4 x = fetch (im, u2 {1u}, 0u);", "OpImageFetch|Lod"},
      {"vertex", "f4 x = fetch (im3, u3 {1u}, 0u);", "OpImageFetch"},
      {"vertex", "f4 x = fetch (ima, 2u, u2 {1u}, 0u);", "OpImageFetch"},
      {"vertex", "f4 x = fetch (dm, u2 {1u}, 0u);", "OpImageFetch"},
      {"fragment", "f4 x = fetch (ims[st.k], u2 {1u}, 0u);", "OpImageFetch|NonUniform"},
      {"vertex", "u2 x = image_size (im, 0u); u2 y = image_size (imc, 0u);",
       "OpImageQuerySizeLod|OpCapability ImageQuery"},
      {"vertex", "u3 x = image_size (im3, 0u); u3 y = image_size (ima, 0u);",
       "OpImageQuerySizeLod"},
      {"vertex", "u1 x = image_levels (im);", "OpImageQueryLevels|OpCapability ImageQuery"},
      {"fragment", "f4 x = ddx_f4 (st.c); f4 y = ddy_f4 (st.c); f4 z = fwidth_f4 (st.c);",
       "OpDPdx |OpDPdy |OpFwidth "},
      {"fragment", "f1 x = ddx_fine_f1 (st.c.x); f1 y = ddy_fine_f1 (st.c.x);",
       "OpDPdxFine|OpDPdyFine|OpCapability DerivativeControl"},
      {"fragment", "f2 x = ddx_coarse_f2 (st.c.xy); f2 y = ddy_coarse_f2 (st.c.xy);",
       "OpDPdxCoarse|OpDPdyCoarse"},
  });
}

TEST(Version2Rows, Operators_AreThoseOfTheTable) {
  CheckRows({
      {"vertex", "f4 x = 2.0 * a.p;", "OpVectorTimesScalar"},
      {"vertex", "u4 x = 2u * a.ui;", "OpIMul"},
      {"vertex", "f4x4 x = 2.0 * a.m;", "OpMatrixTimesScalar"},
      {"vertex", "f4 x = a.p; x += a.p; x -= a.p; x *= 2.0; x /= 2.0;",
       "OpFAdd|OpFSub|OpVectorTimesScalar|OpFDiv"},
      {"vertex", "u1 x = a.u; x %= 3u; x &= 7u; x |= 8u; x ^= 1u; x <<= 2u; x >>= 1u;",
       "OpUMod|OpBitwiseAnd|OpBitwiseOr|OpBitwiseXor|OpShiftLeftLogical|OpShiftRightLogical"},
      {"vertex", "f4 x = a.p; x.y += 1.0; f1[3] l; l[a.u] = 1.0; l[a.u] += 2.0;", "OpFAdd"},
      {"vertex", "f1 x = a.one > 0.0 ? a.one : 1.0;", "OpSelect"},
      {"vertex", "f4 x = a.one > 0.0 ? a.p : f4 {1.0};", "OpSelect|OpCompositeConstruct %v4bool"},
      {"vertex", "f1 x = a.one > 0.0 ? sin_f1 (a.one) : 1.0;", "OpPhi"},
      {"vertex", "f4x4 x = a.one > 0.0 ? a.m : a.m * 2.0;", "OpPhi"},
      {"vertex", "f1[3] l; l[0] = 1.0; f1 x = a.u < 3u ? l[a.u] : 0.0;", "OpPhi"},
      {"vertex", "f1[3] l; l[0] = 1.0; f1 x = a.u < 3u ? l[0] : 0.0;", "OpSelect"},
      {"vertex", "f1 x = a.one > 0.0 ? 1.0 : a.one < -1.0 ? 2.0 : 3.0;", "OpSelect"},
      {"vertex", "f3 x = select_f3 (a.n, a.n * 2.0, a.n > f3 {0.0});", "OpSelect"},
      {"vertex", "s4 x = shift_right_arithmetic_s4 (a.si, a.si);", "OpShiftRightArithmetic"},
  });
}

TEST(Version2Rows, Booleans_AreValues) {
  CheckRows({
      {"vertex", "b1 x = true; b2 y = b2 {x, false}; if (x) { y = b2 {x}; }", "OpVariable"},
      {"vertex", "b4 x = a.p < a.p; b4 y = a.p == a.p; b4 z = a.ui != a.ui; b4 w = a.si >= a.si;",
       "OpFOrdLessThan|OpFOrdEqual|OpINotEqual|OpSGreaterThanEqual"},
      {"vertex", "b4 x = a.p < a.p; if (any_b4 (x) && all_b4 (x)) { }", "OpAny|OpAll"},
      {"vertex", "b4 x = a.p < a.p; b4 y = x & x; y = x | x; y = x ^ x; y = !x;",
       "OpLogicalAnd|OpLogicalOr|OpLogicalNotEqual|OpLogicalNot"},
      {"vertex", "b1 x = a.u == 1u; b1 y = x == false; y = x != y;",
       "OpLogicalEqual|OpLogicalNotEqual"},
      {"vertex", "b1 x = a.u == 1u; u1 y = u1 {x}; f1 z = f1 {x}; s1 w = s1 {x};", "OpSelect"},
      {"vertex", "b2 x = a.uv < a.uv; f2 y = f2 {x}; u2 z = u2 {x};", "OpSelect"},
      {"vertex", "lit_t x = lit_t {true, 1.0}; b1[2] y; y[0u] = x.on; change (y[0u]);",
       "OpFunctionCall",
       "struct lit_t { b1 on; f1 power; };\n"
       "void change (in out b1 x) { x = !x; }"},
      {"vertex", "b1 x = is_big (2.0); b1 y = x ? true : false;", "OpTypeFunction %bool",
       "b1 is_big (in f1 size) { return size > 1.0; }"},
  });
}

TEST(Version2Rows, TypedConstants_AreComposites) {
  constexpr char kCorners[] =
      "constant f2[3] corner = f2[3] { f2 {-1.0, -1.0}, f2 {3.0, -1.0}, f2 {-1.0, 3.0} };";
  CheckRows({
      {"vertex", "f2 x = corner[vertex_stage_vertex_index ()];",
       "OpConstantComposite|Private|OpAccessChain", kCorners},
      {"vertex", "f2 x = corner[1u]; f2[3] y = corner;", "OpConstantComposite", kCorners},
      {"vertex", "f2 x = corner[a.u];", "NonWritable", kCorners, kVulkan12},
      {"vertex", "f2 x = first (corner);", "OpFunctionCall",
       "constant half = 0.5;"
       "constant f2[2] corner = f2[2] { f2 {0.5}, f2 {1.0, half + half} };"
       "f2 first (in f2[2] list) { return list[0u]; }"},
  });
}

TEST(Version2Rows, ArrayConstructors_AreValues) {
  CheckRows({
      {"vertex", "f1[2] x = f1[2] {a.one, 2.0}; f1 y = f1[2] {a.one, 1.0}[a.u];",
       "OpCompositeConstruct"},
      {"vertex", "f1 x = sum (f1[3] {1.0, a.one, 3.0});", "OpFunctionCall",
       "f1 sum (in f1[3] list) { return list[0u] + list[1u] + list[2u]; }"},
      {"vertex", "f4 x = up; f3x3 y = turn; f1 z = three;", "OpConstantComposite",
       "constant f4 up = f4 { f2 {0.0}, 1.0, 0.0 };\n"
       "constant f3x3 turn = f3x3 { f3 {1.0, 0.0, 0.0}, f3 {0.0}, f3 {1.0} };\n"
       "constant f1 three = 3.0;"},
  });
}

TEST(Version2Rows, Compute_HasMemoryAndBarriers) {
  CheckRows({
      {"compute", "workgroup_barrier (); storage_barrier ();", "OpControlBarrier"},
      {"compute",
       "tile[compute_stage_local_index ()] = 1.0; workgroup_barrier (); "
       "rw.place.x = tile[3u];",
       "Workgroup|OpControlBarrier|264", "workgroup f1[64] tile;"},
      {"compute", "tile[compute_stage_local_index ()] = 1.0;", "Workgroup",
       "workgroup f1[64] tile; workgroup u1 unused;", kVulkan12},
      {"compute", "rw.rest.items[compute_stage_global_id ().x] = 2u; rw.place = ro.points[1u];",
       "OpStore"},
      {"compute", "u1 x = array_length (rw.rest.items); u1 y = array_length (ro.points);",
       "OpArrayLength"},
      // The tail is a member of the block itself, however deep it is declared.
      {"compute", "rw.rest.head = array_length (rw.rest.items);",
       "OpMemberName %rw 5 \"items\"|OpMemberDecorate %rw 5 Offset 52|OpMemberDecorate %rw 4 "
       "Offset 48"},
      {"compute", "f4 x = sample (sm, im, f2 {0.5});", "OpImageSampleExplicitLod"},
  });
}

TEST(Version2Rows, Atomics_ArePickedByType) {
  CheckRows({
      {"compute", "u1 x = atomic_add (rw.count, 1u);", "OpAtomicIAdd"},
      {"compute", "atomic_min (rw.count, 1u); atomic_max (rw.count, 2u);",
       "OpAtomicUMin|OpAtomicUMax"},
      {"compute", "atomic_min (rw.least, -1); atomic_max (rw.least, 2);",
       "OpAtomicSMin|OpAtomicSMax"},
      {"compute", "atomic_and (rw.count, 1u); atomic_or (rw.count, 2u); atomic_xor (rw.count, 3u);",
       "OpAtomicAnd|OpAtomicOr|OpAtomicXor"},
      {"compute", "u1 x = atomic_exchange (rw.quad.y, 1u);", "OpAtomicExchange"},
      {"compute", "u1 x = atomic_compare_exchange (rw.rest.items[2u], 1u, 5u);",
       "OpAtomicCompareExchange"},
      {"compute", "u1 x = atomic_add (shared_count, 1u);", "OpAtomicIAdd %uint %",
       "workgroup u1 shared_count;"},
      {"fragment", "atomic_add (rw.count, 1u);", "OpAtomicIAdd"},
  });
}

TEST(Version2Rows, StorageImages_AreReadAndWritten) {
  CheckRows({
      {"compute", "f4 x = image_load (si, u2 {1u}); image_store (si, u2 {1u}, x);",
       "OpImageRead|OpImageWrite| Rgba8"},
      {"compute", "u4 x = image_load (si3, u3 {1u}); u3 y = image_size (si3);",
       "OpImageRead|OpImageQuerySize |NonWritable|R32ui"},
      {"compute", "image_store (sia, 1u, u2 {1u}, s4 {-1}); u3 y = image_size (sia);",
       "OpImageWrite|NonReadable|Rgba16i"},
      {"fragment", "image_store (si, u2 {1u}, f4 {1.0});", "OpImageWrite"},
  });
}

TEST(Version2Rows, RelaxedFloats_AreDecorated) {
  CheckRows({
      {"vertex", "relaxed f4 x = a.p; relaxed f4 y = x * 2.0 + x; f4 z = y + a.p;",
       "RelaxedPrecision"},
      {"fragment", "o.color = soft.c * 0.5;", "RelaxedPrecision",
       "state_container soft { relaxed f4 c; };"},
      {"vertex", "f1 x = halved (2.0);", "RelaxedPrecision",
       "relaxed f1 halved (in relaxed f1 x) { return x * 0.5; }"},
  });
}

TEST(Version2Rows, Halves_AreValues) {
  CheckRows({
      {"vertex", "h1 x = h1 {0.5}; h4 y = h4 {a.p} * x; f4 z = f4 {y};",
       "OpTypeFloat 16|OpFConvert|OpCapability Float16"},
      {"vertex", "h2 x = h2 {a.uv}; h2 y = max_h2 (x, h2 {h1 {1.0}}); h1 z = dot_h2 (x, y);",
       "FMax|OpDot"},
      {"vertex", "h1 x = h1 {a.u}; h1 y = h1 {a.s}; u1 z = u1 {x}; b1 w = x < y;",
       "OpConvertUToF|OpConvertSToF|OpConvertFToU|OpFOrdLessThan"},
      {"compute", "small.x = small.y + h1 {1.0};", "OpCapability StorageBuffer16BitAccess|Offset 2",
       "set_object read_write_storage_buffer small { h1 x; h1 y; h3 z; };"},
      {"compute", "small.x = h1 {1.0};", "SPV_KHR_16bit_storage",
       "set_object read_write_storage_buffer small { h1 x; h2[3] y; };",
       target::Environment::kVulkan10},
  });
}

TEST(Version2Rows, SpecialisedOptions_AreSpecConstants) {
  CheckRows({
      {"vertex", "f1 x = strength * 2.0;", "OpSpecConstant %float 0.5|SpecId 0",
       "instance specialize strength: float 0.5;"},
      {"vertex", "if (fast) { u1 x = taps + u1 {bias}; }",
       "OpSpecConstantTrue|OpSpecConstant %uint 4|OpSpecConstant %int -2|SpecId 2|SpecId 3",
       "instance specialize unused: float 0.5; instance specialize fast: flag true;"
       "instance specialize taps: uint 4; instance specialize bias: sint -2;"},
      {"vertex", "f2 x = f2 {strength, strength};", "OpCompositeConstruct",
       "instance specialize strength: float 0.5;"},
  });
}

TEST(Version2Rows, Mixed_EachModuleKeepsItsVersion) {
  EXPECT_EQ(Build("rpl 1; f4 gather (in f4 x) { return x; }\n"
                  "void v (void) { vertex_stage_output_position (gather (f4 {1.0})); }",
                  "vertex:v")
                .codes,
            "");
}

}  // namespace
}  // namespace kiln::language
