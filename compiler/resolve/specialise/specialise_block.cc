// SPDX-License-Identifier: MIT
// Expressions are taken from a table by their kind: each becomes an operand, which its user finds
// by the number of the instruction. Statements emit what they come to. Behind a statement that ends
// the scope only those are reported that would exist in this variant.
#include "compiler/resolve/specialise/specialise_block.h"

#include <array>
#include <iterator>
#include <string_view>

#include "compiler/base/check.h"
#include "compiler/base/threads/stop.h"
#include "compiler/resolve/place_access.h"
#include "compiler/resolve/specialise/specialise_assign.h"
#include "compiler/resolve/specialise/specialise_builtin.h"
#include "compiler/resolve/specialise/specialise_call.h"
#include "compiler/resolve/specialise/specialise_construct.h"
#include "compiler/resolve/specialise/specialise_local.h"
#include "compiler/resolve/specialise/specialise_member.h"
#include "compiler/resolve/specialise/specialise_name.h"
#include "compiler/resolve/specialise/specialise_operator.h"
#include "compiler/resolve/specialise/specialise_statement.h"

namespace kiln::resolve {
namespace {

bool IsExpression(ir::InstKind kind) {
  const ir::ResultSchema result = ir::FactsOf(kind).result;
  return result == ir::ResultSchema::kValue || result == ir::ResultSchema::kDeferred;
}

// What ended a scope, in the author's words: the text stands in the message about the statement
// that can never run.
std::string_view EndingText(const ir::Inst& inst) {
  if (inst.kind == ir::InstKind::kBreak || inst.kind == ir::InstKind::kContinue ||
      inst.kind == ir::InstKind::kReturn) {
    return ir::FactsOf(inst.kind).mnemonic;
  }
  if (inst.kind == ir::InstKind::kIf) {
    return "if";
  }
  return inst.kind == ir::InstKind::kWhen || inst.kind == ir::InstKind::kScope
             ? "{ }"
             : "fragment_stage_discard ()";
}

// Whether a statement behind the end of its scope exists in this variant. Conditions that do not
// hold make it disappear, and what is not there cannot be unreachable.
bool IsActiveStatement(RegionBuilder& region, uint32_t id) {
  const ir::Inst& inst = region.Generic(id);
  if (inst.kind == ir::InstKind::kWhen) {
    return region.answers().Holds(region.Global(inst.As<ir::WhenInst>().condition));
  }
  if (inst.kind == ir::InstKind::kWhenRegion) {
    const ir::Region& nested = region.module().regions[inst.As<ir::WhenRegionInst>().region.value];
    return region.answers().Holds(region.Global(nested.condition));
  }
  if (inst.kind == ir::InstKind::kAlias) {
    return region.answers().Holds(
        region.Global(region.module().locals[inst.As<ir::AliasInst>().local.value].condition));
  }
  // Expressions are not told by themselves: their statement comes behind them and is the one to
  // report.
  return !IsExpression(inst.kind) && inst.kind != ir::InstKind::kYield;
}

using ExpressionSpecialiser = Operand (*)(RegionBuilder&, uint32_t);

// The function that specialises an expression of each kind; null for kinds that are not
// expressions.
constexpr auto kExpressions = [] {
  std::array<ExpressionSpecialiser, std::size(ir::kInstFacts)> table{};
  const auto set = [&](ir::InstKind kind, ExpressionSpecialiser specialise) {
    table[static_cast<size_t>(kind)] = specialise;
  };
  set(ir::InstKind::kConst, &SpecialiseNameRef);
  set(ir::InstKind::kFlag, &SpecialiseNameRef);
  set(ir::InstKind::kText, &SpecialiseNameRef);
  set(ir::InstKind::kNameRef, &SpecialiseNameRef);
  set(ir::InstKind::kMember, &SpecialiseMemberOf);
  set(ir::InstKind::kIndex, &SpecialiseIndex);
  set(ir::InstKind::kNameCall, &SpecialiseCall);
  set(ir::InstKind::kNameConstruct, &SpecialiseConstruct);
  set(ir::InstKind::kNameUnary, &SpecialiseUnary);
  set(ir::InstKind::kNameBinary, &SpecialiseBinary);
  set(ir::InstKind::kLogical, &SpecialiseLogical);
  set(ir::InstKind::kNameSelect, &SpecialiseSelect);
  set(ir::InstKind::kAssign, &SpecialiseAssign);
  set(ir::InstKind::kAssignOp, &SpecialiseAssignOp);
  set(ir::InstKind::kNameBuiltin, &SpecialiseBuiltin);
  return table;
}();

// Puts the operand where its users look for it; one that they would find changed is read now.
void KeepOperand(RegionBuilder& region, uint32_t inst, Operand operand) {
  region.FailIf(operand.kind == OperandKind::kFailed);
  // The survey found that something to the right writes to this place before it is used. Its value
  // is taken now, as evaluation from left to right demands. Arrays and handles are not copied: no
  // expression can change them in between.
  if (region.SurveyOf(inst).read_early != 0 && operand.kind == OperandKind::kPlace &&
      operand.readable) {
    const ir::TypeKind kind = region.pool()[operand.type].kind;
    if (kind == ir::TypeKind::kVector || kind == ir::TypeKind::kMatrix ||
        kind == ir::TypeKind::kStruct) {
      operand.early = LoadFrom(region, operand);
    }
  }
  region.SetOperand(inst, operand);
}

Flow SpecialiseStatement(RegionBuilder& region, uint32_t inst) {
  const ir::InstKind kind = region.Generic(inst).kind;
  if (const ExpressionSpecialiser specialise = kExpressions[static_cast<size_t>(kind)];
      specialise != nullptr) {
    // Every expression leaves an operand, also a failed one: users look for it by number.
    KeepOperand(region, inst, specialise(region, inst));
    return Flow::kGoesOn;
  }
  switch (kind) {
    case ir::InstKind::kVariable:
      SpecialiseVariable(region, inst);
      return Flow::kGoesOn;
    case ir::InstKind::kAlias:
      SpecialiseAlias(region, inst);
      return Flow::kGoesOn;
    case ir::InstKind::kStatement:
      return SpecialiseExpressionStatement(region, inst);
    case ir::InstKind::kWhen:
    case ir::InstKind::kWhenRegion:
      return SpecialiseConditionalScope(region, inst);
    case ir::InstKind::kScope:
      return SpecialiseInsts(
          region, region.module().InstsOf(region.Generic(inst).As<ir::ScopeInst>().block));
    case ir::InstKind::kIf:
      return SpecialiseIf(region, inst);
    case ir::InstKind::kLoop:
      return SpecialiseLoop(region, inst);
    case ir::InstKind::kBreak:
    case ir::InstKind::kContinue:
      return SpecialiseJump(region, inst);
    case ir::InstKind::kReturn:
      return SpecialiseReturn(region, inst);
    case ir::InstKind::kDiscard:
      region.Emit(ir::DiscardInst{}.To());
      region.out().discards = true;
      return Flow::kEnds;
    case ir::InstKind::kYield:
      return Flow::kGoesOn;  // read by the owner of the value block
    default:
      break;  // expressions are in the table; the others are in no untyped module (VerifyIds)
  }
  KILN_UNREACHABLE();
}

}  // namespace

ir::BlockId SpecialiseNested(RegionBuilder& region, ir::BlockId block, Flow* flow) {
  region.BeginBlock();
  *flow = SpecialiseInsts(region, region.module().InstsOf(block));
  return region.EndBlock();
}

// The rows of one block in order. Behind a statement that ends control the first one that exists in
// this variant is reported and the rest is passed over; a language without that rule has them
// specialised like any other.
Flow SpecialiseInsts(RegionBuilder& region, std::span<const uint32_t> insts) {
  uint32_t ended_by = ir::kNoRow;
  bool begins = true;
  // Rows of an expression directly precede their statement, so the first row behind a statement
  // begins the next one.
  const uint32_t enclosing_statement = region.statement_begin();
  for (const uint32_t inst : insts) {
    CheckStop();
    if (begins) {
      region.SetStatementBegin(inst);
    }
    begins = !IsExpression(region.Generic(inst).kind);
    if (ended_by != ir::kNoRow && region.Has(ir::ModuleRule::kNothingBehindAnEnd)) {
      if (!IsActiveStatement(region, inst)) {
        continue;
      }
      const std::string_view text = EndingText(region.Generic(ended_by));
      region.Report(Make(Code::kRpl6041, region.MainOf(inst))
                        .With("text", text)
                        .Label(LabelKind::kEndsHere, region.MainOf(ended_by), {{"text", text}}));
      break;
    }
    region.SetCurrent(inst);
    if (SpecialiseStatement(region, inst) == Flow::kEnds) {
      ended_by = inst;
    }
  }
  region.SetStatementBegin(enclosing_statement);
  return ended_by == ir::kNoRow ? Flow::kGoesOn : Flow::kEnds;
}

// A value block: its rows and the value that they yield. The block is ended in any case, so that
// blocks stay balanced when the value is wrong.
ir::InstId SpecialiseYield(RegionBuilder& region, ir::BlockId block, const Role& role,
                           ir::BlockId* specialised) {
  region.BeginBlock();
  const std::span<const uint32_t> insts = region.module().InstsOf(block);
  // The instruction in progress gives its span to what is emitted, so it is set back behind the
  // block.
  const uint32_t outer = region.current();
  SpecialiseInsts(region, insts);
  ir::InstId value;
  if (!insts.empty() && region.Generic(insts.back()).kind == ir::InstKind::kYield) {
    value = Read(region, region.Generic(insts.back()).As<ir::YieldInst>().value.value, role);
    if (value.valid()) {
      region.Emit(ir::YieldInst{.type = region.pool().void_type(), .value = value}.To());
    }
  }
  region.SetCurrent(outer);
  *specialised = region.EndBlock();
  return value;
}

// The same rows in the block that is open: used where both sides are evaluated anyway.
ir::InstId SpecialiseInline(RegionBuilder& region, ir::BlockId block, const Role& role) {
  const std::span<const uint32_t> insts = region.module().InstsOf(block);
  const uint32_t outer = region.current();
  SpecialiseInsts(region, insts);
  const ir::InstId value =
      Read(region, region.Generic(insts.back()).As<ir::YieldInst>().value.value, role);
  region.SetCurrent(outer);
  return value;
}

}  // namespace kiln::resolve
