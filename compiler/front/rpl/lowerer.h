// SPDX-License-Identifier: MIT
// The state of lowering. Private to lower*.cc: lower.cc holds texts, types and declarations,
// lower_cexpr.cc compile-time expressions, lower_expr.cc code expressions, lower_stmt.cc statements
// and local names.
#pragma once

#include <array>
#include <string_view>
#include <vector>

#include "compiler/front/rpl/ast.h"
#include "compiler/front/rpl/lex.h"
#include "compiler/ir/builder.h"

namespace kiln::rpl {

class Lowerer {
 public:
  Lowerer(std::string_view text, const LexResult& lexed, const Ast& ast);
  ir::Module Run(const Hash128& fingerprint);

 private:
  // --- texts and types (lower.cc) ----------------------------------------------------------------
  Span SpanOf(uint32_t token) const { return lexed_.tokens[token].span(); }
  std::string_view TextAt(Span span) const { return TextOf(text_, span); }
  uint32_t SymbolOf(uint32_t token) const { return lexed_.tokens[token].value; }
  ir::StringId TextOfSymbol(uint32_t symbol);
  ir::StringId NameOf(uint32_t token) { return TextOfSymbol(SymbolOf(token)); }
  ir::SpanId AddSpan(Span span) { return builder_.AddSpan(span); }
  ir::TypeId NamedType(uint32_t token);
  ir::TypeId InbuiltTypeId(InbuiltType type);
  enum class Runtime : uint8_t { kNo, kYes };
  ir::TypeId LowerType(const TypeRef& type, Runtime runtime, ir::SpanId* spans);

  // --- declarations (lower.cc) -------------------------------------------------------------------
  void LowerDecl(const Decl& decl);
  void LowerOption(const Decl& decl);
  ir::Decl DeclRow(const Decl& decl, ir::DeclKind kind, ir::DeclSpans* spans);
  void LowerConstant(const Decl& decl);
  void LowerFields(const Decl& decl, ir::DeclKind kind, uint16_t flags);
  void LowerResource(const Decl& decl, ir::DeclKind kind);
  ir::TypeId ResourceType(const Decl& decl, ir::SpanId* spans);
  ir::Member LowerField(const Field& field, ir::MemberSpans* spans);
  void LowerPath(const ExprRange& value, ir::Member& member, ir::MemberSpans* spans);

  // --- compile-time expressions (lower_cexpr.cc) -------------------------------------------------
  enum class Composites : uint8_t { kInvalid, kAllowed };
  ir::CexprId LowerCexpr(const ExprRange& range, ir::SpanId* spans,
                         Composites composites = Composites::kInvalid);
  ir::CexprId LowerCondition(const ExprRange& range, ir::SpanId* spans) {
    return range.empty() ? ir::kTrue : LowerCexpr(range, spans);
  }
  ir::CexprId CexprOfRow(uint32_t row, Composites composites);
  ir::CexprId CexprOfConstructor(uint32_t row, Composites composites);
  ir::CexprId Invalid(ir::InvalidCexpr kind, Span text, uint32_t number = 0);
  ir::CexprId BinaryCexpr(ir::CexprOp op, const Expr& expr);
  void AppendSpans(uint32_t root, Composites composites);
  bool FoldsIntoUser(uint32_t row, uint32_t root) const;
  static uint32_t Negated(const Expr& literal);

  // --- code expressions (lower_expr.cc) ----------------------------------------------------------
  ir::InstId LowerExpr(const ExprRange& range);
  ir::InstId InstOfRow(const Expr& expr);
  ir::InstId LowerName(const Expr& expr);
  ir::InstId LowerLiteral(const Expr& expr, uint32_t bits, Span span);
  ir::InstId LowerCall(const Expr& expr);
  ir::InstId LowerConstruct(const Expr& expr);
  ir::InstId LowerSelect(const Expr& expr);
  ir::ListId LowerItems(uint32_t list);
  void BeginValueBlock();
  ir::BlockId EndValueBlock(ir::InstId value);
  ir::InstSpans Spans(const Expr& expr) {
    return {.main = AddSpan(expr.span), .aux = AddSpan(SpanOf(expr.token))};
  }

  // --- statements and local names (lower_stmt.cc) ------------------------------------------------
  void LowerFunction(const Decl& decl);
  void LowerParameter(const Field& field);
  void LowerStmts(uint32_t row, uint32_t end);
  void LowerStmt(uint32_t row);
  ir::BlockId LowerBlock(uint32_t scope);  // a kScope row
  ir::BlockId LowerBranch(uint32_t row);   // a kScope or kIf row
  void LowerScope(const Stmt& stmt, uint32_t row);
  void LowerAlias(const Stmt& stmt);
  void LowerVariable(const Stmt& stmt);
  void LowerIf(const Stmt& stmt, uint32_t row);
  void LowerFor(const Stmt& stmt, uint32_t row);
  void LowerLoop(const Stmt& stmt, uint32_t body);
  ir::InstSpans Spans(const Stmt& stmt) { return {.main = AddSpan(stmt.span)}; }

  // A local name in view. Entries of one symbol form a chain, innermost first.
  struct Visible {
    uint32_t symbol;
    uint32_t outer;  // entry, or kNone
    ir::LocalId local;
    bool conditional;
    // This and those it hides, to the first that is always there; made when first asked for.
    ir::ListId candidates;
  };
  ir::ListId Candidates(uint32_t symbol);
  void Declare(uint32_t symbol, ir::LocalId local, ir::CexprId condition);
  size_t OpenNames() const { return visible_.size(); }
  void CloseNames(size_t mark);

  std::string_view text_;
  const LexResult& lexed_;
  const Ast& ast_;
  ir::Builder builder_;

  std::vector<ir::StringId> texts_;      // by symbol; invalid until used
  std::vector<ir::TypeId> named_types_;  // by symbol
  std::array<ir::TypeId, 64> inbuilt_types_{};
  ir::TypeId void_;
  ir::TypeId deferred_;

  std::vector<ir::CexprId> cexprs_;  // by expression row
  std::vector<ir::InstId> insts_;    // by expression row
  std::vector<ir::BlockId> blocks_;  // open value blocks
  std::vector<uint32_t> words_;      // scratch
  std::vector<uint32_t> rows_;       // scratch: stack of rows
  std::vector<Span> run_;            // scratch: spans of a run
  std::vector<uint32_t> innermost_;  // by symbol: entry of visible_, kNone
  std::vector<Visible> visible_;
  std::vector<ir::LocalId> loops_;  // exits of the loops around
};

}  // namespace kiln::rpl
