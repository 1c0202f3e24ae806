// SPDX-License-Identifier: MIT
// The illegal neighbours of version 2's rows and the codes they give. See spec/rpl 13, 14
#include <gtest/gtest.h>

#include "tests/language/source_rows.h"

namespace kiln::language {
namespace {

struct Row {
  const char* stage;
  const char* body;
  const char* codes;
  const char* decls = "";
};

void CheckRows(std::initializer_list<Row> rows) {
  for (const Row& row : rows) {
    EXPECT_EQ(BuildBody(row.stage, row.body, row.decls).codes, row.codes) << row.decls << row.body;
  }
}

TEST(Version2Refused, StageValues_OfOtherStages) {
  CheckRows({
      {"fragment", "u1 x = vertex_stage_vertex_index ();", "RPL5013"},
      {"vertex", "f4 x = fragment_stage_frag_coord ();", "RPL5013"},
      {"vertex", "u3 x = compute_stage_global_id ();", "RPL5013"},
      {"vertex", "workgroup_barrier ();", "RPL5013"},
      {"vertex", "f1 x = ddx_f1 (1.0);", "RPL5013"},
      {"fragment", "fragment_stage_output_frag_depth (1u);", "RPL5030"},
      {"fragment", "fragment_stage_output_frag_depth ();", "RPL5036"},
      {"vertex", "u1 x = vertex_stage_vertex_index (1u);", "RPL5036"},
      {"vertex", "tile[0u] = 1.0;", "RPL5011", "workgroup f1[4] tile;"},
  });
}

// A vector has the warning if an item of it has, and no other.
TEST(Version2Refused, ConstantVectors_AsRightOperands) {
  const char* decls =
      "constant u2 pad = u2 {70u, 80u}; constant u2 one = u2 {1u, 2u}; "
      "constant u2 big = u2 {1u, 32u}; constant u2 none = u2 {1u, 0u};";
  CheckRows({
      {"vertex", "u2 x = u2 {8u} << one; x = x >> one; x = x / one; x = x % one; x = x / pad;", "",
       decls},
      {"vertex", "u2 x = u2 {8u} << big;", "RPL6030", decls},
      {"vertex", "u2 x = u2 {8u} / none;", "RPL6029", decls},
      {"vertex", "u2 x = u2 {8u} % none;", "RPL6029", decls},
      {"vertex", "s1 x = 8 << -1;", "RPL6030"},
  });
}

TEST(Version2Refused, ArraysOfArrays_AndStructConstants) {
  CheckRows({
      {"vertex", "f1[2][2] w = f1[2][2] {f1[2] {1.0, 2.0}, f1[2] {3.0, 4.0}}; f1 x = w[0][1];", ""},
      {"vertex", "f1[2] row = f1[2] {1.0, 2.0}; f1[2][2] w = f1[2][2] {row, row}; f1 x = w[1][0];",
       ""},
      {"vertex", "f1[3] row = f1[3] {1.0, 2.0, 3.0}; f1[2][2] w = f1[2][2] {row, row};", "RPL6053"},
      {"vertex", "f1[2] row = f1[2] {1.0, 2.0}; f1[2] w = f1[2] {row, row};", "RPL6016 RPL6016"},
      {"vertex", "", "RPL4011", "struct q { f4 a; }; constant q k = q {f4 {1.0}};"},
      {"vertex", "", "RPL4011", "struct q { f4 a; }; constant q[1] k = q[1] {q {f4 {1.0}}};"},
      {"vertex", "", "RPL8110", "struct q { f4 a; }; constant f4 k = q {f4 {1.0}};"},
  });
}

TEST(Version2Refused, RelaxedFields_InAnyOrder) {
  CheckRows({
      {"vertex", "", "", "state_container r { relaxed meta (a) f2 x; meta (a) relaxed f2 y; };"},
      {"vertex", "", "RPL8112", "state_container r { relaxed meta (a) u2 x; };"},
      {"vertex", "", "", "struct relaxed { f4 a; }; set_pass uniform_buffer r { relaxed meta; };"},
  });
}

TEST(Version2Refused, Images_OfOtherKinds) {
  CheckRows({
      {"fragment", "f4 x = gather (sm, im, f2 {0.5}, 4u);", "RPL8109"},
      {"fragment", "f4 x = gather (sm, im, f2 {0.5}, st.k);", "RPL8109"},
      {"fragment", "f4 x = gather (sm, im3, f3 {0.5}, 1u);", "RPL5041"},
      {"fragment", "f4 x = gather_dref (sm, im, f2 {0.5}, 0.5);", "RPL5043"},
      {"fragment", "f1 x = sample_dref_lod (sm, dm3, f3 {0.5}, 0.5, 0.0);", "RPL5044"},
      {"fragment", "f4 x = fetch (imc, u3 {1u}, 0u);", "RPL5041"},
      {"fragment", "f4 x = fetch (sm, u2 {1u}, 0u);", "RPL5041"},
      {"fragment", "f4 x = fetch (im, f2 {1.0}, 0u);", "RPL5045"},
      {"fragment", "f4 x = fetch ();", "RPL5036"},
      {"fragment", "f4 x = sample_lod (sm, im, f2 {0.5});", "RPL5045"},
      {"fragment", "f4 x = sample_lod (sm, si, f2 {0.5}, 0.0);", "RPL5041"},
      {"fragment", "f4 x = image_load (im, u2 {1u});", "RPL5041"},
      {"fragment", "u2 x = image_size (im);", "RPL5045"},
      {"fragment", "u2 x = image_size (si, 0u);", "RPL5045"},
      {"compute", "s4 x = image_load (sia, 1u, u2 {1u});", "RPL8108"},
      {"compute", "image_store (si3, u3 {1u}, u4 {1u});", "RPL8108"},
      {"compute", "image_store (si, u2 {1u}, u4 {1u});", "RPL5045"},
      {"compute", "f4 x = image_store (si, u2 {1u}, f4 {1.0});", "RPL6005"},
  });
}

TEST(Version2Refused, Operators_BesideTheTable) {
  CheckRows({
      {"vertex", "f4 x = 2u * a.p;", "RPL6022"},
      {"vertex", "f1 x = 1.0; x *= a.p;", "RPL6026"},
      {"vertex", "f4 x = a.p; x %= a.p;", "RPL6023"},
      {"vertex", "ub.x += f4 {1.0};", "RPL6015"},
      {"vertex", "st.c += f4 {1.0};", "RPL6014"},
      {"vertex", "f1 x = a.u ? 1.0 : 2.0;", "RPL6045"},
      {"vertex", "f1 x = a.u == 1u ? 1.0 : 2u;", "RPL8114"},
      {"vertex", "f4[4] x = a.u == 1u ? ub.list : ub.list;", "RPL6016 RPL6016"},
      {"vertex", "f3 x = select_f3 (a.n, a.n, true);", "RPL5030"},
      {"vertex", "f1 x = select_f1 (1.0, 2.0, true);", "RPL5001"},
      {"vertex", "u1 x = shift_right_arithmetic_u1 (1u, 1u);", "RPL5001"},
      {"vertex", "f4 x = f4 {1.0}; f4[2] y; y = f4[2] {x, x};", "RPL6016"},
  });
}

TEST(Version2Refused, Booleans_InMemoryAndMatters) {
  CheckRows({
      {"vertex", "", "RPL8111", "set_pass uniform_buffer bb { b1 x; };"},
      {"vertex", "", "RPL8111", "set_pass read_only_storage_buffer bb { f4 y; b2[3] x; };"},
      {"vertex", "", "RPL8111",
       "struct lit_t { b1 on; }; set_pass read_only_storage_buffer bb { lit_t x; };"},
      {"vertex", "", "RPL8111", "push_constant bb { b4 x; };"},
      {"vertex", "", "RPL8111", "state_container bb { b4 x; };"},
      {"vertex", "", "RPL8111", "vertex_attribute_container bb { b1 x; };"},
      {"vertex", "b1 x = b1 {1u};", "RPL6050"},
      {"vertex", "if (a.uv < a.uv) { }", "RPL6045"},
      {"vertex", "if (a.uv < a.uv && true) { }", "RPL6024"},
      {"vertex", "b2 x = true && false;", "RPL6026"},
      {"vertex", "b1 x = fl;", "RPL6002", "global fl: flag true;"},
      {"vertex", "b1 x = true < false;", "RPL6025"},
      {"vertex", "b1 x = any_b1 (true);", "RPL5001"},
  });
}

TEST(Version2Refused, TypedConstants_OfOtherTypes) {
  CheckRows({
      {"vertex", "", "RPL8110", "constant f1 x = 1u;"},
      {"vertex", "", "RPL8110", "constant f2 x = f3 {1.0};"},
      {"vertex", "", "RPL8110", "constant f2[2] x = f2[1] { f2 {1.0} };"},
      {"vertex", "", "RPL6051", "constant f2[2] x = f2[2] { f2 {1.0} };"},
      {"vertex", "", "RPL6053", "constant f2[1] x = f2[1] { 1.0 };"},
      {"vertex", "", "RPL6050", "constant f2 x = f2 { 1.0, 1u };"},
      {"vertex", "", "RPL3003", "constant f2 x = f2 { nope, 1.0 };"},
      {"vertex", "", "RPL3011", "constant f2 x = f2 {1.0}; conditional (x) set_pass sampler z;"},
      {"vertex", "", "RPL3015", "constant x = f2 {1.0};"},
      {"vertex", "f1 x = f1[2] {1.0}[0u];", "RPL6051"},
      {"vertex", "f1 x = f1[2] {1.0, 1u}[0u];", "RPL6053"},
      {"vertex", "x[0u] = 1.0;", "RPL6015", "constant f1[1] x = f1[1] {1.0};"},
      {"vertex", "f1 y = x[1u];", "RPL6019", "constant f1[1] x = f1[1] {1.0};"},
  });
}

TEST(Version2Refused, Memory_ThatIsNotShared) {
  CheckRows({
      {"compute", "u1 x = 1u; atomic_add (x, 1u);", "RPL8113"},
      {"compute", "atomic_add (rw.place.x, 1.0);", "RPL8113"},
      {"compute", "atomic_add (rw.quad, u4 {1u});", "RPL8113"},
      {"compute", "atomic_add (ub.x, 1u);", "RPL8113"},
      {"compute", "atomic_add (rw.count, 1);", "RPL5030"},
      {"compute", "atomic_add (rw.count);", "RPL5036"},
      {"compute", "u1 x = array_length (ub.list);", "RPL5030"},
      {"compute", "u1 x = array_length (rw);", "RPL5030"},
      {"compute", "set (rw.place);", "RPL5032", "void set (out f4 x) { x = f4 {1.0}; }"},
      {"compute", "set (tile[0u]);", "RPL5032",
       "workgroup f4[4] tile; void set (out f4 x) { x = f4 {1.0}; }"},
      {"compute", "ro.first = f4 {1.0};", "RPL6015"},
      {"compute", "alias (x, atomic_add (rw.count, 1u))", "RPL6006"},
  });
}

TEST(Version2Refused, Precision_OfOtherTypes) {
  CheckRows({
      {"vertex", "relaxed u1 x = 1u;", "RPL8112"},
      {"vertex", "f1 x = same (1u);", "RPL8112", "u1 same (in relaxed u1 x) { return x; }"},
      {"vertex", "", "RPL8112", "state_container soft { relaxed u1 x; };"},
      {"vertex", "", "RPL4050", "set_pass uniform_buffer small { h4 x; };"},
      {"vertex", "", "RPL4011", "vertex_attribute_container small { h4 x; };"},
      {"vertex", "h1 x = 0.5;", "RPL6026"},
      {"vertex", "h1 x = h1 {0.5} * 2.0;", "RPL6022"},
  });
}

TEST(Version2Refused, SpecialisedOptions_AtCompileTime) {
  CheckRows({
      {"vertex", "f1[taps] x; x[0u] = 1.0;", "RPL8101", "instance specialize taps: uint 4;"},
      {"vertex", "conditional (fast) { }", "RPL8101", "instance specialize fast: flag true;"},
      {"vertex", "", "RPL8101", "instance specialize taps: uint 4; constant x = taps;"},
      {"vertex", "", "RPL8101", "instance specialize fast: flag true; setting depth_test = fast;"},
      {"vertex", "f4 x = ub.list[taps];", "", "instance specialize taps: uint 2;"},
  });
}

TEST(Version2Refused, ComputePipelines_HaveNoGraphics) {
  EXPECT_EQ(Build("state_container s { f4 x; };", "compute").codes, "RPL8104");
  EXPECT_EQ(Build("setting cull_mode = \"none\";", "compute").codes, "RPL8104");
  EXPECT_EQ(Build("setting workgroup_size_x = 8u;", "").codes, "RPL7001");
  EXPECT_EQ(Build("setting workgroup_size_x = 0u;", "compute").codes, "RPL8105");
  EXPECT_EQ(Build("setting workgroup_size_z = 65u;", "compute").codes, "RPL8105");
  EXPECT_EQ(Build("setting workgroup_size_x = 8;", "compute").codes, "RPL7004");
  EXPECT_EQ(Build("setting workgroup_size_x block 0 = 8u;", "compute").codes, "RPL7003");
  EXPECT_EQ(
      Build("setting workgroup_size_x = 16u; setting workgroup_size_y = 16u;", "compute").codes,
      "RPL8106");
}

}  // namespace
}  // namespace kiln::language
