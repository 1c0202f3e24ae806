// SPDX-License-Identifier: MIT
// Expressions over overrides as compile-time expressions. They are trees of interned rows:
// equal ones are one row, whoever writes them. Each tree also needs a run of spans with one
// entry for each node, so the number of nodes is kept beside the rows while they are made.
#include "compiler/front/wgsl/lower/cexpr.h"

#include <vector>

#include "compiler/front/wgsl/check/expressions/override_form.h"

namespace kiln::wgsl::front {
namespace {

// Words of overrides wrap as those of WGSL do, which is a flag of the row. How many nodes a
// tree has is kept for its spans: one for each.
ir::CexprId Add(LowerContext& context, ir::Cexpr row, uint32_t nodes) {
  const bool wraps = ir::MayWrap(row.op);
  row.zero = wraps ? ir::kWrapping : 0;
  const ir::CexprId made = context.builder.Intern(row);
  context.cexpr_nodes.Insert(made.value, nodes);
  return made;
}

// Literals and names are one node and have no entry.
uint32_t NodesOf(const LowerContext& context, ir::CexprId id) {
  const uint32_t* nodes = context.cexpr_nodes.Find(id.value);
  return nodes == nullptr ? 1 : *nodes;
}

}  // namespace

// Recursion is as deep as IsCexpr allowed. Equal expressions are one row of the IR.
ir::CexprId CexprOf(LowerContext& context, ExprId id) {
  const Expr& expr = context.Get(id);
  const ScalarKind kind = context.types[expr.type].scalar;
  switch (expr.kind) {
    case ExprKind::kConstant:
      return context.builder.Literal(
          *CexprKindOf(kind), static_cast<uint32_t>(BitsOf(kind, context.unit.WordsOf(expr)[0])));
    case ExprKind::kOverride:
      return context.builder.Name(context.unit.globals[expr.a].name);
    case ExprKind::kConvert: {
      const ir::CexprId of = CexprOf(context, ExprId{expr.a});
      return Add(context,
                 {.op = ir::CexprOp::kConvert,
                  .kind = static_cast<uint16_t>(*CexprKindOf(kind)),
                  .a = of.value},
                 NodesOf(context, of) + 1);
    }
    default:
      break;
  }
  std::vector<ir::CexprId> operands;
  uint32_t nodes = 1;
  if (expr.kind == ExprKind::kLogical) {
    operands = {CexprOf(context, ExprId{expr.a}), CexprOf(context, ExprId{expr.b})};
  } else {
    for (const uint32_t operand : context.unit.List(ListId{expr.b})) {
      operands.push_back(CexprOf(context, ExprId{operand}));
    }
  }
  for (const ir::CexprId operand : operands) {
    nodes += NodesOf(context, operand);
  }
  const ir::CexprOp op = expr.kind == ExprKind::kLogical
                             ? (expr.op == 1 ? ir::CexprOp::kLogicalOr : ir::CexprOp::kLogicalAnd)
                             : *CexprOpOf(static_cast<Function>(expr.op), operands.size());
  return Add(context,
             {.op = op, .a = operands[0].value, .b = operands.size() > 1 ? operands[1].value : 0},
             nodes);
}

// A negative size must not become a large count, so the conversion does not wrap.
ir::CexprId CountOfSigned(LowerContext& context, ExprId id) {
  const ir::CexprId of = CexprOf(context, id);
  const ir::CexprId made =
      context.builder.Intern({.op = ir::CexprOp::kConvert,
                              .kind = static_cast<uint16_t>(ir::ValueKind::kUint),
                              .a = of.value});
  context.cexpr_nodes.Insert(made.value, NodesOf(context, of) + 1);
  return made;
}

}  // namespace kiln::wgsl::front
