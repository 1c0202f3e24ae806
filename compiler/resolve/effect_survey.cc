// SPDX-License-Identifier: MIT
// Operands are evaluated from left to right (spec/rpl 5.5), but a place is read where it is
// consumed, which may be behind an effect: in `a + f ()` with an `f` that writes `a`. Counting the
// effects before each instruction of a block finds these places: where operand and user differ in
// their counts, the operand is read at its own turn. Blocks inside of an expression count as one
// instruction of the outer block.
#include "compiler/resolve/effect_survey.h"

#include "compiler/base/threads/stop.h"

namespace kiln::resolve {
namespace {

// Can running this instruction change what a later read of a place sees?
// Every call counts, although many functions write nothing: which one is called is known only for a
// variant, and an early read costs a load at most.
bool WritesPlaces(const ir::Inst& inst) {
  if (inst.kind == ir::InstKind::kNameBuiltin) {
    const ir::Builtin builtin = inst.As<ir::NameBuiltinInst>().builtin;
    return ir::IsAtomic(builtin) || ir::IsBarrier(builtin);
  }
  return inst.kind == ir::InstKind::kNameCall || inst.kind == ir::InstKind::kAssign ||
         inst.kind == ir::InstKind::kAssignOp;
}

bool SurveyInst(RegionBuilder& region, uint32_t id) {
  const ir::Inst& inst = region.Generic(id);
  // The instruction itself or anything in its blocks.
  bool effect = WritesPlaces(inst);
  const auto survey_all = [&](ir::ListId blocks) {
    for (const uint32_t block : region.module().List(blocks)) {
      effect = SurveyBlock(region, ir::BlockId{block}) || effect;
    }
  };
  if (inst.kind == ir::InstKind::kLogical) {
    // The right side may not run, but what may happen counts as an effect.
    effect = SurveyBlock(region, inst.As<ir::LogicalInst>().right);
  } else if (inst.kind == ir::InstKind::kNameSelect) {
    survey_all(inst.As<ir::NameSelectInst>().blocks);
  } else if (inst.kind == ir::InstKind::kAlias) {
    // The block is surveyed for its own order, but an alias declaration runs nothing.
    SurveyBlock(region, inst.As<ir::AliasInst>().block);  // runs where it is mentioned
  } else if (inst.kind == ir::InstKind::kWhen) {
    effect = SurveyBlock(region, inst.As<ir::WhenInst>().block);
  } else if (inst.kind == ir::InstKind::kScope) {
    effect = SurveyBlock(region, inst.As<ir::ScopeInst>().block);
  } else if (inst.kind == ir::InstKind::kIf) {
    survey_all(inst.As<ir::IfInst>().blocks);
  } else if (inst.kind == ir::InstKind::kLoop) {
    survey_all(inst.As<ir::LoopInst>().blocks);
  }
  return effect;
}

// The effect of the operand itself comes before its value, so it counts as before.
void MarkEarly(RegionBuilder& region, ir::InstId operand, uint32_t effects_at_user) {
  RegionBuilder::Survey& survey = region.SurveyOf(operand.value);
  const uint32_t effects = survey.effects_before + survey.has_effect;
  // Equal counts mean that nothing happens between operand and user, so the read may wait.
  if (effects != effects_at_user) {
    survey.read_early = 1;
  }
}

// Operands are evaluated from left to right (spec/rpl 5.5): a place that is consumed behind an
// effect must have been read before it.
void PlanEarlyReads(RegionBuilder& region, std::span<const uint32_t> insts) {
  for (const uint32_t id : insts) {
    const ir::Inst& inst = region.Generic(id);
    const uint32_t effects = region.SurveyOf(id).effects_before;
    const auto mark_all = [&](ir::ListId list) {
      for (const uint32_t operand : region.module().List(list)) {
        MarkEarly(region, ir::InstId{operand}, effects);
      }
    };
    if (inst.kind == ir::InstKind::kNameBinary) {
      MarkEarly(region, inst.As<ir::NameBinaryInst>().left, effects);
    } else if (inst.kind == ir::InstKind::kAssignOp) {
      MarkEarly(region, inst.As<ir::AssignOpInst>().target, effects);
    } else if (inst.kind == ir::InstKind::kNameConstruct) {
      mark_all(inst.As<ir::NameConstructInst>().arguments);
    } else if (inst.kind == ir::InstKind::kNameBuiltin) {
      mark_all(inst.As<ir::NameBuiltinInst>().arguments);
    } else if (inst.kind == ir::InstKind::kNameCall) {
      mark_all(inst.As<ir::NameCallInst>().arguments);
    } else if (inst.kind == ir::InstKind::kLogical) {
      MarkEarly(region, inst.As<ir::LogicalInst>().left, effects);
    }
  }
}

}  // namespace

// Once for each block, before it is specialised. The counts only order the effects of one block, so
// each block begins at zero.
bool SurveyBlock(RegionBuilder& region, ir::BlockId block) {
  bool any = false;
  uint32_t effects = 0;
  for (const uint32_t inst : region.module().InstsOf(block)) {
    CheckStop();
    region.SurveyOf(inst).effects_before = effects;
    region.SurveyOf(inst).has_effect = SurveyInst(region, inst) ? 1u : 0u;
    // The count grows behind the instruction, so that it does not see its own effect as one before
    // it.
    effects += region.SurveyOf(inst).has_effect;
    any = any || region.SurveyOf(inst).has_effect != 0;
  }
  PlanEarlyReads(region, region.module().InstsOf(block));
  return any;
}

}  // namespace kiln::resolve
