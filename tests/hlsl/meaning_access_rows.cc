// SPDX-License-Identifier: MIT
// Rows of `dot` and `mul`, of indices, swizzles and elements of matrices.
#include <fmt/format.h>

#include "tests/hlsl/meaning_row_list.h"

namespace kiln::hlsl {

void AddDots(RowList& list) {
  for (const RowItem left : kItems) {
    for (const RowItem right : kItems) {
      for (uint32_t size = 0; size <= 4; ++size) {
        const RowType a{left, {size, 0}};
        const RowType b{right, {size, 0}};
        list.AddValue(fmt::format("dot ({}, {})", a.Text(), b.Text()),
                      {CommonItem(left, right), {}},
                      fmt::format("dot ({}, {})", OperandText(a, SideOf(a, b, Side::kLeft)),
                                  OperandText(b, SideOf(b, a, Side::kRight), 1)));
      }
    }
  }
}

// All nine forms of mul; the inner sizes agree.
void AddProducts(RowList& list) {
  for (const RowItem item : kNumbers) {
    const auto add = [&](RowShape left, RowShape right, RowShape result) {
      const RowType a{item, left};
      const RowType b{item, right};
      list.AddValue(fmt::format("mul ({}, {})", a.Text(), b.Text()), {item, result},
                    fmt::format("mul ({}, {})", OperandText(a, Side::kPositive),
                                OperandText(b, Side::kRight, 1)));
      list.last().integer_matrix |= IsIntegerMatrix(a) || IsIntegerMatrix(b);
    };
    add({}, {}, {});
    for (uint32_t n = 2; n <= 4; ++n) {
      add({}, {n, 0}, {n, 0});
      add({n, 0}, {}, {n, 0});
      add({n, 0}, {n, 0}, {});
      for (uint32_t m = 2; m <= 4; ++m) {
        add({}, {n, m}, {n, m});
        add({n, m}, {}, {n, m});
        add({n, 0}, {n, m}, {m, 0});
        add({n, m}, {m, 0}, {n, 0});
        for (uint32_t k = 2; k <= 4; ++k) {
          add({n, k}, {k, m}, {n, m});
        }
      }
    }
  }
}

void AddAccesses(RowList& list) {
  for (const RowItem item : kItems) {
    const RowType scalar{item, {}};
    for (uint32_t n = 2; n <= 4; ++n) {
      const RowType vector{item, {n, 0}};
      const std::string operand = OperandText(vector, Side::kLeft);
      for (uint32_t i = 0; i < n; ++i) {
        list.AddValue(fmt::format("{}[{}]", vector.Text(), i), scalar,
                      fmt::format("{}[{}]", operand, i));
        list.AddValue(fmt::format("{}.{}", vector.Text(), kLetters[i]), scalar,
                      fmt::format("{}.{}", operand, kLetters[i]));
        list.Add({.name = fmt::format("{}.{} = ", vector.Text(), kLetters[i]),
                  .statements = fmt::format("{} r = {}; r.{} = {};", vector.Text(), operand,
                                            kLetters[i], OperandText(scalar, Side::kRight)),
                  .result = vector});
      }
      list.Add({.name = fmt::format("{}[i]", vector.Text()),
                .statements = fmt::format("{} v = {}; {} r = v[g.v.x % {}u];", vector.Text(),
                                          operand, scalar.Text(), n),
                .result = scalar});
      list.Add({.name = fmt::format("{}[i] = ", vector.Text()),
                .statements = fmt::format("{} r = {}; r[g.t.y % {}] = {};", vector.Text(), operand,
                                          n, OperandText(scalar, Side::kRight)),
                .result = vector});
      for (uint32_t m = 2; m <= 4; ++m) {
        const RowType matrix{item, {n, m}};
        const RowType row{item, {m, 0}};
        const std::string whole =
            fmt::format("{} p = {};", matrix.Text(), OperandText(matrix, Side::kLeft));
        const bool others = item != RowItem::kFloat;
        list.Add({.name = fmt::format("{}[i]", matrix.Text()),
                  .statements = fmt::format("{} {} r = p[g.v.x % {}u];", whole, row.Text(), n),
                  .result = row,
                  .integer_matrix = others});
        list.Add({.name = fmt::format("{}[i][j]", matrix.Text()),
                  .statements = fmt::format("{} {} r = p[g.v.x % {}u][g.t.x % {}];", whole,
                                            scalar.Text(), n, m),
                  .result = scalar,
                  .integer_matrix = others});
        list.Add({.name = fmt::format("{}[i] = ", matrix.Text()),
                  .statements = fmt::format("{} r = {}; r[g.v.x % {}u] = {};", matrix.Text(),
                                            OperandText(matrix, Side::kLeft), n,
                                            OperandText(row, Side::kRight)),
                  .result = matrix});
        list.Add({.name = fmt::format("{}[i][j] = ", matrix.Text()),
                  .statements = fmt::format("{} r = {}; r[g.v.x % {}u][g.t.x % {}] = {};",
                                            matrix.Text(), OperandText(matrix, Side::kLeft), n, m,
                                            OperandText(scalar, Side::kRight)),
                  .result = matrix});
        list.AddValue(fmt::format("{}._m10", matrix.Text()), scalar,
                      OperandText(matrix, Side::kLeft) + "._m10");
        list.last().integer_matrix |= others;
        list.AddValue(fmt::format("{}._12_21", matrix.Text()), {item, {2, 0}},
                      OperandText(matrix, Side::kLeft) + "._12_21");
        list.last().integer_matrix |= others;
        list.Add({.name = fmt::format("{}._m01_m10 = ", matrix.Text()),
                  .statements = fmt::format("{} r = {}; r._m01_m10 = {};", matrix.Text(),
                                            OperandText(matrix, Side::kLeft),
                                            OperandText({item, {2, 0}}, Side::kRight)),
                  .result = matrix});
      }
    }
    const std::string four = OperandText({item, {4, 0}}, Side::kLeft);
    for (const std::string_view swizzle :
         {"xy", "zw", "yx", "xyz", "zyx", "wzyx", "xxxx", "wxwx", "rgba", "bgr", "ga"}) {
      list.AddValue(fmt::format("{}4.{}", NameOf(item), swizzle),
                    {item, {static_cast<uint32_t>(swizzle.size()), 0}},
                    fmt::format("{}.{}", four, swizzle));
    }
    for (const std::string_view swizzle : {"xy", "zx", "wzy", "wxzy"}) {
      const RowType part{item, {static_cast<uint32_t>(swizzle.size()), 0}};
      list.Add({.name = fmt::format("{}4.{} = ", NameOf(item), swizzle),
                .statements = fmt::format("{0}4 r = {1}; r.{2} = {3};", NameOf(item), four, swizzle,
                                          OperandText(part, Side::kRight)),
                .result = {item, {4, 0}}});
    }
    list.AddValue(fmt::format("{}1[0]", NameOf(item)), scalar,
                  OperandText({item, {1, 0}}, Side::kLeft) + "[0]");
    list.AddValue(fmt::format("{}2x1[1][0]", NameOf(item)), scalar,
                  OperandText({item, {2, 1}}, Side::kLeft) + "[1][0]");
    list.AddValue(fmt::format("{}1x2[0][1]", NameOf(item)), scalar,
                  OperandText({item, {1, 2}}, Side::kLeft) + "[0][1]");
    list.AddValue(fmt::format("{}.xxx", NameOf(item)), {item, {3, 0}},
                  OperandText(scalar, Side::kLeft) + ".xxx");
  }
}

}  // namespace kiln::hlsl
