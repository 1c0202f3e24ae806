// SPDX-License-Identifier: MIT
// Values are computed where they stand and found by the number of their instruction; places are not
// lowered until somebody loads, stores or passes them. What stands behind a terminator in its block
// is left out: a block of SPIR-V that nothing leads to may lie outside of the loop that it jumps
// in, which no module may have.
#include "compiler/emit/spirv/lower/lower_block.h"

#include "compiler/base/check.h"
#include "compiler/base/threads/stop.h"
#include "compiler/emit/spirv/lower/lower_access.h"
#include "compiler/emit/spirv/lower/lower_call.h"
#include "compiler/emit/spirv/lower/lower_control.h"
#include "compiler/emit/spirv/lower/lower_expr.h"
#include "compiler/emit/spirv/lower/lower_guards.h"
#include "compiler/emit/spirv/lower/lower_memory.h"
#include "compiler/emit/spirv/lower/lower_relaxed.h"
#include "compiler/emit/spirv/lower/lower_texels.h"
#include "compiler/ir/operands.h"

namespace kiln::spirv {
namespace {

using spv::Op;

// A line lasts to the end of its block; what is repeated is left out.
void MarkLine(RegionLowering& region, ir::InstId id) {
  const SourceLines* lines = region.table().lines();
  if (lines == nullptr || id.value >= region.source().spans.size() || region.block().terminated) {
    return;
  }
  const SourceLines::Position line =
      lines->At(region.source().module, region.source().spans[id.value]);
  if (line.line == 0 || line == region.block().line) {
    return;
  }
  region.block().line = line;
  region.Code(Op::OpLine)
      .Use(region.globals().SourceFile(lines->FileOf(region.source().module, line.file)))
      .Word(line.line)
      .Word(line.column);
}

// The flat switch over kinds is the whole dispatch. Each case is a function in the file of its
// topic.
void LowerStatement(RegionLowering& region, const ir::Inst& inst) {
  using enum ir::InstKind;
  switch (inst.kind) {
    case kYield:
      region.block().yielded = region.ValueOf(inst.As<ir::YieldInst>().value);
      return;
    case kScope:
      LowerBlock(region, inst.As<ir::ScopeInst>().block);
      return;
    case kIf:
      LowerIf(region, inst);
      return;
    case kLoop:
      LowerLoop(region, inst);
      return;
    case kSwitch:
      LowerSwitch(region, inst.As<ir::SwitchInst>());
      return;
    case kDemote:
      LowerDemote(region);
      return;
    case kUnreachable:
      LowerUnreachable(region);
      return;
    case kBarrier:
      LowerBarrierInst(region, inst.As<ir::BarrierInst>());
      return;
    case kBreak:
      region.block().jumps.push_back({inst.As<ir::BreakInst>().exit, LocalRole::kBreak});
      Branch(region, region.LowerName(inst.As<ir::BreakInst>().exit, LocalRole::kBreak));
      return;
    case kContinue:
      region.block().jumps.push_back({inst.As<ir::ContinueInst>().exit, LocalRole::kContinue});
      Branch(region, region.LowerName(inst.As<ir::ContinueInst>().exit, LocalRole::kContinue));
      return;
    case kReturn:
      LowerReturn(region, inst.As<ir::ReturnInst>());
      return;
    case kDiscard:
      LowerDiscard(region);
      return;
    case kStore:
      LowerStore(region, inst.As<ir::StoreInst>());
      return;
    case kInsertionPoint:
      LowerInsertionPoint(region, inst.As<ir::InsertionPointInst>().region);
      return;
    default:
      break;
  }
  KILN_CHECK(false, "{} is no specialised statement", ir::FactsOf(inst.kind).mnemonic);
}

// The same of everything that has a value. What is returned may be an own id or a symbol: constants
// and names need no instruction here.
Ref LowerValue(RegionLowering& region, const ir::Inst& inst) {
  using enum ir::InstKind;
  switch (inst.kind) {
    case kConst:
      return Ref::Of(region.globals().Constant(inst.As<ir::ConstInst>().value));
    case kFlag:
      return Ref::Of(region.globals().Flag(inst.As<ir::FlagInst>().value != 0));
    case kLogical:
      return LowerLogical(region, inst.As<ir::LogicalInst>());
    case kSpecConst: {
      const auto spec = inst.As<ir::SpecConstInst>();
      return Ref::Of(region.globals().SpecConstant(inst.type, spec.id, spec.bits));
    }
    case kParam:
      return region.LowerName(inst.As<ir::ParamInst>().local);
    case kLoad:
      return LowerLoad(region, inst.As<ir::LoadInst>());
    case kUnary:
      return LowerUnary(region, inst.As<ir::UnaryInst>());
    case kBinary:
      return (inst.flags & ir::BitOf(ir::InstFlag::kTotal)) != 0
                 ? LowerTotal(region, inst.As<ir::BinaryInst>())
                 : LowerBinary(region, inst.As<ir::BinaryInst>());
    case kConstruct:
      return LowerConstruct(region, inst.As<ir::ConstructInst>());
    case kSplat:
      return LowerSplat(region, inst.As<ir::SplatInst>());
    case kConvert:
      return (inst.flags & ir::BitOf(ir::InstFlag::kSaturating)) != 0
                 ? LowerSaturating(region, inst.As<ir::ConvertInst>())
                 : LowerConvert(region, inst.As<ir::ConvertInst>());
    case kBitcast:
      return LowerBitcast(region, inst.As<ir::BitcastInst>());
    case kInsert:
      return LowerInsert(region, inst.As<ir::InsertInst>());
    case kImage:
      return LowerImageOp(region, inst.As<ir::ImageInst>());
    case kAtomic:
      return LowerAtomicInst(region, inst.As<ir::AtomicInst>());
    case kExtract: {
      const auto extract = inst.As<ir::ExtractInst>();
      return Extract(region, region.Type(inst.type), region.ValueOf(extract.value), extract.index);
    }
    case kSwizzle:
      return LowerSwizzle(region, inst.As<ir::SwizzleInst>());
    case kBuiltinCall:
      return LowerBuiltin(region, inst.As<ir::BuiltinCallInst>());
    case kCall:
      return LowerCall(region, inst.As<ir::CallInst>());
    case kSelect:
      return LowerSelect(region, inst.As<ir::SelectInst>());
    case kSelectBlocks:
      return LowerSelectBlocks(region, inst.As<ir::SelectBlocksInst>());
    default:
      break;
  }
  KILN_CHECK(false, "{} is no specialised value", ir::FactsOf(inst.kind).mnemonic);
  return {};
}

// Of what is not written: because nothing reaches it, or because there is no room. Whoever is in
// the middle of lowering may still ask for the value, and any id is one, as the words are thrown
// away. The walk over regions knows nothing of targets, which decide whether a demotion ends a
// path. So a region may be live whose insertion point nothing reaches; it is noted, so that the
// order of insertion points stays that of regions. Blocks nest as deep as verification lets them.
void PassOver(RegionLowering& region, ir::InstId id) {
  CheckStop();
  const ir::Inst& inst = region.InstOf(id);
  const Ref any = Ref::Of(region.globals().Flag(false));
  region.values()[id.value] = any;
  if (inst.kind == ir::InstKind::kYield) {
    region.block().yielded = any;
  } else if (inst.kind == ir::InstKind::kInsertionPoint) {
    region.writer().AddInsertionPoint(inst.As<ir::InsertionPointInst>().region, false);
  }
  ir::ForEachOwnedBlock(
      inst, [&](ir::ListId id) { return region.source().List(id); },
      [&](uint32_t block) {
        for (const uint32_t row : region.source().InstsOf(ir::BlockId{block})) {
          PassOver(region, ir::InstId{row});
        }
      });
}

// What becomes of an instruction follows from its schema in kinds.def: values are computed here,
// places wait for whoever uses them, statements act.
void LowerInst(RegionLowering& region, ir::InstId id, const ir::Inst& inst) {
  switch (ir::FactsOf(inst.kind).result) {
    case ir::ResultSchema::kValue:
      MarkLine(region, id);
      region.values()[id.value] = LowerValue(region, inst);
      // The low byte of the flags belongs to the schema; what is above it are promises on this
      // instruction (docs/IR.md, "Flags").
      if (inst.flags > ir::kSchemaFlags) {
        DecorateResult(region, inst, region.values()[id.value]);
      }
      if (!region.scratch().relaxed.empty()) {
        FollowRelaxed(region, id, inst);
      }
      return;
    case ir::ResultSchema::kPlace:
      // A temp is the one place that needs something at once: its variable.
      if (inst.kind == ir::InstKind::kTemp) {
        region.values()[id.value] = LowerTemp(region, inst.type);
      }
      return;
    case ir::ResultSchema::kVoid:
      MarkLine(region, id);
      LowerStatement(region, inst);
      return;
    case ir::ResultSchema::kDeferred:
      break;
  }
  KILN_UNREACHABLE();
}

}  // namespace

// The statements of a block, in order. The block of SPIR-V they go to may change on the way.
void LowerBlock(RegionLowering& region, ir::BlockId block) {
  // Blocks nest only as deep as verification lets them, which bounds the recursion over a region.
  KILN_CHECK(++region.block().depth <= ir::kMaxNesting);
  for (const uint32_t row : region.source().InstsOf(block)) {
    CheckStop();
    const ir::InstId id{row};
    // One row may be thousands of instructions, if it copies a struct between two layouts; so rows
    // are no measure of what is written, and the words are asked.
    if (region.block().terminated || region.IsFull()) {
      PassOver(region, id);
      continue;
    }
    LowerInst(region, id, region.InstOf(id));
  }
  --region.block().depth;
}

// The value that the block yields. What was yielded before is forgotten first, so that a block
// without a yield is found.
Ref LowerValueBlock(RegionLowering& region, ir::BlockId block) {
  region.block().yielded = {};
  ++region.block().must_go_on;
  LowerBlock(region, block);
  --region.block().must_go_on;
  KILN_CHECK(region.block().yielded.valid(), "a value block must yield");
  return region.block().yielded;
}

}  // namespace kiln::spirv
