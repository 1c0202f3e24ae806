// SPDX-License-Identifier: MIT
// A callee may write to every place that outlives it, and to its out arguments. An image that is
// handed on is a flow: whether it is non-uniform is known when all callers are.
#include "compiler/emit/spirv/lower/lower_call.h"

#include <span>
#include <vector>

#include "compiler/emit/spirv/lower/lower_access.h"

namespace kiln::spirv {
namespace {

using spv::Op;

// Values are passed as they are; places as pointers. An image from an array, or one that is a
// parameter here, is noted as a flow: assembling knows all callers and decides what is non-uniform
// (ModuleNumbering).
Ref LowerArgument(RegionLowering& region, ir::InstId id, SymbolId callee, uint32_t index) {
  if (ir::FactsOf(region.InstOf(id).kind).result != ir::ResultSchema::kPlace) {
    return region.ValueOf(id);
  }
  const Place place = PlaceOf(region, id);
  if (place.non_uniform || place.root.parameter.valid()) {
    region.writer().flows.push_back(
        {.callee = callee, .argument = index, .source = place.root.parameter});
  }
  return PointerTo(region, place);
}

}  // namespace

Ref LowerCall(RegionLowering& region, const ir::CallInst& inst) {
  const SymbolId callee = region.table().store().Function(inst.function);
  const std::span<const uint32_t> arguments = region.source().List(inst.arguments);
  std::vector<Ref>& ids = region.scratch().arguments;
  ids.clear();
  // All arguments are lowered before the instruction is begun, since lowering one may write code.
  for (uint32_t i = 0; i < arguments.size(); ++i) {
    ids.push_back(LowerArgument(region, ir::InstId{arguments[i]}, callee, i));
  }
  const Ref result = region.writer().NewId();
  {
    Instruction call = region.Code(Op::OpFunctionCall);
    call.Use(region.Type(inst.type)).Use(result).Use(callee);
    for (const Ref id : ids) {
      call.Use(id);
    }
  }
  // What others can see may have been written, and each place that was passed for `out` or `in
  // out`. Handles are not written.
  region.cache().Called();
  for (size_t i = 0; i < arguments.size(); ++i) {
    const ir::InstId id{arguments[i]};
    const bool is_place = ir::FactsOf(region.InstOf(id).kind).result == ir::ResultSchema::kPlace;
    if (is_place && !region.IsHandle(region.InstOf(id).type)) {
      region.cache().Written(ids[i]);
    }
  }
  return result;
}

}  // namespace kiln::spirv
