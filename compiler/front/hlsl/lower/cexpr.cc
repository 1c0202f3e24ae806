// SPDX-License-Identifier: MIT
// Each row of the checked expression is one row here; operators on integers are the wrapping ones.
#include "compiler/front/hlsl/lower/cexpr.h"

#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "compiler/base/check.h"
#include "compiler/base/threads/stop.h"

namespace kiln::hlsl {
namespace {

using ir::CexprOp;
using ir::ValueKind;

// Compile-time expressions of the IR. How many nodes each has is kept for spans: one for each.
class Cexprs {
 public:
  explicit Cexprs(LowerContext& context) : context_(context), builder_(context.builder) {}

  // Recursion: Combine limits such a tree to 4096 rows.
  ir::CexprId Of(ExprId id) {
    const Expr& expr = context_.Get(id);
    switch (expr.kind) {
      case ExprKind::kConstant:
        return Constant(context_.unit.ScalarsOf(expr)[0]);
      case ExprKind::kOption:
        return Option(context_.unit.options[expr.a]);
      case ExprKind::kConvert:
        return Convert(Of(ExprId{expr.a}), Kind(ExprId{expr.a}), Kind(id));
      case ExprKind::kUnary:
        return Unary(static_cast<Operator>(expr.op), Of(ExprId{expr.a}), Kind(ExprId{expr.a}));
      case ExprKind::kBinary:
      case ExprKind::kLogical:
        return Binary(static_cast<Operator>(expr.op), ExprId{expr.a}, ExprId{expr.b});
      case ExprKind::kSelect:
      case ExprKind::kConditional:
        return Select(Of(ExprId{expr.a}), Of(ExprId{expr.b}), Of(ExprId{expr.c}));
      default:
        break;
    }
    KILN_CHECK(false, "no compile-time expression");
    KILN_UNREACHABLE();
  }

  // Used for labels of one case.
  ir::CexprId Either(ir::CexprId a, ir::CexprId b) { return Row(CexprOp::kLogicalOr, a, b); }
  ir::CexprId Equal(ExprId left, ExprId right, ir::CexprId made) {
    const std::optional<ir::CexprId> words = EnumEquals(left, right);
    return words ? *words : Row(CexprOp::kEqual, made, Of(right));
  }
  ir::CexprId Select(ir::CexprId condition, ir::CexprId then, ir::CexprId otherwise) {
    const ir::CexprId made = builder_.Intern(
        {.op = CexprOp::kSelect, .a = condition.value, .b = builder_.Ids({then, otherwise}).value});
    return Note(made, 1 + Nodes(condition) + Nodes(then) + Nodes(otherwise));
  }

 private:
  // The kind that the IR has for the item of a type.
  ValueKind Kind(ExprId id) const { return KindOf(context_.unit.types, context_.Get(id).type); }

  // Nodes of the tree that a row is the root of: a run of spans has one for each.
  uint32_t Nodes(ir::CexprId id) { return context_.cexpr_nodes[id.value]; }
  ir::CexprId Note(ir::CexprId id, uint32_t nodes) {
    context_.cexpr_nodes[id.value] = nodes;
    return id;
  }
  // A literal is one node.
  ir::CexprId Literal(ValueKind kind, uint32_t bits) {
    return Note(builder_.Literal(kind, bits), 1);
  }
  // Integers wrap as HLSL's do (spec/hlsl 8.2), which is a flag of the row.
  ir::CexprId Row(CexprOp op, ir::CexprId a, ir::CexprId b = {}, bool wrapping = false) {
    const ir::CexprId made = builder_.Intern({.op = op,
                                              .a = a.value,
                                              .b = b.valid() ? b.value : 0,
                                              .zero = wrapping ? ir::kWrapping : 0});
    return Note(made, 1 + Nodes(a) + (b.valid() ? Nodes(b) : 0));
  }
  // Division by zero is an error all the same (spec/hlsl 8.2): wrapping is about the width
  // alone.
  ir::CexprId Wrapping(CexprOp op, ir::CexprId a, ir::CexprId b = {}) {
    return Row(op, a, b, true);
  }
  // A conversion of integers keeps the bits.
  ir::CexprId ConvertRow(ir::CexprId a, ValueKind to) {
    const ir::CexprId made = builder_.Intern({.op = CexprOp::kConvert,
                                              .kind = static_cast<uint16_t>(to),
                                              .a = a.value,
                                              .zero = ir::kWrapping});
    return Note(made, 1 + Nodes(a));
  }
  // A text, as options of enums are compared with.
  ir::CexprId Word(std::string_view text) {
    return Note(builder_.Intern({.op = CexprOp::kLiteral,
                                 .kind = static_cast<uint16_t>(ValueKind::kString),
                                 .a = builder_.Text(text).value}),
                1);
  }

