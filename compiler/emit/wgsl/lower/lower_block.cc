// SPDX-License-Identifier: MIT
// Instructions in order. Nothing is written behind what ends the block: validators refuse it, and
// nothing of it can run. Places are not lowered until somebody loads, stores or passes them.
#include "compiler/emit/wgsl/lower/lower_block.h"

#include <fmt/format.h>

#include "compiler/base/check.h"
#include "compiler/base/threads/stop.h"
#include "compiler/emit/wgsl/lower/lower_control.h"
#include "compiler/emit/wgsl/lower/lower_expr.h"
#include "compiler/emit/wgsl/lower/lower_image.h"
#include "compiler/emit/wgsl/lower/lower_memory.h"
#include "compiler/emit/wgsl/lower/lower_place.h"
#include "compiler/emit/wgsl/lower/lower_texture.h"
#include "compiler/emit/wgsl/lower/lower_typed.h"

namespace kiln::wgsl {
namespace {

// Statements write lines at once, or end the block. What no statement of WGSL is never gets here,
// because modules are checked before.
void LowerStatement(RegionLowering& region, ir::InstId id, const ir::Inst& inst) {
  using enum ir::InstKind;
  switch (inst.kind) {
    case kYield:
      region.yielded = region.Take(inst.As<ir::YieldInst>().value);
      return;
    case kScope:
      LowerBlock(region, inst.As<ir::ScopeInst>().block);
      return;
    case kIf:
      return LowerIf(region, inst.As<ir::IfInst>());
    case kLoop:
      return LowerLoop(region, inst.As<ir::LoopInst>());
    case kBreak:
      LowerBreak(region, id, inst.As<ir::BreakInst>());
      return;
    case kContinue:
      region.Line("continue;");
      region.ends = true;
      return;
    case kReturn:
      return LowerReturn(region, inst.As<ir::ReturnInst>());
    case kDiscard:
      return LowerDiscard(region);
    case kStore:
      return LowerStore(region, inst.As<ir::StoreInst>());
    case kSwitch:
      return LowerSwitch(region, inst.As<ir::SwitchInst>());
    case kDemote:
      region.Line("discard;");
      return;
    case kUnreachable:
      return LowerUnreachable(region);
    case kBarrier:
      return LowerBarrierOf(region, inst.As<ir::BarrierInst>());
    case kInsertionPoint:
      return LowerInsertionPoint(region, inst.As<ir::InsertionPointInst>());
    default:  // values
      break;
  }
  KILN_CHECK(false, "{} is no specialised statement", ir::FactsOf(inst.kind).mnemonic);
}

// The same of values. Each defines what its instruction is called from here on; whether a line is
// written for it is decided by Define.
void LowerValue(RegionLowering& region, ir::InstId id, const ir::Inst& inst) {
  using enum ir::InstKind;
  switch (inst.kind) {
    case kConst:
      return region.Define(id, ConstantExpr(region, inst.As<ir::ConstInst>().value));
    case kFlag:
      return region.Define(
          id, {.text = inst.As<ir::FlagInst>().value != 0 ? "true" : "false", .constant = true});
    case kLogical:
      return LowerLogical(region, id, inst.As<ir::LogicalInst>());
    // A constant of the pipeline is a constant to WGSL too: it may evaluate it, and refuse what
    // fails.
    case kSpecConst:
      return region.Define(id, {.text = Mark(MarkKind::kOverride, inst.As<ir::SpecConstInst>().id),
                                .constant = true});
    case kParam:
      return region.Define(id, {.text = region.LocalText(inst.As<ir::ParamInst>().local)});
    case kLoad:
      return LowerLoad(region, id, inst.As<ir::LoadInst>());
    case kUnary:
      return LowerUnary(region, id, inst.As<ir::UnaryInst>());
    case kBinary:
      return LowerBinary(region, id, inst.As<ir::BinaryInst>());
    case kConstruct:
      return LowerConstruct(region, id, inst.As<ir::ConstructInst>());
    case kSplat:
      return LowerSplat(region, id, inst.As<ir::SplatInst>());
    case kConvert:
      return LowerConvert(region, id, inst.As<ir::ConvertInst>());
    case kExtract:
      return LowerExtract(region, id, inst.As<ir::ExtractInst>());
    case kSwizzle:
      return LowerSwizzle(region, id, inst.As<ir::SwizzleInst>());
    case kBuiltinCall:
      return LowerBuiltin(region, id, inst.As<ir::BuiltinCallInst>());
    case kCall:
      return LowerCall(region, id, inst.As<ir::CallInst>());
    case kSelect:
      return LowerSelect(region, id, inst.As<ir::SelectInst>());
    case kSelectBlocks:
      return LowerSelectBlocks(region, id, inst.As<ir::SelectBlocksInst>());
    case kBitcast:
      return LowerBitcast(region, id, inst.As<ir::BitcastInst>());
    case kInsert:
      return LowerInsert(region, id, inst.As<ir::InsertInst>());
    case kImage:
      return LowerTexture(region, id, inst.As<ir::ImageInst>());
    case kAtomic:
      return LowerAtomicOf(region, id, inst.As<ir::AtomicInst>());
    default:  // statements
      break;
  }
  KILN_CHECK(false, "{} is no specialised value", ir::FactsOf(inst.kind).mnemonic);
}

// Of what is not written any more. Whoever is in the middle of lowering may still ask for the
// value, and any text is one: it is thrown away.
void PassOver(RegionLowering& region, ir::InstId id) {
  region.SetText(id, "0");
  if (region.InstOf(id).kind == ir::InstKind::kYield) {
    region.yielded = {.text = "0"};
  }
}

// Statements write lines, values define texts, places wait.
void LowerInst(RegionLowering& region, ir::InstId id) {
  const ir::Inst& inst = region.InstOf(id);
  if (region.typed() && region.typed_region.left_out[id.value]) {
    return;
  }
  switch (ir::FactsOf(inst.kind).result) {
    case ir::ResultSchema::kValue:
      // A coordinate with a layer that only one sample asks for is never put together; its parts
      // are asked for instead (lower_image).
      if (!region.IsTakenApart(id)) {
        LowerValue(region, id, inst);
      }
      return;
    case ir::ResultSchema::kPlace:
      if (inst.kind == ir::InstKind::kTemp) {
        LowerTemp(region, id);
      }
      return;
    case ir::ResultSchema::kVoid:
      LowerStatement(region, id, inst);
      return;
    case ir::ResultSchema::kDeferred:
      break;
  }
  KILN_CHECK(false, "{} is not specialised", ir::FactsOf(inst.kind).mnemonic);
}

}  // namespace

void LowerBlock(RegionLowering& region, ir::BlockId block) {
  for (const uint32_t inst : region.source().InstsOf(block)) {
    CheckStop();
    // The region has ended: what follows cannot run.
    if (region.ends) {
      return;
    }
    // One row may be thousands of lines, if it copies memory that holds atomics; so rows are no
    // measure of what is written, and the lines are asked.
    if (region.IsFull()) {
      PassOver(region, ir::InstId{inst});
      continue;
    }
    LowerInst(region, ir::InstId{inst});
  }
}

}  // namespace kiln::wgsl
