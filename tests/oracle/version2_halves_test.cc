// SPDX-License-Identifier: MIT
// 16-bit floats in compute programs: operators, functions, conversions and memory.
// See spec/rpl 14.8
#include <algorithm>

#include <fmt/format.h>

#include "compiler/ir/typing/typing.h"
#include "tests/oracle/compute_fixture.h"

namespace kiln::oracle {
namespace {

// Source and sink of halves: multiples of 1/8 in [-8, 8] that are never 0.
class Halves : public Compute {
 protected:
  static std::vector<std::byte> Inputs(size_t count) {
    std::vector<std::byte> bytes;
    for (size_t i = 0; i < count; ++i) {
      const auto steps = static_cast<uint32_t>(i * 37 % 64 + 1);  // eighths
      uint32_t exponent = 15 + 5 - 3 + 1;
      uint32_t fraction = steps << 4;
      while ((fraction & 0x400U) == 0) {
        fraction <<= 1;
        --exponent;
      }
      const uint32_t bits = (i % 3 == 0 ? 0x8000U : 0U) | exponent << 10 | (fraction & 0x3ffU);
      bytes.push_back(static_cast<std::byte>(bits));
      bytes.push_back(static_cast<std::byte>(bits >> 8));
    }
    return bytes;
  }

  // 32 invocations, each with `a`, `b` and `c` of h4, the first two not 0.
  static Comparison AgreeOnStatements(const std::string& statements) {
    ComputeRun run{.memory = {.buffers = {{"source", Inputs(size_t{4} * 96)},
                                          {"sink", Zeros(size_t{32} * 48)}}}};
    return Agree(
        "rpl 2;\nsetting workgroup_size_x = 32u;\n"
        "set_pass read_only_storage_buffer source { h4... items; };\n"
        "struct row_t { h4 h; f4 f; u1 u; s1 s; };\n"
        "set_pass read_write_storage_buffer sink { row_t... rows; };\n"
        "void main (void)\n{\n"
        "    u1 me = compute_stage_local_index ();\n"
        "    h4 a = source.items[me]; h4 b = source.items[me + 32u]; h4 c = source.items[me + "
        "64u];\n"
        "    alias (row, sink.rows[me])\n    " +
            statements + "\n}\n",
        run);
  }
};

TEST_F(Halves, OperatorsAndConversions_Agree) {
  for (const std::string_view statements :
       {"row.h = a + b;", "row.h = a - b; row.f = f4 { a } - f4 { b };", "row.h = a * b;",
        "row.h = a / b;", "row.h = a * b.x;", "row.h = b.x * a;", "row.h = a / h1 { 4.0 };",
        "row.h = -a; row.h.x += b.x; row.h.z *= c.y;", "h2 x = a.zw; row.h = h4 { x, x.yx };",
        "row.u = u1 { a.x < b.x } + u1 { any_b4 (a == b) } * 2u + u1 { all_b4 (a != c) } * 4u;",
        "row.u = u1 { abs_h1 (a.x) }; row.s = s1 { a.x }; row.h.x = h1 { row.s } + h1 { me };",
        "row.h = a.x > h1 { 0.0 } ? b : c; row.h = select_h4 (a, row.h, b < c);",
        "row.f = f4 { a }; row.h = h4 { row.f * 2.0 + f4 { 0.25 } };",
        "h1 x = h1 { 0.5 }; h3 y = h3 { x }; row.h = h4 { y, x } + a;"}) {
    const Comparison comparison = AgreeOnStatements(std::string(statements));
    EXPECT_EQ(comparison.open, 0U) << statements;
  }
}

// "a.xyz, b.x": operands of a function for so many rows.
std::string ArgumentsOf(const ir::BuiltinFacts& facts, uint32_t rows) {
  const std::string letters = "." + std::string("xyzw").substr(0, rows);
  constexpr char kOperands[] = "abc";
  std::string arguments;
  for (size_t j = 0; j < facts.parameters.size(); ++j) {
    arguments += fmt::format("{}{}{}", j == 0 ? "" : ", ", kOperands[j],
                             facts.parameters[j] == 'T' ? letters : ".x");
  }
  return arguments;
}

TEST_F(Halves, Functions_Agree) {
  const ir::Pool pool;
  for (uint32_t i = 0; i < ir::kBuiltinCount; ++i) {
    const auto builtin = static_cast<ir::Builtin>(i);
    const ir::BuiltinFacts& facts = ir::FactsOf(builtin);
    if (ir::IsOfTypedModules(builtin)) {
      continue;  // RPL has no name for it
    }
    for (uint32_t rows = 1; rows <= 4; ++rows) {
      const ir::TypeId type = pool.Vector(ir::Scalar::kF16, rows);
      if (facts.types == ir::BuiltinTypes::kNone || facts.types == ir::BuiltinTypes::kV2 ||
          !ir::ExistsFor(facts.types, pool[type])) {
        continue;
      }
      const uint32_t result = facts.result == 'T' ? rows : 1;
      const Comparison comparison = AgreeOnStatements(
          fmt::format("h{} x = {}_h{} ({}); {}", result, facts.name, rows, ArgumentsOf(facts, rows),
                      result > 1 ? "row.h.x = x.x; row.h.y = x.y;" : "row.h.x = x;"));
      EXPECT_LT(comparison.open, 32U * std::min(result, 2U)) << facts.name;
    }
  }
}

TEST_F(Halves, Buffers_AreLaidOutAsSpecified) {
  ComputeRun run{.memory = {.buffers = {{"source", Inputs(64)}, {"sink", Zeros(128)}}}};
  constexpr char kFields[] =
      " h1 a; h3 b; h1 c; h2 d; h1[3] e; h2[2] f; pair_t g; h3[2] h; f1 i; h1... tail; };\n";
  Decided("rpl 2;\nstruct pair_t { h1 x; h3 y; };\nset_pass read_only_storage_buffer source {" +
              std::string(kFields) + "set_pass read_write_storage_buffer sink {" + kFields +
              "void main (void)\n{\n"
              "    sink.a = source.c; sink.b = source.b.zxy; sink.c = source.a; sink.d.y = "
              "source.d.x;\n"
              "    sink.g = source.g; sink.i = f1 { source.a };\n"
              "    for (u1 n = 0u; n < 2u; n += 1u)\n"
              "    { sink.e[n] = source.e[n + 1u]; sink.f[n] = source.f[1u - n]; sink.h[n] = "
              "source.h[n]; }\n"
              "    for (u1 n = 0u; n < array_length (sink.tail); n += 1u)\n"
              "    { sink.tail[n] = source.tail[n]; }\n}\n",
          run);
}

}  // namespace
}  // namespace kiln::oracle
