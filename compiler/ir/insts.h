// SPDX-License-Identifier: MIT
// Instructions: one erased 16-byte row per instruction and typed views over it. Nobody outside this
// file touches `a` and `b`; read them through `inst.As<View>()`, write them through the view's
// To(). The list of kinds and their operand schemas is kinds.def; what they mean is docs/IR.md.
#pragma once

#include <cstdint>
#include <type_traits>

#include "compiler/ir/ids.h"

namespace kiln::ir {

enum class InstKind : uint16_t {
#define KILN_INST(kind, mnemonic, flags, a, b, result, form) k##kind,
#include "compiler/ir/kinds.def"
};

enum class BinaryOp : uint16_t {
  kAdd,
  kSub,
  kMul,
  kDiv,
  kMod,
  kAnd,
  kOr,
  kXor,
  kShiftLeft,
  kShiftRight,
  kShiftRightArithmetic,
  kLess,
  kGreater,
  kLessEqual,
  kGreaterEqual,
  kEqual,
  kNotEqual,
  kRem,              // the sign of the left operand
  kNotEqualOrdered,  // false if an operand is no number
};
enum class UnaryOp : uint16_t { kNegate, kNot, kComplement, kPlus };
enum class LogicalOp : uint16_t { kAnd, kOr };

// Variables that the language declares for a stage; created when first mentioned.
enum class StageVariable : uint16_t {
  kPosition,
  kVertexIndex,
  kInstanceIndex,
  kFragCoord,
  kFrontFacing,
  kFragDepth,
  kGlobalId,
  kLocalId,
  kLocalIndex,
  kWorkgroupId,
  kWorkgroupCount,
};
// Which of the two variables of a container field is meant: a state field is written by the vertex
// stage and read by the fragment stage. Buffers, samplers and images use kNone.
enum class Direction : uint16_t { kNone, kIn, kOut };

// What is promised of one instruction or demanded of it (docs/IR.md, "Flags"): bits of the high
// byte of Inst::flags, by number.
enum class InstFlag : uint8_t { kPrecise, kRelaxed, kNonUniform, kTotal, kSaturating, kBounded };
constexpr uint16_t BitOf(InstFlag flag) {
  return static_cast<uint16_t>(0x100u << static_cast<uint32_t>(flag));
}
// The low byte of Inst::flags: what FlagSchema says.
inline constexpr uint16_t kSchemaFlags = 0xff;

enum class BranchHint : uint16_t { kNone, kFlatten, kDontFlatten };
// The high byte of the flags of a loop is the n of unroll(n).
enum class LoopHint : uint16_t { kNone, kUnroll, kDontUnroll };

enum class ImageOp : uint16_t {
#define KILN_IMAGE_OP(op, name, operands, keywords) k##op,
#include "compiler/ir/image_ops.def"
};
// Keyword operands of an image operation: bits of the literal of `image`, and their order. All but
// `sparse` are followed by one operand, `grad` by two.
enum class ImageOperand : uint8_t {
  kBias,
  kLod,
  kGrad,
  kConstOffset,
  kOffset,
  kConstOffsets,
  kSample,
  kMinLod,
  kSparse,
};
constexpr uint32_t BitOf(ImageOperand operand) { return 1u << static_cast<uint32_t>(operand); }
// In the same literal: the sampler is part of the image.
inline constexpr uint32_t kCombinedSampler = 1u << 15;

enum class AtomicOp : uint16_t {
  kLoad,
  kStore,
  kAdd,
  kSub,
  kMin,
  kMax,
  kAnd,
  kOr,
  kXor,
  kExchange,
  kCompareExchange,
};
enum class MemoryScope : uint8_t { kNone, kDevice, kWorkgroup, kSubgroup, kInvocation };
enum class MemoryOrder : uint8_t { kRelaxed, kAcquire, kRelease, kAcquireRelease };
enum class MemoryKind : uint8_t { kWorkgroup, kBuffer, kImage };

// The literals of `atomic` and `barrier`.
struct AtomicMode {
  MemoryScope scope = MemoryScope::kDevice;
  MemoryOrder order = MemoryOrder::kRelaxed;
};
constexpr uint32_t Pack(const AtomicMode& mode) {
  return static_cast<uint32_t>(mode.scope) | static_cast<uint32_t>(mode.order) << 8;
}
constexpr AtomicMode UnpackAtomic(uint32_t literal) {
  return {static_cast<MemoryScope>(literal & 0xffu),
          static_cast<MemoryOrder>(literal >> 8 & 0xffu)};
}
struct BarrierMode {
  MemoryScope execution = MemoryScope::kNone;
  MemoryScope scope = MemoryScope::kDevice;
  uint8_t kinds = 0;  // 1 << MemoryKind
};
constexpr uint32_t Pack(const BarrierMode& mode) {
  return static_cast<uint32_t>(mode.execution) | static_cast<uint32_t>(mode.scope) << 8 |
         uint32_t{mode.kinds} << 16;
}
constexpr BarrierMode UnpackBarrier(uint32_t literal) {
  return {static_cast<MemoryScope>(literal & 0xffu), static_cast<MemoryScope>(literal >> 8 & 0xffu),
          static_cast<uint8_t>(literal >> 16 & 0xffu)};
}

// One row. `type` is a TypeId of the module in generic IR (the written type of a constructor, T of
// a builtin family, else the deferred type) and a TypeId of the Pool in specialised IR: the type of
// the value, of what the place holds, or void.
struct Inst {
  InstKind kind;
  uint16_t flags = 0;
  TypeId type;
  uint32_t a = 0;
  uint32_t b = 0;

