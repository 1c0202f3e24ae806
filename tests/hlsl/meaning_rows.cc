// SPDX-License-Identifier: MIT
// Inputs of an item: g.f floats in [-16, 16], g.g floats in [1/8, 8], g.u any words, g.v words in
// [1, 31], g.s any signed words, g.t in [1, 127]. Which of them an operand takes keeps a row
// defined: nothing is divided by zero, no float is converted to a word that cannot hold it.
#include "tests/hlsl/meaning_rows.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

namespace kiln::hlsl {
namespace {

constexpr RowItem kItems[] = {RowItem::kBool, RowItem::kInt, RowItem::kUint, RowItem::kFloat};
constexpr RowItem kNumbers[] = {RowItem::kInt, RowItem::kUint, RowItem::kFloat};
constexpr std::string_view kItemNames[] = {"bool", "int", "uint", "float"};
constexpr std::string_view kLetters = "xyzw";

std::string_view NameOf(RowItem item) { return kItemNames[static_cast<size_t>(item)]; }

// Which inputs an operand is made of.
enum class Side : uint8_t { kLeft, kRight, kPositive };

std::vector<RowShape> AllShapes() {
  std::vector<RowShape> shapes{{0, 0}};
  for (uint32_t rows = 1; rows <= 4; ++rows) {
    shapes.push_back({rows, 0});
    for (uint32_t columns = 1; columns <= 4; ++columns) {
      shapes.push_back({rows, columns});
    }
  }
  return shapes;
}

// Of two operands that an operator takes together.
struct ShapePair {
  RowShape left;
  RowShape right;
  RowShape result;
};
std::vector<ShapePair> MixedPairs() {
  std::vector<ShapePair> pairs;
  for (const RowShape shape :
       {RowShape{0, 0}, {2, 0}, {3, 0}, {4, 0}, {2, 2}, {3, 2}, {2, 4}, {4, 4}}) {
    pairs.push_back({shape, shape, shape});
  }
  for (const RowShape shape : {RowShape{3, 0}, {3, 3}}) {
    pairs.push_back({{}, shape, shape});
    pairs.push_back({shape, {}, shape});
  }
  return pairs;
}

std::string LeafText(RowItem item, Side side, uint32_t leaf) {
  const char letter = kLetters[(leaf + leaf / 4) % 4];
  switch (item) {
    case RowItem::kBool:
      return side == Side::kPositive ? fmt::format("g.v.{} > 0u", letter)
             : side == Side::kLeft   ? fmt::format("g.v.{} > 15u", letter)
                                     : fmt::format("g.t.{} > 63", letter);
    case RowItem::kInt:
      return fmt::format("g.{}.{}", side == Side::kLeft ? "s" : "t", letter);
    case RowItem::kUint:
      return fmt::format("g.{}.{}", side == Side::kLeft ? "u" : "v", letter);
    case RowItem::kFloat:
      return fmt::format("g.{}.{}", side == Side::kLeft ? "f" : "g", letter);
  }
  return {};
}

// "float2 (g.f.x, g.f.y)"
std::string OperandText(const RowType& type, Side side, uint32_t first = 0) {
  if (type.shape.is_scalar()) {
    return '(' + LeafText(type.item, side, first) + ')';
  }
  std::string out = type.Text() + " (";
  for (uint32_t leaf = 0; leaf < type.shape.leaves(); ++leaf) {
    out += (leaf == 0 ? "" : ", ") + LeafText(type.item, side, first + leaf);
  }
  return out + ')';
}

// spec/hlsl 9.3: the higher item; bool with bool counts as int.
RowItem CommonItem(RowItem left, RowItem right) {
  const RowItem higher = std::max(left, right);
  return higher == RowItem::kBool ? RowItem::kInt : higher;
}

bool IsIntegerMatrix(const RowType& type) {
  return type.shape.is_matrix() && type.item != RowItem::kFloat;
}

class RowList {
 public:
  std::vector<MeaningRow> Take() { return std::move(rows_); }

