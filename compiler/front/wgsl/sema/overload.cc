// SPDX-License-Identifier: MIT
// A row of overloads.def is a pattern. Its variables are what T is, how many items a vector has and
// how large matrices are; every assignment of them is tried, at most 189, and the one whose
// conversions are the least is taken. Types are compared as shapes: nothing is interned on the way.
// Cost of a call: the rows of all functions are passed by, and for those of the function the
// assignments of their variables are tried. Rows are few and assignments at most 189, so
// nothing is indexed.
#include "compiler/front/wgsl/sema/overload.h"

#include <algorithm>
#include <string_view>

#include "compiler/base/check.h"
#include "compiler/base/text/words.h"

namespace kiln::wgsl::front {
namespace {

// Which scalars T stands for. The words are those of overloads.def.
enum class Class : uint8_t {
  kNone,
  kNumber,
  kSigned,
  kInteger,
  kFloat,
  kScalar,
  kBool,
  kWord,
  kConcrete,
  kAbstractFloat,
  kF32,
};
struct Row {
  Function function;
  Class of;
  std::string_view parameters;
  std::string_view result;
};
constexpr Row kRows[] = {
#define KILN_WGSL_OVERLOAD(function, of, parameters, result) \
  {Function::k##function, Class::k##of, parameters, result},
#include "compiler/front/wgsl/sema/overloads.def"
};

bool Includes(Class of, ScalarKind kind) {
  switch (of) {
    case Class::kNone:
      return kind == ScalarKind::kF32;  // any one: nothing has it
    case Class::kNumber:
      return kind != ScalarKind::kBool;
    case Class::kSigned:
      return kind != ScalarKind::kBool && kind != ScalarKind::kU32;
    case Class::kInteger:
      return IsInteger(kind);
    case Class::kFloat:
      return IsFloat(kind);
    case Class::kScalar:
      return true;
    case Class::kBool:
      return kind == ScalarKind::kBool;
    case Class::kWord:
      return kind == ScalarKind::kI32 || kind == ScalarKind::kU32;
    case Class::kConcrete:
      return kind == ScalarKind::kF32 || kind == ScalarKind::kF16;
    case Class::kAbstractFloat:
      return kind == ScalarKind::kAbstractFloat;
    case Class::kF32:
      return kind == ScalarKind::kF32;
  }
  KILN_UNREACHABLE();
}

struct Shape {
  ScalarKind scalar = ScalarKind::kBool;
  uint8_t rows = 0;  // 0: no such type
  uint8_t columns = 1;
  friend bool operator==(const Shape&, const Shape&) = default;
};

// Values of the variables of a pattern.
// What the letters of a row stand for in one attempt.
struct Assignment {
  ScalarKind scalar = ScalarKind::kF32;
  uint8_t items = 1;  // N
  uint8_t columns = 2, rows = 2, inner = 2;
};

// The shape that a word of a pattern has under an assignment. A shape of no rows fits nothing:
// a vector of one item where a vector is meant, or a matrix that would have to be square and is
// not.
Shape ShapeOf(std::string_view word, const Assignment& a) {
  const auto vector = [](ScalarKind scalar, uint8_t rows) { return Shape{scalar, rows, 1}; };
  // Capital letters are scalars or vectors, small ones vectors only.
  const uint8_t many = a.items == 1 ? 0 : a.items;
  if (word.size() == 2) {
    const auto count = static_cast<uint8_t>(word[1] - '0');
    switch (word[0]) {
      case 'v':
        return vector(a.scalar, count);
      case 'f':
        return vector(ScalarKind::kF32, count);
      case 'u':
        return vector(ScalarKind::kU32, count);
      case 'i':
        return vector(ScalarKind::kI32, count);
      default:  // A1
        return vector(ScalarKind::kAbstractInt, a.items);
    }
  }
  switch (word[0]) {
    case 'T':
      return vector(a.scalar, 1);
    case 'V':
      return vector(a.scalar, a.items);
    case 'v':
      return vector(a.scalar, many);
    case 'Q':
      return vector(ScalarKind::kBool, a.items);
    case 'q':
      return vector(ScalarKind::kBool, many);
    case 'U':
      return vector(ScalarKind::kU32, a.items);
    case 'I':
      return vector(ScalarKind::kI32, a.items);
    case 'M':
      return {a.scalar, a.rows, a.columns};
    case 'W':
      return {a.scalar, a.columns, a.rows};
    case 'S':
      return {a.scalar, a.rows == a.columns ? a.rows : uint8_t{0}, a.columns};
    case 'C':
      return vector(a.scalar, a.columns);
    case 'R':
      return vector(a.scalar, a.rows);
    case 'A':
      return {a.scalar, a.rows, a.inner};
    case 'B':
      return {a.scalar, a.inner, a.columns};
    case 'b':
      return vector(ScalarKind::kBool, 1);
    case 'u':
      return vector(ScalarKind::kU32, 1);
    case 'i':
      return vector(ScalarKind::kI32, 1);
    case 'P':
      return vector(a.scalar, a.items);
    default:
      return vector(ScalarKind::kF32, 1);
  }
}

// All assignments of the variables that a row has; the others keep their first value.
// Loops over variables that the row does not have run once, so a row without any costs one
// attempt.
template <class Try>
void ForEachAssignment(const Row& row, Try attempt) {
  const auto has = [&](std::string_view letters) {
    return row.parameters.find_first_of(letters) != std::string_view::npos;
  };
  const uint8_t items = has("VvQqUI1") ? 4 : 1;
  const uint8_t matrix = has("MWSCRAB") ? 4 : 2;
  const uint8_t inner = has("A") ? 4 : 2;
  for (uint8_t kind = 0; kind <= static_cast<uint8_t>(ScalarKind::kF16); ++kind) {
    Assignment a{.scalar = static_cast<ScalarKind>(kind)};
    if (!Includes(row.of, a.scalar)) {
      continue;
    }
    for (a.items = 1; a.items <= items; ++a.items) {
      for (a.columns = 2; a.columns <= matrix; ++a.columns) {
        for (a.rows = 2; a.rows <= matrix; ++a.rows) {
          for (a.inner = 2; a.inner <= inner; ++a.inner) {
            attempt(a);
          }
        }
      }
    }
  }
}

// WGSL, "Conversion Rank": the sum over all arguments. Nothing if one does not convert, has
// another shape, or would stay abstract although the call is not constant.
std::optional<uint32_t> CostOf(std::span<const std::string_view> words, const Assignment& a,
                               std::span<const Shape> arguments, bool all_const) {
  uint32_t cost = 0;
  for (size_t i = 0; i < words.size(); ++i) {
    const Shape shape = ShapeOf(words[i], a);
    const std::optional<uint32_t> rank = RankOf(arguments[i].scalar, shape.scalar);
    if (shape.rows == 0 || shape.rows != arguments[i].rows ||
        shape.columns != arguments[i].columns || !rank.has_value() ||
        (!all_const && IsAbstract(shape.scalar))) {
      return std::nullopt;
    }
    cost += *rank;
  }
  return cost;
}

TypeId TypeOf(Types& types, const Shape& shape) {
  return shape.columns > 1 ? types.Matrix(shape.scalar, shape.columns, shape.rows)
                           : types.Vector(shape.scalar, shape.rows);
}

}  // namespace

std::optional<uint32_t> RankOf(ScalarKind from, ScalarKind to) {
  if (from == to) {
    return 0;
  }
  const bool whole = from == ScalarKind::kAbstractInt;
  if (!IsAbstract(from)) {
    return std::nullopt;
  }
  switch (to) {
    case ScalarKind::kAbstractFloat:
      return whole ? std::optional(5u) : std::nullopt;
    case ScalarKind::kI32:
      return whole ? std::optional(3u) : std::nullopt;
    case ScalarKind::kU32:
      return whole ? std::optional(4u) : std::nullopt;
    case ScalarKind::kF32:
      return whole ? 6 : 1;
    case ScalarKind::kF16:
      return whole ? 7 : 2;
    default:
      return std::nullopt;
  }
}

// WGSL, "Overload Resolution". Among candidates the least sum is taken; WGSL compares argument
// by argument, which gives the same here, since all arguments that are converted go to one
// scalar.
std::optional<Overload> FindOverload(Types& types, Function function,
                                     std::span<const TypeId> arguments, bool all_const) {
  std::vector<Shape> shapes;
  for (const TypeId id : arguments) {
    const Type& type = types[id];
    // Pointers, textures and what else has no overload has the empty shape, which no word
    // gives.
    const bool numeric = type.kind >= TypeKind::kScalar && type.kind <= TypeKind::kMatrix;
    shapes.push_back(numeric ? Shape{type.scalar, type.rows, type.columns} : Shape{});
  }
  // Strictly less: the first of equal ones is kept, which is what the order of rows and kinds
  // decides.
  struct Best {
    const Row* row = nullptr;
    Assignment assignment;
    uint32_t cost = 0;
  } best;
  for (const Row& row : kRows) {
    if (row.function != function) {
      continue;
    }
    const std::vector<std::string_view> words = WordsOf(row.parameters);
    if (words.size() != arguments.size()) {
      continue;
    }
    ForEachAssignment(row, [&](const Assignment& a) {
      const std::optional<uint32_t> cost = CostOf(words, a, shapes, all_const);
      if (cost.has_value() && (best.row == nullptr || *cost < best.cost)) {
        best = {&row, a, *cost};
      }
    });
  }
  if (best.row == nullptr) {
    return std::nullopt;
  }
  Overload found{.parameters = {},
                 .result = {},
                 .scalar = best.assignment.scalar,
                 .rows = best.assignment.items,
                 .gives_parts = best.row->result == "P"};
  for (const std::string_view word : WordsOf(best.row->parameters)) {
    found.parameters.push_back(TypeOf(types, ShapeOf(word, best.assignment)));
  }
  found.result = TypeOf(types, ShapeOf(best.row->result, best.assignment));
  return found;
}

}  // namespace kiln::wgsl::front
