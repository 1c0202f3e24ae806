// SPDX-License-Identifier: MIT
// Atomics are one instruction of the IR each, with scope and order; barriers say which kind of
// memory they order. The scope follows from the address space of the pointer, so it is never
// asked of the source.
#include "compiler/front/wgsl/lower/memory.h"

#include <vector>

#include "compiler/base/check.h"
#include "compiler/front/wgsl/lower/type.h"
#include "compiler/front/wgsl/lower/value.h"

namespace kiln::wgsl::front {
namespace {

ir::AtomicOp OpOf(Function function) {
  switch (function) {
    case Function::kAtomicLoad:
      return ir::AtomicOp::kLoad;
    case Function::kAtomicStore:
      return ir::AtomicOp::kStore;
    case Function::kAtomicAdd:
      return ir::AtomicOp::kAdd;
    case Function::kAtomicSub:
      return ir::AtomicOp::kSub;
    case Function::kAtomicMax:
      return ir::AtomicOp::kMax;
    case Function::kAtomicMin:
      return ir::AtomicOp::kMin;
    case Function::kAtomicAnd:
      return ir::AtomicOp::kAnd;
    case Function::kAtomicOr:
      return ir::AtomicOp::kOr;
    case Function::kAtomicXor:
      return ir::AtomicOp::kXor;
    case Function::kAtomicExchange:
      return ir::AtomicOp::kExchange;
    case Function::kAtomicCompareExchangeWeak:
      return ir::AtomicOp::kCompareExchange;
    default:
      break;
  }
  KILN_UNREACHABLE();
}

// Workgroup memory is seen by the workgroup, storage by the device: the narrowest scope that is
// right. WGSL's atomics are relaxed, so no memory is ordered.
ir::InstId Atomic(LowerContext& context, const Expr& expr) {
  const auto function = static_cast<Function>(expr.op);
  const std::span<const uint32_t> list = context.unit.List(ListId{expr.b});
  const Type pointer = context.TypeRowOf(ExprId{list[0]});
  const ir::TypeId scalar = TypeOf(context, TypeId{pointer.element});
  const Place place = PointedBy(context, ExprId{list[0]});
  std::vector<ir::InstId> operands{PlaceInst(context, place)};
  for (const uint32_t id : list.subspan(1)) {
    operands.push_back(ValueOf(context, ExprId{id}));
  }
  context.at = expr.at;
  const bool shared = pointer.space == AddressSpace::kWorkgroup;
  const uint32_t mode = ir::Pack(
      ir::AtomicMode{.scope = shared ? ir::MemoryScope::kWorkgroup : ir::MemoryScope::kDevice});
  const bool stores = function == Function::kAtomicStore;
  const ir::InstId old =
      context.Emit(ir::AtomicInst{stores ? context.builder.Void() : scalar, OpOf(function), mode,
                                  context.builder.Ids(operands)});
  // WGSL gives whether it was exchanged as well. An exchange that never fails for no reason has
  // happened exactly if the old value is the one that was compared with.
  if (function != Function::kAtomicCompareExchangeWeak) {
    return stores ? ir::InstId{} : old;
  }
  const ir::InstId same = context.Emit(
      ir::BinaryInst{context.Vector(ir::Scalar::kBool, 1), ir::BinaryOp::kEqual, old, operands[1]});
  return context.Emit(
      ir::ConstructInst{TypeOf(context, expr.type), context.builder.Ids({old, same})});
}

}  // namespace

// All three barriers wait for the workgroup and order one kind of memory in it.
void Barrier(LowerContext& context, std::initializer_list<ir::MemoryKind> kinds) {
  ir::BarrierMode mode{.execution = ir::MemoryScope::kWorkgroup,
                       .scope = ir::MemoryScope::kWorkgroup};
  for (const ir::MemoryKind kind : kinds) {
    mode.kinds = static_cast<uint8_t>(mode.kinds | 1u << static_cast<uint32_t>(kind));
  }
  context.Emit(ir::BarrierInst{context.builder.Void(), ir::Pack(mode)});
}

ir::InstId MemoryOperation(LowerContext& context, const Expr& expr) {
  context.at = expr.at;
  const std::span<const uint32_t> list = context.unit.List(ListId{expr.b});
  switch (static_cast<Function>(expr.op)) {
    case Function::kWorkgroupBarrier:
      Barrier(context, {ir::MemoryKind::kWorkgroup});
      return {};
    case Function::kStorageBarrier:
      Barrier(context, {ir::MemoryKind::kBuffer});
      return {};
    case Function::kTextureBarrier:
      Barrier(context, {ir::MemoryKind::kImage});
      return {};
    case Function::kArrayLength: {
      const Place place = PointedBy(context, ExprId{list[0]});
      context.at = expr.at;
      return context.Emit(ir::BuiltinCallInst{TypeOf(context, expr.type), ir::Builtin::kArrayLength,
                                              0, context.builder.Ids({PlaceInst(context, place)})});
    }
    // Between two barriers: no invocation writes the value before all have read it.
    case Function::kWorkgroupUniformLoad: {
      const Place place = PointedBy(context, ExprId{list[0]});
      context.at = expr.at;
      Barrier(context, {ir::MemoryKind::kWorkgroup});
      const ir::InstId value = Load(context, place);
      Barrier(context, {ir::MemoryKind::kWorkgroup});
      return value;
    }
    default:
      return Atomic(context, expr);
  }
}

}  // namespace kiln::wgsl::front
