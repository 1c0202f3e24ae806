// SPDX-License-Identifier: MIT
// Expressions and places of random programs.
#include <algorithm>
#include <bit>

#include <fmt/format.h>

#include "compiler/base/check.h"
#include "compiler/ir/typing.h"
#include "tests/support/random_program_scope.h"

namespace kiln::oracle {
namespace {

using ir::BinaryOp;
using ir::Builtin;
using ir::Scalar;

constexpr std::string_view kLetters = "xyzw";

std::string_view Spelling(BinaryOp op) {
  constexpr std::string_view kSpellings[] = {"+",  "-", "*", "/", "%",  "&",  "|",  "^", "<<",
                                             ">>", "",  "<", ">", "<=", ">=", "==", "!="};
  return kSpellings[static_cast<size_t>(op)];
}

std::string FloatText(float number) {
  return fmt::format("{}{:.3f}", number < 0 ? "-" : "", std::abs(number));
}

Value Slice(const Value& value, uint32_t first, uint32_t count) {
  return {value.begin() + first, value.begin() + first + count};
}

}  // namespace

bool Run::Decide(const Value& condition) {
  if (!condition[0].exact() && !undecided()) {
    outcome.undecided = "a condition is not exact";
  }
  return condition[0].bits != 0;
}

Expr ProgramWriter::ReadOf(const PlaceExpr& place) {
  return {.text = place.text,
          .type = place.type,
          .eval =
              [locate = place.locate, count = CellCount(pool_, place.type)](Run& run) {
                const Ref ref = locate(run);
                return Slice(*ref.variable, ref.first, count);
              },
          .pure = place.pure};
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
  const ir::Type& shape = pool_[type];
  if (shape.kind == ir::TypeKind::kStruct) {
    return Construct(type, depth - 1);
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
      *ir::TypeOfBinary(pool_, ir::TypingRules::kRpl1, op, left.type, right.type);
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

Expr ProgramWriter::MatrixValue(ir::TypeId type, uint32_t depth) {
  const auto some = [&] { return Expression(type, depth); };
  switch (Below(4)) {
    case 0:
      return Call(Builtin::kTranspose, type, type, {some()});
    case 1:
      return Binary(Chance(50) ? BinaryOp::kAdd : BinaryOp::kSub, some(), some());
    case 2:
      if (pool_[type].rows == 3) {  // crop
        Expr large = Expression(pool_.Matrix(Scalar::kF32, 4, 4), depth);
        large.text = "f3x3 { " + large.text + " }";
        large.type = type;
        large.eval = [eval = std::move(large.eval)](Run& run) {
          const Value m = eval(run);
          return Value{m[0], m[1], m[2], m[4], m[5], m[6], m[8], m[9], m[10]};
        };
        return large;
      }
      return Construct(type, depth);
    default:
      return Construct(type, depth);
  }
}

// One operand per component or group of components, column, member.
Expr ProgramWriter::Construct(ir::TypeId type, uint32_t depth) {
  const ir::Type& shape = pool_[type];
  std::vector<Expr> parts;
  if (shape.kind == ir::TypeKind::kVector) {
    for (uint32_t rows = shape.rows; rows > 0;) {
      const uint32_t count = 1 + Below(std::min<uint32_t>(rows, shape.rows - 1U));
      parts.push_back(Expression(pool_.Vector(shape.scalar, count), depth));
      rows -= count;
    }
  } else {
    for (uint32_t i = 0; i < ir::PartCount(pool_, type); ++i) {
      parts.push_back(Expression(*ir::PartType(pool_, type, i), depth));
    }
  }
  Expr made{.type = type};
  for (const Expr& part : parts) {
    made.text += (made.text.empty() ? "" : ", ") + part.text;
    made.pure = made.pure && part.pure;
  }
  made.text = TypeText(type) + " { " + made.text + " }";
  made.eval = [parts = std::move(parts)](Run& run) {
    Value value;
    for (const Expr& part : parts) {
      const Value cells = part.eval(run);
      value.insert(value.end(), cells.begin(), cells.end());
    }
    return value;
  };
  return made;
}

// Components of a vector, in any order; a column of a matrix.
Expr ProgramWriter::Swizzle(ir::TypeId type, uint32_t depth) {
  const ir::Type& shape = pool_[type];
  const uint32_t source_rows = 2 + Below(3);
  Expr source = Expression(pool_.Vector(shape.scalar, source_rows), depth);
  std::vector<uint32_t> letters;
  std::string text;
  for (uint32_t i = 0; i < shape.rows; ++i) {
    letters.push_back(Below(source_rows));
    text += kLetters[letters.back()];
  }
  return {.text = "(" + source.text + ")." + text,
          .type = type,
          .eval =
              [eval = std::move(source.eval), letters](Run& run) {
                const Value value = eval(run);
                Value result;
                for (const uint32_t letter : letters) {
                  result.push_back(value[letter]);
                }
                return result;
              },
          .pure = source.pure};
}

Expr ProgramWriter::Convert(ir::TypeId type, uint32_t depth) {
  const ir::Type& shape = pool_[type];
  constexpr Scalar kScalars[] = {Scalar::kF32, Scalar::kU32, Scalar::kS32};
  const Scalar from_scalar = kScalars[Below(3)];
  if (from_scalar == shape.scalar) {
    return Leaf(type);
  }
  const ir::TypeId from = pool_.Vector(from_scalar, shape.rows);
  Expr source = Expression(from, depth);
  if (from_scalar == Scalar::kF32) {
    source = Call(
        Builtin::kClamp, from, from,
        {source, Numbered(from, shape.scalar == Scalar::kU32 ? 0 : -900), Numbered(from, 900)});
  } else if (shape.scalar == Scalar::kF32) {
    source = Binary(BinaryOp::kAnd, source, Numbered(from, 63));
  }
  return {.text = TypeText(type) + " { " + source.text + " }",
          .type = type,
          .eval = [pool = &pool_, from, type, eval = std::move(source.eval)](
                      Run& run) { return ApplyConvert(*pool, from, type, eval(run)); },
          .pure = source.pure};
}

// (place = value): index expressions of the place first, then the value, then the store
// (rpl.md 5.5); the value is the assigned one.
Expr ProgramWriter::Assigned(ir::TypeId type, uint32_t depth) {
  const std::optional<PlaceExpr> place = Place(type, {.write = true});
  if (!place.has_value()) {
    return Expression(type, depth);
  }
  Expr value = Expression(type, depth);
  return {.text = fmt::format("({} = {})", place->text, value.text),
          .type = type,
          .eval =
              [locate = place->locate, eval = std::move(value.eval)](Run& run) {
                const Ref ref = locate(run);
                Value assigned = eval(run);
                std::ranges::copy(assigned, ref.variable->begin() + ref.first);
                return assigned;
              },
          .pure = false};
}

// Arguments from left to right: values of `in` and `in out` are read, places are found; after the
// call `out` and `in out` are written back from left to right (rpl.md 8.7).
std::optional<Expr> ProgramWriter::UserCall(ir::TypeId type, uint32_t depth) {
  std::vector<std::shared_ptr<Function>> fitting;
  for (const std::shared_ptr<Function>& function : functions_) {
    if (function->result == type) {
      fitting.push_back(function);
    }
  }
  if (fitting.empty()) {
    return std::nullopt;
  }
  const std::shared_ptr<Function> function = fitting[Below(static_cast<uint32_t>(fitting.size()))];
  struct Argument {
    std::function<Value(Run&)> value;
    std::function<Ref(Run&)> place;
  };
  std::vector<Argument> arguments;
  std::string texts = "index";
  for (const Parameter& parameter : function->parameters) {
    if (parameter.access == "in") {
      const Expr value = Expression(parameter.type, depth);
      texts += ", " + value.text;
      arguments.push_back({.value = value.eval});
      continue;
    }
    const std::optional<PlaceExpr> place =
        Place(parameter.type, {.read = parameter.access == "in out", .write = true});
    if (!place.has_value()) {
      return std::nullopt;
    }
    texts += ", " + place->text;
    arguments.push_back({.place = place->locate});
  }
  return Expr{.text = fmt::format("{} ({})", function->name, texts),
              .type = type,
              .eval =
                  [pool = &pool_, function, arguments](Run& run) {
                    Frame frame;
                    std::vector<Ref> places(arguments.size());
                    for (size_t i = 0; i < arguments.size(); ++i) {
                      const Parameter& parameter = function->parameters[i];
                      const uint32_t count = CellCount(*pool, parameter.type);
                      Value& variable = frame.variables[parameter.variable];
                      variable.resize(count);
                      if (arguments[i].value) {
                        variable = arguments[i].value(run);
                        continue;
                      }
                      places[i] = arguments[i].place(run);
                      if (parameter.access == "in out") {
                        variable = Slice(*places[i].variable, places[i].first, count);
                      }
                    }
                    Frame* const caller = std::exchange(run.frame, &frame);
                    function->body(run);
                    run.frame = caller;
                    for (size_t i = 0; i < arguments.size(); ++i) {
                      if (arguments[i].place) {
                        std::ranges::copy(frame.variables[function->parameters[i].variable],
                                          places[i].variable->begin() + places[i].first);
                      }
                    }
                    frame.result.resize(CellCount(*pool, function->result));
                    return frame.result;
                  },
              .pure = false};
}

Expr ProgramWriter::Condition(uint32_t depth) {
  const uint32_t choice = depth == 0 ? 0 : Below(4);
  if (choice == 1) {
    Expr inner = Condition(depth - 1);
    inner.text = "!(" + inner.text + ")";
    inner.eval = [eval = std::move(inner.eval)](Run& run) {
      Value value = eval(run);
      value[0].bits ^= 1U;
      return value;
    };
    return inner;
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

// --- places
// --------------------------------------------------------------------------------------
void ProgramWriter::Parts(const PlaceExpr& whole, ir::TypeId wanted, uint32_t depth,
                          std::vector<PlaceExpr>& found) {
  if (whole.type == wanted) {
    found.push_back(whole);
  }
  const ir::Type& type = pool_[whole.type];
  if (depth == 0 || (type.kind == ir::TypeKind::kVector && type.rows == 1)) {
    return;
  }
  const uint32_t count = ir::PartCount(pool_, whole.type);
  if (type.kind == ir::TypeKind::kArray) {
    const bool constant = Chance(40);
    const uint32_t item = Below(count);
    Expr index = constant ? Numbered(pool_.Vector(Scalar::kU32, 1), static_cast<int32_t>(item))
                          : Leaf(pool_.Vector(Scalar::kU32, 1));
    PlaceExpr part = whole;
    part.type = ir::TypeId{type.element};
    part.text = constant ? fmt::format("{}[{}]", whole.text, index.text)
                         : fmt::format("{}[{} % {}u]", whole.text, index.text, count);
    part.locate = [locate = whole.locate, eval = index.eval, count,
                   cells = CellCount(pool_, part.type)](Run& run) {
      Ref ref = locate(run);
      ref.first += eval(run)[0].bits % count * cells;
      return ref;
    };
    return Parts(part, wanted, depth - 1, found);
  }
  uint32_t first = 0;
  for (uint32_t i = 0; i < count; ++i) {
    PlaceExpr part = whole;
    part.type = *ir::PartType(pool_, whole.type, i);
    part.text += "." + (type.kind == ir::TypeKind::kStruct
                            ? std::string(pool_.Text(pool_.Members(whole.type)[i].name))
                            : std::string(1, kLetters[i]));
    part.locate = [locate = whole.locate, first](Run& run) {
      Ref ref = locate(run);
      ref.first += first;
      return ref;
    };
    first += CellCount(pool_, part.type);
    Parts(part, wanted, depth - 1, found);
  }
}

std::optional<PlaceExpr> ProgramWriter::Place(ir::TypeId type, Purpose purpose) {
  std::vector<PlaceExpr> found;
  for (const PlaceExpr& place : visible_) {
    if ((!purpose.read || place.readable) && (!purpose.write || place.writable) &&
        (!purpose.pure || place.pure)) {
      Parts(place, type, 3, found);
    }
  }
  if (found.empty()) {
    return std::nullopt;
  }
  return found[Below(static_cast<uint32_t>(found.size()))];
}

}  // namespace kiln::oracle
