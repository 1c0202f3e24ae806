// SPDX-License-Identifier: MIT
// The syntax tree: rows of flat tables that refer to each other and to tokens by numbers. An
// expression is a run of rows in post-order, operands before what uses them; `first` of a row is
// where its run begins, so a tree of any depth is walked by a loop. See spec/wgsl 5.1
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "compiler/base/id.h"
#include "compiler/front/wgsl/operator.h"
#include "compiler/front/wgsl/token.h"

namespace kiln::wgsl::front::syntax {

using ExprId = Id<struct WgslSyntaxExprTag>;
using StmtId = Id<struct WgslSyntaxStmtTag>;
using DeclId = Id<struct WgslSyntaxDeclTag>;
using ListId = Id<struct WgslSyntaxListTag>;

inline constexpr uint32_t kNoRow = Id<void>::kNone;

enum class ExprKind : uint8_t {
  kLiteral,  // token: number, `true`, `false`
  kName,     // token; list a: template arguments
  kCall,     // a: kName; list b: arguments
  kIndex,    // a[b]
  kMember,   // a.token
  kUnary,    // op; a
  kBinary,   // op; a, b
};
struct Expr {
  ExprKind kind = ExprKind::kLiteral;
  Operator op = Operator::kAdd;
  bool in_parens = false;
  TokenRange at;
  uint32_t token = 0;
  uint32_t a = kNoRow;
  uint32_t b = kNoRow;
  uint32_t first = 0;  // row
};

// @name(arguments)
struct Attribute {
  uint32_t token = 0;  // of the name
  TokenRange at;
  ListId arguments;  // of ExprId
  ListId words;      // of tokens, where it takes names that mean nothing elsewhere
};

// A member of a struct or a parameter.
struct Variable {
  uint32_t token = 0;  // of the name
  TokenRange at;
  ExprId type;
  ListId attributes;  // rows of Ast::attributes
};

enum class StmtKind : uint8_t {
  kBlock,        // children
  kVar,          // token; words: address space, access; type a, value b; either may be missing
  kLet,          // token; type a, value b
  kConst,        // likewise
  kAssign,       // a = b, or a op= b; without a: _ = b
  kIncrement,    // a op 1
  kCall,         // a
  kIf,           // a; children: a block, and what `else` has: a block or a kIf
  kSwitch,       // a; children: kCase
  kCase,         // labels: ExprId, kNoRow is `default`; children
  kLoop,         // children; first: continuing, a kBlock
  kFor,          // first; condition a; second; children
  kWhile,        // a; children
  kBreak,        //
  kBreakIf,      // a
  kContinue,     //
  kReturn,       // a or none
  kDiscard,      //
  kConstAssert,  // a
};
struct Stmt {
  StmtKind kind = StmtKind::kBlock;
  bool is_compound = false;  // kAssign with an operator
  Operator op = Operator::kAdd;
  TokenRange at;
  uint32_t token = 0;
  ExprId a, b;
  StmtId first, second;
  ListId children;    // of StmtId
  ListId labels;      // of ExprId
  ListId words;       // of tokens
  ListId attributes;  // rows of Ast::attributes
};

enum class DeclKind : uint8_t {
  kAlias,        // type
  kConst,        // type, value
  kOverride,     // type, value
  kVar,          // words: address space, access; type, value
  kStruct,       // members
  kFunction,     // parameters in members; type: result or none; body
  kConstAssert,  // value
};
struct Decl {
  DeclKind kind = DeclKind::kConst;
  TokenRange at;
  uint32_t token = 0;  // of the name
  ExprId type, value;
  StmtId body;
  ListId words;              // of tokens
  ListId members;            // rows of Ast::variables
  ListId attributes;         // rows of Ast::attributes
  ListId result_attributes;  // likewise
  uint32_t first_mention = 0, mention_count = 0;
};

enum class DirectiveKind : uint8_t { kEnable, kRequires, kDiagnostic };
struct Directive {
  DirectiveKind kind = DirectiveKind::kEnable;
  TokenRange at;
  ListId words;  // of tokens; kDiagnostic: severity, then the parts of the rule
};

struct Ast {
  std::vector<Expr> exprs;
  std::vector<Stmt> stmts;
  std::vector<Decl> decls;
  std::vector<Variable> variables;
  std::vector<Attribute> attributes;
  std::vector<Directive> directives;
  std::vector<uint32_t> lists;  // count, then items
  std::vector<uint32_t>
      mentions;  // tokens of names that no scope of the function declares, by Decl

  const Expr& operator[](ExprId id) const { return exprs[id.value]; }
  const Stmt& operator[](StmtId id) const { return stmts[id.value]; }
  const Decl& operator[](DeclId id) const { return decls[id.value]; }
  std::span<const uint32_t> List(ListId id) const {
    return id.valid() ? std::span(lists).subspan(id.value + 1, lists[id.value])
                      : std::span<const uint32_t>{};
  }
};

}  // namespace kiln::wgsl::front::syntax
