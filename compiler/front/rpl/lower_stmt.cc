// SPDX-License-Identifier: MIT
// Functions, statements and local names. A name is visible from the end of its declaration to the
// end of its scope; whether a conditional declaration is there at all is decided per variant, so a
// mention lists every visible candidate, innermost first. See spec/rpl 8.5 to 8.8, docs/IR.md
#include <array>

#include "compiler/base/check.h"
#include "compiler/base/stop.h"
#include "compiler/front/rpl/lowerer.h"

namespace kiln::rpl {

// --- local names ---------------------------------------------------------------------------------

ir::ListId Lowerer::Candidates(uint32_t symbol) {
  const uint32_t entry = innermost_[symbol];
  if (entry == kNone) {
    return {};
  }
  if (!visible_[entry].candidates.valid()) {
    words_.clear();
    bool hidden = false;  // by one that is always there
    for (uint32_t i = entry; i != kNone && !hidden; i = visible_[i].outer) {
      words_.push_back(visible_[i].local.value);
      hidden = !visible_[i].conditional;
    }
    visible_[entry].candidates = builder_.List(words_);
  }
  return visible_[entry].candidates;
}

void Lowerer::Declare(uint32_t symbol, ir::LocalId local, ir::CexprId condition) {
  visible_.push_back({.symbol = symbol,
                      .outer = innermost_[symbol],
                      .local = local,
                      .conditional = condition != ir::kTrue,
                      .candidates = {}});
  innermost_[symbol] = static_cast<uint32_t>(visible_.size() - 1);
}

void Lowerer::CloseNames(size_t mark) {
  while (visible_.size() > mark) {
    innermost_[visible_.back().symbol] = visible_.back().outer;
    visible_.pop_back();
  }
}

// --- functions -----------------------------------------------------------------------------------

void Lowerer::LowerFunction(const Decl& decl) {
  ir::DeclSpans spans;
  ir::Decl row = DeclRow(decl, ir::DeclKind::kFunction, &spans);
  row.flags = decl.relaxed ? 1 : 0;
  row.type = LowerType(decl.type, Runtime::kNo, &spans.type);
  builder_.BeginFunction(row, spans);
  const size_t mark = OpenNames();
  for (uint32_t i = 0; i < decl.field_count; ++i) {
    LowerParameter(ast_.fields[decl.first_field + i]);
  }
  LowerStmts(decl.body + 1, ast_.stmts[decl.body].next);
  CloseNames(mark);
  builder_.EndFunction();
}

void Lowerer::LowerParameter(const Field& field) {
  ir::LocalSpans spans{.name = AddSpan(SpanOf(field.name))};
  ir::Local local{.name = NameOf(field.name)};
  local.condition = LowerCondition(field.condition, &spans.condition);
  local.type = LowerType(field.type, Runtime::kNo, &spans.type);
  local.access = field.access;
  local.relaxed = field.relaxed ? 1 : 0;
  local.shadowed = Candidates(SymbolOf(field.name));
  Declare(SymbolOf(field.name), builder_.AddParameter(local, spans), local.condition);
}

// --- statements ----------------------------------------------------------------------------------

void Lowerer::LowerStmts(uint32_t row, uint32_t end) {
  for (; row < end; row = ast_.stmts[row].next) {
    CheckStop();
    LowerStmt(row);
  }
}

void Lowerer::LowerStmt(uint32_t row) {
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
      const ir::InstId value = LowerExpr(stmt.value);
      builder_.Add(ir::StatementInst{void_, value}, Spans(stmt));
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
    case StmtKind::kBreak:
      builder_.Add(ir::BreakInst{void_, loops_.empty() ? ir::LocalId{} : loops_.back()},
                   Spans(stmt));
      return;
    case StmtKind::kContinue:
      builder_.Add(ir::ContinueInst{void_, loops_.empty() ? ir::LocalId{} : loops_.back()},
                   Spans(stmt));
      return;
    case StmtKind::kReturn: {
      const ir::InstId value = stmt.value.empty() ? ir::InstId{} : LowerExpr(stmt.value);
      builder_.Add(ir::ReturnInst{void_, value}, Spans(stmt));
      return;
    }
  }
  KILN_UNREACHABLE();
}

ir::BlockId Lowerer::LowerBlock(uint32_t scope) {
  const size_t mark = OpenNames();
  const ir::BlockId block = builder_.BeginBlock();
  LowerStmts(scope + 1, ast_.stmts[scope].next);
  builder_.EndBlock();
  CloseNames(mark);
  return block;
}

