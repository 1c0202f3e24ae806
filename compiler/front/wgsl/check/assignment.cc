// SPDX-License-Identifier: MIT
// The four statements that are more than an expression: `a = b`, `_ = b`, `a op= b` and `a++`,
// and the call that stands for its effect. Each first finds out that its left side may be
// written, since that is what most wrong statements get wrong, and then converts its right side
// to the type of the place: in WGSL the place never converts.
#include "compiler/front/wgsl/check/assignment.h"

#include "compiler/front/wgsl/check/expressions/expression.h"
#include "compiler/front/wgsl/check/expressions/operation.h"
#include "compiler/front/wgsl/check/expressions/value.h"

namespace kiln::wgsl::front {
namespace {

// A place that may be written, or kFailed.
// WGSL, "Assignment Statement": what is written is a place of a constructible type in memory
// that may be written. An atomic is none, so it cannot be assigned.
ExprId Target(CheckContext& context, syntax::ExprId id) {
  const ExprId place = CheckExpression(context, id);
  if (context.IsFailed(place)) {
    return place;
  }
  const Expr& expr = context.Get(place);
  if (!expr.Is(Expr::kPlace) || expr.access == AccessMode::kRead ||
      !context.types().IsConstructible(expr.type)) {
    context.Say(context.At(Code::kWgsl1006, context.ast[id].at)
                    .With("text", context.Text(context.ast[id].at)));
    return context.Failed(expr.at);
  }
  return place;
}

// `_ = b`: computed, unless it is a texture, a sampler or a pointer, of which nothing is.
// A place is loaded, so that memory of write access is refused here as anywhere.
StmtId Phony(CheckContext& context, const syntax::Stmt& stmt) {
  const ExprId value = CheckExpression(context, stmt.b);
  if (context.IsFailed(value)) {
    return {};
  }
  const TypeKind kind = context.TypeRowOf(value).kind;
  const bool is_value = context.Get(value).kind >= ExprKind::kConstant;
  if (is_value && !context.Get(value).Is(Expr::kPlace) &&
      (kind == TypeKind::kTexture || kind == TypeKind::kSampler || kind == TypeKind::kPointer)) {
    return {};
  }
  if (context.TypeOf(value) == context.types().Void()) {
    context.Mismatch(stmt.at, "value", "nothing");
    return {};
  }
  const ExprId concrete = Concrete(context, value);
  return context.IsFailed(concrete)
             ? StmtId{}
             : context.Add(Stmt{.kind = StmtKind::kAssign, .at = stmt.at, .b = concrete});
}

// a op= b is checked as a op b; the row that computes it is made anew when it is lowered.
// WGSL, "Compound Assignment": the place is evaluated once. Here the operation is checked as a
// whole; of its operands only the converted right one is kept.
StmtId Update(CheckContext& context, const syntax::Stmt& stmt, ExprId place, ExprId value) {
  if (context.Get(place).access != AccessMode::kReadWrite) {
    context.Say(context.At(Code::kWgsl1006, context.Get(place).at)
                    .With("text", context.Text(context.Get(place).at)));
    return {};
  }
  const Function op = FunctionOf(stmt.op);
  const ExprId operands[] = {ValueOf(context, place), value};
  const ExprId made = MakeOperation(context, op, operands, stmt.at);
  if (context.IsFailed(made)) {
    return {};
  }
  if (context.TypeOf(made) != context.TypeOf(place)) {
    context.Mismatch(stmt.at, context.TypeText(place), context.TypeText(made));
    return {};
  }
  // What MakeOperation made is dropped but for this operand. It is no constant, as its left
  // side is a load, so it has a list.
  const ExprId right{context.unit.List(ListId{context.Get(made).b})[1]};
  return context.Add(
      Stmt{.kind = StmtKind::kUpdate, .op = op, .at = stmt.at, .a = place, .b = right});
}

}  // namespace

StmtId CheckAssignment(CheckContext& context, const syntax::Stmt& stmt) {
  if (!stmt.a.valid()) {
    return Phony(context, stmt);
  }
  const ExprId place = Target(context, stmt.a);
  if (context.IsFailed(place)) {
    return {};
  }
  const ExprId value = CheckExpression(context, stmt.b);
  if (context.IsFailed(value)) {
    return {};
  }
  if (stmt.is_compound) {
    return Update(context, stmt, place, value);
  }
  const ExprId converted = Converted(context, value, context.TypeOf(place));
  return context.IsFailed(converted)
             ? StmtId{}
             : context.Add(
                   Stmt{.kind = StmtKind::kAssign, .at = stmt.at, .a = place, .b = converted});
}

// WGSL, "Increment and Decrement Statements": of i32 and u32 only, not of vectors and atomics.
StmtId CheckIncrement(CheckContext& context, const syntax::Stmt& stmt) {
  const ExprId place = Target(context, stmt.a);
  if (context.IsFailed(place)) {
    return {};
  }
  const Type type = context.TypeRowOf(place);
  if (type.kind != TypeKind::kScalar || !IsInteger(type.scalar)) {
    context.Mismatch(context.Get(place).at, "i32 or u32", context.TypeText(place));
    return {};
  }
  const Word word = 1;
  const ExprId one = context.AddConstant(context.TypeOf(place), std::span(&word, 1), stmt.at);
  return context.Add(Stmt{
      .kind = StmtKind::kUpdate, .op = FunctionOf(stmt.op), .at = stmt.at, .a = place, .b = one});
}

// WGSL, "Function Call Statement": a function with @must_use, and predeclared ones that only
// give a value, are no statements.
StmtId CheckCallStatement(CheckContext& context, const syntax::Stmt& stmt) {
  const ExprId call = CheckExpression(context, stmt.a);
  if (context.IsFailed(call)) {
    return {};
  }
  const Expr& expr = context.Get(call);
  // Atomics and workgroupUniformLoad give a value that may be dropped, except for the plain
  // load: the bounds are rows of functions.def.
  const auto function = static_cast<Function>(expr.op);
  const bool changes =
      expr.kind == ExprKind::kOperation &&
      (expr.type == context.types().Void() ||
       (function >= Function::kAtomicStore && function <= Function::kWorkgroupUniformLoad));
  const bool may_drop =
      expr.kind == ExprKind::kCall ? !context.unit.functions[expr.a].must_use : changes;
  if (!may_drop) {
    context.Forbid(stmt.at, "its value must be used");
    return {};
  }
  return context.Add(Stmt{.kind = StmtKind::kExpression, .at = stmt.at, .a = call});
}

}  // namespace kiln::wgsl::front
