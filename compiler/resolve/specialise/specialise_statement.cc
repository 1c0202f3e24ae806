// SPDX-License-Identifier: MIT
// Control ends behind a jump, and behind a branch of which both sides end. It never ends behind a
// loop, whatever its body does: a body may not run at all. A conditional scope that is a region of
// its own leaves an insertion point and control goes on: the walk knows whether it is live.
#include "compiler/resolve/specialise/specialise_statement.h"

#include <array>
#include <optional>

#include "compiler/base/check.h"
#include "compiler/resolve/names/kind_text.h"
#include "compiler/resolve/place_access.h"
#include "compiler/resolve/specialise/specialise_operator.h"

namespace kiln::resolve {
namespace {

// A condition of the wrong type that is an assignment was most likely meant as a comparison.
void NoteComparison(RegionBuilder& region, ir::InstId condition) {
  if (region.Generic(condition.value).kind == ir::InstKind::kAssign) {
    std::move(region.diagnostics().back())
        .Replace(region.AuxOf(condition.value), "==", Confidence::kGuess)
        .Note(NoteKind::kAdvice, {{"advice", "'=' assigns, '==' compares"}});
  }
}

}  // namespace

Flow SpecialiseConditionalScope(RegionBuilder& region, uint32_t id) {
  if (region.Generic(id).kind == ir::InstKind::kWhenRegion) {
    // The condition belongs to the walk: neither side knows the other's options.
    const ir::RegionId nested{region.bases().region +
                              region.Generic(id).As<ir::WhenRegionInst>().region.value};
    region.out().insertion_points.push_back(nested);
    region.Emit(ir::InsertionPointInst{.type = region.pool().void_type(), .region = nested}.To());
    return Flow::kGoesOn;
  }
  // A condition that failed is neither true nor false: nothing of the scope is specialised, and the
  // region has failed.
  const auto when = region.Generic(id).As<ir::WhenInst>();
  const std::optional<bool> holds = region.answers().CheckCondition(
      region.Global(when.condition), region.AuxOf(id), {}, region.diagnostics());
  region.FailIf(!holds.has_value());
  return holds.value_or(false) ? SpecialiseInsts(region, region.module().InstsOf(when.block))
                               : Flow::kGoesOn;
}

// Both branches are specialised even if the condition is wrong; only the instruction is left out
// then.
Flow SpecialiseIf(RegionBuilder& region, uint32_t id) {
  const auto branch = region.Generic(id).As<ir::IfInst>();
  const Role role{.form = Role::Form::kCondition, .text = "if"};
  const ir::InstId condition = Read(region, branch.condition.value, role);
  if (condition.valid() && region.TypeOf(condition) != region.pool().bool_type()) {
    region.Report(Make(Code::kRpl6045, region.MainOf(branch.condition.value))
                      .With("keyword", "if")
                      .With("type", region.TypeName(region.TypeOf(condition))));
    NoteComparison(region, branch.condition);
  }
  std::array<uint32_t, 2> blocks{};
  std::array<Flow, 2> flows{Flow::kGoesOn, Flow::kGoesOn};
  const std::span<const uint32_t> open = region.module().List(branch.blocks);
  for (size_t i = 0; i < open.size() && i < 2; ++i) {
    blocks[i] = SpecialiseNested(region, ir::BlockId{open[i]}, &flows[i]).value;
  }
  if (condition.valid()) {
    // Blocks were specialised in between, so the instruction in progress is set back for the span
    // of what follows.
    region.SetCurrent(id);
    region.Emit(ir::IfInst{.type = region.pool().void_type(),
                           .condition = condition,
                           .blocks = region.EmitList(std::span(blocks).first(open.size()))}
                    .To());
  }
  // Without an `else` the second entry says that control goes on.
  return flows[0] == Flow::kEnds && flows[1] == Flow::kEnds ? Flow::kEnds : Flow::kGoesOn;
}

Flow SpecialiseLoop(RegionBuilder& region, uint32_t id) {
  const auto loop = region.Generic(id).As<ir::LoopInst>();
  const ir::LocalId exit = region.Global(loop.exit);
  region.out().locals.push_back(
      {.local = exit, .kind = ir::LocalKind::kLoopExit, .type = region.pool().void_type()});
  const std::span<const uint32_t> open = region.module().List(loop.blocks);
  KILN_CHECK(open.size() == 3, "loop with {} blocks", open.size());
  std::array<ir::BlockId, 3> specialised;
  const Role role{.form = Role::Form::kCondition, .text = "loop"};
  // The condition is the first block of the loop, as it is evaluated again in every pass.
  const ir::InstId condition =
      SpecialiseYield(region, ir::BlockId{open[0]}, role, specialised.data());
  if (condition.valid() && region.TypeOf(condition) != region.pool().bool_type()) {
    const std::span<const uint32_t> insts = region.module().InstsOf(ir::BlockId{open[0]});
    // Which of the two words the author wrote is told by the block for the step, which only `for`
    // has.
    const bool is_for = !region.module().InstsOf(ir::BlockId{open[2]}).empty();
    region.Report(Make(Code::kRpl6045, region.MainOf(insts.back()))
                      .With("keyword", is_for ? "for" : "while")
                      .With("type", region.TypeName(region.TypeOf(condition))));
    NoteComparison(region, region.Generic(insts.back()).As<ir::YieldInst>().value);
  }
  Flow ignored = Flow::kGoesOn;  // a loop never ends a scope
  specialised[1] = SpecialiseNested(region, ir::BlockId{open[1]}, &ignored);
  specialised[2] = SpecialiseNested(region, ir::BlockId{open[2]}, &ignored);
  region.SetCurrent(id);
  const std::array<uint32_t, 3> blocks{specialised[0].value, specialised[1].value,
                                       specialised[2].value};
  region.Emit(ir::LoopInst{
      .type = region.pool().void_type(), .exit = exit, .blocks = region.EmitList(blocks)}
                  .To());
  return Flow::kGoesOn;
}

Flow SpecialiseJump(RegionBuilder& region, uint32_t id) {
  const ir::Inst& inst = region.Generic(id);
  const ir::LocalId exit = inst.As<ir::BreakInst>().exit;
  if (!exit.valid()) {
    region.Report(
        Make(Code::kRpl6042, region.MainOf(id)).With("keyword", ir::FactsOf(inst.kind).mnemonic));
    return Flow::kGoesOn;  // what follows is right without it
  }
  ir::Inst jump =
      ir::BreakInst{.type = region.pool().void_type(), .exit = region.Global(exit)}.To();
  // Both jumps have the same operand, so one view serves for both and the kind is put in behind.
  jump.kind = inst.kind;
  region.Emit(jump);
  return Flow::kEnds;
}

Flow SpecialiseReturn(RegionBuilder& region, uint32_t id) {
  const ir::InstId written = region.Generic(id).As<ir::ReturnInst>().value;
  const std::string_view name = region.module().Text(region.function().name);
  const bool is_void = region.pool()[region.signature()->type].kind == ir::TypeKind::kVoid;
  ir::InstId value;
  // Three mistakes have their codes here; each gets the place of the declaration, whose result type
  // is the other side of it.
  const size_t before = region.diagnostics().size();
  if (written.valid() && is_void) {
    region.Report(Make(Code::kRpl6046, region.MainOf(id)).With("name", name));
  } else if (written.valid()) {
    const Role role{.form = Role::Form::kPlain, .text = "value of 'return'"};
    value = Read(region, written.value, role);
    if (value.valid() && region.TypeOf(value) != region.signature()->type) {
      region.Report(Make(Code::kRpl6047, region.MainOf(written.value))
                        .With("found", region.TypeName(region.TypeOf(value)))
                        .With("name", name)
                        .With("expected", region.TypeName(region.signature()->type)));
      NoteConversion(region, region.TypeOf(value), region.signature()->type);
    }
  } else if (!is_void) {
    region.Report(Make(Code::kRpl6048, region.MainOf(id))
                      .With("name", name)
                      .With("expected", region.TypeName(region.signature()->type)));
  }
  if (region.diagnostics().size() > before && region.diagnostics().back().Find("name") != nullptr) {
    std::move(region.diagnostics().back())
        .Label(LabelKind::kDeclaredHere, region.program().NameLocation(region.out().function),
               {{"name", name}});
  }
  region.SetCurrent(id);
  region.Emit(ir::ReturnInst{.type = region.pool().void_type(), .value = value}.To());
  return Flow::kEnds;
}

// An expression as a statement must do something (spec/rpl 8.8). Whether it does was counted by the
// survey: it differs before and behind the rows of the expression.
Flow SpecialiseExpressionStatement(RegionBuilder& region, uint32_t id) {
  const ir::InstId expression = region.Generic(id).As<ir::StatementInst>().expression;
  const ir::Inst& root = region.Generic(expression.value);
  if (root.kind == ir::InstKind::kNameBuiltin) {
    const ir::Builtin builtin = root.As<ir::NameBuiltinInst>().builtin;
    // A discard ends the invocation, and so what stands behind it can never run.
    if (builtin == ir::Builtin::kStageDiscard) {
      return region.OperandOf(expression).kind == OperandKind::kFailed ? Flow::kGoesOn
                                                                       : Flow::kEnds;
    }
    if (ir::FactsOf(builtin).result == 'V') {
      return Flow::kGoesOn;
    }
  }
  // The rows of the expression directly precede the statement.
  if (!region.Has(ir::ModuleRule::kExpressionsHaveEffects)) {
    return Flow::kGoesOn;
  }
  const bool has_effect = region.SurveyOf(id).effects_before !=
                          region.SurveyOf(region.statement_begin()).effects_before;
  if (has_effect || region.OperandOf(expression).kind == OperandKind::kFailed ||
      RefuseContainer(region, expression)) {
    return Flow::kGoesOn;
  }
  region.Report(Make(Code::kRpl6044, region.MainOf(expression.value))
                    .With("text", region.TextOf(expression.value)));
  return Flow::kGoesOn;
}

// A container stands only before '.' (spec/rpl 5.4).
bool RefuseContainer(RegionBuilder& region, ir::InstId expression) {
  const Operand& operand = region.OperandOf(expression);
  if (operand.kind != OperandKind::kContainer) {
    return false;
  }
  region.Report(Make(Code::kRpl6004, region.MainOf(expression.value))
                    .With("kind", DeclKindText(region.program().Get(operand.decl)))
                    .With("name", region.TextOf(expression.value)));
  return true;
}

}  // namespace kiln::resolve
