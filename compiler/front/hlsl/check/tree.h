// SPDX-License-Identifier: MIT
// A checked module: every name is bound, every type known, every conversion a row. Syntax tree ->
// this -> IR. Rows and ids; what an id of an expression points to is made before it is used.
//
// Values are constants, known when options are, or run-time values (Rate). An expression
// whose flags have kPlace denotes storage; whoever needs its value loads it, without a row.
// Operands of an operator have the types it works on. Blocks and functions need no types of others
// but those of their declarations. See spec/hlsl 6 to 13
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/front/hlsl/sema/constant.h"
#include "compiler/front/hlsl/sema/intrinsic.h"
#include "compiler/front/hlsl/sema/operator.h"
#include "compiler/front/hlsl/sema/overload.h"
#include "compiler/front/hlsl/sema/type.h"
#include "compiler/ir/decls.h"

namespace kiln::hlsl {

using StmtId = Id<struct HlslStmtTag>;
using LocalId = Id<struct HlslLocalTag>;
using GlobalId = Id<struct HlslGlobalTag>;
using FunctionId = Id<struct HlslFunctionTag>;
using OptionId = Id<struct HlslOptionTag>;
using AttributesId = Id<struct HlslAttributesTag>;
using ListId = Id<struct HlslListTag>;

inline constexpr uint32_t kNoRow = Id<void>::kNone;

// Tokens [begin, end).
struct TokenRange {
  uint32_t begin = 0;
  uint32_t end = 0;
};

enum class ExprKind : uint8_t {
  kFailed,       // an error was said
  kConstant,     // a: row of `constants`
  kOption,       // a: OptionId; b: of an enum option the number of its value is meant
  kLocal,        // a: LocalId
  kGlobal,       // a: GlobalId
  kUnary,        // op: Operator; a
  kBinary,       // op: Operator; a, b of one type, but for shifts: of one shape
  kLogical,      // op: Operator; b only if needed
  kSelect,       // a ? b : c, all of them; a of one flag or one for each item
  kConditional,  // a ? b : c, one of them
  kConvert,      // a item by item; shapes are equal as values
  kSplat,        // a, a scalar, to all items
  kTruncate,     // a to fewer items, rows, columns
  kBuild,        // list a: leaves of its values, one after another, are those of the type
  kFill,         // a, a scalar, to every leaf
  kSwizzle,      // a; b: ir::PackSwizzle
  kElements,     // a, a matrix; b: PackElements
  kMember,       // a; b: number of the member
  kIndex,        // a[b]; op 1: invocations may pick different resources of an array
  kAssign,       // a = b
  kUpdate,       // a = b, where b is made of kGiven 0, the old value of a, and 1, the value of c,
                 // which comes first and may be missing; op 1: the old value is the result
  kGiven,        // a: number of the value that the row around it gives
  kCall,         // a: FunctionId; list b: three words for each parameter: argument, conversion of
                 // kGiven 0 on the way in and on the way out, or kNoRow each
  kLet,          // in b kGiven 0 is the value of a and kGiven 1 that of c, which may be missing
  kIntrinsic,    // op: Intrinsic; list b: arguments; c: which part of a result of two
  kMethod,       // op: Method; a: object, as HandleOf has it; list b: arguments as written; c: of
                 // GetDimensions the number of what it gives
  kComma,        // a, then b
};

// When a value is known: in the source; when options are, as a compile-time expression of the IR;
// then too, but as instructions over such ones; not before it runs.
enum class Rate : uint8_t { kConstant, kOption, kFixed, kRun };

// Elements of a matrix: 4 bits each from bit 4, row in the upper two; bits 0..3 count.
constexpr uint32_t PackElements(std::span<const uint8_t> elements) {
  auto packed = static_cast<uint32_t>(elements.size());
  for (size_t i = 0; i < elements.size(); ++i) {
    packed |= static_cast<uint32_t>(elements[i] & 15u) << (4 + 4 * i);
  }
  return packed;
}
constexpr uint32_t ElementCount(uint32_t packed) { return packed & 15u; }
constexpr uint32_t ElementRow(uint32_t packed, uint32_t i) { return packed >> (6 + 4 * i) & 3u; }
constexpr uint32_t ElementColumn(uint32_t packed, uint32_t i) { return packed >> (4 + 4 * i) & 3u; }

struct Expr {
  static constexpr uint8_t kPlace = 1;   // denotes storage
  static constexpr uint8_t kEffect = 2;  // does more than to give a value
  static constexpr uint8_t kConst = 4;   // a place that must not be written

