// SPDX-License-Identifier: MIT
// What random programs of version 2 have besides. See spec/rpl 14.3 to 14.5, 14.9
#include <algorithm>
#include <bit>

#include <fmt/format.h>

#include "compiler/ir/typing/typing.h"
#include "tests/support/random_program_scope.h"

namespace kiln::oracle {
namespace {

using ir::BinaryOp;
using ir::Builtin;
using ir::Scalar;

bool IsNumber(const ir::Type& type) {
  return type.kind == ir::TypeKind::kVector && type.scalar != Scalar::kBool;
}

}  // namespace

void ProgramWriter::DeclareTables() {
  const ir::TypeId u1 = pool_.Vector(Scalar::kU32, 1);
  const float scale = static_cast<float>(Below(9)) / 4 - 1;
  declarations_ +=
      "instance specialize spec_u: uint 2;\n"
      "instance specialize spec_f: float -0.5;\n"
      "instance specialize spec_b: flag false;\n";
  special_ = {{"spec_u", u1, Below(6)},
              {"spec_f", pool_.Vector(Scalar::kF32, 1), std::bit_cast<uint32_t>(scale)},
              {"spec_b", pool_.bool_type(), Below(2)}};
  constexpr Scalar kScalars[] = {Scalar::kF32, Scalar::kU32, Scalar::kS32};
  for (uint32_t i = 0; i < 3; ++i) {
    Table table{.name = Name("table"),
                .item = pool_.Vector(kScalars[Below(3)], 1 + Below(4)),
                .count = 1 + Below(4),
                .items = {}};
    std::string items;
    const ir::TypeId scalar = pool_.Vector(pool_[table.item].scalar, 1);
    for (uint32_t item = 0; item < table.count; ++item) {
      std::string parts;
      for (uint32_t row = 0; row < pool_[table.item].rows; ++row) {
        const Expr number = Literal(scalar);
        Run nothing;
        table.items.push_back(number.eval(nothing)[0]);
        parts += (row == 0 ? "" : ", ") + number.text;
      }
      items += (item == 0 ? "" : ", ") +
               (pool_[table.item].rows == 1 ? parts : TypeText(table.item) + " { " + parts + " }");
    }
    declarations_ += fmt::format("constant {0}[{1}] {2} = {0}[{1}] {{ {3} }};\n",
                                 TypeText(table.item), table.count, table.name, items);
    tables_.push_back(std::move(table));
  }
}

std::optional<Expr> ProgramWriter::TableItem(ir::TypeId type) {
  for (const Option& option : special_) {
    if (option.type == type && Chance(50)) {
      return Expr{.text = option.name, .type = type, .eval = [bits = option.bits](Run&) {
                    return Value{Cell{bits, 0}};
                  }};
    }
  }
  for (const Table& table : tables_) {
    if (table.item != type) {
      continue;
    }
    const Expr index = Input(pool_.Vector(Scalar::kU32, 1));
    return Expr{.text = fmt::format("{}[{} % {}u]", table.name, index.text, table.count),
                .type = type,
                .eval = [items = table.items, count = table.count, rows = pool_[type].rows,
                         eval = index.eval](Run& run) {
                  const auto begin = items.begin() + ptrdiff_t{eval(run)[0].bits % count} * rows;
                  return Value(begin, begin + rows);
                }};
  }
  return std::nullopt;
}

std::optional<Expr> ProgramWriter::Added(ir::TypeId type, uint32_t depth) {
  const ir::Type& shape = pool_[type];
  const uint32_t choice = Below(6);
  if (choice <= 1) {
    return Chosen(type, depth);
  }
  if (choice == 2 && shape.kind == ir::TypeKind::kVector && shape.rows > 1) {
    return Selected(type, depth);
  }
  if (choice == 3 && IsNumber(shape)) {
    return FromBoolean(type, depth);
  }
  if (choice == 4 && IsNumber(shape)) {
    return ScalarFirst(type, depth);
  }
  if (choice == 5 && shape.kind != ir::TypeKind::kStruct) {
    return Compound(type, depth);
  }
  return std::nullopt;
}

// --- booleans
Expr ProgramWriter::BooleanLeaf(ir::TypeId type) {
  const uint32_t rows = pool_[type].rows;
  if (rows == 1 && Chance(15)) {
    if (std::optional<Expr> special = TableItem(type)) {
      return *std::move(special);
    }
  }
  if (rows == 1 && Chance(15)) {
    const uint32_t truth = Below(2);
    return {.text = truth != 0 ? "true" : "false", .type = type, .eval = [truth](Run&) {
              return Value{Cell{truth, 0}};
            }};
  }
  const ir::TypeId number = pool_.Vector(Scalar::kU32, rows);
  return Binary(BinaryOp::kLess, Input(number), Input(number));
}

Expr ProgramWriter::Negated(Expr truth) {
  truth.text = "!(" + truth.text + ")";
  truth.eval = [eval = std::move(truth.eval)](Run& run) {
    Value value = eval(run);
    for (Cell& cell : value) {
      cell.bits ^= 1U;
    }
    return value;
  };
  return truth;
}

Expr ProgramWriter::AnyOrAll(uint32_t depth) {
  const ir::TypeId mask = pool_.Vector(Scalar::kBool, 2 + Below(3));
  return Call(Chance(50) ? Builtin::kAny : Builtin::kAll, mask, pool_.bool_type(),
              {Expression(mask, depth)});
}

Expr ProgramWriter::Boolean(ir::TypeId type, uint32_t depth) {
  constexpr BinaryOp kCompare[] = {BinaryOp::kLess,      BinaryOp::kGreater,
                                   BinaryOp::kLessEqual, BinaryOp::kGreaterEqual,
                                   BinaryOp::kEqual,     BinaryOp::kNotEqual};
  constexpr BinaryOp kLogic[] = {BinaryOp::kAnd, BinaryOp::kOr, BinaryOp::kXor, BinaryOp::kEqual,
                                 BinaryOp::kNotEqual};
  constexpr Scalar kScalars[] = {Scalar::kF32, Scalar::kU32, Scalar::kS32};
  const uint32_t rows = pool_[type].rows;
  switch (Below(6)) {
    case 0:
      return Negated(Expression(type, depth));
    case 1:
      return Binary(kLogic[Below(std::size(kLogic))], Expression(type, depth),
                    Expression(type, depth));
    case 2:
      return rows == 1 ? AnyOrAll(depth) : Construct(type, depth);
    case 3:
      return Swizzle(type, depth);
    default: {
      const ir::TypeId number = pool_.Vector(kScalars[Below(3)], rows);
      return Binary(kCompare[Below(std::size(kCompare))], Expression(number, depth),
                    Expression(number, depth));
    }
  }
}

Expr ProgramWriter::FromBoolean(ir::TypeId type, uint32_t depth) {
  const ir::TypeId from = pool_.Vector(Scalar::kBool, pool_[type].rows);
  Expr source = Expression(from, depth);
  return {.text = TypeText(type) + " { " + source.text + " }",
          .type = type,
          .eval = [pool = &pool_, from, type, eval = std::move(source.eval)](
                      Run& run) { return ApplyConvert(*pool, from, type, eval(run)); },
          .pure = source.pure};
}

// --- choices
Expr ProgramWriter::Chosen(ir::TypeId type, uint32_t depth) {
  const Expr condition = Condition(1);
  const Expr yes = Expression(type, depth);
  const Expr no = Expression(type, depth);
  return {.text = fmt::format("({} ? {} : {})", condition.text, yes.text, no.text),
          .type = type,
          .eval =
              [condition, yes, no](Run& run) {
                return run.Decide(condition.eval(run)) ? yes.eval(run) : no.eval(run);
              },
          .pure = condition.pure && yes.pure && no.pure};
}

Expr ProgramWriter::Selected(ir::TypeId type, uint32_t depth) {
  const Expr no = Expression(type, depth);
  const Expr yes = Expression(type, depth);
  const Expr mask = Expression(pool_.Vector(Scalar::kBool, pool_[type].rows), depth);
  return {
      .text = fmt::format("select_{} ({}, {}, {})", TypeText(type), no.text, yes.text, mask.text),
      .type = type,
      .eval =
          [no, yes, mask](Run& run) {
            const Value first = no.eval(run);
            const Value second = yes.eval(run);
            return ApplySelect(mask.eval(run), second, first);
          },
      .pure = no.pure && yes.pure && mask.pure};
}

// --- operators
Expr ProgramWriter::ScalarFirst(ir::TypeId type, uint32_t depth) {
  const ir::Type& shape = pool_[type];
  if (shape.scalar == Scalar::kS32 && Chance(40)) {
    const Expr value = Expression(type, depth);
    const Expr shift = Binary(BinaryOp::kAnd, Expression(type, depth), Numbered(type, 31));
    return {.text = fmt::format("shift_right_arithmetic_{} ({}, {})", TypeText(type), value.text,
                                shift.text),
            .type = type,
            .eval =
                [pool = &pool_, type, value, shift](Run& run) {
                  const Value left = value.eval(run);
                  return ApplyBinary(*pool, BinaryOp::kShiftRightArithmetic, type, left, type,
                                     shift.eval(run));
                },
            .pure = value.pure && shift.pure};
  }
  const Expr scalar = Expression(pool_.Vector(shape.scalar, 1), depth);
  const Expr vector = Expression(type, depth);
  const Expr product{.text = fmt::format("({} * {})", scalar.text, vector.text),
                     .type = type,
                     .eval =
                         [pool = &pool_, scalar, vector](Run& run) {
                           const Value first = scalar.eval(run);
                           return ApplyBinary(*pool, BinaryOp::kMul, vector.type, vector.eval(run),
                                              scalar.type, first);
                         },
                     .pure = scalar.pure && vector.pure};
  return shape.scalar == Scalar::kF32 ? Bounded(product) : product;
}

// What may stand on the right of `op=`: floats stay dyadic and small, divisors are positive.
Expr ProgramWriter::OperandOf(BinaryOp op, ir::TypeId type, uint32_t depth) {
  const ir::Type& shape = pool_[type];
  const ir::TypeId scalar = pool_.Vector(shape.scalar, 1);
  if (shape.kind == ir::TypeKind::kMatrix || shape.scalar == Scalar::kF32) {
    return op == BinaryOp::kAdd || op == BinaryOp::kSub ? Leaf(type)
           : op == BinaryOp::kMul                       ? Numbered(scalar, -1)
                                                        : Numbered(scalar, 2);
  }
  if (op == BinaryOp::kShiftLeft || op == BinaryOp::kShiftRight) {
    return Binary(BinaryOp::kAnd, Expression(type, depth), Numbered(type, 31));
  }
  if (op == BinaryOp::kDiv || op == BinaryOp::kMod) {
    return Call(Builtin::kClamp, type, type,
                {Expression(type, depth), Numbered(type, 1), Numbered(type, 50)});
  }
  return op == BinaryOp::kMul && Chance(50) ? Expression(scalar, depth) : Expression(type, depth);
}

// Index expressions of the place, its value, the operand, the operation, the store.
Expr ProgramWriter::Compound(ir::TypeId type, uint32_t depth) {
  const std::optional<PlaceExpr> place = Place(type, {.read = true, .write = true});
  if (!place.has_value()) {
    return Expression(type, depth);
  }
  const ir::Type& shape = pool_[type];
  constexpr BinaryOp kWhole[] = {
      BinaryOp::kAdd, BinaryOp::kSub, BinaryOp::kMul,       BinaryOp::kAnd,        BinaryOp::kOr,
      BinaryOp::kXor, BinaryOp::kDiv, BinaryOp::kShiftLeft, BinaryOp::kShiftRight, BinaryOp::kMod};
  constexpr BinaryOp kFloat[] = {BinaryOp::kAdd, BinaryOp::kSub, BinaryOp::kMul, BinaryOp::kDiv};
  constexpr BinaryOp kTruth[] = {BinaryOp::kAnd, BinaryOp::kOr, BinaryOp::kXor};
  const BinaryOp op = shape.kind == ir::TypeKind::kMatrix ? kFloat[Below(3)]
                      : shape.scalar == Scalar::kBool     ? kTruth[Below(3)]
                      : shape.scalar == Scalar::kF32
                          ? kFloat[Below(4)]
                          : kWhole[Below(shape.scalar == Scalar::kU32 ? 10 : 9)];
  const Expr operand = OperandOf(op, type, depth);
  return {.text = fmt::format("({} {}= {})", place->text, Spelling(op), operand.text),
          .type = type,
          .eval =
              [pool = &pool_, op, type, locate = place->locate, operand,
               count = CellCount(pool_, type)](Run& run) {
                const Ref ref = locate(run);
                const auto begin = ref.variable->begin() + ref.first;
                const Value old(begin, begin + count);
                Value assigned = ApplyBinary(*pool, op, type, old, operand.type, operand.eval(run));
                std::ranges::copy(assigned, ref.variable->begin() + ref.first);
                return assigned;
              },
          .pure = false};
}

}  // namespace kiln::oracle
