// SPDX-License-Identifier: MIT
// Expressions of random programs.
#include <algorithm>
#include <bit>

#include <fmt/format.h>

#include "compiler/base/check.h"
#include "compiler/ir/typing/operator_typing.h"
#include "tests/support/random_program_scope.h"

namespace kiln::oracle {
namespace {

using ir::BinaryOp;
using ir::Builtin;
using ir::Scalar;

constexpr std::string_view kLetters = "xyzw";

std::string FloatText(float number) {
  return fmt::format("{}{:.3f}", number < 0 ? "-" : "", std::abs(number));
}

}  // namespace

std::string_view Spelling(BinaryOp op) {
  constexpr std::string_view kSpellings[] = {"+",  "-", "*", "/", "%",  "&",  "|",  "^", "<<",
                                             ">>", "",  "<", ">", "<=", ">=", "==", "!="};
  return kSpellings[static_cast<size_t>(op)];
}

bool Run::Decide(const Value& condition) {
  if (!condition[0].exact() && !undecided()) {
    outcome.undecided = "a condition is not exact";
  }
  return condition[0].bits != 0;
}

Expr ProgramWriter::Numbered(ir::TypeId id, int32_t number) {
  const ir::Type& type = pool_[id];
  std::string text = type.scalar == Scalar::kF32   ? FloatText(static_cast<float>(number))
                     : type.scalar == Scalar::kU32 ? fmt::format("{}u", number)
                                                   : fmt::format("{}", number);
  const uint32_t bits = type.scalar == Scalar::kF32
                            ? std::bit_cast<uint32_t>(static_cast<float>(number))
                            : static_cast<uint32_t>(number);
  if (type.rows > 1) {
    text = TypeText(id) + " { " + text + " }";
  }
  return {.text = std::move(text),
          .type = id,
          .eval = [value = Value(type.rows, Cell{bits, 0})](Run&) { return value; }};
}

Expr ProgramWriter::Literal(ir::TypeId id) {
  const ir::Type& type = pool_[id];
  if (type.scalar == Scalar::kF32 && type.rows == 1) {
    const float number = (static_cast<float>(Below(129)) - 64) / 8;
    return {.text = FloatText(number), .type = id, .eval = [number](Run&) {
              return ExactFloats(std::span(&number, 1));
            }};
  }
  if (type.scalar == Scalar::kU32 && Chance(30)) {
    const uint32_t word = random_();
    const std::string text = fmt::format("0x{:x}", word);
    return {.text = type.rows == 1 ? text : TypeText(id) + " { " + text + " }",
            .type = id,
            .eval = [value = Value(type.rows, Cell{word, 0})](Run&) { return value; }};
  }
  return Numbered(id, static_cast<int32_t>(Below(20)) - (type.scalar == Scalar::kU32 ? 0 : 10));
}

// Of this pixel: bench.samples[index].f[2].xyz
Expr ProgramWriter::Input(ir::TypeId id) {
  const ir::Type& type = pool_[id];
  const bool floats = type.scalar == Scalar::kF32;
  const uint32_t item = Below(floats ? 8 : 3);
  const std::string_view array = floats ? "f" : type.scalar == Scalar::kU32 ? "u" : "s";
  std::string text = fmt::format("bench.samples[index].{}[{}]", array, item);
  if (type.rows < 4) {
    text += "." + std::string(kLetters.substr(0, type.rows));
  }
  return {.text = std::move(text),
          .type = id,
          .eval = [scalar = type.scalar, item, rows = type.rows](Run& run) {
            Value value;
            for (uint32_t i = item * 4; i < item * 4 + rows; ++i) {
              value.push_back(
                  {.bits = scalar == Scalar::kF32   ? std::bit_cast<uint32_t>(run.sample->f[i])
                           : scalar == Scalar::kU32 ? run.sample->u[i]
                                                    : static_cast<uint32_t>(run.sample->s[i]),
                   .error = 0});
            }
            return value;
          }};
}

Expr ProgramWriter::Leaf(ir::TypeId type) {
  if (pool_[type].kind != ir::TypeKind::kVector) {
    return Construct(type, 0);
  }
  if (pool_[type].scalar == Scalar::kBool) {
    return BooleanLeaf(type);
  }
  if (later_ && Chance(15)) {
    if (std::optional<Expr> item = TableItem(type)) {
      return *std::move(item);
    }
  }
  for (const Option& option : options_) {
    if (option.type == type && Chance(20)) {
      return {.text = option.name, .type = type, .eval = [bits = option.bits](Run&) {
                return Value{Cell{bits, 0}};
              }};
    }
  }
  return Chance(60) ? Input(type) : Literal(type);
}

Expr ProgramWriter::Expression(ir::TypeId type, uint32_t depth) {
  if (Chance(depth == 0 ? 60 : 25)) {
    if (const std::optional<PlaceExpr> place = Place(type, {.read = true})) {
      return ReadOf(*place);
    }
  }
  if (depth == 0) {
    return Leaf(type);
  }
  if (Chance(12)) {
    if (std::optional<Expr> call = UserCall(type, depth - 1)) {
      return *std::move(call);
    }
  }
  if (Chance(6)) {
    return Assigned(type, depth - 1);
  }
  if (later_ && Chance(25)) {
    if (std::optional<Expr> added = Added(type, depth - 1)) {
      return *std::move(added);
    }
  }
  const ir::Type& shape = pool_[type];
  if (shape.kind == ir::TypeKind::kStruct) {
    return Construct(type, depth - 1);
  }
  if (shape.scalar == Scalar::kBool) {
    return Boolean(type, depth - 1);
  }
  if (shape.kind == ir::TypeKind::kMatrix) {
    return MatrixValue(type, depth - 1);
  }
  const uint32_t choice = Below(10);
  if (choice == 0) {
    return Leaf(type);
  }
  if (choice == 1) {
    return Convert(type, depth - 1);
  }
  if (choice == 2) {
    return Swizzle(type, depth - 1);
  }
  if (choice == 3 && shape.rows > 1) {
    return Construct(type, depth - 1);
  }
  return shape.scalar == Scalar::kF32 ? Float(type, depth - 1) : Integer(type, depth - 1);
}

Expr ProgramWriter::Binary(BinaryOp op, const Expr& left, const Expr& right) {
  const ir::BinaryTyping typing =
      *ir::TypeOfBinary(pool_, ir::TypingRules::kRpl2, op, left.type, right.type);
  return {.text = fmt::format("({} {} {})", left.text, Spelling(op), right.text),
          .type = typing.result,
          .eval =
              [pool = &pool_, op, left, right](Run& run) {
                const Value a = left.eval(run);
                const Value b = right.eval(run);
                return ApplyBinary(*pool, op, left.type, a, right.type, b);
              },
          .pure = left.pure && right.pure};
}

Expr ProgramWriter::Call(Builtin builtin, ir::TypeId family, ir::TypeId result,
                         std::vector<Expr> arguments) {
  std::string texts;
  bool pure = true;
  for (const Expr& argument : arguments) {
    texts += (texts.empty() ? "" : ", ") + argument.text;
    pure = pure && argument.pure;
  }
  return {.text = fmt::format("{}_{} ({})", ir::FactsOf(builtin).name, TypeText(family), texts),
          .type = result,
          .eval =
              [pool = &pool_, builtin, family, arguments = std::move(arguments)](Run& run) {
                std::vector<Value> values;
                for (const Expr& argument : arguments) {
                  values.push_back(argument.eval(run));
                }
                return ApplyBuiltin(*pool, builtin, family, values);
              },
          .pure = pure};
}

Expr ProgramWriter::Bounded(const Expr& number) {
  const ir::TypeId type = number.type;
  const Expr clamped =
      Call(Builtin::kClamp, type, type, {number, Numbered(type, -64), Numbered(type, 64)});
  return Call(Builtin::kFloor, type, type, {clamped});
}

Expr ProgramWriter::Float(ir::TypeId type, uint32_t depth) {
  const ir::TypeId f1 = pool_.Vector(Scalar::kF32, 1);
  const uint32_t rows = pool_[type].rows;
  const auto some = [&] { return Expression(type, depth); };
  switch (Below(14)) {
    case 0:
    case 1:
      return Binary(Chance(50) ? BinaryOp::kAdd : BinaryOp::kSub, some(), some());
    case 2:
      return Bounded(Binary(BinaryOp::kMul, some(), some()));
    case 3:
      return Bounded(Binary(BinaryOp::kMul, some(), Expression(f1, depth)));
    case 4:
      return Binary(BinaryOp::kDiv, some(), Numbered(Chance(50) ? type : f1, 4));
    case 5: {
      constexpr Builtin kOne[] = {Builtin::kFloor,    Builtin::kCeil, Builtin::kTrunc,
                                  Builtin::kAbs,      Builtin::kSign, Builtin::kFract,
                                  Builtin::kRoundEven};
      return Call(kOne[Below(std::size(kOne))], type, type, {some()});
    }
    case 6: {
      constexpr Builtin kTwo[] = {Builtin::kMin, Builtin::kMax, Builtin::kStep};
      return Call(kTwo[Below(std::size(kTwo))], type, type, {some(), some()});
    }
    case 7:
      return Call(Builtin::kClamp, type, type, {some(), Numbered(type, -3), Numbered(type, 5)});
    case 8:
      return Bounded(Call(Builtin::kFma, type, type, {some(), some(), some()}));
    case 9: {
      Expr negated = some();
      negated.text = "(-" + negated.text + ")";
      negated.eval = [pool = &pool_, type, eval = std::move(negated.eval)](Run& run) {
        return ApplyUnary(*pool, ir::UnaryOp::kNegate, type, eval(run));
      };
      return negated;
    }
    case 10:
      if (rows == 1) {
        const ir::TypeId vector = pool_.Vector(Scalar::kF32, 2 + Below(3));
        return Bounded(Call(Builtin::kDot, vector, f1,
                            {Expression(vector, depth), Expression(vector, depth)}));
      }
      return Bounded(Call(Builtin::kMix, type, type, {some(), some(), Numbered(type, 1)}));
    case 11:
      if (rows == 3) {
        return Bounded(Call(Builtin::kCross, type, type, {some(), some()}));
      }
      return Call(Builtin::kMax, type, type, {some(), Numbered(type, -20)});
    case 12:
      if (rows >= 3) {
        const ir::TypeId matrix = pool_.Matrix(Scalar::kF32, rows, rows);
        const Expr turn = Expression(matrix, depth);
        return Bounded(Chance(50) ? Binary(BinaryOp::kMul, turn, some())
                                  : Binary(BinaryOp::kMul, some(), turn));
      }
      return Binary(BinaryOp::kSub, some(), Literal(type));
    default:
      return Binary(BinaryOp::kAdd, some(), Leaf(type));
  }
}

Expr ProgramWriter::Integer(ir::TypeId type, uint32_t depth) {
  const bool is_signed = pool_[type].scalar == Scalar::kS32;
  const ir::TypeId scalar = pool_.Vector(pool_[type].scalar, 1);
  const auto some = [&] { return Expression(type, depth); };
  constexpr BinaryOp kPlain[] = {BinaryOp::kAdd, BinaryOp::kSub, BinaryOp::kMul,
                                 BinaryOp::kAnd, BinaryOp::kOr,  BinaryOp::kXor};
  switch (Below(9)) {
    case 0:
      return Binary(Chance(50) ? BinaryOp::kShiftLeft : BinaryOp::kShiftRight, some(),
                    Binary(BinaryOp::kAnd, some(), Numbered(type, 31)));
    case 1: {  // of numbers that are not negative: what devices agree on
      const Expr divisor =
          Call(Builtin::kClamp, type, type, {some(), Numbered(type, 1), Numbered(type, 50)});
      const Expr dividend =
          is_signed ? Call(Builtin::kMax, type, type, {some(), Numbered(type, 0)}) : some();
      return Binary(Chance(50) ? BinaryOp::kDiv : BinaryOp::kMod, dividend, divisor);
    }
    case 2:
      return Binary(BinaryOp::kMul, some(), Expression(scalar, depth));
    case 3:
      return Binary(BinaryOp::kDiv, some(), Numbered(scalar, 7));
    case 4:
      return Call(Chance(50) ? Builtin::kMin : Builtin::kMax, type, type, {some(), some()});
    case 5:
      if (is_signed) {
        return Call(Chance(50) ? Builtin::kSign : Builtin::kAbs, type, type,
                    {Binary(BinaryOp::kDiv, some(), Numbered(scalar, 2))});
      }
      return Call(Builtin::kClamp, type, type, {some(), Numbered(type, 3), Numbered(type, 400)});
    default:
      return Binary(kPlain[Below(std::size(kPlain))], some(), some());
  }
}

Expr ProgramWriter::Condition(uint32_t depth) {
  const uint32_t choice = depth == 0 ? 0 : Below(4);
  if (choice == 1) {
    return Negated(Condition(depth - 1));
  }
  if (later_ && choice == 3) {
    return Expression(pool_.bool_type(), depth - 1);
  }
  if (choice == 2) {
    const bool both = Chance(50);
    Expr left = Condition(depth - 1);
    Expr right = Condition(depth - 1);
    return {.text = fmt::format("({} {} {})", left.text, both ? "&&" : "||", right.text),
            .type = pool_.bool_type(),
            .eval =
                [both, left, right](Run& run) {
                  const Value first = left.eval(run);
                  return run.Decide(first) == both ? right.eval(run) : first;
                },
            .pure = left.pure && right.pure};
  }
  constexpr BinaryOp kCompare[] = {BinaryOp::kLess,      BinaryOp::kGreater,
                                   BinaryOp::kLessEqual, BinaryOp::kGreaterEqual,
                                   BinaryOp::kEqual,     BinaryOp::kNotEqual};
  constexpr Scalar kScalars[] = {Scalar::kF32, Scalar::kU32, Scalar::kS32};
  const ir::TypeId type = pool_.Vector(kScalars[Below(3)], 1);
  return Binary(kCompare[Below(std::size(kCompare))], Expression(type, depth),
                Expression(type, depth));
}

}  // namespace kiln::oracle