  ExprKind kind = ExprKind::kFailed;
  uint8_t flags = 0;
  uint8_t op = 0;
  Rate rate = Rate::kRun;
  TypeId type;
  uint32_t a = kNoRow;
  uint32_t b = kNoRow;
  uint32_t c = kNoRow;
  TokenRange at;        // of the whole
  uint32_t weight = 1;  // rows of the tree, as options see it; saturates

  bool Is(uint8_t flag) const { return (flags & flag) != 0; }
};

// Scalars of a constant, in the order of its leaves.
struct ConstantRow {
  uint32_t first = 0;
  uint32_t count = 0;
};

enum class StmtKind : uint8_t {
  kExpression,  // a
  kDeclare,     // local; a: its first value or none
  kBlock,       // children, a scope
  kIf,          // a; children: then, or then and else
  kLoop,        // a: condition or none; b: step or none; children: body. kDo: a is asked behind it
  kSwitch,      // a; children: kCase rows
  kCase,        // list `labels`; children
  kBreak,       // of the loop or switch around it
  kContinue,
  kReturn,  // a or none
  kDiscard,
};

struct Stmt {
  static constexpr uint8_t kDo = 1;        // kLoop
  static constexpr uint8_t kDefault = 2;   // kCase
  static constexpr uint8_t kNoScope = 4;   // kBlock: names live on
  static constexpr uint8_t kOfSwitch = 8;  // kBreak
  static constexpr uint8_t kEnds = 16;     // kCase: control does not flow on to the next

  StmtKind kind = StmtKind::kExpression;
  uint8_t flags = 0;
  uint8_t hint = 0;    // ir::BranchHint, ir::LoopHint
  uint8_t rounds = 0;  // of unroll(n)
  TokenRange at;
  ExprId a, b;
  LocalId local;
  ListId labels;    // of ExprId, constants or known with options
  ListId children;  // of StmtId

