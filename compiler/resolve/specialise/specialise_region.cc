// SPDX-License-Identifier: MIT
// The survey of effects comes first, once per program and region; then the body is specialised as
// one block. What is wrong with reading before assignment is found at the end, when all rows are
// there, and only if nothing else is wrong: the summary of a region with gaps in it would mislead.
#include "compiler/resolve/specialise/specialise_region.h"

#include <algorithm>
#include <utility>

#include "compiler/base/threads/stop.h"
#include "compiler/resolve/checks/spirv_limits.h"
#include "compiler/resolve/effect_survey.h"
#include "compiler/resolve/specialise/region_builder.h"
#include "compiler/resolve/specialise/specialise_block.h"
#include "compiler/resolve/specialise/specialise_local.h"
#include "compiler/resolve/specialise/specialise_typed.h"

namespace kiln::resolve {
namespace {

// Reserved at once for short regions; long ones grow on the way.
constexpr size_t kExpectedInsts = 64;  // of a region; more is a matter of growing

// Keeps the memory.
void ClearRegion(ir::SpecialisedRegion& region) {
  region.insts.clear();
  region.blocks.clear();
  region.block_insts.clear();
  region.extra.clear();
  region.locals.clear();
  region.mentions.clear();
  region.insertion_points.clear();
  region.stage_variables.clear();
  region.flow.clear();
  region.ambiguous.clear();
  region.relaxed.clear();
  region.spans.clear();
  region.io.clear();
  region.discards = false;
  region.bound = false;
  region.uses_implicit_lod = false;
}

// Of a specialised instruction with its operands, and of what it is lowered to.
constexpr uint64_t kInstBytes = 64;

void DeclareParameters(RegionBuilder& region) {
  region.DeclareParameters();
  if (region.Has(ir::ModuleRule::kNamesHideNothing)) {
    for (const ir::SpecialisedMember& parameter : region.signature()->members) {
      CheckNewName(region, ir::LocalId{parameter.local.value - region.bases().local});
    }
  }
}

// The steps of one region. Each needs what the one before has made: a signature, then the survey of
// what its expressions change, then the code, then the summary of what is read and assigned.
bool Specialise(RegionBuilder& region) {
  region.out().id = region.id();
  region.out().function = ir::DeclId{region.bases().decl + region.generic().function.value};
  region.out().module = region.module_ordinal();
  // Four rows for each row of the module: loads, constants and steps are rows of their own.
  const size_t expected =
      std::min(region.module().InstsOf(region.generic().block).size() * 4, kExpectedInsts);
  region.Reserve(expected);
  region.SetSignature(region.answers().Decl(region.out().function));
  if (region.signature() == nullptr) {
    return false;  // diagnosed with the declaration
  }
  const bool is_body = !region.generic().parent.valid();
  if (region.module().header.typed != 0) {
    return SpecialiseTyped(region) && !HasErrors(region.diagnostics()) && CheckSpirvLimits(region);
  }
  if (is_body) {
    DeclareParameters(region);
  }
  // What an expression may change follows from the module alone, so it is found once for all
  // variants.
  if (!region.scratch().surveyed[region.id().value]) {
    SurveyBlock(region, region.generic().block);
    region.scratch().surveyed[region.id().value] = true;
  }
  Flow flow = Flow::kGoesOn;
  region.out().body = SpecialiseNested(region, region.generic().block, &flow);
  // Only the body itself can lack a return: control always flows past a nested region.
  if (is_body && flow == Flow::kGoesOn && region.Has(ir::ModuleRule::kFunctionsReturn) &&
      region.pool()[region.signature()->type].kind != ir::TypeKind::kVoid) {
    const ir::DeclSpans* spans = region.module().decl_spans.empty()
                                     ? nullptr
                                     : &region.module().decl_spans[region.generic().function.value];
    region.Report(Make(Code::kRpl5021, region.At(spans != nullptr ? spans->name : ir::SpanId{}))
                      .With("name", region.module().Text(region.function().name)));
  }
  if (region.failed() || HasErrors(region.diagnostics()) || !CheckSpirvLimits(region)) {
    return false;
  }
  if (region.Has(ir::ModuleRule::kReadsAreAssigned)) {
    region.out().flow = FlowOf(region.program(), region.out(), region.bare());
  }
  return true;
}

}  // namespace

Diagnosed<ir::SpecialisedRegion> SpecialiseRegion(const Program& program, ir::RegionId id,
                                                  VariantEvaluator& answers) {
  Diagnosed<ir::SpecialisedRegion> result;
  SpecialiseRegion(program, id, answers, result);
  return result;
}

// The row is used again if there is one: the direct path specialises the same region for every
// variant, and growing its vectors each time would cost more than the work itself.
void SpecialiseRegion(const Program& program, ir::RegionId id, VariantEvaluator& answers,
                      Diagnosed<ir::SpecialisedRegion>& result) {
  result.diagnostics.clear();
  if (result.value.has_value()) {
    ClearRegion(*result.value);
  } else {
    result.value.emplace();
  }
  // The builder lends scratch memory from the evaluator and gives it back at the end of this scope.
  RegionBuilder region(program, id, answers, *result.value, result.diagnostics);
  if (!Specialise(region)) {
    result.value.reset();
    return;
  }
  // Aliases make much of little.
  ChargeMemory(result.value->insts.size() * kInstBytes);
}

}  // namespace kiln::resolve
