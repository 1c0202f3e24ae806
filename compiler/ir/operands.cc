// SPDX-License-Identifier: MIT
#include "compiler/ir/operands.h"

#include "compiler/base/check.h"
#include "compiler/ir/enum_names.h"

namespace kiln::ir {
namespace {

// Flags that every computation may have.
constexpr uint16_t kOfArithmetic = BitOf(InstFlag::kPrecise) | BitOf(InstFlag::kRelaxed);

// A scope is an enumerator without gaps.
bool IsScope(MemoryScope scope) { return static_cast<uint32_t>(scope) < CountOf<MemoryScope>(); }

// Unpacking and packing again gives the same word only if no unknown bit is set.
bool IsAtomicMode(uint32_t literal) {
  const AtomicMode mode = UnpackAtomic(literal);
  return Pack(mode) == literal && IsScope(mode.scope) && mode.scope != MemoryScope::kNone &&
         static_cast<uint32_t>(mode.order) < CountOf<MemoryOrder>();
}

// A barrier of execution alone has no kinds of memory.
bool IsBarrierMode(uint32_t literal) {
  const BarrierMode mode = UnpackBarrier(literal);
  return Pack(mode) == literal && IsScope(mode.execution) && IsScope(mode.scope) &&
         mode.scope != MemoryScope::kNone && mode.kinds < 1u << CountOf<MemoryKind>();
}

// A swizzle names one to four letters, and its other bits are zero.
bool IsSwizzle(uint32_t literal) {
  const uint32_t count = SwizzleCount(literal);
  return count >= 1 && count <= 4 && literal >> (4 + 2 * count) == 0;
}

}  // namespace

// The lower bits of the flags hold an enumerator whose meaning depends on the instruction; this is
// how many there are.
uint32_t FlagBound(FlagSchema schema) {
  switch (schema) {
    case FlagSchema::kNone:
      return 1;
    case FlagSchema::kBinary:
      return CountOf<BinaryOp>();
    case FlagSchema::kUnary:
      return CountOf<UnaryOp>();
    case FlagSchema::kLogical:
      return CountOf<LogicalOp>();
    case FlagSchema::kBuiltin:
      return kBuiltinCount;
    case FlagSchema::kStage:
      return CountOf<StageVariable>();
    case FlagSchema::kDirection:
      return CountOf<Direction>();
    case FlagSchema::kBranch:
      return CountOf<BranchHint>();
    case FlagSchema::kLoop:
      return CountOf<LoopHint>();
    case FlagSchema::kImage:
      return CountOf<ImageOp>();
    case FlagSchema::kAtomic:
      return CountOf<AtomicOp>();
  }
  KILN_UNREACHABLE();
}

// A flag that an instruction cannot have would make two rows differ that mean the same.
uint16_t AllowedFlags(InstKind kind) {
  switch (kind) {
    case InstKind::kUnary:
    case InstKind::kBuiltinCall:
      return kOfArithmetic;
    case InstKind::kBinary:
      return kOfArithmetic | BitOf(InstFlag::kTotal);
    case InstKind::kConvert:
      return BitOf(InstFlag::kRelaxed) | BitOf(InstFlag::kSaturating);
    case InstKind::kSelect:
    case InstKind::kLoad:
    case InstKind::kImage:
    case InstKind::kCall:
      return BitOf(InstFlag::kRelaxed);
    case InstKind::kAccess:
      return BitOf(InstFlag::kNonUniform) | BitOf(InstFlag::kBounded);
    default:
      return 0;
  }
}

// Asked of every instruction of an image that comes from outside.
bool HasGoodFlags(const Inst& inst) {
  const uint32_t low = inst.flags & kSchemaFlags;
  const uint32_t high = inst.flags & ~kSchemaFlags;
  if (low >= FlagBound(FactsOf(inst.kind).flags)) {
    return false;
  }
  // Loops use the upper byte for the count of unrolling.
  if (inst.kind == InstKind::kLoop) {
    return high == 0 || static_cast<LoopHint>(low) == LoopHint::kUnroll;
  }
  return (high & ~uint32_t{AllowedFlags(inst.kind)}) == 0;
}

// Literals are words that name no row; the kinds that have none here may hold any number.
bool HasGoodLiteral(const Inst& inst, uint32_t literal) {
  switch (inst.kind) {
    case InstKind::kFlag:
      return literal <= 1;
    case InstKind::kSwizzle:
      return IsSwizzle(literal);
    case InstKind::kImage:
      return (literal & ~kCombinedSampler) < 1u << CountOf<ImageOperand>();
    case InstKind::kAtomic:
      return IsAtomicMode(literal);
    case InstKind::kBarrier:
      return IsBarrierMode(literal);
    default:
      return true;
  }
}

// An `if` may lack its second block; a loop has three, all others two.
BlockCounts BlockCountsOf(InstKind kind) {
  if (kind == InstKind::kIf) {
    return {1, 2};
  }
  return kind == InstKind::kLoop ? BlockCounts{3, 3} : BlockCounts{2, 2};
}

}  // namespace kiln::ir