  template <class View>
  View As() const {
    return View::From(*this);
  }
};
static_assert(sizeof(Inst) == 16 && std::is_trivially_copyable_v<Inst>);

// A block is a range of `block_insts`.
struct Block {
  uint32_t first = 0;
  uint32_t count = 0;
};
static_assert(sizeof(Block) == 8 && std::is_trivially_copyable_v<Block>);

// --- swizzle literals: bits 0..3 count, then 2 bits per letter from bit 4
constexpr uint32_t PackSwizzle(uint32_t count, const uint8_t (&letters)[4]) {
  uint32_t packed = count;
  for (uint32_t i = 0; i < count; ++i) {
    packed |= static_cast<uint32_t>(letters[i] & 3u) << (4 + 2 * i);
  }
  return packed;
}
constexpr uint32_t SwizzleCount(uint32_t packed) { return packed & 15u; }
constexpr uint32_t SwizzleLetter(uint32_t packed, uint32_t i) {
  return (packed >> (4 + 2 * i)) & 3u;
}

// --- typed views
namespace inst_field {  // conversion between a raw word and an operand of type T
template <class T>
constexpr T Read(uint32_t raw) {
  if constexpr (std::is_same_v<T, uint32_t>) {
    return raw;
  } else {
    return T{raw};
  }
}
template <class T>
constexpr uint32_t Write(T v) {
  if constexpr (std::is_same_v<T, uint32_t>) {
    return v;
  } else {
    return v.value;
  }
}
}  // namespace inst_field

// View with one flag F (or uint16_t for none) and operands A, B with the given member names.
#define KILN_VIEW0(Name, Kind)                           \
  struct Name {                                          \
    static constexpr InstKind kKind = InstKind::Kind;    \
    TypeId type = {};                                    \
    static Name From(const Inst& i) { return {i.type}; } \
    Inst To() const { return {kKind, 0, type, 0, 0}; }   \
  }
#define KILN_VIEW1(Name, Kind, A, a_name)                                          \
  struct Name {                                                                    \
    static constexpr InstKind kKind = InstKind::Kind;                              \
    TypeId type = {};                                                              \
    A a_name = {};                                                                 \
    static Name From(const Inst& i) { return {i.type, inst_field::Read<A>(i.a)}; } \
    Inst To() const { return {kKind, 0, type, inst_field::Write(a_name), 0}; }     \
  }
#define KILN_VIEW_B(Name, Kind, B, b_name)                                         \
  struct Name {                                                                    \
    static constexpr InstKind kKind = InstKind::Kind;                              \
    TypeId type = {};                                                              \
    B b_name = {};                                                                 \
    static Name From(const Inst& i) { return {i.type, inst_field::Read<B>(i.b)}; } \
    Inst To() const { return {kKind, 0, type, 0, inst_field::Write(b_name)}; }     \
  }
#define KILN_VIEW2(Name, Kind, A, a_name, B, b_name)                                 \
  struct Name {                                                                      \
    static constexpr InstKind kKind = InstKind::Kind;                                \
    TypeId type = {};                                                                \
    A a_name = {};                                                                   \
    B b_name = {};                                                                   \
    static Name From(const Inst& i) {                                                \
      return {i.type, inst_field::Read<A>(i.a), inst_field::Read<B>(i.b)};           \
    }                                                                                \
    Inst To() const {                                                                \
      return {kKind, 0, type, inst_field::Write(a_name), inst_field::Write(b_name)}; \
    }                                                                                \
  }
#define KILN_VIEW_F(Name, Kind, F, f_name, A, a_name, B, b_name)                        \
  struct Name {                                                                         \
    static constexpr InstKind kKind = InstKind::Kind;                                   \
    TypeId type = {};                                                                   \
    F f_name = {};                                                                      \
    A a_name = {};                                                                      \
    B b_name = {};                                                                      \
    static Name From(const Inst& i) {                                                   \
      return {i.type, static_cast<F>(i.flags & kSchemaFlags), inst_field::Read<A>(i.a), \
              inst_field::Read<B>(i.b)};                                                \
    }                                                                                   \
    Inst To() const {                                                                   \
      return {kKind, static_cast<uint16_t>(f_name), type, inst_field::Write(a_name),    \
              inst_field::Write(b_name)};                                               \
    }                                                                                   \
  }

enum class Builtin : uint16_t;  // builtins.h

KILN_VIEW1(ConstInst, kConst, ConstId, value);
KILN_VIEW1(FlagInst, kFlag, uint32_t, value);
KILN_VIEW1(TextInst, kText, StringId, value);
KILN_VIEW2(NameRefInst, kNameRef, StringId, name, ListId, candidates);
KILN_VIEW2(MemberInst, kMember, InstId, source, StringId, name);
KILN_VIEW2(IndexInst, kIndex, InstId, source, InstId, index);
KILN_VIEW2(NameCallInst, kNameCall, StringId, name, ListId, arguments);
KILN_VIEW_B(NameConstructInst, kNameConstruct, ListId, arguments);
KILN_VIEW_F(NameUnaryInst, kNameUnary, UnaryOp, op, InstId, operand, uint32_t, unused);
KILN_VIEW_F(NameBinaryInst, kNameBinary, BinaryOp, op, InstId, left, InstId, right);
KILN_VIEW2(AssignInst, kAssign, InstId, target, InstId, value);
KILN_VIEW_F(AssignOpInst, kAssignOp, BinaryOp, op, InstId, target, InstId, value);
KILN_VIEW_F(NameBuiltinInst, kNameBuiltin, Builtin, builtin, uint32_t, unused, ListId, arguments);
KILN_VIEW2(NameSelectInst, kNameSelect, InstId, condition, ListId, blocks);
KILN_VIEW2(VariableInst, kVariable, LocalId, local, InstId, initialiser);
KILN_VIEW2(AliasInst, kAlias, LocalId, local, BlockId, block);
KILN_VIEW1(StatementInst, kStatement, InstId, expression);
KILN_VIEW2(WhenInst, kWhen, CexprId, condition, BlockId, block);
KILN_VIEW1(WhenRegionInst, kWhenRegion, RegionId, region);
KILN_VIEW_F(LogicalInst, kLogical, LogicalOp, op, InstId, left, BlockId, right);
KILN_VIEW1(YieldInst, kYield, InstId, value);
KILN_VIEW_B(ScopeInst, kScope, BlockId, block);
KILN_VIEW2(IfInst, kIf, InstId, condition, ListId, blocks);
KILN_VIEW2(LoopInst, kLoop, LocalId, exit, ListId, blocks);
KILN_VIEW1(BreakInst, kBreak, LocalId, exit);
KILN_VIEW1(ContinueInst, kContinue, LocalId, exit);
KILN_VIEW1(ReturnInst, kReturn, InstId, value);
KILN_VIEW0(DiscardInst, kDiscard);
KILN_VIEW_F(GlobalRefInst, kGlobalRef, Direction, direction, DeclId, decl, MemberId, member);
KILN_VIEW_F(StageRefInst, kStageRef, StageVariable, variable, uint32_t, unused_a, uint32_t,
            unused_b);
KILN_VIEW1(LocalRefInst, kLocalRef, LocalId, local);
KILN_VIEW0(TempInst, kTemp);
KILN_VIEW1(ConstPlaceInst, kConstPlace, ConstId, value);
KILN_VIEW2(SpecConstInst, kSpecConst, uint32_t, id, uint32_t, bits);
KILN_VIEW2(AccessInst, kAccess, InstId, root, ListId, steps);
KILN_VIEW1(ParamInst, kParam, LocalId, local);
KILN_VIEW1(LoadInst, kLoad, InstId, place);
KILN_VIEW_F(UnaryInst, kUnary, UnaryOp, op, InstId, operand, uint32_t, unused);
KILN_VIEW_F(BinaryInst, kBinary, BinaryOp, op, InstId, left, InstId, right);
KILN_VIEW_B(ConstructInst, kConstruct, ListId, operands);
KILN_VIEW1(SplatInst, kSplat, InstId, value);
KILN_VIEW1(ConvertInst, kConvert, InstId, value);
KILN_VIEW2(ExtractInst, kExtract, InstId, value, uint32_t, index);
KILN_VIEW2(SwizzleInst, kSwizzle, InstId, value, uint32_t, letters);
KILN_VIEW_F(BuiltinCallInst, kBuiltinCall, Builtin, builtin, uint32_t, unused, ListId, arguments);
KILN_VIEW2(CallInst, kCall, DeclId, function, ListId, arguments);
KILN_VIEW2(SelectInst, kSelect, InstId, condition, ListId, operands);
KILN_VIEW2(SelectBlocksInst, kSelectBlocks, InstId, condition, ListId, blocks);
KILN_VIEW2(StoreInst, kStore, InstId, place, InstId, value);
KILN_VIEW1(InsertionPointInst, kInsertionPoint, RegionId, region);
KILN_VIEW1(CexprInst, kCexpr, CexprId, value);
KILN_VIEW2(ChooseInst, kChoose, CexprId, condition, ListId, blocks);
KILN_VIEW2(FaultInst, kFault, StringId, code, ListId, arguments);
KILN_VIEW_F(SwitchInst, kSwitch, BranchHint, hint, LocalId, exit, ListId, cases);
KILN_VIEW0(DemoteInst, kDemote);
KILN_VIEW0(UnreachableInst, kUnreachable);
KILN_VIEW1(BitcastInst, kBitcast, InstId, value);
KILN_VIEW2(InsertInst, kInsert, InstId, whole, ListId, part);  // what is put in, then the steps
KILN_VIEW_F(ImageInst, kImage, ImageOp, op, uint32_t, keywords, ListId, operands);
KILN_VIEW2(TexelInst, kTexel, InstId, image, ListId, operands);
KILN_VIEW_F(AtomicInst, kAtomic, AtomicOp, op, uint32_t, mode, ListId, operands);
KILN_VIEW1(BarrierInst, kBarrier, uint32_t, mode);
KILN_VIEW1(IoInst, kIo, uint32_t, row);

#undef KILN_VIEW0
#undef KILN_VIEW1
#undef KILN_VIEW_B
#undef KILN_VIEW2
#undef KILN_VIEW_F

// --- facts of kinds.def as data
enum class OperandSchema : uint8_t {
  kNone,
  kInst,
  kOptInst,
  kString,
  kConst,
  kLocal,
  kOptLocal,
  kDecl,
  kOptMember,
  kBlock,
  kCexpr,
  kRegion,
  kLiteral,
  kInsts,
  kLocals,
  kBlocks,
  kTexts,  // ListId of StringId
  kPart,   // ListId: an InstId, then literals
  kCases,  // ListId: an InstId, then cases (operands.h)
};
enum class FlagSchema : uint8_t {
  kNone,
  kBinary,
  kUnary,
  kLogical,
  kBuiltin,
  kStage,
  kDirection,
  kBranch,
  kLoop,
  kImage,
  kAtomic,
};
enum class ResultSchema : uint8_t { kValue, kPlace, kVoid, kDeferred };

// Where a kind may stand: bits.
enum class Form : uint8_t {
  kUntyped = 1,       // generic, in modules that are not typed
  kTypedGeneric = 2,  // generic, in typed modules
  kSpecialised = 4,
  kGeneric = kUntyped,
  kBoth = kUntyped | kTypedGeneric | kSpecialised,
  kAnyGeneric = kUntyped | kTypedGeneric,
  kTyped = kTypedGeneric | kSpecialised,
};
constexpr bool Includes(Form form, Form one) {
  return (static_cast<uint8_t>(form) & static_cast<uint8_t>(one)) != 0;
}

struct InstFacts {
  const char* mnemonic;
  FlagSchema flags;
  OperandSchema a, b;
  ResultSchema result;
  Form form;
};
inline constexpr InstFacts kInstFacts[] = {
#define KILN_INST(kind, mnemonic, flags, a, b, result, form) \
  {mnemonic,                                                 \
   FlagSchema::k##flags,                                     \
   OperandSchema::k##a,                                      \
   OperandSchema::k##b,                                      \
   ResultSchema::k##result,                                  \
   Form::k##form},
#include "compiler/ir/kinds.def"
};
constexpr const InstFacts& FactsOf(InstKind kind) {
  return kInstFacts[static_cast<uint16_t>(kind)];
}

}  // namespace kiln::ir
