// SPDX-License-Identifier: MIT
// The syntax tree of one source as flat rows. Private to the front end; positions are token
// numbers, text is reached through tokens and symbols.
//
// Expressions are rows in post-order: the rows of an operand come before the row that uses it, and
// an expression is a contiguous range of rows that ends in its root. So they are lowered by one
// pass over the range, however deep they are. Some kinds are markers that stand where the second
// or third operand begins (kRight, kThen, kElse), because lowering opens a block there; one
// (kSizes) stands before rows that are no operands.
//
// Statements are rows in pre-order: `next` is the row behind the last row of the statement.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "compiler/ir/decls.h"
#include "compiler/ir/insts.h"
#include "compiler/ir/types.h"
#include "compiler/source/span.h"

namespace kiln::rpl {

inline constexpr uint32_t kNone = 0xffffffffu;  // no token, no row, no list

enum class ExprKind : uint8_t {
  kName,       // token
  kFlag,       // a: 0 or 1
  kUint,       // a: bits; so are the next two
  kSint,       //
  kFloat,      //
  kString,     // a: symbol
  kUnary,      // op: ir::UnaryOp; a; token: the operator, as in all that follow
  kBinary,     // op: ir::BinaryOp; a, b
  kRight,      // marker; a: left operand
  kLogical,    // op: ir::LogicalOp; a, b
  kMember,     // a; token: the name
  kIndex,      // a[b]; token: '['
  kCall,       // a: list of rows; token: the callee
  kConstruct,  // a: list of rows; b: list of sizes, kNone unless T[n] {...}; token: the type
  kAssign,     // op: ir::BinaryOp or kPlainAssign; a = b
  kThen,       // marker; a: condition
  kElse,       // marker; a: condition
  kSelect,     // a ? list b of two rows
  kSizes,      // marker before the sizes of T[n] {...}, which are no operands; a: row behind them
};
inline constexpr uint8_t kPlainAssign = 0xff;

struct Expr {
  ExprKind kind;
  uint8_t op = 0;
  uint16_t unused = 0;
  uint32_t token = kNone;
  Span span;  // with the parentheses inside it, without those around it
  uint32_t a = kNone;
  uint32_t b = kNone;
};
static_assert(sizeof(Expr) == 24);

// Rows [first, root] of one expression; or no expression.
struct ExprRange {
  uint32_t first = kNone;
  uint32_t root = kNone;

  bool empty() const { return root == kNone; }
};

// A written type: a name and sizes. `sizes` is a list of 2 * n words: first and root of each.
struct TypeRef {
  uint32_t token = kNone;
  uint32_t sizes = kNone;
};

enum class StmtKind : uint8_t {
  kScope,       // statements; condition if it is a conditional scope
  kAlias,       // token: name; value; condition
  kVariable,    // token: name; type; value: initialiser
  kExpression,  // value
  kIf,          // condition; a scope; then a scope or an `if`
  kFor,         // a variable; condition; value: step; a scope
  kWhile,       // condition; a scope
  kBreak,
  kContinue,
  kReturn,  // value
};

struct Stmt {
  StmtKind kind;
  bool relaxed = false;
  uint32_t token = kNone;
  uint32_t next = kNone;
  Span span;
  ExprRange condition;
  ExprRange value;
  TypeRef type;
};

enum class DeclForm : uint8_t {
  kOption,
  kConstant,
  kSetting,
  kStruct,
  kContainer,
  kBuffer,
  kPushConstant,
  kSampler,
  kImage,
  kFunction,
  kWorkgroup,
};

struct OptionForm {
  ir::OptionScope scope = ir::OptionScope::kGlobal;
  ir::OptionKind kind = ir::OptionKind::kFlag;
  bool specialize = false;
  uint32_t value = 0;       // default, as ir::Option::default_value
  uint32_t values = kNone;  // enum: list of symbols
};

struct Decl {
  DeclForm form = DeclForm::kOption;
  bool relaxed = false;
  ir::ContainerKind container{};
  ir::BufferKind buffer{};
  ir::ImageAccess access{};
  ir::ImageFormat format{};  // of storage images
  ir::ResourceSet set{};
  uint32_t name = kNone;       // token
  uint32_t name_last = kNone;  // token; differs for dotted names
  Span span;
  ExprRange condition;
  TypeRef type;  // of constants, images, functions, workgroup memory
  ExprRange value;
  uint32_t block = kNone;  // of a setting: the number
  uint32_t first_field = 0;
  uint32_t field_count = 0;
  uint32_t body = kNone;  // statement row: the scope of a function
  OptionForm option;
};

struct Field {
  ir::MemberKind kind = ir::MemberKind::kField;
  ir::PackClass pack = ir::PackClass::kDefault;
  uint8_t pack_bits = 0;
  ir::Access access = ir::Access::kIn;
  bool runtime = false;  // T...
  bool relaxed = false;
  uint32_t name = kNone;
  uint32_t pack_token = kNone;
  uint32_t tags = kNone;  // list of symbols
  Span span;
  TypeRef type;
  ExprRange condition;
  ExprRange value;  // of an alias
};

struct Ast {
  uint32_t version = 1;
  std::vector<Decl> decls;
  std::vector<Field> fields;
  std::vector<Stmt> stmts;
  std::vector<Expr> exprs;
  std::vector<uint32_t> lists;  // count, then items

  uint32_t AddList(std::span<const uint32_t> items) {
    const auto list = static_cast<uint32_t>(lists.size());
    lists.push_back(static_cast<uint32_t>(items.size()));
    lists.insert(lists.end(), items.begin(), items.end());
    return list;
  }
  // Empty for kNone. Invalidated by AddList.
  std::span<const uint32_t> List(uint32_t list) const {
    return list == kNone ? std::span<const uint32_t>{}
                         : std::span(lists).subspan(list + 1, lists[list]);
  }
};

}  // namespace kiln::rpl