  void Add(MeaningRow row) {
    row.integer_matrix |= IsIntegerMatrix(row.result);
    rows_.push_back(std::move(row));
  }
  void AddValue(std::string name, const RowType& result, const std::string& expression,
                bool open = false, Version version = Version::k2021) {
    Add({.name = std::move(name),
         .statements = fmt::format("{} r = {};", result.Text(), expression),
         .result = result,
         .version = version,
         .open = open});
  }

  void Arithmetic();
  void Comparisons();
  void Bits();
  void Shifts();
  void Logic();
  void Unary();
  void Steps();
  void Compound();
  void Conversions();
  void Truncations();
  void Selections();
  void Dots();
  void Products();
  void Accesses();
  void Functions();
  void Flow();

 private:
  // Words that become floats are small, so nobody rounds them.
  static Side SideOf(const RowType& type, const RowType& other, Side side) {
    const bool word = type.item == RowItem::kInt || type.item == RowItem::kUint;
    return word && other.item == RowItem::kFloat ? Side::kPositive : side;
  }
  void Binary(std::string_view op, const RowType& left, const RowType& right, Side left_side,
              Side right_side, const RowType& result, bool open = false) {
    AddValue(fmt::format("{} {} {}", left.Text(), op, right.Text()), result,
             fmt::format("{} {} {}", OperandText(left, SideOf(left, right, left_side)), op,
                         OperandText(right, SideOf(right, left, right_side), 1)),
             open);
    rows_.back().integer_matrix |= IsIntegerMatrix(left) || IsIntegerMatrix(right);
  }

