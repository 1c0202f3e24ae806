// SPDX-License-Identifier: MIT
#include "compiler/emit/spirv/lower/lower_memory.h"

#include <iterator>

#include "compiler/base/check.h"
#include "compiler/emit/spirv/lower/lower_access.h"
#include "compiler/emit/spirv/lower/lower_texels.h"
#include "compiler/ir/typing/typing.h"

namespace kiln::spirv {
namespace {

using spv::Op;

// The instruction for unsigned and signed words.
struct AtomicRow {
  Op u, s;
};
// By AtomicOp, from kAdd.
constexpr AtomicRow kAtomics[] = {
    {Op::OpAtomicIAdd, Op::OpAtomicIAdd},
    {Op::OpAtomicISub, Op::OpAtomicISub},
    {Op::OpAtomicUMin, Op::OpAtomicSMin},
    {Op::OpAtomicUMax, Op::OpAtomicSMax},
    {Op::OpAtomicAnd, Op::OpAtomicAnd},
    {Op::OpAtomicOr, Op::OpAtomicOr},
    {Op::OpAtomicXor, Op::OpAtomicXor},
    {Op::OpAtomicExchange, Op::OpAtomicExchange},
    {Op::OpAtomicCompareExchange, Op::OpAtomicCompareExchange},
};
constexpr auto kFirstAtomic = static_cast<size_t>(ir::AtomicOp::kAdd);
static_assert(std::size(kAtomics) ==
              static_cast<size_t>(ir::AtomicOp::kCompareExchange) - kFirstAtomic + 1);

const AtomicRow& RowOf(ir::AtomicOp op) { return kAtomics[static_cast<size_t>(op) - kFirstAtomic]; }

// The functions of RPL stand in the order of the operations, but there is no subtraction.
constexpr ir::AtomicOp AtomicOpOf(ir::Builtin builtin) {
  const auto row = static_cast<size_t>(builtin) - static_cast<size_t>(ir::Builtin::kAtomicAdd);
  return static_cast<ir::AtomicOp>(kFirstAtomic + row + (row == 0 ? 0 : 1));
}
static_assert(AtomicOpOf(ir::Builtin::kAtomicMin) == ir::AtomicOp::kMin);
static_assert(AtomicOpOf(ir::Builtin::kAtomicCompareExchange) == ir::AtomicOp::kCompareExchange);

constexpr uint32_t Bits(spv::MemorySemanticsMask mask) { return static_cast<uint32_t>(mask); }
constexpr uint32_t kWorkgroupScope = static_cast<uint32_t>(spv::Scope::Workgroup);
constexpr uint32_t kDeviceScope = static_cast<uint32_t>(spv::Scope::Device);

// RPL's atomics are relaxed, and their scope is that of the memory: a workgroup for its own memory,
// the device for buffers (spec/rpl 14.7).
// Operands of SPIR-V: place, scope, semantics, value; the value to compare with comes last,
// where RPL has it second.
Ref LowerAtomic(RegionLowering& region, const ir::BuiltinCallInst& inst) {
  const std::span<const uint32_t> arguments = region.source().List(inst.arguments);
  const Place place = PlaceOf(region, ir::InstId{arguments[0]});
  const Ref pointer = PointerTo(region, place);
  const bool shared = place.root.storage == spv::StorageClass::Workgroup;
  const SymbolId scope = region.globals().U32(shared ? kWorkgroupScope : kDeviceScope);
  const SymbolId relaxed = region.globals().U32(0);
  const AtomicRow& row = RowOf(AtomicOpOf(inst.builtin));
  const bool is_signed = region.pool()[inst.type].scalar == ir::Scalar::kS32;
  const SymbolId type = region.Type(inst.type);
  const Ref result = region.writer().NewId();
  // The instruction ends before the cache is told, as a value in it may still be emitted.
  {
    Instruction made = region.Code(is_signed ? row.s : row.u);
    made.Use(type).Use(result).Use(pointer).Use(scope).Use(relaxed);
    if (inst.builtin == ir::Builtin::kAtomicCompareExchange) {
      made.Use(relaxed).Use(region.ValueOf(ir::InstId{arguments[2]}));  // then what is expected
    }
    made.Use(region.ValueOf(ir::InstId{arguments[1]}));
  }
  // The place has another value now, and so may every place that overlaps with it.
  region.cache().Written(place.root.id);
  return result;
}

// The instruction takes the block, whose last member the array is; of an array of buffers the one
// that is picked.
Ref LowerArrayLength(RegionLowering& region, const ir::BuiltinCallInst& inst) {
  const Place place = PlaceOf(region, ir::InstId{region.source().List(inst.arguments)[0]});
  const SymbolId type = region.Type(inst.type);
  const Ref block = BlockOf(region, place);
  const Ref result = region.writer().NewId();
  region.Code(Op::OpArrayLength).Use(type).Use(result).Use(block).Word(place.member);
  return result;
}

// RPL's barriers wait for the workgroup and order what they are named for: its own memory, or
// buffers and images. See spec/rpl 14.6.
void LowerBarrier(RegionLowering& region, const ir::BuiltinCallInst& inst) {
  using enum spv::MemorySemanticsMask;
  const uint32_t memory = inst.builtin == ir::Builtin::kWorkgroupBarrier
                              ? Bits(WorkgroupMemory)
                              : Bits(UniformMemory) | Bits(ImageMemory);
  const SymbolId scope = region.globals().U32(kWorkgroupScope);
  const SymbolId semantics = region.globals().U32(Bits(AcquireRelease) | memory);
  region.Code(Op::OpControlBarrier).Use(scope).Use(scope).Use(semantics);
  region.cache().Called();  // others may have written what is shared
}

}  // namespace

namespace {

uint32_t ScopeOf(ir::MemoryScope scope) {
  switch (scope) {
    case ir::MemoryScope::kDevice:
      return static_cast<uint32_t>(spv::Scope::Device);
    case ir::MemoryScope::kWorkgroup:
      return static_cast<uint32_t>(spv::Scope::Workgroup);
    case ir::MemoryScope::kSubgroup:
      return static_cast<uint32_t>(spv::Scope::Subgroup);
    case ir::MemoryScope::kInvocation:
      return static_cast<uint32_t>(spv::Scope::Invocation);
    case ir::MemoryScope::kNone:
      break;
  }
  KILN_UNREACHABLE();
}

uint32_t BitsOf(ir::MemoryOrder order) {
  using enum spv::MemorySemanticsMask;
  switch (order) {
    case ir::MemoryOrder::kRelaxed:
      return 0;
    case ir::MemoryOrder::kAcquire:
      return Bits(Acquire);
    case ir::MemoryOrder::kRelease:
      return Bits(Release);
    case ir::MemoryOrder::kAcquireRelease:
      return Bits(AcquireRelease);
  }
  KILN_UNREACHABLE();
}

// An order that is not relaxed is about one kind of memory: that of the place.
// docs/IR.md, "Memory".
uint32_t SemanticsOf(ir::MemoryOrder order, spv::StorageClass storage) {
  using enum spv::MemorySemanticsMask;
  const uint32_t memory = storage == spv::StorageClass::Workgroup ? Bits(WorkgroupMemory)
                          : storage == spv::StorageClass::Image   ? Bits(ImageMemory)
                                                                  : Bits(UniformMemory);
  return order == ir::MemoryOrder::kRelaxed ? 0 : BitsOf(order) | memory;
}

// Of an order for success: what a compare_exchange that stores nothing has.
// SPIR-V allows no release where nothing is stored.
uint32_t FailureOf(ir::MemoryOrder order, spv::StorageClass storage) {
  const bool acquires =
      order == ir::MemoryOrder::kAcquire || order == ir::MemoryOrder::kAcquireRelease;
  return SemanticsOf(acquires ? ir::MemoryOrder::kAcquire : ir::MemoryOrder::kRelaxed, storage);
}

// What an atomic changes: a place, or a texel of a storage image.
struct Target {
  Ref pointer{};
  spv::StorageClass storage = spv::StorageClass::Image;
  Ref root{};  // invalid: a texel
};

// A texel has a pointer of its own; no cached load is about it.
Target TargetOf(RegionLowering& region, ir::InstId id) {
  const ir::Inst& inst = region.InstOf(id);
  if (inst.kind == ir::InstKind::kTexel) {
    return {.pointer = LowerTexel(region, inst)};
  }
  const Place place = PlaceOf(region, id);
  return {PointerTo(region, place), place.root.storage, place.root.id};
}

Op OpcodeOf(ir::AtomicOp op, ir::Scalar scalar) {
  if (op == ir::AtomicOp::kLoad) {
    return Op::OpAtomicLoad;
  }
  if (op == ir::AtomicOp::kStore) {
    return Op::OpAtomicStore;
  }
  const AtomicRow& row = RowOf(op);
  return ir::IsSignedScalar(scalar) ? row.s : row.u;
}

}  // namespace

Ref LowerAtomicInst(RegionLowering& region, const ir::AtomicInst& inst) {
  const std::span<const uint32_t> operands = region.source().List(inst.operands);
  const ir::Scalar scalar = region.TypeOf(ir::InstId{operands[0]}).scalar;
  // Pointer and constants come first. The instruction must not be begun while operands may still
  // write words of their own.
  const Target target = TargetOf(region, ir::InstId{operands[0]});
  const ir::AtomicMode mode = ir::UnpackAtomic(inst.mode);
  const SymbolId scope = region.globals().U32(ScopeOf(mode.scope));
  const SymbolId semantics = region.globals().U32(SemanticsOf(mode.order, target.storage));
  const auto value = [&](size_t i) { return region.ValueOf(ir::InstId{operands[i]}); };
  if (ir::BitWidthOf(scalar) == 64) {
    region.writer().needs |= target::BitOf(target::Need::kInt64Atomics);
  }
  Ref result;
  if (inst.op == ir::AtomicOp::kStore) {
    region.Code(Op::OpAtomicStore).Use(target.pointer).Use(scope).Use(semantics).Use(value(1));
  } else {
    const SymbolId type = region.Type(inst.type);
    const bool compares = inst.op == ir::AtomicOp::kCompareExchange;
    const SymbolId failure =
        compares ? region.globals().U32(FailureOf(mode.order, target.storage)) : SymbolId{};
    result = region.writer().NewId();
    Instruction made = region.Code(OpcodeOf(inst.op, scalar));
    made.Use(type).Use(result).Use(target.pointer).Use(scope).Use(semantics);
    if (compares) {
      // SPIR-V has the new value before the value that is expected; the IR has them the other way
      // round.
      made.Use(failure).Use(value(2)).Use(value(1));
    } else if (inst.op != ir::AtomicOp::kLoad) {
      made.Use(value(1));
    }
  }
  // A texel has no root that the cache knows; nothing of an image is remembered but the handle.
  if (target.root.valid()) {
    region.cache().Written(target.root);
  }
  if (mode.order != ir::MemoryOrder::kRelaxed) {
    region.cache().Called();  // others may have written what is shared
  }
  return result;
}

void LowerBarrierInst(RegionLowering& region, const ir::BarrierInst& inst) {
  using enum spv::MemorySemanticsMask;
  const ir::BarrierMode mode = ir::UnpackBarrier(inst.mode);
  // In the order of the bits of `kinds`.
  constexpr uint32_t kKinds[] = {Bits(WorkgroupMemory), Bits(UniformMemory), Bits(ImageMemory)};
  uint32_t memory = 0;
  for (size_t kind = 0; kind < std::size(kKinds); ++kind) {
    memory |= (mode.kinds >> kind & 1u) != 0 ? kKinds[kind] : 0;
  }
  const SymbolId scope = region.globals().U32(ScopeOf(mode.scope));
  const SymbolId semantics = region.globals().U32(memory == 0 ? 0 : memory | Bits(AcquireRelease));
  // Nobody waits: only memory is ordered.
  if (mode.execution == ir::MemoryScope::kNone) {
    region.Code(Op::OpMemoryBarrier).Use(scope).Use(semantics);
  } else {
    const SymbolId execution = region.globals().U32(ScopeOf(mode.execution));
    region.Code(Op::OpControlBarrier).Use(execution).Use(scope).Use(semantics);
  }
  region.cache().Called();
}

Ref LowerMemory(RegionLowering& region, const ir::BuiltinCallInst& inst) {
  if (ir::IsBarrier(inst.builtin)) {
    LowerBarrier(region, inst);
    return {};
  }
  return ir::IsAtomic(inst.builtin) ? LowerAtomic(region, inst) : LowerArrayLength(region, inst);
}

}  // namespace kiln::spirv