  // The kind follows from the class of the item; literals were given a type before.
  ir::CexprId Constant(Scalar scalar) {
    const auto bits = static_cast<uint32_t>(scalar.bits);
    const ItemClass item_class = FactsOf(scalar.item).item_class;
    return Literal(item_class == ItemClass::kBool       ? ValueKind::kFlag
                   : item_class == ItemClass::kSigned   ? ValueKind::kSint
                   : item_class == ItemClass::kUnsigned ? ValueKind::kUint
                                                        : ValueKind::kFloat,
                   bits);
  }

  // The number of an enum option: the values of its enumerators, chosen by its text.
  // From the last enumerator on: text of the first ? its number : text of the second ? …
  // An enum has one enumerator at least, since the parser refuses an empty list.
  ir::CexprId Option(const hlsl::Option& option) {
    const ir::CexprId name = Note(builder_.Name(option.name), 1);
    if (option.row.kind != ir::OptionKind::kEnum) {
      return name;
    }
    const EnumId owner{context_.unit.types[option.type].element};
    const Enum& row = context_.unit.types[owner];
    const auto number = [&](uint32_t i) {
      return Constant({row.item, context_.unit.types.EnumeratorOf(owner, i).value});
    };
    ir::CexprId made = number(row.count - 1);
    for (uint32_t i = row.count - 1; i > 0; --i) {
      const std::string_view text = context_.unit.types.EnumeratorOf(owner, i - 1).name;
      made = Select(Row(CexprOp::kEqual, name, Word(text)), number(i - 1), made);
    }
    return made;
  }

  // To a flag: not zero. Every other conversion is a row.
  ir::CexprId Convert(ir::CexprId x, ValueKind from, ValueKind to) {
    if (from == to) {
      return x;
    }
    return to == ValueKind::kFlag ? Row(CexprOp::kNotEqual, x, Literal(from, 0))
                                  : ConvertRow(x, to);
  }

  // Negating a float cannot wrap.
  ir::CexprId Unary(Operator op, ir::CexprId x, ValueKind kind) {
    const bool wraps = kind != ValueKind::kFloat;
    return op == Operator::kNot     ? Row(CexprOp::kNot, x)
           : op == Operator::kMinus ? Row(CexprOp::kNegate, x, {}, wraps)
                                    : Row(CexprOp::kComplement, x, {}, wraps);
  }

  // The option behind conversions; null if it is none of an enum.
  // Conversions of an enum to its number do not change which option it is.
  const hlsl::Option* EnumOption(ExprId id) const {
    while (context_.Get(id).kind == ExprKind::kConvert) {
      id = ExprId{context_.Get(id).a};
    }
    const Expr& expr = context_.Get(id);
    const bool found = expr.kind == ExprKind::kOption &&
                       context_.unit.options[expr.a].row.kind == ir::OptionKind::kEnum;
    return found ? &context_.unit.options[expr.a] : nullptr;
  }
  // An enum option compared with a number is a comparison of texts, if one enumerator has it.
  // So a variant is asked for the text of the option and not for a chain of choices.
  std::optional<ir::CexprId> EnumEquals(ExprId left, ExprId right) {
    if (context_.Get(right).kind != ExprKind::kConstant) {
      std::swap(left, right);
    }
    const hlsl::Option* option = EnumOption(left);
    if (option == nullptr || context_.Get(right).kind != ExprKind::kConstant) {
      return std::nullopt;
    }
    const EnumId owner{context_.unit.types[option->type].element};
    const auto bits = static_cast<uint32_t>(context_.unit.ScalarsOf(context_.Get(right))[0].bits);
    std::string_view text;
    uint32_t count = 0;
    for (uint32_t i = 0; i < context_.unit.types[owner].count; ++i) {
      const Enumerator& item = context_.unit.types.EnumeratorOf(owner, i);
      text = item.value == bits ? item.name : text;
      count += item.value == bits ? 1 : 0;
    }
    return count == 1 ? std::optional(
                            Row(CexprOp::kEqual, Note(builder_.Name(option->name), 1), Word(text)))
                      : std::nullopt;
  }

