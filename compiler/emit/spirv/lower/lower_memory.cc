// SPDX-License-Identifier: MIT
#include "compiler/emit/spirv/lower/lower_memory.h"

#include <iterator>

#include "compiler/base/check.h"
#include "compiler/emit/spirv/lower/lower_access.h"
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

Ref LowerAtomic(RegionLowering& region, const ir::BuiltinCallInst& inst) {
  const std::span<const uint32_t> arguments = region.source().List(inst.arguments);
  const Place place = PlaceOf(region, ir::InstId{arguments[0]});
  const Ref pointer = PointerTo(region, place);
  const bool shared = place.root.storage == spv::StorageClass::Workgroup;
  const SymbolId scope = region.globals().U32(shared ? kWorkgroupScope : kDeviceScope);
  const SymbolId relaxed = region.globals().U32(0);
  const AtomicRow& row = kAtomics[static_cast<size_t>(inst.builtin) - kFirstAtomic];
  const bool is_signed = region.pool()[inst.type].scalar == ir::Scalar::kS32;
  const SymbolId type = region.Type(inst.type);
  const Ref result = region.writer().NewId();
  {
    Instruction made = region.Code(is_signed ? row.s : row.u);
    made.Use(type).Use(result).Use(pointer).Use(scope).Use(relaxed);
    if (inst.builtin == ir::Builtin::kAtomicCompareExchange) {
      made.Use(relaxed).Use(region.ValueOf(ir::InstId{arguments[2]}));  // then what is expected
    }
    made.Use(region.ValueOf(ir::InstId{arguments[1]}));
  }
  region.cache().Written(place.root.id);
  return result;
}

// The instruction takes the block, whose last member the array is.
Ref LowerArrayLength(RegionLowering& region, const ir::BuiltinCallInst& inst) {
  const Place place = PlaceOf(region, ir::InstId{region.source().List(inst.arguments)[0]});
  const SymbolId type = region.Type(inst.type);
  const Ref result = region.writer().NewId();
  region.Code(Op::OpArrayLength).Use(type).Use(result).Use(place.root.id).Word(place.member);
  return result;
}

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

Ref LowerMemory(RegionLowering& region, const ir::BuiltinCallInst& inst) {
  if (ir::IsBarrier(inst.builtin)) {
    LowerBarrier(region, inst);
    return {};
  }
  return ir::IsAtomic(inst.builtin) ? LowerAtomic(region, inst) : LowerArrayLength(region, inst);
}

}  // namespace kiln::spirv
