// SPDX-License-Identifier: MIT
// The syntax tree of one preprocessed HLSL source as flat rows. Positions are token numbers: a
// token knows where it was written and what expanded to it (token.h), so a place in the tree is one
// as well. `begin` and `end` of a row are the first token and the one behind the last.
//
// Expressions are rows in post-order: the rows of an operand come before the row that uses it, and
// an expression is a contiguous range of rows that ends in its root. `Expr::first` is where the
// rows of a sub-tree begin, so a pass can also visit operands in another order, as `=` wants it.
// Some kinds are markers that stand where the second or third operand begins (kRight, kThen,
// kElse); one (kTypeRows) stands before the rows of template arguments and extents inside a cast or
// constructor, which are no operands. Only brackets and what binds to the right nest; chains of
// binary operators, members and commas are as deep as they are long and want a loop.
//
// Declarations and statements are rows in pre-order: `next` is the row behind the last row of the
// construct, so children are rows in (row, next). Types, variables, attributes and places are
// tables beside them. Lists are runs of words in `lists`.
//
// What the parser settled, because it had to: what is a type and what is not, where casts and
// declarations are. What names denote beyond that is not asked here.
// See spec/hlsl 5
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace kiln::hlsl::syntax {

inline constexpr uint32_t kNone = 0xffffffffu;  // no token, no row, no list

// --- expressions
// -----------------------------------------------------------------------------------

enum class ExprKind : uint8_t {
  kName,     // [::] { ID :: } ID; token: the last ID; a: list of the tokens before it, or kNone
  kThis,     // this
  kBool,     // a: 0 or 1
  kInteger,  // op: IntegerSuffix; a, b: low and high word of the value
  kFloat,    // op: FloatSuffix; a, b: low and high word of a double; with suffix f it is a float
  kString,   // a, b: offset and length in Ast::text, after escapes, adjacent ones joined
  kUnary,    // op: UnaryOp; a; token: the operator, as in all that follow
  kBinary,   // op: BinaryOp; a, b
  kRight,    // marker; a: left operand of what follows
  kLogical,  // op: LogicalOp; a, b
  kAssign,   // op: BinaryOp or kPlainAssign; a = b
  kThen,     // marker; a: condition
  kElse,     // marker; a: condition
  kSelect,   // a ? list b of two rows
  kComma,    // a, b
  kMember,   // a; token: the name behind the dot
  kIndex,    // a[b]; token: '['
  kCall,     // a: callee row, a kName or kMember with kCallee; b: list of argument rows; token: '('
  kConstruct,  // type a; b: list of argument rows; token: of the type
  kCast,       // type a; b: operand; token: '('
  kTypeRows,   // marker before rows that are no operands; a: row behind them
  kList,  // '{' … '}', only as initialiser or in one; a: list of rows, kList or not; token: '{'
};

enum class UnaryOp : uint8_t {
  kPlus,
  kNegate,
  kNot,
  kComplement,
  kPreIncrement,
  kPreDecrement,
  kPostIncrement,
  kPostDecrement,
};
enum class BinaryOp : uint8_t {
  kMul,
  kDiv,
  kRem,
  kAdd,
  kSub,
  kShiftLeft,
  kShiftRight,
  kLess,
  kGreater,
  kLessEqual,
  kGreaterEqual,
  kEqual,
  kNotEqual,
  kBitAnd,
  kBitXor,
  kBitOr,
};
enum class LogicalOp : uint8_t { kAnd, kOr };
inline constexpr uint8_t kPlainAssign = 0xff;

// As written, in any case.
enum class IntegerSuffix : uint8_t { kNone, kU, kL, kUl, kLl, kUll };
enum class FloatSuffix : uint8_t { kNone, kF, kH, kL };

struct Expr {
  // Bits of `flags`.
  static constexpr uint16_t kGlobal = 1;         // kName: begins with '::'
  static constexpr uint16_t kCallee = 2;         // kName, kMember: operand a of a kCall
  static constexpr uint16_t kParenthesised = 4;  // stands in parentheses of its own

  ExprKind kind;
  uint8_t op = 0;
  uint16_t flags = 0;
  uint32_t token = kNone;
  uint32_t begin = kNone;  // tokens, without parentheses around it
  uint32_t end = kNone;
  uint32_t first = kNone;  // first row of the sub-tree, markers included
  uint32_t a = kNone;
  uint32_t b = kNone;

  uint64_t bits() const { return (uint64_t{b} << 32) | a; }  // of kInteger and kFloat
};
static_assert(sizeof(Expr) == 28);

// Rows [first, root] of one expression; or no expression.
struct ExprRange {
  uint32_t first = kNone;
  uint32_t root = kNone;

  bool empty() const { return root == kNone; }
};

// Rows [first, first + count) of a table.
struct RowRange {
  uint32_t first = 0;
  uint32_t count = 0;

  bool empty() const { return count == 0; }
};

// --- types
// -----------------------------------------------------------------------------------------

enum class Modifier : uint8_t {
#define KILN_HLSL_MODIFIER(enumerator, text, is_keyword) k##enumerator,
#include "compiler/front/hlsl/syntax/modifiers.def"
};
constexpr uint32_t BitOf(Modifier modifier) { return 1u << static_cast<uint32_t>(modifier); }

enum class TypeKind : uint8_t {
  kVoid,      // of functions
  kInbuilt,   // token: a name of types.def, visible here (FindInbuiltType)
  kNamed,     // [::] { ID :: } ID: a struct, class, enum or alias, or a name that is not declared
  kUnsigned,  // 'unsigned' [ 'int' ]
  kRecord,    // defined in place: `struct { … } a;`
};

// A type as written, with the modifiers before and behind its name. Declarators of one declaration
// share it; extents are theirs, but for casts and `using`.
struct Type {
  static constexpr uint8_t kGlobal = 1;      // kNamed: begins with '::'
  static constexpr uint8_t kElaborated = 2;  // kNamed: 'struct' or 'class' stands before it

  TypeKind kind = TypeKind::kVoid;
  uint8_t flags = 0;
  uint32_t token = kNone;            // the last ID
  uint32_t path = kNone;             // kNamed: list of the tokens before it, or kNone
  uint32_t arguments = kNone;        // list of rows of `arguments`; kNone without '<'
  uint32_t record = kNone;           // kRecord: row of `decls`
  uint32_t extents = kNone;          // of casts `(float[2]) x` and of `using`; as Variable::extents
  uint32_t modifiers = 0;            // BitOf each; `inout` is kIn and kOut
  uint32_t modifier_tokens = kNone;  // list, in the order of the source
  uint32_t begin = kNone;            // tokens, with the modifiers
  uint32_t end = kNone;

  bool Has(Modifier modifier) const { return (modifiers & BitOf(modifier)) != 0; }
};

// One of `name < … >`: a type or a value.
struct TemplateArgument {
  uint32_t type = kNone;  // row, or kNone
  ExprRange value;
};

// --- declarations
// ----------------------------------------------------------------------------------

enum class PlaceKind : uint8_t { kSemantic, kRegister, kPackOffset };

// ':' …
struct Place {
  PlaceKind kind = PlaceKind::kSemantic;
  uint32_t token = kNone;  // of kSemantic the name, else 'register' or 'packoffset'
  uint32_t arguments =
      kNone;  // list of tokens: names between the parentheses, in order; c0 and x of c0.x
  uint32_t begin = kNone;  // the ':'
  uint32_t end = kNone;
};

enum class AttributeName : uint8_t {
#define KILN_HLSL_ATTRIBUTE(enumerator, name_space, text, family) k##enumerator,
#include "compiler/front/hlsl/syntax/attributes.def"
};
// [name (…)] or one of [[space::name (…), …]]. Unknown ones leave a warning and no row.
struct Attribute {
  AttributeName name{};
  uint32_t token = kNone;      // the name
  uint32_t arguments = kNone;  // list of 2 * n words, first and root of each; kNone without '('
  uint32_t begin = kNone;      // tokens, without brackets
  uint32_t end = kNone;
};

// One declarator: a variable, member, parameter or alias.
struct Variable {
  uint32_t name = kNone;     // token; kNone for a parameter without name
  uint32_t type = kNone;     // row; its modifiers include those of the declaration
  uint32_t extents = kNone;  // list of 2 * n words: first and root of each, both kNone for `[]`
  RowRange places;
  RowRange attributes;  // of a parameter; those of other variables are at their declaration
  ExprRange initialiser;
  uint32_t begin = kNone;  // tokens; of a parameter with its type, else from its name on
  uint32_t end = kNone;
};

struct Enumerator {
  uint32_t name = kNone;  // token
  ExprRange value;
};

enum class DeclKind : uint8_t {
  kNamespace,  // name; children
  kRecord,  // struct or class; name or kNone; attributes are also those of its variables; children:
            // kVariables, kFunction, kRecord, kEnum, kAlias
  kEnum,    // name; type: the underlying one or kNone; items: enumerators
  kAlias,   // typedef and using; type; items: variables, whose names are types
  kBlock,   // cbuffer or tbuffer; name; places; children: kVariables
  kFunction,   // name, path; type: result; items: parameters; places; body; children: local ones
  kVariables,  // type; items: variables
};

// Rows in pre-order: children are rows in (row, next), reached from one to the other by `next`.
// Those of a function are the declarations in its body; they have kLocal, and statements lead to
// them.
struct Decl {
  static constexpr uint8_t kLocal = 1;
  static constexpr uint8_t kClass = 2;    // kRecord: `class`; kEnum: `enum class` or `enum struct`
  static constexpr uint8_t kTbuffer = 4;  // kBlock
  static constexpr uint8_t kUsing = 8;    // kAlias

  DeclKind kind = DeclKind::kVariables;
  uint8_t flags = 0;
  uint32_t next = kNone;
  uint32_t name = kNone;  // token
  uint32_t path = kNone;  // kFunction: list of tokens before the name, `S::f`; or kNone
  uint32_t type = kNone;
  RowRange items;
  RowRange places;
  RowRange attributes;
  uint32_t body = kNone;   // kFunction: row of `stmts`, a kBlock; kNone for a prototype
  uint32_t begin = kNone;  // tokens, without attributes
  uint32_t end = kNone;

  bool Is(uint8_t flag) const { return (flags & flag) != 0; }
};

// --- statements
// ------------------------------------------------------------------------------------

enum class StmtKind : uint8_t {
  kBlock,       // '{' … '}'; children
  kDecl,        // rows [decl, decl_end) of `decls`; rows up to `next` are those of methods in there
  kExpression,  // value
  kEmpty,       // ';', or no token in the head of a `for`
  kBreak,
  kContinue,
  kDiscard,
  kReturn,   // value or empty
  kIf,       // condition; a statement; then one more with kHasElse, which may be a kIf again
  kSwitch,   // condition; a kBlock
  kFor,      // a kDecl, kExpression or kEmpty; condition; value: the step; a statement
  kWhile,    // condition; a statement
  kDo,       // a statement; condition
  kCase,     // value; the label alone, statements follow beside it
  kDefault,  // as kCase
};

// Rows in pre-order. A ladder of `else if` is nested rows, as many as it has steps: walk the last
// child by a loop.
struct Stmt {
  static constexpr uint8_t kHasElse = 1;  // kIf

  StmtKind kind = StmtKind::kEmpty;
  uint8_t flags = 0;
  uint32_t next = kNone;
  uint32_t begin = kNone;  // tokens, without attributes
  uint32_t end = kNone;
  ExprRange condition;
  ExprRange value;
  uint32_t decl = kNone;  // rows [decl, decl_end) of `decls`, siblings, `next` by `next`
  uint32_t decl_end = kNone;
  RowRange attributes;
};

// --- the tree
// --------------------------------------------------------------------------------------

struct Ast {
  std::vector<Decl> decls;  // of the unit: row 0, its `next`, …
  std::vector<Variable> variables;
  std::vector<Enumerator> enumerators;
  std::vector<Type> types;
  std::vector<TemplateArgument> arguments;
  std::vector<Place> places;
  std::vector<Attribute> attributes;
  std::vector<Stmt> stmts;
  std::vector<Expr> exprs;
  std::vector<uint32_t> lists;  // count, then items
  std::string text;             // of strings

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
  std::string_view StringOf(const Expr& string) const {
    return std::string_view(text).substr(string.a, string.b);
  }
};

}  // namespace kiln::hlsl::syntax
