// SPDX-License-Identifier: MIT
// Atomics, barriers and lengths of runtime arrays. See spec/rpl 14.6, 14.7
#include <iterator>

#include "compiler/base/check.h"
#include "compiler/emit/spirv/lower_segment.h"
#include "compiler/ir/typing.h"

namespace kiln::spirv {
namespace {

using spv::Op;

struct AtomicRow {
  Op u, s;
};
// By Builtin, from kAtomicAdd.
constexpr AtomicRow kAtomics[] = {
    {Op::OpAtomicIAdd, Op::OpAtomicIAdd},
    {Op::OpAtomicUMin, Op::OpAtomicSMin},
    {Op::OpAtomicUMax, Op::OpAtomicSMax},
    {Op::OpAtomicAnd, Op::OpAtomicAnd},
    {Op::OpAtomicOr, Op::OpAtomicOr},
    {Op::OpAtomicXor, Op::OpAtomicXor},
    {Op::OpAtomicExchange, Op::OpAtomicExchange},
    {Op::OpAtomicCompareExchange, Op::OpAtomicCompareExchange},
};
constexpr auto kFirstAtomic = static_cast<size_t>(ir::Builtin::kAtomicAdd);
static_assert(std::size(kAtomics) ==
              static_cast<size_t>(ir::Builtin::kAtomicCompareExchange) - kFirstAtomic + 1);

constexpr uint32_t Bits(spv::MemorySemanticsMask mask) { return static_cast<uint32_t>(mask); }
constexpr uint32_t kWorkgroupScope = static_cast<uint32_t>(spv::Scope::Workgroup);
constexpr uint32_t kDeviceScope = static_cast<uint32_t>(spv::Scope::Device);

}  // namespace

Ref SegmentLowering::LowerMemory(const ir::BuiltinCallInst& inst) {
  if (ir::IsBarrier(inst.builtin)) {
    LowerBarrier(inst);
    return {};
  }
  return ir::IsAtomic(inst.builtin) ? LowerAtomic(inst) : LowerArrayLength(inst);
}

Ref SegmentLowering::LowerAtomic(const ir::BuiltinCallInst& inst) {
  const std::span<const uint32_t> arguments = segment_.List(inst.arguments);
  const Place place = PlaceOf(ir::InstId{arguments[0]});
  const Ref pointer = PointerTo(place);
  const bool shared = place.root.storage == spv::StorageClass::Workgroup;
  const SymbolId scope = globals_.U32(shared ? kWorkgroupScope : kDeviceScope);
  const SymbolId relaxed = globals_.U32(0);
  const AtomicRow& row = kAtomics[static_cast<size_t>(inst.builtin) - kFirstAtomic];
  const bool is_signed = pool_[inst.type].scalar == ir::Scalar::kS32;
  const SymbolId type = Type(inst.type);
  const Ref result = writer_.NewId();
  {
    Instruction made = Code(is_signed ? row.s : row.u);
    made.Use(type).Use(result).Use(pointer).Use(scope).Use(relaxed);
    if (inst.builtin == ir::Builtin::kAtomicCompareExchange) {
      made.Use(relaxed).Use(ValueOf(ir::InstId{arguments[2]}));  // then what is expected
    }
    made.Use(ValueOf(ir::InstId{arguments[1]}));
  }
  cache_.Written(place.root.id);
  return result;
}

// The instruction takes the block, whose last member the array is.
Ref SegmentLowering::LowerArrayLength(const ir::BuiltinCallInst& inst) {
  const Place place = PlaceOf(ir::InstId{segment_.List(inst.arguments)[0]});
  const SymbolId type = Type(inst.type);
  const Ref result = writer_.NewId();
  Code(Op::OpArrayLength).Use(type).Use(result).Use(place.root.id).Word(place.member);
  return result;
}

void SegmentLowering::LowerBarrier(const ir::BuiltinCallInst& inst) {
  using enum spv::MemorySemanticsMask;
  const uint32_t memory = inst.builtin == ir::Builtin::kWorkgroupBarrier
                              ? Bits(WorkgroupMemory)
                              : Bits(UniformMemory) | Bits(ImageMemory);
  const SymbolId scope = globals_.U32(kWorkgroupScope);
  const SymbolId semantics = globals_.U32(Bits(AcquireRelease) | memory);
  Code(Op::OpControlBarrier).Use(scope).Use(scope).Use(semantics);
  cache_.Called();  // others may have written what is shared
}

}  // namespace kiln::spirv
