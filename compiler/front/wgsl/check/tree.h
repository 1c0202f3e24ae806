// SPDX-License-Identifier: MIT
// A checked module: every name is bound, every type known, every conversion and load a row. Syntax
// tree -> this -> IR. Rows and ids; what an id of an expression points to is made before it is
// used.
//
// An expression whose flags have kPlace denotes memory; kLoad gives what is in it. Abstract numbers
// are constants only: an expression that is computed when the shader runs has concrete types.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/base/threads/stop.h"
#include "compiler/front/wgsl/sema/function.h"
#include "compiler/front/wgsl/sema/scalar.h"
#include "compiler/front/wgsl/sema/type.h"
#include "compiler/front/wgsl/token.h"
#include "compiler/ir/decls.h"

namespace kiln::wgsl::front {

using ExprId = Id<struct WgslExprTag>;
using StmtId = Id<struct WgslStmtTag>;
using LocalId = Id<struct WgslLocalTag>;
using GlobalId = Id<struct WgslGlobalTag>;
using FunctionId = Id<struct WgslFunctionTag>;
using ListId = Id<struct WgslListTag>;

enum class ExprKind : uint8_t {
  kFailed,  // an error was said
  // --- what a name may mean beside a value
  kType,         // type
  kGenerator,    // a name of types that needs arguments; a: row of the syntax tree
  kFunction,     // a: FunctionId
  kPredeclared,  // op: Function; a: row of the syntax tree
  kWord,         // a word of the language: its token is at
  // --- values and places
  kConstant,   // a: row of `constants`
  kOverride,   // a: GlobalId
  kLocal,      // a: LocalId; a place if it is a `var`
  kGlobal,     // a: GlobalId; a place, or a texture or sampler
  kLoad,       // a: a place
  kCall,       // a: FunctionId; list b: arguments
  kOperation,  // op: Function; list b: arguments; c: row of textures.def
  kLogical,    // op: 0 and, 1 or; b only if needed
  kConvert,    // a, number by number
  kSplat,      // a, a scalar, to all items of a vector
  kConstruct,  // list b: the items of a vector (scalars and vectors), columns, items, members
  kMember,     // a; b: number of the member
  kIndex,      // a[b]
  kSwizzle,    // a, a value; b: ir::PackSwizzle
  kAddress,    // &a, of a place
  kDeref,      // *a: a place
};

// When a value is known: in the source; when overrides are; not before it runs.
enum class Rate : uint8_t { kConst, kOverride, kRun };

struct Expr {
  static constexpr uint8_t kPlace = 1;
  static constexpr uint8_t kInParens = 2;

  ExprKind kind = ExprKind::kFailed;
  uint8_t flags = 0;
  uint8_t op = 0;
  Rate rate = Rate::kRun;
  TypeId type;  // of a place: of what it holds
  uint32_t a = kNoRow;
  uint32_t b = kNoRow;
  uint32_t c = kNoRow;
  TokenRange at;
  AddressSpace space = AddressSpace::kFunction;  // of places
  AccessMode access = AccessMode::kReadWrite;
  bool is_component = false;  // a place that is part of a vector: it has no address

