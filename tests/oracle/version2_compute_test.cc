// SPDX-License-Identifier: MIT
// Compute programs leave the same memory on lavapipe as in the interpreter, which runs them in
// several orders: what depends on the order is not compared. See spec/rpl 14.6, 14.7
#include <cstring>

#include <fmt/format.h>

#include "tests/oracle/compute_fixture.h"
#include "tests/oracle/operator_fixture.h"

namespace kiln::oracle {
namespace {

constexpr char kGrid[] =
    "rpl 2;\n"
    "setting workgroup_size_x = 4u;\nsetting workgroup_size_y = 3u;\nsetting workgroup_size_z = "
    "2u;\n"
    "set_pass read_write_storage_buffer log { u1 count; u4... items; };\n";

TEST_F(Compute, Ids_AreThoseOfTheInvocation) {
  for (const std::string_view id :
       {"compute_stage_global_id ()", "compute_stage_local_id ()", "compute_stage_workgroup_id ()",
        "compute_stage_workgroup_count ()"}) {
    ComputeRun run{.groups = {2, 3, 2}, .memory = {.buffers = {{"log", Zeros(16 + 16 * 288)}}}};
    Decided(fmt::format("{}void main (void)\n{{\n"
                        "    u3 at = compute_stage_global_id ();\n"
                        "    log.items[(at.z * 9u + at.y) * 8u + at.x] =\n"
                        "        u4 {{ {}, compute_stage_local_index () }};\n}}\n",
                        kGrid, id),
            run);
  }
}

TEST_F(Compute, Workgroup_SumsThroughSharedMemory) {
  ComputeRun run{.groups = {4, 1, 1},
                 .memory = {.buffers = {{"source", Words(64)}, {"sums", Zeros(size_t{4} * 8)}}}};
  Decided(
      "rpl 2;\nsetting workgroup_size_x = 16u;\n"
      "instance slots: uint 16;\n"
      "set_pass read_only_storage_buffer source { u1... words; };\n"
      "set_pass read_write_storage_buffer sums { u1[4] whole; u1[4] first; };\n"
      "workgroup u1[slots] tile;\nworkgroup u2 pair;\n"
      "void main (void)\n{\n"
      "    u1 me = compute_stage_local_index ();\n"
      "    tile[me] = source.words[compute_stage_global_id ().x];\n"
      "    if (me == 5u) { pair.y = tile[me]; }\n"
      "    workgroup_barrier ();\n"
      "    for (u1 step = 8u; step > 0u; step >>= 1u)\n    {\n"
      "        if (me < step) { tile[me] += tile[me + step]; }\n"
      "        workgroup_barrier ();\n    }\n"
      "    if (me == 0u) { sums.whole[compute_stage_workgroup_id ().x] = tile[0];\n"
      "        sums.first[compute_stage_workgroup_id ().x] = pair.y; }\n}\n",
      run);
}

TEST_F(Compute, StorageBarrier_OrdersBuffersAndImages) {
  ComputeRun run{.groups = {1, 1, 1},
                 .memory = {.buffers = {{"list", Words(16)}},
                            .images = {{"board", Image(ir::ImageFormat::kR32Uint, {16, 1, 1})}}}};
  Decided(
      "rpl 2;\nsetting workgroup_size_x = 16u;\n"
      "set_pass read_write_storage_buffer list { u1... words; };\n"
      "set_pass storage_image_2d format (r32_uint) read_write board;\n"
      "void main (void)\n{\n"
      "    u1 me = compute_stage_local_index ();\n"
      "    u1 next = (me + 1u) % 16u;\n"
      "    u1 seen = list.words[next];\n"
      "    image_store (board, u2 { me, 0u }, u4 { seen });\n"
      "    storage_barrier ();\n"
      "    list.words[me] = image_load (board, u2 { next, 0u }).x * 3u;\n"
      "    storage_barrier ();\n"
      "    image_store (board, u2 { me, 0u }, u4 { list.words[15u - me] });\n}\n",
      run);
}

// The oracle's own eyes: what depends on who comes first is open, a barrier that some miss is none.
TEST_F(Compute, Races_AreNotCompared) {
  constexpr char kRace[] =
      "rpl 2;\nsetting workgroup_size_x = 8u;\n"
      "set_pass read_write_storage_buffer list { u1 last; u1 total; u1... words; };\n"
      "void main (void)\n{\n"
      "    list.last = compute_stage_local_index ();\n"
      "    list.words[compute_stage_local_index ()] = atomic_add (list.total, 1u);\n}\n";
  ComputeRun run{.memory = {.buffers = {{"list", Zeros(40)}}}};
  const Comparison comparison = Agree(kRace, run);
  EXPECT_EQ(comparison.open, 9U);
  EXPECT_EQ(comparison.decided, 1U);

  const BuiltVariant variant(
      {.sources = {"rpl 2;\nsetting workgroup_size_x = 4u;\n"
                   "void main (void) { if (compute_stage_local_index () < 2u) "
                   "{ workgroup_barrier (); } }\n"},
       .entries = {"compute:main"}});
  ASSERT_TRUE(variant.ok()) << variant.messages();
  std::string why;
  InterpretCompute(variant, {}, why);
  EXPECT_EQ(why, "a barrier that not every invocation reaches");
}

TEST_F(Compute, Atomics_ReturnWhatWasThere) {
  constexpr std::string_view kOperations[] = {"add", "min", "max", "and", "or", "xor", "exchange"};
  for (const std::string_view operation : kOperations) {
    for (const std::string_view memory : {"list", "shared_list"}) {
      ComputeRun run{.memory = {.buffers = {{"list", Words(12)}, {"old", Zeros(48)}}}};
      Decided(fmt::format(
                  "rpl 2;\n"
                  "set_pass read_write_storage_buffer list {{ cells_t cells; }};\n"
                  "struct cells_t {{ u4 u; s4 s; u4 result; }};\n"
                  "struct shared_t {{ cells_t cells; }};\n"
                  "workgroup shared_t shared_list;\n"
                  "set_pass read_write_storage_buffer old {{ u4 u; s4 s; }};\n"
                  "void main (void)\n{{\n"
                  "    shared_list.cells = list.cells;\n"
                  "    old.u.x = atomic_{0} ({1}.cells.u.x, {1}.cells.u.y);\n"
                  "    old.u.y = atomic_{0} ({1}.cells.u.z, 7u) + atomic_{0} ({1}.cells.u.z, 9u);\n"
                  "    old.s.x = atomic_{0} ({1}.cells.s.x, {1}.cells.s.y);\n"
                  "    old.s.y = atomic_{0} ({1}.cells.s.z, -7) + atomic_{0} ({1}.cells.s.z, 9);\n"
                  "    old.u.z = {1}.cells.u.x;\n    old.s.z = {1}.cells.s.z;\n}}\n",
                  operation, memory),
              run);
    }
  }
}

TEST_F(Compute, CompareExchange_ChangesEqualValuesAlone) {
  ComputeRun run{.memory = {.buffers = {{"list", Words(8)}}}};
  Decided(
      "rpl 2;\nset_pass read_write_storage_buffer list { u4 u; s1... s; };\n"
      "void main (void)\n{\n"
      "    list.u.y = atomic_compare_exchange (list.u.x, list.u.x, 5u);\n"
      "    list.u.w = atomic_compare_exchange (list.u.z, list.u.z + 1u, 5u);\n"
      "    list.s[1u] = atomic_compare_exchange (list.s[0u], list.s[0u], -5);\n"
      "    list.s[3u] = atomic_compare_exchange (list.s[2u], -1, -5);\n}\n",
      run);
}

TEST_F(Compute, Atomics_OfManyInvocationsAddUp) {
  ComputeRun run{.groups = {3, 1, 1}, .memory = {.buffers = {{"list", Zeros(4 * 9 + 4 * 96)}}}};
  Decided(
      "rpl 2;\nsetting workgroup_size_x = 32u;\n"
      "set_pass read_write_storage_buffer list { u1 sum; u1 least; s1 most; u1 bits; u1 all; u1 "
      "odd;\n"
      "    u1 shared_sum; u1 taken; u1 pad; u1... slots; };\n"
      "workgroup u1 local_sum;\n"
      "void main (void)\n{\n"
      "    u1 me = compute_stage_global_id ().x;\n"
      "    if (compute_stage_local_index () == 0u) { local_sum = 0u; }\n"
      "    workgroup_barrier ();\n"
      "    atomic_add (local_sum, me);\n    atomic_add (list.sum, me * me);\n"
      "    atomic_min (list.least, 4294967295u - me);\n    atomic_max (list.most, s1 { me } - "
      "40);\n"
      "    atomic_or (list.bits, 1u << me % 32u);\n    atomic_and (list.all, me);\n"
      "    atomic_xor (list.odd, me * 77u);\n"
      "    workgroup_barrier ();\n"
      "    if (compute_stage_local_index () == 0u) { atomic_add (list.shared_sum, local_sum); }\n"
      "    list.slots[atomic_add (list.taken, 1u)] = 9u;\n}\n",
      run);
}

// Every type of field, read and written whole and by parts: offsets and strides are compared, too.
TEST_F(Compute, Buffers_AreLaidOutAsSpecified) {
  ComputeRun run{.memory = {.buffers = {{"source", Numbers(200)}, {"sink", Zeros(800)}}}};
  constexpr char kFields[] =
      " f1 a; f3 b; f1 c; f2 d; f3x3 e; u3 f; s1 g; f4x4 h; part_t i; f3[2] j; f1[3] k; u2[2][2] l;"
      " part_t[2] m; s4 n; tail_t tail; };\n";
  Decided(
      "rpl 2;\nstruct part_t { f1 x; f2 y; u1 z; };\nstruct tail_t { u1 head; f3... items; };\n"
      "set_pass read_only_storage_buffer source {" +
          std::string(kFields) + "set_pass read_write_storage_buffer sink {" + kFields +
          "void main (void)\n{\n"
          "    sink.a = source.c; sink.b.x = source.b.z; sink.b.y = source.b.x; sink.c = "
          "source.a;\n"
          "    sink.d = source.d.yx; sink.e = transpose_matrix_f3x3 (source.e); sink.f = "
          "source.f;\n"
          "    sink.g = source.g; sink.h.y = source.h.x; sink.h.w.z = source.h.z.w;\n"
          "    sink.i = source.i; sink.m[1] = source.m[0]; sink.m[0].y = source.m[1].y;\n"
          "    for (u1 n = 0u; n < 2u; n += 1u)\n    {\n"
          "        sink.j[n] = source.j[1u - n]; sink.k[n + 1u] = source.k[n];\n"
          "        for (u1 o = 0u; o < 2u; o += 1u) { sink.l[n][o] = source.l[o][n]; }\n    }\n"
          "    sink.n = source.n; sink.tail.head = array_length (source.tail.items);\n"
          "    for (u1 n = 0u; n < array_length (sink.tail.items); n += 1u)\n"
          "    { sink.tail.items[n] = source.tail.items[n] * 2.0; sink.tail.items[n].y = f1 { n }; "
          "}\n}\n",
      run);
}

TEST_F(Compute, ArrayLength_OfEveryBuffer) {
  for (const size_t bytes : {size_t{16}, size_t{32}, size_t{48}, size_t{160}}) {
    ComputeRun run{.memory = {.buffers = {{"ro", Zeros(bytes)}, {"rw", Zeros(bytes + 16)}}}};
    Decided(
        "rpl 2;\nset_pass read_only_storage_buffer ro { f3... items; };\n"
        "set_pass read_write_storage_buffer rw { u2 lengths; rest_t rest; };\n"
        "struct rest_t { u1 pad; u1... words; };\n"
        "void main (void) { rw.lengths = u2 { array_length (ro.items), "
        "array_length (rw.rest.words) }; }\n",
        run);
  }
}

TEST_F(Compute, StorageImages_OfEveryFormatAndShape) {
  using ir::ImageFormat;
  struct Case {
    std::string_view name;
    ImageFormat format;
    char letter;
  };
  constexpr Case kCases[] = {
      {"rgba32_float", ImageFormat::kRgba32Float, 'f'},
      {"rgba16_float", ImageFormat::kRgba16Float, 'f'},
      {"r32_float", ImageFormat::kR32Float, 'f'},
      {"rgba8_unorm", ImageFormat::kRgba8Unorm, 'f'},
      {"rgba8_snorm", ImageFormat::kRgba8Snorm, 'f'},
      {"rgba32_sint", ImageFormat::kRgba32Sint, 's'},
      {"rgba16_sint", ImageFormat::kRgba16Sint, 's'},
      {"rgba8_sint", ImageFormat::kRgba8Sint, 's'},
      {"r32_sint", ImageFormat::kR32Sint, 's'},
      {"rgba32_uint", ImageFormat::kRgba32Uint, 'u'},
      {"rgba16_uint", ImageFormat::kRgba16Uint, 'u'},
      {"rgba8_uint", ImageFormat::kRgba8Uint, 'u'},
      {"r32_uint", ImageFormat::kR32Uint, 'u'},
  };
  struct Shape {
    std::string_view type;
    std::string_view texel;  // of an invocation `at`
    std::string_view size;
  };
  constexpr Shape kShapes[] = {
      {"2d", "at.xy", "u3 { image_size (to), 1u }"},
      {"3d", "at", "image_size (to)"},
      {"2d_array", "at.z, at.xy", "image_size (to)"},
  };
  for (const Case& row : kCases) {
    for (const Shape& shape : kShapes) {
      const std::array<uint32_t, 3> size = {4, 2, shape.type == "2d" ? 1U : 3U};
      ComputeRun run{.groups = size,
                     .memory = {.buffers = {{"log", Zeros(size_t{24} * 32)}},
                                .images = {{"from", Image(row.format, size)},
                                           {"to", Image(row.format, size)},
                                           {"both", Image(row.format, size)}}}};
      Decided(fmt::format(
                  "rpl 2;\n"
                  "set_pass storage_image_{0} format ({1}) read_only from;\n"
                  "set_pass storage_image_{0} format ({1}) write_only to;\n"
                  "set_pass storage_image_{0} format ({1}) read_write both;\n"
                  "struct row_t {{ u3 size; {2}4 value; }};\n"
                  "set_pass read_write_storage_buffer log {{ row_t... rows; }};\n"
                  "void main (void)\n{{\n"
                  "    u3 at = compute_stage_global_id ();\n"
                  "    {2}4 value = image_load (from, {3});\n"
                  "    image_store (to, {3}, value.wzyx);\n"
                  "    image_store (both, {3}, image_load (both, {3}).yxwz);\n"
                  "    log.rows[(at.z * 2u + at.y) * 4u + at.x] = row_t {{ {4}, value }};\n}}\n",
                  shape.type, row.name, row.letter, shape.texel, shape.size),
              run);
    }
  }
}

TEST_F(Compute, PushConstantsAndUniformBuffers_AreRead) {
  ComputeRun run{.memory = {.buffers = {{"sink", Zeros(64)}, {"view", Words(8)}}},
                 .push = Words(12)};
  Decided(
      "rpl 2;\nset_pass uniform_buffer view { u4 a; u4 b; };\n"
      "push_constant now { u4 a; s4[2] b; };\n"
      "set_pass read_write_storage_buffer sink { u4... items; };\n"
      "void main (void)\n{\n"
      "    sink.items[0u] = view.a + view.b; sink.items[1u] = view.b.wzyx;\n"
      "    sink.items[2u] = now.a; sink.items[3u] = u4 { now.b[view.a.x % 2u] };\n}\n",
      run);
}

}  // namespace
}  // namespace kiln::oracle
