// SPDX-License-Identifier: MIT
#include "tests/hlsl/meaning_rows.h"

#include <algorithm>

#include <fmt/format.h>

#include "tests/hlsl/meaning_row_list.h"

namespace kiln::hlsl {
namespace {

// "o.f0 = float4 (r[0], r[1], 0, 0);"
std::string StoreText(const RowType& type) {
  const char member = type.item == RowItem::kFloat ? 'f' : type.item == RowItem::kInt ? 's' : 'u';
  const std::string_view vector = member == 'f' ? "float4" : member == 's' ? "int4" : "uint4";
  std::vector<std::string> leaves;
  for (uint32_t i = 0; i < std::max(1U, type.shape.rows); ++i) {
    for (uint32_t j = 0; j < std::max(1U, type.shape.columns); ++j) {
      const bool thin = type.shape.rows == 1 || type.shape.columns == 1;
      std::string leaf = type.shape.is_scalar()    ? "r"
                         : !type.shape.is_matrix() ? fmt::format("r.{}", kLetters[i])
                         : thin                    ? fmt::format("r._m{}{}", i, j)
                                                   : fmt::format("r[{}][{}]", i, j);
      leaves.push_back(type.item == RowItem::kBool ? fmt::format("({} ? 1u : 0u)", leaf) : leaf);
    }
  }
  std::string out;
  for (size_t i = 0; i < leaves.size(); i += 4) {
    const auto leaf = [&](size_t k) { return i + k < leaves.size() ? leaves[i + k] : "0"; };
    out += fmt::format(" o.{}{} = {} ({}, {}, {}, {});", member, i / 4, vector, leaf(0), leaf(1),
                       leaf(2), leaf(3));
  }
  return out;
}

constexpr std::string_view kPrelude =
    R"(struct Given { float4 f; float4 g; uint4 u; uint4 v; int4 s; int4 t; };
struct Made {
  float4 f0; float4 f1; float4 f2; float4 f3;
  uint4 u0; uint4 u1; uint4 u2; uint4 u3;
  int4 s0; int4 s1; int4 s2; int4 s3;
};
StructuredBuffer<Given> given : register(t0);
RWStructuredBuffer<Made> made : register(u1);
struct Pair { float2 v; int n; };
void take (in float a, inout float b, out float c) { a += 1; b = b * 2 + a; c = a - 1; }
uint which (int a) { return 1; }
uint which (uint a) { return 2; }
uint which (float a) { return 3; }
uint which (float2 a) { return 1; }
Pair swap (Pair p) { p.v = p.v.yx; p.n += 1; return p; }
struct Tally {
  int n; float2 v;
  void add (int k) { n += k; }
  int twice () { return n * 2; }
  int grow () { add (1); return twice (); }
  float sum () { return v.x + v.y; }
  static const int kStep = 3;
  static int scaled (int k) { return k * kStep; }
};
Tally made_of (int n) { Tally t = { n, 0, 0 }; return t; }
int grown (Tally t) { t.add (2); return t.n; }
namespace shapes {
enum Kind { box, ball = 4, cone };
enum class Side : uint { left = 1, right = 2 };
float area (float r) { return r * r; }
namespace inner { static const float kHalf = 0.5; }
}
float4 read (StructuredBuffer<Given> b, uint i) { return b[i].f; }
float4 through (StructuredBuffer<Given> b, uint i) { return read (b, i) * 2; }
uint size_of (StructuredBuffer<Given> b) { uint n, s; b.GetDimensions (n, s); return n * 1000 + s; }
uint first_above (uint n) { for (uint i = 0; i < 40u; ++i) { if (i * 2 > n) return i; } return 99; }
)";

}  // namespace

std::vector<MeaningRow> MeaningRows() {
  RowList list;
  AddArithmetic(list);
  AddComparisons(list);
  AddBits(list);
  AddShifts(list);
  AddLogic(list);
  AddUnary(list);
  AddSteps(list);
  AddCompound(list);
  AddConversions(list);
  AddTruncations(list);
  AddSelections(list);
  AddDots(list);
  AddProducts(list);
  AddAccesses(list);
  AddFunctions(list);
  AddFlow(list);
  AddMethods(list);
  AddResources(list);
  return list.Take();
}

std::string ProgramOf(std::vector<MeaningRow>::const_iterator begin,
                      std::vector<MeaningRow>::const_iterator end) {
  std::string out(kPrelude);
  std::string calls;
  const auto count = end - begin;
  for (auto row = begin; row != end; ++row) {
    const auto number = row - begin;
    out += fmt::format("Made row{} (Given g) {{ Made o = (Made) 0; {}{} return o; }}\n", number,
                       row->statements, StoreText(row->result));
    calls += fmt::format("  made[id.x * {} + {}] = row{} (given[id.x]);\n", count, number, number);
  }
  return out + "[numthreads(1, 1, 1)]\nvoid main (uint3 id : SV_DispatchThreadID) {\n" + calls +
         "}\n";
}

}  // namespace kiln::hlsl
