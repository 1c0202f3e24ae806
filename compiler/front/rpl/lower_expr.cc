// SPDX-License-Identifier: MIT
// Code expressions: one pass over the rows of an expression, which are in the order in which they
// run. Markers open the blocks of operands that run only if needed. Spec: docs/IR.md
#include "compiler/front/rpl/lower_expr.h"

#include <array>

#include "compiler/base/check.h"
#include "compiler/base/threads/stop.h"
#include "compiler/front/rpl/operators.h"

namespace kiln::rpl {

// A single loop without recursion: rows are in post-order, and that is the order in which the
// instructions run. `insts_` remembers what became of each row.
ir::InstId ExprLowerer::LowerExpr(const ExprRange& range) {
  for (uint32_t row = range.first; row <= range.root; ++row) {
    CheckStop();
    const Expr& expr = ast_.exprs[row];
    if (expr.kind == ExprKind::kSizes) {
      row = expr.a - 1;  // sizes are lowered with their constructor
    } else if (cexprs_.FoldsIntoUser(row, range.root)) {
      // The literal and its minus become one constant, at the place of the minus.
      insts_[row + 1] = LowerLiteral(expr, cexprs_.Negated(expr), ast_.exprs[row + 1].span);
      ++row;
    } else if (expr.kind == ExprKind::kElse) {
      // The second value of a selection begins: the block of the first one ends with what was
      // computed last.
      blocks_[blocks_.size() - 2] = EndValueBlock(insts_[row - 1]);
      BeginValueBlock();
    } else {
      insts_[row] = InstOfRow(expr);
    }
  }
  return insts_[range.root];
}

ir::InstId ExprLowerer::InstOfRow(const Expr& expr) {
  switch (expr.kind) {
    case ExprKind::kName:
      return LowerName(expr);
    case ExprKind::kFlag:
    case ExprKind::kUint:
    case ExprKind::kSint:
    case ExprKind::kFloat:
    case ExprKind::kString:
      return LowerLiteral(expr, expr.a, expr.span);
    case ExprKind::kUnary:
      return builder_.Add(ir::NameUnaryInst{context_.deferred, static_cast<ir::UnaryOp>(expr.op),
                                            insts_[expr.a], 0},
                          Spans(expr));
    case ExprKind::kBinary:
      return builder_.Add(ir::NameBinaryInst{context_.deferred, static_cast<ir::BinaryOp>(expr.op),
                                             insts_[expr.a], insts_[expr.b]},
                          Spans(expr));
    // The right operand was put into a block of its own when its marker came.
    case ExprKind::kLogical: {
      const ir::BlockId right = EndValueBlock(insts_[expr.b]);
      // Blocks form a stack, because expressions nest and each operator takes the blocks that it
      // opened.
      blocks_.pop_back();
      return builder_.Add(ir::LogicalInst{context_.deferred, static_cast<ir::LogicalOp>(expr.op),
                                          insts_[expr.a], right},
                          Spans(expr));
    }
    case ExprKind::kMember:
      return builder_.Add(
          ir::MemberInst{context_.deferred, insts_[expr.a], context_.NameOf(expr.token)},
          Spans(expr));
    case ExprKind::kIndex:
      return builder_.Add(ir::IndexInst{context_.deferred, insts_[expr.a], insts_[expr.b]},
                          Spans(expr));
    case ExprKind::kCall:
      return LowerCall(expr);
    case ExprKind::kConstruct:
      return LowerConstruct(expr);
    case ExprKind::kAssign:
      return expr.op == kPlainAssign
                 ? builder_.Add(ir::AssignInst{context_.deferred, insts_[expr.a], insts_[expr.b]},
                                Spans(expr))
                 : builder_.Add(
                       ir::AssignOpInst{context_.deferred, static_cast<ir::BinaryOp>(expr.op),
                                        insts_[expr.a], insts_[expr.b]},
                       Spans(expr));
    case ExprKind::kSelect:
      return LowerSelect(expr);
    // Everything up to the operator that uses it belongs to the block of the right operand.
    case ExprKind::kRight:
      blocks_.emplace_back();
      BeginValueBlock();
      return {};
    // Two blocks: one for each value. The second is opened at kElse.
    case ExprKind::kThen:
      blocks_.emplace_back();
      blocks_.emplace_back();
      BeginValueBlock();
      return {};
    case ExprKind::kElse:
    case ExprKind::kSizes:
      break;  // handled by the caller
  }
  KILN_UNREACHABLE();
}

// A name is bound to the local names that can be meant; which of them is there is for the variant
// to say. Without candidates it is a global name.
ir::InstId ExprLowerer::LowerName(const Expr& expr) {
  return builder_.Add(ir::NameRefInst{context_.deferred, context_.NameOf(expr.token),
                                      names_.Candidates(context_.SymbolOf(expr.token))},
                      {.main = context_.AddSpan(expr.span)});
}

ir::InstId ExprLowerer::LowerLiteral(const Expr& expr, uint32_t bits, Span span) {
  const ir::InstSpans spans{.main = context_.AddSpan(span)};
  const auto scalar = [&](InbuiltType name) {
    const ir::TypeId type = context_.InbuiltTypeId(name);
    // The value is kept as bits: what the source says reaches the output without a conversion.
    return builder_.Add(ir::ConstInst{type, builder_.ScalarConst(type, bits)}, spans);
  };
  if (expr.kind == ExprKind::kFlag) {
    return builder_.Add(ir::FlagInst{builder_.Vector(ir::Scalar::kBool, 1), bits}, spans);
  }
  if (expr.kind == ExprKind::kString) {
    return builder_.Add(ir::TextInst{context_.deferred, context_.TextOfSymbol(bits)}, spans);
  }
  return scalar(expr.kind == ExprKind::kUint   ? InbuiltType::kU1
                : expr.kind == ExprKind::kSint ? InbuiltType::kS1
                                               : InbuiltType::kF1);
}

// Lists of instructions are never shared, so they are not interned; the empty list is one for all.
ir::ListId ExprLowerer::LowerItems(uint32_t list) {
  context_.words.clear();
  for (const uint32_t row : ast_.List(list)) {
    context_.words.push_back(insts_[row].value);
  }
  return context_.words.empty() ? builder_.List(context_.words) : builder_.NewList(context_.words);
}

// An inbuilt function is looked for first: spec/rpl 6.
ir::InstId ExprLowerer::LowerCall(const Expr& expr) {
  const ir::ListId arguments = LowerItems(expr.a);
  const Word& word = lexed_.symbols[context_.SymbolOf(expr.token)].word;
  if (!word.function || word.function->version > ast_.version) {
    return builder_.Add(ir::NameCallInst{context_.deferred, context_.NameOf(expr.token), arguments},
                        Spans(expr));
  }
  // The suffix of a name decides the type ("min_f3"); without one it follows from the arguments
  // when they are typed.
  const ir::Builtin builtin = word.function->builtin;
  const bool suffixed = word.function->suffix != InbuiltType::kNone;
  const ir::TypeId type = suffixed ? context_.InbuiltTypeId(word.function->suffix)
                          : ir::FactsOf(builtin).result == 'V' ? context_.void_type
                                                               : context_.deferred;
  return builder_.Add(ir::NameBuiltinInst{type, builtin, 0, arguments}, Spans(expr));
}

// aux: the type's name, then the runs of its sizes.
ir::InstId ExprLowerer::LowerConstruct(const Expr& expr) {
  const ir::ListId arguments = LowerItems(expr.a);
  ir::InstSpans spans{.main = context_.AddSpan(expr.span)};
  const ir::TypeId type = cexprs_.LowerType({.token = expr.token, .sizes = expr.b},
                                            CexprLowerer::Runtime::kNo, &spans.aux);
  return builder_.Add(ir::NameConstructInst{type, arguments}, spans);
}

ir::InstId ExprLowerer::LowerSelect(const Expr& expr) {
  // The blocks leave the stack in the opposite order of LowerExpr's: the second value ended last.
  const ir::BlockId otherwise = EndValueBlock(insts_[ast_.List(expr.b)[1]]);
  blocks_.pop_back();
  const std::array blocks{blocks_.back().value, otherwise.value};
  blocks_.pop_back();
  return builder_.Add(
      ir::NameSelectInst{context_.deferred, insts_[expr.a], builder_.NewList(blocks)}, Spans(expr));
}

void ExprLowerer::BeginValueBlock() { blocks_.back() = builder_.BeginBlock(); }

ir::BlockId ExprLowerer::EndValueBlock(ir::InstId value) {
  builder_.Add(ir::YieldInst{context_.void_type, value}, {});
  builder_.EndBlock();
  return blocks_.back();
}

}  // namespace kiln::rpl