  bool Is(uint8_t flag) const { return (flags & flag) != 0; }
};

// What stands at a variable, member, parameter or result for interfaces and layouts.
struct Attributes {
  std::string_view semantic;  // without its number; empty: none
  uint32_t semantic_index = 0;
  uint32_t semantic_token = kNoRow;
  std::string_view builtin;  // of vk::builtin
  std::string_view image_format, register_name, source;
  uint32_t register_space = kNoRow;
  uint32_t binding = kNoRow, set = kNoRow, counter = kNoRow;
  uint32_t location = kNoRow, index = kNoRow, offset = kNoRow, constant_id = kNoRow;
  bool combined = false;            // a texture or sampler that shares its number with the other
  uint32_t interpolation = kNoRow;  // ir::Interpolation
  uint32_t home_set = kNoRow;       // of kiln::set: ir::ResourceSet or a number
  bool instance_rate = false;
  bool row_major = false;
  bool column_major = false;
  bool push_constant = false;
  bool depth = false;
};

struct Local {
  std::string_view name;
  TypeId type;
  TokenRange at;
  Passing passing = Passing::kIn;
  bool parameter = false;
  bool constant = false;
  bool is_static = false;   // lives as long as the invocation: stands for `global`
  bool written = false;     // anywhere in the function
  bool compared = false;    // an image: a depth is compared with it
  bool picked = false;      // an image or sampler that is picked from an array when it runs
  ExprId known;             // of a `const` with a value that is known when options are; of a
                            // resource what it stands for
  ExprId condition;         // of a parameter
  AttributesId attributes;  // of a parameter
};

enum class GlobalKind : uint8_t {
  kConstant,  // `static const` or never written, value `initialiser` is a constant
  kPrivate,   // static
  kShared,    // groupshared
  kLoose,     // a member of $Globals
  kResource,
  kBlock,  // cbuffer, tbuffer; ConstantBuffer, TextureBuffer, or an array of them
};
struct Global {
  GlobalKind kind = GlobalKind::kPrivate;
  std::string name;  // dotted
  TypeId type;
  TokenRange at;
  ExprId initialiser;
  ExprId condition;
  bool constant = false;
  bool storage = false;  // kBlock: tbuffer, TextureBuffer
  bool fields = false;   // kBlock: cbuffer, tbuffer: the struct is nothing else
  bool written = false;
  bool compared = false;  // an image: a depth is compared with it
  AttributesId attributes;
};

// A `kiln::setting` of an entry point.
struct Setting {
  std::string_view name;
  uint32_t block = ir::kNoBlock;  // number of a colour output
  ExprId value;                   // a number or flag; or
  std::string_view text;          // words: `condition ? text : other`
  std::string_view other;
  ExprId condition;
  TokenRange at;
};

struct Function {
  std::string name;  // dotted
  TypeId result;
  TokenRange at;
  std::vector<LocalId> parameters;
  std::vector<ParameterType> parameter_types;
  std::vector<ExprId> defaults;  // one for each parameter; invalid: none
  AttributesId attributes;       // of the result
  ExprId condition;
  StmtId body;  // invalid: a prototype
  std::vector<LocalId> locals;
  std::vector<FunctionId> calls;  // in order of first mention
  std::vector<Setting> settings;
  std::vector<ExprId> threads;  // of numthreads: three
  uint32_t stage = kNoRow;      // of `shader`: ir::Stage
  bool effects = true;          // a call does more than to give a value
  bool method = false;          // its first parameter is the object
};

struct Option {
  std::string name;  // dotted
  TokenRange at;
  ir::Option row;  // without its texts
  TypeId type;
};

struct Unit {
  Types types;
  std::vector<Expr> exprs;
  std::vector<Stmt> stmts;
  std::vector<ConstantRow> constants;
  std::vector<Scalar> scalars;
  std::vector<uint32_t> lists;  // count, then items
  std::vector<Local> locals;
  std::vector<Global> globals;
  std::vector<Attributes> attributes;
  std::vector<Function> functions;
  std::vector<Option> options;
  std::vector<FunctionId> entries;  // of `shader`, in order

  const Expr& operator[](ExprId id) const { return exprs[id.value]; }
  const Stmt& operator[](StmtId id) const { return stmts[id.value]; }
  Local& operator[](LocalId id) { return locals[id.value]; }
  Global& operator[](GlobalId id) { return globals[id.value]; }
  Function& operator[](FunctionId id) { return functions[id.value]; }
  const Local& operator[](LocalId id) const { return locals[id.value]; }
  const Global& operator[](GlobalId id) const { return globals[id.value]; }
  const Function& operator[](FunctionId id) const { return functions[id.value]; }
  std::span<const uint32_t> List(ListId id) const {
    return id.valid() ? std::span(lists).subspan(id.value + 1, lists[id.value])
                      : std::span<const uint32_t>{};
  }
  ListId AddList(std::span<const uint32_t> items);
  // Of a kConstant.
  std::span<const Scalar> ScalarsOf(const Expr& constant) const {
    const ConstantRow& row = constants[constant.a];
    return std::span(scalars).subspan(row.first, row.count);
  }
};

}  // namespace kiln::hlsl