  bool Is(uint8_t flag) const { return (flags & flag) != 0; }
};

// Scalars of a constant, leaf after leaf.
struct ConstantRow {
  uint32_t first = 0;
  uint32_t count = 0;
};

enum class StmtKind : uint8_t {
  kExpression,  // a: what is called
  kDeclare,     // local: a `var` or `let`; a: its value or none
  kAssign,      // a = b; without a place: b is computed
  kUpdate,      // a = a op b, where the place is evaluated once
  kBlock,       // children
  kIf,          // a; children: then, or then and else
  kSwitch,      // a; children: kCase
  kCase,        // labels; children; is_default
  kLoop,   // children: body; a: condition before each round, b: condition of another round behind
           // the continuing block; first: continuing
  kBreak,  // of the loop or switch around it
  kContinue,
  kReturn,  // a or none
  kDiscard,
};
struct Stmt {
  StmtKind kind = StmtKind::kExpression;
  bool of_switch = false;   // kBreak
  bool is_default = false;  // kCase
  Function op = Function::kAdd;
  TokenRange at;
  ExprId a, b;
  StmtId first;
  LocalId local;
  ListId labels;    // of ExprId, constants
  ListId children;  // of StmtId
};

// What stands at a parameter, member, result or variable for interfaces.
struct Attributes {
  std::string_view builtin;
  uint32_t location = kNoRow, blend_src = kNoRow;
  uint32_t group = kNoRow, binding = kNoRow;
  uint32_t interpolation = kNoRow;  // ir::Interpolation
  TokenRange at;                    // of the first of them
};

enum class LocalKind : uint8_t { kParameter, kLet, kVar };
struct Local {
  std::string_view name;
  LocalKind kind = LocalKind::kLet;
  TypeId type;
  TokenRange at;
  uint32_t attributes = kNoRow;  // of a parameter
  ExprId value;                  // of a kLet
  bool in_continuing = false;    // some continuing block mentions it
};

enum class GlobalKind : uint8_t { kConst, kOverride, kPrivate, kWorkgroup, kBuffer, kHandle };
struct Global {
  GlobalKind kind = GlobalKind::kConst;
  std::string_view name;
  TypeId type;
  TokenRange at;
  AddressSpace space = AddressSpace::kPrivate;
  AccessMode access = AccessMode::kReadWrite;
  ExprId value;                  // or none
  uint32_t attributes = kNoRow;  // of resources
  uint32_t id = kNoRow;          // of an override: @id
};

struct FunctionRow {
  std::string_view name;
  TokenRange at;  // of the name
  TypeId result;
  std::vector<LocalId> parameters;
  StmtId body;
  std::vector<FunctionId> calls;  // each once, in order
  std::vector<GlobalId> globals;  // that it mentions itself, each once, in order
  uint32_t stage = kNoRow;        // ir::Stage of an entry point
  ExprId workgroup[3];            // @workgroup_size
  uint32_t result_attributes = kNoRow;
  bool must_use = false;
  // What it needs of its callers: a token of the call that needs it.
  uint32_t needs_fragment = kNoRow, needs_compute = kNoRow;
};

struct Unit {
  Types types;
  std::vector<Expr> exprs;
  std::vector<Stmt> stmts;
  std::vector<ConstantRow> constants;
  std::vector<Word> words;
  std::vector<uint32_t> lists;  // count, then items
  std::vector<Local> locals;
  std::vector<Global> globals;         // in the order of their use of each other
  std::vector<FunctionRow> functions;  // callees before callers
  std::vector<Attributes> attributes;

  const Expr& operator[](ExprId id) const { return exprs[id.value]; }
  const Stmt& operator[](StmtId id) const { return stmts[id.value]; }
  const Local& operator[](LocalId id) const { return locals[id.value]; }
  const Global& operator[](GlobalId id) const { return globals[id.value]; }
  const FunctionRow& operator[](FunctionId id) const { return functions[id.value]; }
  std::span<const uint32_t> List(ListId id) const {
    return id.valid() ? std::span(lists).subspan(id.value + 1, lists[id.value])
                      : std::span<const uint32_t>{};
  }
  ListId AddList(std::span<const uint32_t> items) {
    ChargeMemory((items.size() + 1) * sizeof(uint32_t));
    const ListId id{static_cast<uint32_t>(lists.size())};
    lists.push_back(static_cast<uint32_t>(items.size()));
    lists.insert(lists.end(), items.begin(), items.end());
    return id;
  }
  std::span<const Word> WordsOf(const Expr& constant) const {
    const ConstantRow& row = constants[constant.a];
    return std::span(words).subspan(row.first, row.count);
  }
};

}  // namespace kiln::wgsl::front
