// SPDX-License-Identifier: MIT
// A block is filled before the instruction that owns it: the builder takes instructions in the
// order in which they end. Loops are one instruction with three blocks; the exit of a loop is a
// local, so that a jump out of several cut regions still names its loop. See spec/rpl 8.5 to 8.8,
// docs/IR.md
#include "compiler/front/rpl/lower_stmt.h"

#include <array>
#include <span>

#include "compiler/base/check.h"
#include "compiler/base/threads/stop.h"

namespace kiln::rpl {

void StmtLowerer::LowerFunction(const Decl& decl, ir::Decl row, ir::DeclSpans spans) {
  row.flags = decl.relaxed ? 1 : 0;
  row.type = cexprs_.LowerType(decl.type, CexprLowerer::Runtime::kNo, &spans.type);
  // What follows up to EndFunction belongs to this function: parameters, locals and instructions.
  builder_.BeginFunction(row, spans);
  // Arguments and the body share one scope of names, as spec/rpl 8.5 has it.
  const size_t mark = names_.OpenNames();
  for (uint32_t i = 0; i < decl.field_count; ++i) {
    LowerParameter(ast_.fields[decl.first_field + i]);
  }
  // The row of the body is its scope; the statements begin behind it.
  LowerStmts(decl.body + 1, ast_.stmts[decl.body].next);
  names_.CloseNames(mark);
  builder_.EndFunction();
}

void StmtLowerer::LowerParameter(const Field& field) {
  ir::LocalSpans spans{.name = context_.AddSpan(context_.SpanOf(field.name))};
  ir::Local local{.name = context_.NameOf(field.name)};
  local.condition = cexprs_.LowerCondition(field.condition, &spans.condition);
  local.type = cexprs_.LowerType(field.type, CexprLowerer::Runtime::kNo, &spans.type);
  local.access = field.access;
  local.relaxed = field.relaxed ? 1 : 0;
  // What a parameter hides is noted before it is declared, or it would hide itself.
  local.shadowed = names_.Candidates(context_.SymbolOf(field.name));
  names_.Declare(context_.SymbolOf(field.name), builder_.AddParameter(local, spans),
                 local.condition);
}

void StmtLowerer::LowerStmts(uint32_t row, uint32_t end) {
  for (; row < end; row = ast_.stmts[row].next) {
    CheckStop();
    LowerStmt(row);
  }
}

void StmtLowerer::LowerStmt(uint32_t row) {
  const Stmt& stmt = ast_.stmts[row];
  switch (stmt.kind) {
    case StmtKind::kScope:
      LowerScope(stmt, row);
      return;
    case StmtKind::kAlias:
      LowerAlias(stmt);
      return;
    case StmtKind::kVariable:
      LowerVariable(stmt);
      return;
    case StmtKind::kExpression: {
      const ir::InstId value = exprs_.LowerExpr(stmt.value);
      builder_.Add(ir::StatementInst{context_.void_type, value}, Spans(stmt));
      return;
    }
    case StmtKind::kIf:
      LowerIf(stmt, row);
      return;
    case StmtKind::kFor:
      LowerFor(stmt, row);
      return;
    case StmtKind::kWhile:
      LowerLoop(stmt, row + 1);
      return;
    // A jump outside of a loop has no exit. It is an error of the variant and not of the source,
    // because the code around it may not be there.
    case StmtKind::kBreak:
      builder_.Add(
          ir::BreakInst{context_.void_type, loops_.empty() ? ir::LocalId{} : loops_.back()},
          Spans(stmt));
      return;
    case StmtKind::kContinue:
      builder_.Add(
          ir::ContinueInst{context_.void_type, loops_.empty() ? ir::LocalId{} : loops_.back()},
          Spans(stmt));
      return;
    case StmtKind::kReturn: {
      const ir::InstId value = stmt.value.empty() ? ir::InstId{} : exprs_.LowerExpr(stmt.value);
      builder_.Add(ir::ReturnInst{context_.void_type, value}, Spans(stmt));
      return;
    }
  }
  KILN_UNREACHABLE();
}

ir::BlockId StmtLowerer::LowerBlock(uint32_t scope) {
  const size_t mark = names_.OpenNames();
  const ir::BlockId block = builder_.BeginBlock();
  LowerStmts(scope + 1, ast_.stmts[scope].next);
  builder_.EndBlock();
  names_.CloseNames(mark);
  return block;
}

// The `else` of a chain is a block with the next `if` in it; only a scope has names of its own.
ir::BlockId StmtLowerer::LowerBranch(uint32_t row) {
  if (ast_.stmts[row].kind == StmtKind::kScope) {
    return LowerBlock(row);
  }
  const ir::BlockId block = builder_.BeginBlock();
  LowerStmt(row);
  builder_.EndBlock();
  return block;
}

void StmtLowerer::LowerScope(const Stmt& stmt, uint32_t row) {
  ir::InstSpans spans = Spans(stmt);
  if (stmt.condition.empty()) {
    const ir::BlockId block = LowerBlock(row);
    builder_.Add(ir::ScopeInst{context_.void_type, block}, spans);
    return;
  }
  // The condition is lowered outside of the block: it belongs to the statement and not to what it
  // guards.
  const ir::CexprId condition = cexprs_.LowerCexpr(stmt.condition, &spans.aux);
  const ir::BlockId block = LowerBlock(row);
  builder_.Add(ir::WhenInst{context_.void_type, condition, block}, spans);
}

// The block comes first: the alias is not visible in its own expression.
void StmtLowerer::LowerAlias(const Stmt& stmt) {
  const ir::BlockId block = builder_.BeginBlock();
  const ir::InstId value = exprs_.LowerExpr(stmt.value);
  builder_.Add(ir::YieldInst{context_.void_type, value}, {});
  builder_.EndBlock();
  ir::LocalSpans spans{.name = context_.AddSpan(context_.SpanOf(stmt.token))};
  const uint32_t symbol = context_.SymbolOf(stmt.token);
  ir::Local local{.name = context_.NameOf(stmt.token)};
  local.condition = cexprs_.LowerCondition(stmt.condition, &spans.condition);
  local.kind = ir::LocalKind::kAlias;
  local.block = block.value;
  local.shadowed = names_.Candidates(symbol);
  const ir::LocalId id = builder_.AddLocal(local, spans);
  builder_.Add(ir::AliasInst{context_.void_type, id, block}, Spans(stmt));
  names_.Declare(symbol, id, local.condition);
}

// The initialiser is lowered first: the variable is not visible in it.
void StmtLowerer::LowerVariable(const Stmt& stmt) {
  const ir::InstId initialiser = stmt.value.empty() ? ir::InstId{} : exprs_.LowerExpr(stmt.value);
  ir::LocalSpans spans{.name = context_.AddSpan(context_.SpanOf(stmt.token))};
  const uint32_t symbol = context_.SymbolOf(stmt.token);
  ir::Local local{.name = context_.NameOf(stmt.token)};
  local.type = cexprs_.LowerType(stmt.type, CexprLowerer::Runtime::kNo, &spans.type);
  local.relaxed = stmt.relaxed ? 1 : 0;
  local.shadowed = names_.Candidates(symbol);
  const ir::LocalId id = builder_.AddLocal(local, spans);
  builder_.Add(ir::VariableInst{context_.void_type, id, initialiser}, Spans(stmt));
  names_.Declare(symbol, id, local.condition);
}

void StmtLowerer::LowerIf(const Stmt& stmt, uint32_t row) {
  const ir::InstId condition = exprs_.LowerExpr(stmt.condition);
  // Rows of the tree follow each other: the first branch is right behind the `if`, and `next` of it
  // leads to the second if there is one.
  const uint32_t then = row + 1;
  const uint32_t otherwise = ast_.stmts[then].next;
  std::array<uint32_t, 2> blocks{LowerBranch(then).value, 0};
  uint32_t count = 1;
  if (otherwise < stmt.next) {
    blocks[count++] = LowerBranch(otherwise).value;
  }
  builder_.Add(
      ir::IfInst{context_.void_type, condition, builder_.NewList(std::span(blocks).first(count))},
      Spans(stmt));
}

// The variable lives in a scope around the loop.
void StmtLowerer::LowerFor(const Stmt& stmt, uint32_t row) {
  const size_t mark = names_.OpenNames();
  const ir::BlockId scope = builder_.BeginBlock();
  LowerStmt(row + 1);
  LowerLoop(stmt, ast_.stmts[row + 1].next);
  builder_.EndBlock();
  names_.CloseNames(mark);
  builder_.Add(ir::ScopeInst{context_.void_type, scope}, Spans(stmt));
}

// `value` is the step of `for`; `while` has none.
void StmtLowerer::LowerLoop(const Stmt& stmt, uint32_t body) {
  // The exit has no name and no type. It exists so that jumps have something to point at.
  const ir::LocalId exit = builder_.AddLocal({.kind = ir::LocalKind::kLoopExit}, {});
  const ir::BlockId condition = builder_.BeginBlock();
  const ir::InstId value = exprs_.LowerExpr(stmt.condition);
  builder_.Add(ir::YieldInst{context_.void_type, value}, {});
  builder_.EndBlock();
  // Jumps in the condition or the step would belong to the loop around; only the body is inside.
  loops_.push_back(exit);
  const ir::BlockId inner = LowerBlock(body);
  loops_.pop_back();
  const ir::BlockId continuing = builder_.BeginBlock();
  if (!stmt.value.empty()) {
    const ir::InstId step = exprs_.LowerExpr(stmt.value);
    builder_.Add(ir::StatementInst{context_.void_type, step},
                 {.main = context_.AddSpan(ast_.exprs[stmt.value.root].span)});
  }
  builder_.EndBlock();
  const std::array blocks{condition.value, inner.value, continuing.value};
  builder_.Add(ir::LoopInst{context_.void_type, exit, builder_.NewList(blocks)}, Spans(stmt));
}

}  // namespace kiln::rpl
