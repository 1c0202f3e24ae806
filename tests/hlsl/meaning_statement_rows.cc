// SPDX-License-Identifier: MIT
// Rows of functions and of control flow.
#include <fmt/format.h>

#include "tests/hlsl/meaning_row_list.h"

namespace kiln::hlsl {

void AddFunctions(RowList& list) {
  constexpr RowType kFloat{RowItem::kFloat, {}};
  constexpr RowType kUint{RowItem::kUint, {}};
  list.Add({.name = "in, out and inout",
            .statements = "float a = g.f.x; float b = g.f.y; float c = 0; take (a, b, c); "
                          "float r = a + b * 2 + c * 4;",
            .result = kFloat});
  list.Add({.name = "out converts back",
            .statements =
                "int a = g.t.x; int b = g.t.y; int c = 0; take (a, b, c); int r = a + b * 2 + c;",
            .result = {RowItem::kInt, {}}});
  list.Add({.name = "out of a swizzle",
            .statements = "float4 r = g.f; take (r.x, r.w, r.y);",
            .result = {RowItem::kFloat, {4, 0}}});
  list.Add(
      {.name = "overloads by item",
       .statements =
           "uint r = which (1) + which (g.u.x) * 4 + which (g.f.x) * 16 + which (g.f.xy) * 64;",
       .result = kUint});
  list.Add({.name = "a struct in and out",
            .statements =
                "Pair p = { g.f.xy, g.t.x }; Pair q = swap (p); float r = q.v.x + q.n * 2 + p.v.y;",
            .result = kFloat});
  list.Add({.name = "an array of vectors",
            .statements = "float2 a[3] = { g.f.xy, g.f.zw, g.g.xy }; a[g.v.x % 3u].y += 1; "
                          "float r = a[0].x + a[1].y + a[2].x + a[g.t.x % 3].y;",
            .result = kFloat});
  list.Add({.name = "a struct from a scalar",
            .statements = "Pair p = (Pair) g.f.x; float r = p.v.x + p.v.y + p.n;",
            .result = kFloat});
  list.Add({.name = "a list into nested arrays",
            .statements = "int a[2][2] = { { 1, g.t.x }, g.t.y, 4 }; int r = a[0][1] * a[1][0] + "
                          "a[1][1] - a[0][0];",
            .result = {RowItem::kInt, {}}});
  list.Add({.name = "assignment as a value",
            .statements = "float a; int b; float r = (a = b = g.t.x) + a + b;",
            .result = kFloat});
  list.Add({.name = "comma",
            .statements = "uint n = g.v.x; uint r = (n += 2, n *= 3, n + 1);",
            .result = kUint});
  list.Add(
      {.name = "the right side of = first",
       .statements =
           "uint n = 0; uint a[2] = { 7, 9 }; a[n++] = n + g.v.x; uint r = a[0] * 4 + a[1] + n;",
       .result = kUint});
}

void AddFlow(RowList& list) {
  constexpr RowType kFloat{RowItem::kFloat, {}};
  constexpr RowType kUint{RowItem::kUint, {}};
  list.Add({.name = "if and else",
            .statements =
                "float r; if (g.v.x > 20u) r = g.f.x; else if (g.v.x > 10u) r = g.f.y; else r = 1;",
            .result = kFloat});
  list.Add({.name = "for with break and continue",
            .statements =
                "uint r = 0; for (uint i = 0; i < g.v.x; ++i) { if (i == 3) continue; if (i > "
                "9) break; r += i; }",
            .result = kUint});
  list.Add(
      {.name = "while", .statements = "uint r = g.v.y; while (r > 3u) r -= 3;", .result = kUint});
  list.Add({.name = "do",
            .statements = "uint r = g.v.y; do { r += 5; } while (r < 20u);",
            .result = kUint});
  list.Add(
      {.name = "switch that falls through",
       .statements =
           "uint r = 0; switch (g.v.x & 3) { case 0: r += 1; case 1: r += 2; break; case 2: r = 9; "
           "break; default: r = 4; }",
       .result = kUint});
  list.Add({.name = "a loop in a loop",
            .statements =
                "uint r = 0; for (int i = 0; i < 4; i++) for (int j = i; j < 4; j++) { if (j "
                "== 2) break; "
                "r += i * 4 + j + g.v.x; }",
            .result = kUint});
  list.Add({.name = "return from a loop",
            .statements = "uint r = first_above (g.v.x);",
            .result = kUint});
  list.Add({.name = "a variable that hides",
            .statements = "uint r = 1; { uint r = g.v.x; r += 1; } r += 2;",
            .result = kUint});
}

void AddMethods(RowList& list) {
  constexpr RowType kFloat{RowItem::kFloat, {}};
  constexpr RowType kInt{RowItem::kInt, {}};
  list.Add({.name = "a method that writes",
            .statements = "Tally t = { g.t.x, g.f.xy }; t.add (g.t.y); int r = t.n;",
            .result = kInt});
  list.Add({.name = "a method that calls one that writes",
            .statements = "Tally t = { g.t.x, g.f.xy }; int r = t.grow () * 3 + t.n;",
            .result = kInt});
  list.Add({.name = "a method of a parameter",
            .statements = "Tally t = { g.t.x, g.f.xy }; int r = grown (t) * 5 + t.n;",
            .result = kInt});
  list.Add({.name = "a method of an item of an array",
            .statements =
                "Tally t[2] = { { g.t.x, g.f.xy }, { g.t.y, g.f.zw } }; t[g.v.x & 1u].add "
                "(7); float r = t[0].n + t[1].n * 2 + t[g.v.y & 1u].sum ();",
            .result = kFloat});
  list.Add({.name = "a method of a value",
            .statements = "int r = made_of (g.t.x).twice () + made_of (g.t.y).grow ();",
            .result = kInt});
  list.Add({.name = "static members",
            .statements = "int r = Tally::scaled (g.t.x) + Tally::kStep;",
            .result = kInt});
  list.Add({.name = "enums and namespaces",
            .statements = "shapes::Kind k = shapes::cone; float r = shapes::area (g.f.x) * "
                          "shapes::inner::kHalf + k + (uint) shapes::Side::right;",
            .result = kFloat});
}

void AddResources(RowList& list) {
  list.Add({.name = "a buffer as a parameter",
            .statements = "float4 r = read (given, g.v.x) + through (given, g.v.y);",
            .result = {RowItem::kFloat, {4, 0}}});
  list.Add({.name = "a buffer by another name",
            .statements = "StructuredBuffer<Given> b = given; uint4 r = b[g.v.x].u;",
            .result = {RowItem::kUint, {4, 0}}});
  list.Add({.name = "the size of a buffer",
            .statements = "uint r = size_of (given);",
            .result = {RowItem::kUint, {}}});
}

}  // namespace kiln::hlsl