ir::BlockId Lowerer::LowerBranch(uint32_t row) {
  if (ast_.stmts[row].kind == StmtKind::kScope) {
    return LowerBlock(row);
  }
  const ir::BlockId block = builder_.BeginBlock();
  LowerStmt(row);
  builder_.EndBlock();
  return block;
}

void Lowerer::LowerScope(const Stmt& stmt, uint32_t row) {
  ir::InstSpans spans = Spans(stmt);
  if (stmt.condition.empty()) {
    const ir::BlockId block = LowerBlock(row);
    builder_.Add(ir::ScopeInst{void_, block}, spans);
    return;
  }
  const ir::CexprId condition = LowerCexpr(stmt.condition, &spans.aux);
  const ir::BlockId block = LowerBlock(row);
  builder_.Add(ir::WhenInst{void_, condition, block}, spans);
}

// The block comes first: the alias is not visible in its own expression.
void Lowerer::LowerAlias(const Stmt& stmt) {
  const ir::BlockId block = builder_.BeginBlock();
  const ir::InstId value = LowerExpr(stmt.value);
  builder_.Add(ir::YieldInst{void_, value}, {});
  builder_.EndBlock();
  ir::LocalSpans spans{.name = AddSpan(SpanOf(stmt.token))};
  const uint32_t symbol = SymbolOf(stmt.token);
  ir::Local local{.name = NameOf(stmt.token)};
  local.condition = LowerCondition(stmt.condition, &spans.condition);
  local.kind = ir::LocalKind::kAlias;
  local.block = block.value;
  local.shadowed = Candidates(symbol);
  const ir::LocalId id = builder_.AddLocal(local, spans);
  builder_.Add(ir::AliasInst{void_, id, block}, Spans(stmt));
  Declare(symbol, id, local.condition);
}

void Lowerer::LowerVariable(const Stmt& stmt) {
  const ir::InstId initialiser = stmt.value.empty() ? ir::InstId{} : LowerExpr(stmt.value);
  ir::LocalSpans spans{.name = AddSpan(SpanOf(stmt.token))};
  const uint32_t symbol = SymbolOf(stmt.token);
  ir::Local local{.name = NameOf(stmt.token)};
  local.type = LowerType(stmt.type, Runtime::kNo, &spans.type);
  local.relaxed = stmt.relaxed ? 1 : 0;
  local.shadowed = Candidates(symbol);
  const ir::LocalId id = builder_.AddLocal(local, spans);
  builder_.Add(ir::VariableInst{void_, id, initialiser}, Spans(stmt));
  Declare(symbol, id, local.condition);
}

void Lowerer::LowerIf(const Stmt& stmt, uint32_t row) {
  const ir::InstId condition = LowerExpr(stmt.condition);
  const uint32_t then = row + 1;
  const uint32_t otherwise = ast_.stmts[then].next;
  std::array<uint32_t, 2> blocks{LowerBranch(then).value, 0};
  uint32_t count = 1;
  if (otherwise < stmt.next) {
    blocks[count++] = LowerBranch(otherwise).value;
  }
  builder_.Add(ir::IfInst{void_, condition, builder_.NewList(std::span(blocks).first(count))},
               Spans(stmt));
}

// The variable lives in a scope around the loop.
void Lowerer::LowerFor(const Stmt& stmt, uint32_t row) {
  const size_t mark = OpenNames();
  const ir::BlockId scope = builder_.BeginBlock();
  LowerStmt(row + 1);
  LowerLoop(stmt, ast_.stmts[row + 1].next);
  builder_.EndBlock();
  CloseNames(mark);
  builder_.Add(ir::ScopeInst{void_, scope}, Spans(stmt));
}

// `value` is the step of `for`; `while` has none.
void Lowerer::LowerLoop(const Stmt& stmt, uint32_t body) {
  const ir::LocalId exit = builder_.AddLocal({.kind = ir::LocalKind::kLoopExit}, {});
  const ir::BlockId condition = builder_.BeginBlock();
  const ir::InstId value = LowerExpr(stmt.condition);
  builder_.Add(ir::YieldInst{void_, value}, {});
  builder_.EndBlock();
  loops_.push_back(exit);
  const ir::BlockId inner = LowerBlock(body);
  loops_.pop_back();
  const ir::BlockId continuing = builder_.BeginBlock();
  if (!stmt.value.empty()) {
    const ir::InstId step = LowerExpr(stmt.value);
    builder_.Add(ir::StatementInst{void_, step},
                 {.main = AddSpan(ast_.exprs[stmt.value.root].span)});
  }
  builder_.EndBlock();
  const std::array blocks{condition.value, inner.value, continuing.value};
  builder_.Add(ir::LoopInst{void_, exit, builder_.NewList(blocks)}, Spans(stmt));
}

}  // namespace kiln::rpl