  std::vector<MeaningRow> rows_;
};

void RowList::Arithmetic() {
  for (const std::string_view op : {"+", "-", "*", "/", "%"}) {
    const bool divides = op == "/" || op == "%";
    const auto add = [&](RowItem left, RowItem right, const ShapePair& shapes) {
      const RowItem item = CommonItem(left, right);
      const Side left_side = op == "%" && left == RowItem::kInt ? Side::kPositive : Side::kLeft;
      Binary(op, {left, shapes.left}, {right, shapes.right}, left_side,
             divides ? Side::kPositive : Side::kRight, {item, shapes.result},
             op == "%" && item == RowItem::kFloat);
    };
    for (const RowItem left : kItems) {
      for (const RowItem right : kItems) {
        for (const ShapePair& shapes : MixedPairs()) {
          add(left, right, shapes);
        }
      }
    }
    for (const RowItem item : kNumbers) {
      for (const RowShape shape : AllShapes()) {
        add(item, item, {shape, shape, shape});
      }
    }
  }
}

void RowList::Comparisons() {
  for (const std::string_view op : {"<", "<=", ">", ">=", "==", "!="}) {
    for (const RowItem left : kItems) {
      for (const RowItem right : kItems) {
        for (const ShapePair& shapes : MixedPairs()) {
          Binary(op, {left, shapes.left}, {right, shapes.right}, Side::kLeft, Side::kRight,
                 {RowItem::kBool, shapes.result});
        }
      }
    }
    for (const RowItem item : kItems) {
      for (const RowShape shape : AllShapes()) {
        Binary(op, {item, shape}, {item, shape}, Side::kPositive, Side::kRight,
               {RowItem::kBool, shape});
      }
    }
  }
}

void RowList::Bits() {
  for (const std::string_view op : {"&", "|", "^"}) {
    for (const RowItem left : {RowItem::kBool, RowItem::kInt, RowItem::kUint}) {
      for (const RowItem right : {RowItem::kBool, RowItem::kInt, RowItem::kUint}) {
        for (const ShapePair& shapes : MixedPairs()) {
          Binary(op, {left, shapes.left}, {right, shapes.right}, Side::kLeft, Side::kRight,
                 {CommonItem(left, right), shapes.result});
        }
      }
    }
  }
}

void RowList::Shifts() {
  for (const std::string_view op : {"<<", ">>"}) {
    for (const RowItem left : {RowItem::kBool, RowItem::kInt, RowItem::kUint}) {
      for (const RowItem right : {RowItem::kBool, RowItem::kInt, RowItem::kUint}) {
        for (const ShapePair& shapes : MixedPairs()) {
          Binary(op, {left, shapes.left}, {right, shapes.right}, Side::kLeft, Side::kRight,
                 {left == RowItem::kBool ? RowItem::kInt : left, shapes.result});
        }
      }
    }
  }
}

// By version: scalars that leave out the right side, or every component of both.
void RowList::Logic() {
  for (const std::string_view op : {"&&", "||"}) {
    for (const RowItem left : kItems) {
      for (const RowItem right : kItems) {
        Binary(op, {left, {}}, {right, {}}, Side::kLeft, Side::kRight, {RowItem::kBool, {}});
        for (const ShapePair& shapes : MixedPairs()) {
          Binary(op, {left, shapes.left}, {right, shapes.right}, Side::kLeft, Side::kRight,
                 {RowItem::kBool, shapes.result});
          rows_.back().version = Version::k2018;
        }
      }
    }
    for (const Version version : {Version::k2021, Version::k2018}) {
      Add({.name = fmt::format("{} with an effect on its right", op),
           .statements = fmt::format(
               "uint n = 0; bool b = (g.v.x > 15u) {} (++n > 0u); uint r = n * 2 + (b ? 1u : 0u);",
               op),
           .result = {RowItem::kUint, {}},
           .version = version});
    }
  }
}

void RowList::Unary() {
  for (const RowShape shape : AllShapes()) {
    for (const RowItem item : kItems) {
      const RowType type{item, shape};
      const std::string operand = OperandText(type, Side::kLeft);
      const RowType number{item == RowItem::kBool ? RowItem::kInt : item, shape};
      AddValue("- " + type.Text(), number, "-" + operand);
      AddValue("+ " + type.Text(), number, "+" + operand);
      AddValue("! " + type.Text(), {RowItem::kBool, shape}, "!" + operand);
      rows_.back().integer_matrix |= IsIntegerMatrix(type);
      if (item != RowItem::kFloat && item != RowItem::kBool) {
        AddValue("~ " + type.Text(), type, "~" + operand);
      }
    }
  }
}

// The place and the value of an increment.
void RowList::Steps() {
  for (const RowShape shape : AllShapes()) {
    for (const RowItem item : kNumbers) {
      const RowType type{item, shape};
      for (const std::string_view step : {"++r", "--r", "r++", "r--"}) {
        Add({.name = fmt::format("{} of {}", step, type.Text()),
             .statements = fmt::format("{0} r = {1}; {2};", type.Text(),
                                       OperandText(type, Side::kLeft), step),
             .result = type});
        std::string value(step);
        std::ranges::replace(value, 'r', 'p');
        Add({.name = fmt::format("value of {} of {}", step, type.Text()),
             .statements = fmt::format("{0} p = {1}; {0} r = {2};", type.Text(),
                                       OperandText(type, Side::kLeft), value),
             .result = type});
      }
    }
  }
}

// The common type and back to that of the place.
void RowList::Compound() {
  for (const std::string_view op : {"+", "-", "*", "/", "%", "&", "|", "^", "<<", ">>"}) {
    const bool arithmetic = op == "+" || op == "-" || op == "*" || op == "/" || op == "%";
    for (const RowItem left : kNumbers) {
      for (const RowItem right : kItems) {
        const bool floats = left == RowItem::kFloat || right == RowItem::kFloat;
        const bool below_zero = op == "-" && left == RowItem::kUint && right == RowItem::kFloat;
        if ((floats && !arithmetic) || below_zero) {
          continue;
        }
        for (const ShapePair& shapes : MixedPairs()) {
          if (shapes.left != shapes.result) {
            continue;
          }
          const RowType type{left, shapes.left};
          const bool small = left != RowItem::kFloat && (floats || op == "%");
          Add({.name =
                   fmt::format("{} {}= {}", type.Text(), op, RowType{right, shapes.right}.Text()),
               .statements =
                   fmt::format("{} r = {}; r {}= {};", type.Text(),
                               OperandText(type, small ? Side::kPositive : Side::kLeft), op,
                               OperandText({right, shapes.right}, Side::kPositive, 1)),
               .result = type,
               .open = floats && (op == "%" || (op == "/" && left != RowItem::kFloat))});
        }
      }
    }
  }
}

void RowList::Conversions() {
  for (const RowItem from : kItems) {
    for (const RowItem to : kItems) {
      for (const RowShape shape : AllShapes()) {
        const RowType source{from, shape};
        const RowType type{to, shape};
        const bool small = (to == RowItem::kUint && from == RowItem::kFloat) ||
                           (to == RowItem::kFloat && from != RowItem::kBool && from != to);
        const Side side = small ? Side::kPositive : Side::kLeft;
        const std::string operand = OperandText(source, side);
        AddValue(fmt::format("({}) {}", type.Text(), source.Text()), type,
                 fmt::format("({}) {}", type.Text(), operand));
        rows_.back().integer_matrix |= IsIntegerMatrix(source);
        AddValue(fmt::format("{} = {}", type.Text(), source.Text()), type, operand);
        rows_.back().integer_matrix |= IsIntegerMatrix(source);
      }
    }
  }
  for (const RowShape shape : AllShapes()) {
    for (const RowItem item : kItems) {
      const RowType type{item, shape};
      AddValue(fmt::format("{} from a scalar", type.Text()), type,
               OperandText({item, {}}, Side::kLeft));
      AddValue(fmt::format("({}) 1", type.Text()), type, fmt::format("({}) 1", type.Text()));
      AddValue(fmt::format("({}) 0.5", type.Text()), type, fmt::format("({}) 0.5", type.Text()));
    }
  }
}

void RowList::Truncations() {
  for (const RowItem item : kItems) {
    for (uint32_t from = 2; from <= 4; ++from) {
      for (uint32_t to = 0; to < from; ++to) {
        const RowType source{item, {from, 0}};
        const RowType type{item, {to, 0}};
        AddValue(fmt::format("{} truncated to {}", source.Text(), type.Text()), type,
                 OperandText(source, Side::kLeft));
      }
    }
    for (uint32_t rows = 1; rows <= 4; ++rows) {
      for (uint32_t columns = 1; columns <= 4; ++columns) {
        const RowType type{item, {rows, columns}};
        AddValue(fmt::format("({}) {}4x4", type.Text(), NameOf(item)), type,
                 fmt::format("({}) {}", type.Text(), OperandText({item, {4, 4}}, Side::kLeft)));
      }
    }
    const RowType four{item, {4, 0}};
    const RowType square{item, {2, 2}};
    AddValue(fmt::format("{} to {}", four.Text(), square.Text()), square,
             fmt::format("({}) {}", square.Text(), OperandText(four, Side::kLeft)));
    AddValue(fmt::format("{} to {}", square.Text(), four.Text()), four,
             fmt::format("({}) {}", four.Text(), OperandText(square, Side::kLeft)));
    rows_.back().integer_matrix |= item != RowItem::kFloat;
  }
}

// In 2021 the condition is a scalar; in 2018 it has components, and a scalar splats.
void RowList::Selections() {
  for (const RowItem left : kItems) {
    for (const RowItem right : kItems) {
      const bool bools = left == RowItem::kBool && right == RowItem::kBool;
      const RowItem item = bools ? RowItem::kBool : CommonItem(left, right);
      for (const ShapePair& shapes : MixedPairs()) {
        const std::string values = fmt::format(
            "{} : {}",
            OperandText({left, shapes.left}, SideOf({left, shapes.left}, {right, {}}, Side::kLeft)),
            OperandText({right, shapes.right}, Side::kRight, 1));
        const std::string name = fmt::format("{} : {}", RowType{left, shapes.left}.Text(),
                                             RowType{right, shapes.right}.Text());
        AddValue("bool ? " + name, {item, shapes.result}, "(g.v.x > 15u) ? " + values);
        AddValue("bool ? " + name, {item, shapes.result}, "(g.v.x > 15u) ? " + values, false,
                 Version::k2018);
        const RowType condition{RowItem::kBool, shapes.result};
        AddValue(condition.Text() + " ? " + name, {item, shapes.result},
                 OperandText(condition, Side::kRight, 2) + " ? " + values, false, Version::k2018);
        rows_.back().integer_matrix |= shapes.result.is_matrix();
      }
    }
  }
}

void RowList::Dots() {
  for (const RowItem left : kItems) {
    for (const RowItem right : kItems) {
      for (uint32_t size = 0; size <= 4; ++size) {
        const RowType a{left, {size, 0}};
        const RowType b{right, {size, 0}};
        AddValue(fmt::format("dot ({}, {})", a.Text(), b.Text()), {CommonItem(left, right), {}},
                 fmt::format("dot ({}, {})", OperandText(a, SideOf(a, b, Side::kLeft)),
                             OperandText(b, SideOf(b, a, Side::kRight), 1)));
      }
    }
  }
}

// All nine forms of mul; the inner sizes agree.
void RowList::Products() {
  for (const RowItem item : kNumbers) {
    const auto add = [&](RowShape left, RowShape right, RowShape result) {
      const RowType a{item, left};
      const RowType b{item, right};
      AddValue(fmt::format("mul ({}, {})", a.Text(), b.Text()), {item, result},
               fmt::format("mul ({}, {})", OperandText(a, Side::kPositive),
                           OperandText(b, Side::kRight, 1)));
      rows_.back().integer_matrix |= IsIntegerMatrix(a) || IsIntegerMatrix(b);
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

void RowList::Accesses() {
  for (const RowItem item : kItems) {
    const RowType scalar{item, {}};
    for (uint32_t n = 2; n <= 4; ++n) {
      const RowType vector{item, {n, 0}};
      const std::string operand = OperandText(vector, Side::kLeft);
      for (uint32_t i = 0; i < n; ++i) {
        AddValue(fmt::format("{}[{}]", vector.Text(), i), scalar,
                 fmt::format("{}[{}]", operand, i));
        AddValue(fmt::format("{}.{}", vector.Text(), kLetters[i]), scalar,
                 fmt::format("{}.{}", operand, kLetters[i]));
        Add({.name = fmt::format("{}.{} = ", vector.Text(), kLetters[i]),
             .statements = fmt::format("{} r = {}; r.{} = {};", vector.Text(), operand, kLetters[i],
                                       OperandText(scalar, Side::kRight)),
             .result = vector});
      }
      Add({.name = fmt::format("{}[i]", vector.Text()),
           .statements = fmt::format("{} v = {}; {} r = v[g.v.x % {}u];", vector.Text(), operand,
                                     scalar.Text(), n),
           .result = scalar});
      Add({.name = fmt::format("{}[i] = ", vector.Text()),
           .statements = fmt::format("{} r = {}; r[g.t.y % {}] = {};", vector.Text(), operand, n,
                                     OperandText(scalar, Side::kRight)),
           .result = vector});
      for (uint32_t m = 2; m <= 4; ++m) {
        const RowType matrix{item, {n, m}};
        const RowType row{item, {m, 0}};
        const std::string whole =
            fmt::format("{} p = {};", matrix.Text(), OperandText(matrix, Side::kLeft));
        const bool others = item != RowItem::kFloat;
        Add({.name = fmt::format("{}[i]", matrix.Text()),
             .statements = fmt::format("{} {} r = p[g.v.x % {}u];", whole, row.Text(), n),
             .result = row,
             .integer_matrix = others});
        Add({.name = fmt::format("{}[i][j]", matrix.Text()),
             .statements =
                 fmt::format("{} {} r = p[g.v.x % {}u][g.t.x % {}];", whole, scalar.Text(), n, m),
             .result = scalar,
             .integer_matrix = others});
        Add({.name = fmt::format("{}[i] = ", matrix.Text()),
             .statements =
                 fmt::format("{} r = {}; r[g.v.x % {}u] = {};", matrix.Text(),
                             OperandText(matrix, Side::kLeft), n, OperandText(row, Side::kRight)),
             .result = matrix});
        Add({.name = fmt::format("{}[i][j] = ", matrix.Text()),
             .statements = fmt::format("{} r = {}; r[g.v.x % {}u][g.t.x % {}] = {};", matrix.Text(),
                                       OperandText(matrix, Side::kLeft), n, m,
                                       OperandText(scalar, Side::kRight)),
             .result = matrix});
        AddValue(fmt::format("{}._m10", matrix.Text()), scalar,
                 OperandText(matrix, Side::kLeft) + "._m10");
        rows_.back().integer_matrix |= others;
        AddValue(fmt::format("{}._12_21", matrix.Text()), {item, {2, 0}},
                 OperandText(matrix, Side::kLeft) + "._12_21");
        rows_.back().integer_matrix |= others;
        Add({.name = fmt::format("{}._m01_m10 = ", matrix.Text()),
             .statements = fmt::format("{} r = {}; r._m01_m10 = {};", matrix.Text(),
                                       OperandText(matrix, Side::kLeft),
                                       OperandText({item, {2, 0}}, Side::kRight)),
             .result = matrix});
      }
    }
    const std::string four = OperandText({item, {4, 0}}, Side::kLeft);
    for (const std::string_view swizzle :
         {"xy", "zw", "yx", "xyz", "zyx", "wzyx", "xxxx", "wxwx", "rgba", "bgr", "ga"}) {
      AddValue(fmt::format("{}4.{}", NameOf(item), swizzle),
               {item, {static_cast<uint32_t>(swizzle.size()), 0}},
               fmt::format("{}.{}", four, swizzle));
    }
    for (const std::string_view swizzle : {"xy", "zx", "wzy", "wxzy"}) {
      const RowType part{item, {static_cast<uint32_t>(swizzle.size()), 0}};
      Add({.name = fmt::format("{}4.{} = ", NameOf(item), swizzle),
           .statements = fmt::format("{0}4 r = {1}; r.{2} = {3};", NameOf(item), four, swizzle,
                                     OperandText(part, Side::kRight)),
           .result = {item, {4, 0}}});
    }
    AddValue(fmt::format("{}1[0]", NameOf(item)), scalar,
             OperandText({item, {1, 0}}, Side::kLeft) + "[0]");
    AddValue(fmt::format("{}2x1[1][0]", NameOf(item)), scalar,
             OperandText({item, {2, 1}}, Side::kLeft) + "[1][0]");
    AddValue(fmt::format("{}1x2[0][1]", NameOf(item)), scalar,
             OperandText({item, {1, 2}}, Side::kLeft) + "[0][1]");
    AddValue(fmt::format("{}.xxx", NameOf(item)), {item, {3, 0}},
             OperandText(scalar, Side::kLeft) + ".xxx");
  }
}

void RowList::Functions() {
  constexpr RowType kFloat{RowItem::kFloat, {}};
  constexpr RowType kUint{RowItem::kUint, {}};
  Add({.name = "in, out and inout",
       .statements = "float a = g.f.x; float b = g.f.y; float c = 0; take (a, b, c); "
                     "float r = a + b * 2 + c * 4;",
       .result = kFloat});
  Add({.name = "out converts back",
       .statements =
           "int a = g.t.x; int b = g.t.y; int c = 0; take (a, b, c); int r = a + b * 2 + c;",
       .result = {RowItem::kInt, {}}});
  Add({.name = "out of a swizzle",
       .statements = "float4 r = g.f; take (r.x, r.w, r.y);",
       .result = {RowItem::kFloat, {4, 0}}});
  Add({.name = "overloads by item",
       .statements =
           "uint r = which (1) + which (g.u.x) * 4 + which (g.f.x) * 16 + which (g.f.xy) * 64;",
       .result = kUint});
  Add({.name = "a struct in and out",
       .statements =
           "Pair p = { g.f.xy, g.t.x }; Pair q = swap (p); float r = q.v.x + q.n * 2 + p.v.y;",
       .result = kFloat});
  Add({.name = "an array of vectors",
       .statements = "float2 a[3] = { g.f.xy, g.f.zw, g.g.xy }; a[g.v.x % 3u].y += 1; "
                     "float r = a[0].x + a[1].y + a[2].x + a[g.t.x % 3].y;",
       .result = kFloat});
  Add({.name = "a struct from a scalar",
       .statements = "Pair p = (Pair) g.f.x; float r = p.v.x + p.v.y + p.n;",
       .result = kFloat});
  Add({.name = "a list into nested arrays",
       .statements = "int a[2][2] = { { 1, g.t.x }, g.t.y, 4 }; int r = a[0][1] * a[1][0] + "
                     "a[1][1] - a[0][0];",
       .result = {RowItem::kInt, {}}});
  Add({.name = "assignment as a value",
       .statements = "float a; int b; float r = (a = b = g.t.x) + a + b;",
       .result = kFloat});
  Add({.name = "comma",
       .statements = "uint n = g.v.x; uint r = (n += 2, n *= 3, n + 1);",
       .result = kUint});
  Add({.name = "the right side of = first",
       .statements =
           "uint n = 0; uint a[2] = { 7, 9 }; a[n++] = n + g.v.x; uint r = a[0] * 4 + a[1] + n;",
       .result = kUint});
}

void RowList::Flow() {
  constexpr RowType kFloat{RowItem::kFloat, {}};
  constexpr RowType kUint{RowItem::kUint, {}};
  Add({.name = "if and else",
       .statements =
           "float r; if (g.v.x > 20u) r = g.f.x; else if (g.v.x > 10u) r = g.f.y; else r = 1;",
       .result = kFloat});
  Add({.name = "for with break and continue",
       .statements = "uint r = 0; for (uint i = 0; i < g.v.x; ++i) { if (i == 3) continue; if (i > "
                     "9) break; r += i; }",
       .result = kUint});
  Add({.name = "while", .statements = "uint r = g.v.y; while (r > 3u) r -= 3;", .result = kUint});
  Add({.name = "do",
       .statements = "uint r = g.v.y; do { r += 5; } while (r < 20u);",
       .result = kUint});
  Add({.name = "switch that falls through",
       .statements =
           "uint r = 0; switch (g.v.x & 3) { case 0: r += 1; case 1: r += 2; break; case 2: r = 9; "
           "break; default: r = 4; }",
       .result = kUint});
  Add({.name = "a loop in a loop",
       .statements = "uint r = 0; for (int i = 0; i < 4; i++) for (int j = i; j < 4; j++) { if (j "
                     "== 2) break; "
                     "r += i * 4 + j + g.v.x; }",
       .result = kUint});
  Add({.name = "return from a loop",
       .statements = "uint r = first_above (g.v.x);",
       .result = kUint});
  Add({.name = "a variable that hides",
       .statements = "uint r = 1; { uint r = g.v.x; r += 1; } r += 2;",
       .result = kUint});
}

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
uint first_above (uint n) { for (uint i = 0; i < 40u; ++i) { if (i * 2 > n) return i; } return 99; }
)";

}  // namespace

std::string RowType::Text() const {
  std::string out(NameOf(item));
  out += shape.is_scalar() ? "" : std::to_string(shape.rows);
  return shape.is_matrix() ? out + 'x' + std::to_string(shape.columns) : out;
}

std::vector<MeaningRow> MeaningRows() {
  RowList rows;
  rows.Arithmetic();
  rows.Comparisons();
  rows.Bits();
  rows.Shifts();
  rows.Logic();
  rows.Unary();
  rows.Steps();
  rows.Compound();
  rows.Conversions();
  rows.Truncations();
  rows.Selections();
  rows.Dots();
  rows.Products();
  rows.Accesses();
  rows.Functions();
  rows.Flow();
  return rows.Take();
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
