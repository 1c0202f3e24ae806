// SPDX-License-Identifier: MIT
// The invariants of ast.h as code. A tree that passes may be walked by number without a bounds
// check; fuzzers run it behind every parse, so a parser that breaks one is found before a later
// stage trips over it.
#include "compiler/front/hlsl/syntax/tree_check.h"

#include <vector>

#include <fmt/format.h>

namespace kiln::hlsl::syntax {
namespace {

// What later stages rely on without a look: ids in range, rows in order, operands inside of
// their expression. Tests and fuzzers ask it of every tree; the product does not.
class TreeCheck {
 public:
  TreeCheck(const TokenStream& stream, const Ast& ast)
      : tokens_(static_cast<uint32_t>(stream.tokens.size())), ast_(ast) {}

  std::string Run() {
    for (uint32_t row = 0; row < ast_.exprs.size(); ++row) {
      Expression(row);
    }
    PreOrder("declaration", ast_.decls);
    PreOrder("statement", ast_.stmts);
    for (const Decl& decl : ast_.decls) {
      Declaration(decl);
    }
    for (const Stmt& stmt : ast_.stmts) {
      Statement(stmt);
    }
    for (const Variable& variable : ast_.variables) {
      Require(variable.type < ast_.types.size(), "type of a variable");
      Tokens(variable.begin, variable.end, "variable");
      Range(variable.initialiser);
      Pairs(variable.extents);
      Rows(variable.places, ast_.places.size(), "places");
      Rows(variable.attributes, ast_.attributes.size(), "attributes");
    }
    for (const Type& type : ast_.types) {
      Tokens(type.begin, type.end, "type");
      Pairs(type.extents);
      Require((type.kind == TypeKind::kRecord) == (type.record != kNone), "record of a type");
    }
    return std::move(wrong_);
  }

 private:
  // Only the first thing that is wrong is kept.
  void Require(bool holds, std::string_view what) {
    if (!holds && wrong_.empty()) {
      wrong_ = what;
    }
  }
  // Ranges of tokens are not empty and end before the end of the file.
  void Tokens(uint32_t begin, uint32_t end, std::string_view what) {
    Require(begin < end && end < tokens_, what);
  }
  // In 64 bits, so that the sum cannot wrap.
  void Rows(const RowRange& rows, size_t count, std::string_view what) {
    Require(size_t{rows.first} + rows.count <= count, what);
  }

  // Rows of a sub-tree are contiguous, end in its root and hold all its operands.
  void Expression(uint32_t row) {
    // Operands are before the row and not before its first one.
    const Expr& e = ast_.exprs[row];
    const auto operand = [&](uint32_t number) {
      Require(number < row && number >= e.first && ast_.exprs[number].first >= e.first,
              fmt::format("operand of expression {}", row));
    };
    Require(e.first <= row, fmt::format("first row of expression {}", row));
    switch (e.kind) {
      case ExprKind::kRight:
      case ExprKind::kThen:
      case ExprKind::kElse:
        // Markers say where the right side of a `&&`, or a side of `?:`, begins; they are no
        // operands.
        Require(e.first == row && e.a < row, "marker");
        return;
      case ExprKind::kTypeRows:
        Require(e.first == row && e.a > row && e.a <= ast_.exprs.size(), "marker of a type");
        return;
      case ExprKind::kBinary:
      case ExprKind::kLogical:
      case ExprKind::kAssign:
      case ExprKind::kComma:
      case ExprKind::kIndex:
        operand(e.a);
        operand(e.b);
        // The right operand is made of rows behind the left one.
        Require(ast_.exprs[e.b].first > e.a, "order of operands");
        break;
      case ExprKind::kUnary:
      case ExprKind::kMember:
        operand(e.a);
        break;
      case ExprKind::kCast:
        operand(e.b);
        Require(e.a < ast_.types.size(), "type of a cast");
        break;
      case ExprKind::kSelect:
        operand(e.a);
        List(e.b, operand);
        break;
      case ExprKind::kCall:
        operand(e.a);
        Require((ast_.exprs[e.a].flags & Expr::kCallee) != 0, "callee");
        List(e.b, operand);
        break;
      case ExprKind::kConstruct:
        Require(e.a < ast_.types.size(), "type of a constructor");
        List(e.b, operand);
        break;
      case ExprKind::kList:
        List(e.a, operand);
        break;
      default:  // no operands
        Require(e.first == row, "leaf");
        break;
    }
    Tokens(e.begin, e.end, fmt::format("tokens of expression {}", row));
    Require(e.token >= e.begin && e.token < e.end, fmt::format("token of expression {}", row));
  }

  // What is checked of an item depends on who has the list.
  template <class Check>
  void List(uint32_t list, Check check) {
    for (const uint32_t item : ast_.List(list)) {
      check(item);
    }
  }
  // An expression is all rows from its first to its root.
  void Range(const ExprRange& range) {
    Require(range.empty() || (range.first <= range.root && range.root < ast_.exprs.size() &&
                              ast_.exprs[range.root].first == range.first),
            "range of an expression");
  }
  // Two words for each: the first row and the root.
  void Pairs(uint32_t list) {
    const std::span<const uint32_t> words = ast_.List(list);
    for (size_t i = 0; i + 1 < words.size(); i += 2) {
      Range({words[i], words[i + 1]});
    }
  }

  // A row's children end where it ends: ends of nested rows form a stack.
  template <class Row>
  void PreOrder(std::string_view what, const std::vector<Row>& rows) {
    std::vector<uint32_t> ends{static_cast<uint32_t>(rows.size())};
    for (uint32_t row = 0; row < rows.size(); ++row) {
      while (row >= ends.back()) {
        ends.pop_back();
      }
      Require(rows[row].next > row && rows[row].next <= ends.back(),
              fmt::format("{} {}", what, row));
      Require(rows[row].begin <= rows[row].end && rows[row].end < tokens_,
              fmt::format("tokens of {} {}", what, row));
      if (!wrong_.empty()) {
        return;
      }
      ends.push_back(rows[row].next);
    }
  }

  // Each kind of declaration has fields that others do not use.
  void Declaration(const Decl& decl) {
    const bool is_enum = decl.kind == DeclKind::kEnum;
    Rows(decl.items, is_enum ? ast_.enumerators.size() : ast_.variables.size(), "items");
    Rows(decl.places, ast_.places.size(), "places of a declaration");
    Rows(decl.attributes, ast_.attributes.size(), "attributes of a declaration");
    Require(decl.body == kNone || (decl.kind == DeclKind::kFunction &&
                                   ast_.stmts[decl.body].kind == StmtKind::kBlock),
            "body of a function");
    const bool typed = decl.kind == DeclKind::kFunction || decl.kind == DeclKind::kVariables ||
                       decl.kind == DeclKind::kAlias;
    Require(!typed || decl.type < ast_.types.size(), "type of a declaration");
  }

  // Which expressions a statement has is the parser's affair; whole they have to be.
  void Statement(const Stmt& stmt) {
    Range(stmt.condition);
    Range(stmt.value);
    Require((stmt.kind == StmtKind::kDecl) == (stmt.decl != kNone), "declarations of a statement");
    Require(stmt.kind != StmtKind::kDecl || stmt.decl <= stmt.decl_end, "rows of a statement");
  }

  const uint32_t tokens_;
  const Ast& ast_;
  std::string wrong_;
};

}  // namespace

// Empty for a tree that keeps all invariants.
std::string CheckTree(const TokenStream& stream, const Ast& ast) {
  return TreeCheck(stream, ast).Run();
}

}  // namespace kiln::hlsl::syntax
