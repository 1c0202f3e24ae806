// SPDX-License-Identifier: MIT
// Equal expressions are one row wherever they stand, so places are kept apart: a run of spans, one
// per node in pre-order, belongs to each use. Constructs that may not stand in them become kInvalid
// rows without operands: they are wrong only where somebody asks. See spec/rpl 8.2,
// compiler/ir/cexpr.h
#include "compiler/front/rpl/lower_cexpr.h"

#include <array>

#include "compiler/base/check.h"
#include "compiler/diag/quoted.h"

namespace kiln::rpl {
namespace {

ir::CexprOp OpOf(ir::BinaryOp op) {
  using enum ir::BinaryOp;
  switch (op) {
    case kAdd:
      return ir::CexprOp::kAdd;
    case kSub:
      return ir::CexprOp::kSub;
    case kMul:
      return ir::CexprOp::kMul;
    case kDiv:
      return ir::CexprOp::kDiv;
    case kMod:
      return ir::CexprOp::kMod;
    case kAnd:
      return ir::CexprOp::kAnd;
    case kOr:
      return ir::CexprOp::kOr;
    case kXor:
      return ir::CexprOp::kXor;
    case kShiftLeft:
      return ir::CexprOp::kShiftLeft;
    case kShiftRight:
      return ir::CexprOp::kShiftRight;
    case kLess:
      return ir::CexprOp::kLess;
    case kGreater:
      return ir::CexprOp::kGreater;
    case kLessEqual:
      return ir::CexprOp::kLessEqual;
    case kGreaterEqual:
      return ir::CexprOp::kGreaterEqual;
    case kEqual:
      return ir::CexprOp::kEqual;
    case kNotEqual:
      return ir::CexprOp::kNotEqual;
    case kShiftRightArithmetic:  // have no operator
    case kRem:
    case kNotEqualOrdered:
      break;
  }
  KILN_UNREACHABLE();
}

ir::CexprOp OpOf(ir::UnaryOp op) {
  switch (op) {
    case ir::UnaryOp::kNegate:
      return ir::CexprOp::kNegate;
    case ir::UnaryOp::kNot:
      return ir::CexprOp::kNot;
    case ir::UnaryOp::kComplement:
      return ir::CexprOp::kComplement;
    case ir::UnaryOp::kPlus:
      return ir::CexprOp::kPlus;
  }
  KILN_UNREACHABLE();
}

bool IsNegation(const Expr& expr) {
  return expr.kind == ExprKind::kUnary && expr.op == static_cast<uint8_t>(ir::UnaryOp::kNegate);
}

// The kinds a compile-time constructor converts to.
bool ConvertsTo(InbuiltType type, ir::ValueKind* kind) {
  *kind = type == InbuiltType::kU1   ? ir::ValueKind::kUint
          : type == InbuiltType::kS1 ? ir::ValueKind::kSint
                                     : ir::ValueKind::kFloat;
  return type == InbuiltType::kU1 || type == InbuiltType::kS1 || type == InbuiltType::kF1;
}

}  // namespace

// Is `row` a literal whose user is a unary minus? Then the user stands for both, so that
// -2147483648 has a value and no operator overflows.
bool CexprLowerer::FoldsIntoUser(uint32_t row, uint32_t root) const {
  const ExprKind kind = ast_.exprs[row].kind;
  // The grammar puts a minus right behind its operand, so the next row is the only one to look at.
  return (kind == ExprKind::kSint || kind == ExprKind::kFloat) && row < root &&
         IsNegation(ast_.exprs[row + 1]) && ast_.exprs[row + 1].a == row;
}

// The sign of a float is one bit. For integers the subtraction is without a sign, so 2^31 becomes
// itself.
uint32_t CexprLowerer::Negated(const Expr& literal) {
  return literal.kind == ExprKind::kFloat ? literal.a ^ 0x80000000u : 0u - literal.a;
}

// Rows of the tree are in post-order, so one loop meets operands before their users, and the depth
// of an expression costs no stack. Equal expressions become one row, whatever their places; so
// places are kept beside them, one run per mention.
ir::CexprId CexprLowerer::LowerCexpr(const ExprRange& range, ir::SpanId* spans,
                                     Composites composites) {
  for (uint32_t row = range.first; row <= range.root; ++row) {
    if (ast_.exprs[row].kind == ExprKind::kSizes) {
      row = ast_.exprs[row].a - 1;  // sizes are lowered with their constructor
    } else if (!FoldsIntoUser(row, range.root)) {
      cexprs_[row] = CexprOfRow(row, composites);
    }
  }
  context_.run.clear();
  // Spans are collected in a second pass, since rows are in post-order and a run is in pre-order.
  AppendSpans(range.root, composites);
  *spans = builder_.AddRun(context_.run);
  return cexprs_[range.root];
}

// One row of the module for one of the tree. Interning makes equal expressions one, so a condition
// that a thousand declarations share is evaluated once for each variant.
ir::CexprId CexprLowerer::CexprOfRow(uint32_t row, Composites composites) {
  const Expr& expr = ast_.exprs[row];
  switch (expr.kind) {
    case ExprKind::kName:
      return builder_.Intern({.op = ir::CexprOp::kName, .a = context_.NameOf(expr.token).value});
    case ExprKind::kFlag:
      return builder_.Literal(ir::ValueKind::kFlag, expr.a);
    case ExprKind::kUint:
      return builder_.Literal(ir::ValueKind::kUint, expr.a);
    case ExprKind::kSint:
      return builder_.Literal(ir::ValueKind::kSint, expr.a);
    case ExprKind::kFloat:
      return builder_.Literal(ir::ValueKind::kFloat, expr.a);
    case ExprKind::kString:
      return builder_.Intern({.op = ir::CexprOp::kLiteral,
                              .kind = static_cast<uint16_t>(ir::ValueKind::kString),
                              .a = context_.TextOfSymbol(expr.a).value});
    case ExprKind::kUnary: {
      if (FoldsIntoUser(expr.a, row)) {
        // The literal's own row was left out by LowerCexpr, so nothing but this reads its value.
        const Expr& literal = ast_.exprs[expr.a];
        const bool real = literal.kind == ExprKind::kFloat;
        return builder_.Literal(real ? ir::ValueKind::kFloat : ir::ValueKind::kSint,
                                Negated(literal));
      }
      return builder_.Intern(
          {.op = OpOf(static_cast<ir::UnaryOp>(expr.op)), .a = cexprs_[expr.a].value});
    }
    case ExprKind::kBinary:
      return BinaryCexpr(OpOf(static_cast<ir::BinaryOp>(expr.op)), expr);
    case ExprKind::kLogical: {
      const bool is_and = expr.op == static_cast<uint8_t>(ir::LogicalOp::kAnd);
      return BinaryCexpr(is_and ? ir::CexprOp::kLogicalAnd : ir::CexprOp::kLogicalOr, expr);
    }
    // What has a value only while a shader runs is no error here: an alias or a constant that
    // nobody asks for may hold it. The row keeps its text for the message.
    case ExprKind::kMember:
      return Invalid(ir::InvalidCexpr::kFieldAccess, expr.span);
    case ExprKind::kIndex:
      return Invalid(ir::InvalidCexpr::kIndex, expr.span);
    case ExprKind::kAssign:
      return Invalid(ir::InvalidCexpr::kAssignment, expr.span);
    case ExprKind::kCall:
      return Invalid(ir::InvalidCexpr::kCall, context_.SpanOf(expr.token));
    case ExprKind::kConstruct:
      return CexprOfConstructor(row, composites);
    case ExprKind::kSelect: {
      const std::span<const uint32_t> items = ast_.List(expr.b);
      const std::array operands{cexprs_[items[0]].value, cexprs_[items[1]].value};
      return builder_.Intern({.op = ir::CexprOp::kSelect,
                              .a = cexprs_[expr.a].value,
                              .b = builder_.List(operands).value});
    }
    case ExprKind::kRight:
    case ExprKind::kThen:
    case ExprKind::kElse:
    case ExprKind::kSizes:
      return {};  // markers
  }
  KILN_UNREACHABLE();
}

ir::CexprId CexprLowerer::BinaryCexpr(ir::CexprOp op, const Expr& expr) {
  return builder_.Intern({.op = op, .a = cexprs_[expr.a].value, .b = cexprs_[expr.b].value});
}

ir::CexprId CexprLowerer::Invalid(ir::InvalidCexpr kind, Span text, uint32_t number) {
  return builder_.Intern({.op = ir::CexprOp::kInvalid,
                          .kind = static_cast<uint16_t>(kind),
                          .a = builder_.Text(Quoted(context_.TextAt(text))).value,
                          .b = number});
}

ir::CexprId CexprLowerer::CexprOfConstructor(uint32_t row, Composites composites) {
  const Expr& expr = ast_.exprs[row];
  const std::span<const uint32_t> items = ast_.List(expr.a);
  const auto count = static_cast<uint32_t>(items.size());
  ir::ValueKind kind;
  const InbuiltType type = lexed_.symbols[context_.SymbolOf(expr.token)].word.type;
  // u1, s1 and f1 convert a value; every other constructor makes a composite.
  if (expr.b == kNone && ConvertsTo(type, &kind)) {
    if (count != 1) {
      return Invalid(ir::InvalidCexpr::kConstructorCount, context_.SpanOf(expr.token), count);
    }
    return builder_.Intern({.op = ir::CexprOp::kConvert,
                            .kind = static_cast<uint16_t>(kind),
                            .a = cexprs_[items[0]].value});
  }
  if (composites == Composites::kInvalid) {
    return Invalid(ir::InvalidCexpr::kConstructorType, context_.SpanOf(expr.token));
  }
  ir::SpanId ignored;
  const ir::TypeId written =
      LowerType({.token = expr.token, .sizes = expr.b}, Runtime::kNo, &ignored);
  context_.words.clear();
  for (const uint32_t item : items) {
    context_.words.push_back(cexprs_[item].value);
  }
  return builder_.Intern({.op = ir::CexprOp::kComposite,
                          .a = written.value,
                          .b = builder_.List(context_.words).value});
}

// Pre-order by an explicit stack, because chains may be long.
void CexprLowerer::AppendSpans(uint32_t root, Composites composites) {
  // Types inside of constructors come back to this function, so the stack may hold rows of an outer
  // call.
  const size_t base = rows_.size();
  rows_.push_back(root);
  const auto push_reversed = [this](std::span<const uint32_t> items) {
    rows_.insert(rows_.end(), items.rbegin(), items.rend());
  };
  while (rows_.size() > base) {
    // Operands are pushed from the last to the first, so that they leave the stack in order. What
    // became an invalid row has no operands in the module, so it must have no spans of any either:
    // readers walk rows and spans in step.
    const uint32_t row = rows_.back();
    const Expr& expr = ast_.exprs[row];
    rows_.pop_back();
    context_.run.push_back(expr.span);
    if (expr.kind == ExprKind::kBinary || expr.kind == ExprKind::kLogical) {
      rows_.push_back(expr.b);
      rows_.push_back(expr.a);
    } else if (expr.kind == ExprKind::kUnary && !FoldsIntoUser(expr.a, row)) {
      rows_.push_back(expr.a);
    } else if (expr.kind == ExprKind::kSelect) {
      push_reversed(ast_.List(expr.b));
      rows_.push_back(expr.a);
    } else if (expr.kind == ExprKind::kConstruct) {
      const std::span<const uint32_t> items = ast_.List(expr.a);
      ir::ValueKind kind;
      const InbuiltType type = lexed_.symbols[context_.SymbolOf(expr.token)].word.type;
      const bool converts = expr.b == kNone && ConvertsTo(type, &kind);
      if (converts ? items.size() == 1 : composites == Composites::kAllowed) {
        push_reversed(items);
      }
    }
  }
}

// Spans: the name, then the runs of the sizes, outermost first.
ir::TypeId CexprLowerer::LowerType(const TypeRef& type, Runtime runtime, ir::SpanId* spans) {
  ir::TypeId id = context_.NamedType(type.token);
  *spans = context_.AddSpan(context_.SpanOf(type.token));
  if (runtime == Runtime::kYes) {
    return builder_.RuntimeArray(id);
  }
  const std::span<const uint32_t> sizes = ast_.List(type.sizes);
  for (size_t i = 0; i < sizes.size(); i += 2) {
    ir::SpanId ignored;  // its run follows the row of the name
    LowerCexpr({sizes[i], sizes[i + 1]}, &ignored);
  }
  // The innermost type comes first in the source, so the last size is applied first.
  for (size_t i = sizes.size(); i > 0; i -= 2) {
    id = builder_.Array(id, cexprs_[sizes[i - 1]]);
  }
  return id;
}

}  // namespace kiln::rpl
