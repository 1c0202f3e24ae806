// SPDX-License-Identifier: MIT
// What version 2 adds to expressions means the same in the interpreter and on lavapipe. Inputs are
// random, floats among them dyadic, so that every result is exact. See spec/rpl 14.3 to 14.5
#include <fmt/format.h>

#include "tests/oracle/operator_fixture.h"

namespace kiln::oracle {
namespace {

struct Row {
  std::string statements;
  std::string declarations{};
};

class Version2 : public OperatorFixture {
 protected:
  static Samples Inputs() {
    std::mt19937 random(14);
    Samples samples;
    FillFloats(samples, random, 0, 8, {.low = -4, .high = 4, .dyadic = true});
    FillUnsigned(samples, random, 0, 3, {});
    FillSigned(samples, random, 0, 3, {.low = INT32_MIN + 1});
    return samples;
  }

  // Every row on its own, decided everywhere.
  static void AgreeOnRows(std::initializer_list<Row> rows) {
    for (const Row& row : rows) {
      const Comparison comparison =
          Agree("rpl 2;\n" + row.declarations + ProbeText(row.statements), Inputs());
      EXPECT_EQ(comparison.open, 0U) << row.declarations << row.statements;
    }
  }
};

TEST_F(Version2, ScalarTimesVector_OfEveryType) {
  constexpr std::string_view kArrays[] = {"f", "u", "s"};
  for (const std::string_view array : kArrays) {
    for (uint32_t rows = 1; rows <= 4; ++rows) {
      const std::string vector = fmt::format(
          "given.{}[1]{}", array, rows == 4 ? "" : "." + std::string("xyzw").substr(0, rows));
      const std::string type = fmt::format("{}{}", array, rows);
      std::string text = fmt::format("{} value = given.{}[0].x * {};", type, array, vector);
      for (uint32_t i = 0; i < rows; ++i) {
        text += rows == 1 ? fmt::format(" result.{}0.x = value;", array)
                          : fmt::format(" result.{0}0.{1} = value.{1};", array, "xyzw"[i]);
      }
      AgreeOnRows({{text}});
    }
  }
  AgreeOnRows({
      {"f3x3 m = given.f[0].x * f3x3 { given.f[1].xyz, given.f[2].xyz, given.f[3].xyz };"
       "result.f0 = f4 { m.x, m.z.x }; result.f1 = f4 { m.y, m.z.y }; result.f2.x = m.z.z;"},
      {"f4x4 m = given.f[0].x * f4x4 { given.f[1], given.f[2], given.f[3], given.f[4] };"
       "result.f0 = m.x; result.f1 = m.y; result.f2 = m.z; result.f3 = m.w;"},
      // From left to right: the scalar is read before the vector is changed.
      {"f1 x = given.f[0].x; result.f0 = x * (f4 { x = 2.0 } + given.f[1]); result.f1.x = x;"},
  });
}

TEST_F(Version2, CompoundAssignment_IsTheOperator) {
  AgreeOnRows({
      {"f4 x = given.f[0]; x += given.f[1]; result.f0 = x; x -= given.f[2]; result.f1 = x;"
       "x *= 0.5; result.f2 = x; x /= 4.0; result.f3 = x;"},
      {"f3 x = given.f[0].xyz; x *= f3 { 2.0, 0.5, -1.0 }; x /= f3 { 2.0, 4.0, 8.0 };"
       "x.y += 1.0; result.f0 = f4 { x, 0.0 };"},
      {"u4 x = given.u[0]; x += given.u[1]; x *= 3u; x -= given.u[2]; x /= u4 { 7u }; x %= u4 { "
       "1000u };"
       "x |= u4 { 65536u }; x ^= given.u[1]; x &= given.u[2]; x <<= u4 { 3u }; x >>= u4 { 1u };"
       "result.u0 = x;"},
      {"s4 x = given.s[0]; x += given.s[1]; x *= 3; x ^= given.s[2]; x <<= s4 { 2 };"
       "x >>= s4 { 1 }; result.s0 = x;"},
      {"f4x4 m = f4x4 { given.f[0], given.f[1], given.f[2], given.f[3] }; m *= 2.0; m += m;"
       "m.x += given.f[4]; m.y.z -= 1.0; result.f0 = m.x; result.f1 = m.y; result.f2 = m.z;"},
      {"f4 v = given.f[0]; v *= f4x4 { given.f[1], given.f[2], given.f[3], given.f[4] };"
       "result.f0 = v;"},
      // A value, right associative: a += b += c.
      {"f1 a = given.f[0].x; f1 b = given.f[0].y; f1 c = a += b *= 2.0;"
       "result.f0 = f4 { a, b, c, (a -= 1.0) };"},
  });
}

// spec/rpl 5.5, 14.3: index expressions first and once, then the value; the target is loaded for
// the operation behind both.
TEST_F(Version2, CompoundAssignment_EvaluatesIndicesOnce) {
  AgreeOnRows({
      {"u1 n = 0u; u4[3] list; list[0] = given.u[0]; list[1] = given.u[1]; list[2] = given.u[2];"
       "list[next (n)] += u4 { 5u }; list[next (n)].y += next (n); result.u0 = list[0] + list[1]"
       " + list[2] + u4 { n };",
       "u1 next (in out u1 n) { n += 1u; return n % 3u; }\n"},
      {"f1[4] list; for (u1 i = 0u; i < 4u; i += 1u) { list[i] = given.f[i].x; }"
       "list[given.u[0].x % 4u] *= 2.0; list[given.u[0].y % 4u] += list[given.u[0].z % 4u];"
       "result.f0 = f4 { list[0], list[1], list[2], list[3] };"},
      {"cell_t x = cell_t { given.f[0].x, given.u[0].xyz }; x.count.y += 2u; x.size -= 3.0;"
       "result.f0.x = x.size; result.u0 = u4 { x.count, 0u };",
       "struct cell_t { f1 size; u3 count; };\n"},
  });
}

// Where the value changes the target: `a op= b` is `a = a op b` (spec/rpl 14.3), whose left operand
// comes first.
TEST_F(Version2, CompoundAssignment_ReadsTheTargetFirst) {
  AgreeOnRows({
      {"f1 x = given.f[0].x; x += (x = 2.0); result.f0.x = x;"},
      {"u1 x = given.u[0].x; x += grow (x); result.u0.x = x;",
       "u1 grow (in out u1 x) { x = x * 2u + 1u; return 7u; }\n"},
      {"u1 x = given.u[0].x; x = x + grow (x); result.u0.x = x;",
       "u1 grow (in out u1 x) { x = x * 2u + 1u; return 7u; }\n"},
  });
}

TEST_F(Version2, Conditional_PicksAValue) {
  AgreeOnRows({
      {"result.f0 = given.f[0].x > given.f[0].y ? given.f[1] : given.f[2];"
       "result.u0.x = given.u[0].x < given.u[0].y ? given.u[1].x : given.u[1].y;"
       "result.s0 = given.s[0].x >= 0 ? given.s[1] : -given.s[1];"},
      {"f1 x = given.f[0].x; result.f0.x = x > 1.0 ? 1.0 : x < -1.0 ? -1.0 : x;"
       "result.f0.y = x > 0.0 ? x > 2.0 ? 2.0 : 1.0 : 0.0;"},
      {"f4x4 m = f4x4 { given.f[0], given.f[1], given.f[2], given.f[3] };"
       "f4x4 n = given.f[4].x > 0.0 ? m : m * 2.0; result.f0 = n.x; result.f1 = n.w;"},
      {"pair_t p = given.f[0].x > 0.0 ? pair_t { given.f[1], given.u[0].x } : pair_t { given.f[2], "
       "3u };"
       "result.f0 = p.place; result.u0.x = p.name;",
       "struct pair_t { f4 place; u1 name; };\n"},
      {"b1 x = given.f[0].x > 0.0 ? given.f[0].y > 0.0 : given.f[0].z > 0.0;"
       "result.u0.x = u1 { x };"},
      {"f1 x = 0.0; x = given.f[0].x > 0.0 ? 1.0 : 2.0; x += given.f[0].y > 0.0 ? x : -x;"
       "result.f0.x = x;"},
  });
}

TEST_F(Version2, Conditional_RunsTheChosenSideAlone) {
  constexpr char kMark[] =
      "f1 mark (in out u1 marks, in u1 bit, in f1 x) { marks |= bit; return x; }\n";
  AgreeOnRows({
      {"u1 m = 0u; f1 x = given.f[0].x > 0.0 ? mark (m, 1u, 2.0) : mark (m, 2u, 3.0);"
       "result.f0.x = x; result.u0.x = m;",
       kMark},
      {"u1 m = 0u; f1 y = 0.0; f1 x = given.f[0].x > 0.0 ? (y = 1.0) : given.f[0].y > 0.0 ?"
       " mark (m, 4u, 2.0) : (y = mark (m, 8u, 3.0)); result.f0 = f4 { x, y, 0.0, 0.0 };"
       "result.u0.x = m;",
       kMark},
      {"u1 m = 0u; if (given.f[0].x > 0.0 && (given.f[0].y > 0.0 ? mark (m, 1u, 1.0) > 0.0 : "
       "mark (m, 2u, 0.0) > 0.0) || mark (m, 4u, given.f[0].z) > 0.0) { m |= 16u; }"
       "result.u0.x = m;",
       kMark},
      // In a loop, with the branch ending in blocks of its own.
      {"u1 m = 0u; f1 sum = 0.0; for (u1 i = 0u; i < 4u; i += 1u) { sum += given.f[i].x > 0.0 ?"
       " (given.f[i].y > 0.0 ? mark (m, 1u << i, 1.0) : 0.5) : mark (m, 16u << i, 0.25); }"
       "result.f0.x = sum; result.u0.x = m;",
       kMark},
  });
}

TEST_F(Version2, Booleans_AreValues) {
  AgreeOnRows({
      {"b1 x = given.f[0].x > 0.0; b1 y = true; b1 z = false; if (x) { y = z; z = !x || x; }"
       "result.u0 = u4 { u1 { x }, u1 { y }, u1 { z }, u1 { x == y } };"},
      {"b4 x = given.f[0] < given.f[1]; result.u0 = u4 { x };"
       "result.f0 = f4 { given.f[0] >= given.f[1] }; result.s0 = s4 { given.f[2] != given.f[3] };"},
      {"b3 x = given.u[0].xyz <= given.u[1].xyz; b3 y = given.s[0].xyz > given.s[1].xyz;"
       "result.u0 = u4 { u3 { x & y }, u1 { any_b3 (x | y) } };"
       "result.s0 = s4 { s3 { x ^ y }, s1 { all_b3 (!x) } };"},
      {"b2 x = b2 { given.f[0].x > 0.0, given.f[0].y > 0.0 }; b4 y = b4 { x, x.y, x.x };"
       "b2 f = b2 { x.x }; result.u0 = u4 { y }; result.f0 = f4 { f2 { f }, f2 { y.zw } };"},
      {"b1[3] list; for (u1 i = 0u; i < 3u; i += 1u) { list[i] = given.f[i].x > 0.0; }"
       "list[given.u[0].x % 3u] = !list[given.u[0].y % 3u];"
       "result.u0 = u4 { u1 { list[0] }, u1 { list[1] }, u1 { list[2] }, 0u };"},
      {"lit_t l = lit_t { given.f[0].x > 0.0, given.f[0].yz < f2 { 0.0 } }; b1 r = swap (l.on, "
       "l.both);"
       "result.u0 = u4 { u1 { l.on }, u2 { l.both }, u1 { r } };",
       "struct lit_t { b1 on; b2 both; };\n"
       "b1 swap (in out b1 x, out b2 y) { y = b2 { x, !x }; x = !x; return x; }\n"},
      {"result.u0 = u4 { u1 { all_b2 (given.f[0].xy == given.f[0].xy) },"
       "u1 { any_b4 (given.u[0] == given.u[1]) }, u1 { true ^ (given.f[0].x > 0.0) },"
       "u1 { (given.f[0].x > 0.0) & (given.f[0].y > 0.0) | false } };"},
  });
}

TEST_F(Version2, Select_TakesAMask) {
  AgreeOnRows({
      {"result.f0 = select_f4 (given.f[0], given.f[1], given.f[2] > given.f[3]);"
       "result.u0 = select_u4 (given.u[0], given.u[1], given.f[2] > f4 { 0.0 });"
       "result.s0 = select_s4 (given.s[0], given.s[1], given.u[0] > given.u[1]);"},
      {"f2 x = select_f2 (given.f[0].xy, given.f[1].xy, b2 { true, given.f[2].x > 0.0 });"
       "f3 y = select_f3 (given.f[0].xyz, f3 { 1.0 }, !(given.f[2].xyz > f3 { 0.0 }));"
       "result.f0 = f4 { x, 0.0, 0.0 }; result.f1 = f4 { y, 0.0 };"},
      {"b3 m = select_b3 (given.f[0].xyz > f3 { 0.0 }, given.f[1].xyz > f3 { 0.0 },"
       " given.f[2].xyz > f3 { 0.0 }); result.u0 = u4 { u3 { m }, 0u };"},
  });
}

TEST_F(Version2, ArithmeticShift_KeepsTheSign) {
  AgreeOnRows({
      {"result.s0 = shift_right_arithmetic_s4 (given.s[0], given.s[1] & s4 { 31 });"},
      {"result.s0.x = shift_right_arithmetic_s1 (given.s[0].x, 31);"
       "s2 x = shift_right_arithmetic_s2 (given.s[1].xy, s2 { 0, 1 }); result.s0.y = x.x;"
       "s3 y = shift_right_arithmetic_s3 (given.s[1].xyz, s3 { 5 }); result.s0.z = x.y + y.z;"},
      {"result.s0 = given.s[0] >> s4 { 4 };"},  // logical for signed operands, too
  });
}

TEST_F(Version2, TypedConstants_AreIndexed) {
  constexpr char kTables[] =
      "constant half = 0.5;\n"
      "constant f2[3] corners = f2[3] { f2 { -1.0, half }, f2 { 3.0, -1.0 }, f2 { half + half } "
      "};\n"
      "constant u1[2][3] grid = u1[2][3] { u1[3] { 1u, 2u, 3u }, u1[3] { 4u, 5u, 6u } };\n"
      "constant f3x3 turn = f3x3 { f3 { 0.0, 1.0, 0.0 }, f3 { -1.0, 0.0, 0.0 }, f3 { 2.0 } };\n"
      "constant f4 tint = f4 { f3 { half }, 2.0 };\n"
      "constant s1 less = -3;\n"
      "f2 pick (in f2[3] list, in u1 i) { return list[i % 3u] + list[0]; }\n";
  AgreeOnRows({
      {"f2 x = corners[given.u[0].x % 3u]; result.f0 = f4 { x, corners[2u] };", kTables},
      {"result.u0.x = grid[given.u[0].x % 2u][given.u[0].y % 3u] + grid[1u][2u];"
       "result.f0 = tint * given.f[0]; result.s0.x = given.s[0].x + less;",
       kTables},
      {"f3 x = turn * given.f[0].xyz; result.f0 = f4 { x, turn.z.y };"
       "f2[3] copy = corners; copy[1] = given.f[0].xy; f2 y = pick (copy, given.u[0].x);"
       "result.f1 = f4 { y, pick (corners, given.u[0].y) };",
       kTables},
      {"f1[3] x = f1[3] { given.f[0].x, 2.0, given.f[0].y }; x[0] = x[0] + 1.0;"
       "result.f0 = f4 { x[given.u[0].x % 3u], f1[2] { given.f[1].x, 7.0 }[given.u[0].y % 2u],"
       "sum (f1[3] { x[2], x[1], x[0] }), 0.0 };",
       "f1 sum (in f1[3] list) { return list[0u] + list[1u] * 2.0 + list[2u] * 4.0; }\n"},
  });
}

}  // namespace
}  // namespace kiln::oracle