  // Sides are of one type, so the kind of the left one is that of both.
  ir::CexprId Binary(Operator op, ExprId left, ExprId right) {
    if (op == Operator::kEqual || op == Operator::kNotEqual) {
      if (const std::optional<ir::CexprId> equal = EnumEquals(left, right)) {
        return op == Operator::kEqual ? *equal : Row(CexprOp::kNot, *equal);
      }
    }
    const ValueKind kind = Kind(left);
    const ir::CexprId a = Of(left);
    const ir::CexprId b = Of(right);
    const bool wraps = kind != ValueKind::kFloat;
    switch (op) {
      case Operator::kAdd:
        return Row(CexprOp::kAdd, a, b, wraps);
      case Operator::kSub:
        return Row(CexprOp::kSub, a, b, wraps);
      case Operator::kMul:
        return Row(CexprOp::kMul, a, b, wraps);
      case Operator::kDiv:
        return Row(CexprOp::kDiv, a, b, wraps);
      // Remainders are of integers: one of floats has no such form (see MakeBinary).
      case Operator::kMod:
        return Wrapping(CexprOp::kMod, a, b);
      case Operator::kBitAnd:
        return Wrapping(CexprOp::kAnd, a, b);
      case Operator::kBitOr:
        return Wrapping(CexprOp::kOr, a, b);
      case Operator::kBitXor:
        return Wrapping(CexprOp::kXor, a, b);
      case Operator::kShiftLeft:
        return Wrapping(CexprOp::kShiftLeft, a, b);
      case Operator::kShiftRight:
        return Wrapping(CexprOp::kShiftRight, a, b);
      case Operator::kLess:
        return Row(CexprOp::kLess, a, b);
      case Operator::kGreater:
        return Row(CexprOp::kGreater, a, b);
      case Operator::kLessEqual:
        return Row(CexprOp::kLessEqual, a, b);
      case Operator::kGreaterEqual:
        return Row(CexprOp::kGreaterEqual, a, b);
      case Operator::kEqual:
        return Row(CexprOp::kEqual, a, b);
      case Operator::kNotEqual:
        return Row(CexprOp::kNotEqual, a, b);
      case Operator::kLogicalAnd:
        return Row(CexprOp::kLogicalAnd, a, b);
      case Operator::kLogicalOr:
        return Row(CexprOp::kLogicalOr, a, b);
      case Operator::kPlus:
      case Operator::kMinus:
      case Operator::kNot:
      case Operator::kComplement:
        break;
    }
    KILN_UNREACHABLE();
  }

  LowerContext& context_;
  ir::Builder& builder_;
};

}  // namespace

// Items of 16 and 64 bits have no kind of their own; options do not have them.
ir::ValueKind KindOf(const Types& types, TypeId id) {
  switch (FactsOf(types[id].item).item_class) {
    case ItemClass::kBool:
      return ValueKind::kFlag;
    case ItemClass::kSigned:
      return ValueKind::kSint;
    case ItemClass::kUnsigned:
      return ValueKind::kUint;
    case ItemClass::kFloat:
      return ValueKind::kFloat;
  }
  KILN_UNREACHABLE();
}

// The run of spans points at the whole for each node.
ir::CexprId CexprOf(LowerContext& context, ExprId id, ir::SpanId* run) {
  const ir::CexprId made = Cexprs(context).Of(id);
  if (run != nullptr) {
    // One for each node; the whole is what a message about a wrong value is about.
    ChargeMemory(context.cexpr_nodes[made.value] * sizeof(Span));
    *run = context.builder.AddRun(
        std::vector<Span>(context.cexpr_nodes[made.value], context.WrittenAt(context.Get(id).at)));
  }
  return made;
}

// The same for callers that have rows already.
ir::CexprId Either(LowerContext& context, ir::CexprId a, ir::CexprId b) {
  return Cexprs(context).Either(a, b);
}

ir::CexprId Chosen(LowerContext& context, ir::CexprId condition, ir::CexprId then,
                   ir::CexprId otherwise) {
  return Cexprs(context).Select(condition, then, otherwise);
}

ir::CexprId Equal(LowerContext& context, ExprId left, ExprId right, ir::CexprId made) {
  return Cexprs(context).Equal(left, right, made);
}

// The condition of an `else` branch.
ir::CexprId Negated(LowerContext& context, ir::CexprId condition) {
  const ir::CexprId made = context.builder.Intern({.op = ir::CexprOp::kNot, .a = condition.value});
  context.cexpr_nodes[made.value] = context.cexpr_nodes[condition.value] + 1;
  return made;
}

}  // namespace kiln::hlsl
