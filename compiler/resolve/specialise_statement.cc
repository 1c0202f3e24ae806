// SPDX-License-Identifier: MIT
// Statements: scopes, branches, loops, jumps, declarations. Open statements -> closed rows, and
// whether control can go on behind them (spec/rpl 8.7 "Termination", 8.8).
#include <array>
#include <optional>

#include "compiler/base/check.h"
#include "compiler/base/stop.h"
#include "compiler/resolve/kind_text.h"
#include "compiler/resolve/open_text.h"
#include "compiler/resolve/region_specialiser.h"
#include "compiler/resolve/specialise_type.h"

namespace kiln::resolve {
namespace {

bool IsExpression(ir::InstKind kind) {
  const ir::ResultSchema result = ir::FactsOf(kind).result;
  return result == ir::ResultSchema::kValue || result == ir::ResultSchema::kDeferred;
}

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

}  // namespace

ir::BlockId RegionSpecialiser::SpecialiseNested(ir::BlockId block, Flow* flow) {
  BeginBlock();
  *flow = SpecialiseInsts(module_.InstsOf(block));
  return EndBlock();
}

RegionSpecialiser::Flow RegionSpecialiser::SpecialiseInsts(std::span<const uint32_t> insts) {
  uint32_t ended_by = ir::kNoRow;
  bool begins = true;
  const uint32_t enclosing_statement = statement_begin_;
  for (const uint32_t inst : insts) {
    CheckStop();
    if (begins) {
      statement_begin_ = inst;
    }
    begins = !IsExpression(Open(inst).kind);
    if (ended_by != ir::kNoRow) {
      if (!IsActiveStatement(inst)) {
        continue;
      }
      const std::string_view text = EndingText(Open(ended_by));
      Report(Make(Code::kRpl6041, MainOf(inst))
                 .With("text", text)
                 .Label(LabelKind::kEndsHere, MainOf(ended_by), {{"text", text}}));
      break;
    }
    current_ = inst;
    if (SpecialiseStatement(inst) == Flow::kEnds) {
      ended_by = inst;
    }
  }
  statement_begin_ = enclosing_statement;
  return ended_by == ir::kNoRow ? Flow::kGoesOn : Flow::kEnds;
}

bool RegionSpecialiser::IsActiveStatement(uint32_t id) {
  const ir::Inst& inst = Open(id);
  if (inst.kind == ir::InstKind::kWhen) {
    return answers_.Holds(Global(inst.As<ir::WhenInst>().condition));
  }
  if (inst.kind == ir::InstKind::kWhenSegment) {
    const ir::Region& nested = module_.segments[inst.As<ir::WhenSegmentInst>().segment.value];
    return answers_.Holds(Global(nested.condition));
  }
  if (inst.kind == ir::InstKind::kAlias) {
    return answers_.Holds(Global(module_.locals[inst.As<ir::AliasInst>().local.value].condition));
  }
  return !IsExpression(inst.kind) && inst.kind != ir::InstKind::kYield;
}

// The function that closes an expression of each kind; null for kinds that are not expressions.
const std::array<RegionSpecialiser::ExpressionCloser, std::size(ir::kInstFacts)>
    RegionSpecialiser::kExpressionClosers = [] {
      std::array<ExpressionCloser, std::size(ir::kInstFacts)> closers{};
      const auto set = [&](ir::InstKind kind, ExpressionCloser closer) {
        closers[static_cast<size_t>(kind)] = closer;
      };
      set(ir::InstKind::kConst, &RegionSpecialiser::SpecialiseNameRef);
      set(ir::InstKind::kFlag, &RegionSpecialiser::SpecialiseNameRef);
      set(ir::InstKind::kText, &RegionSpecialiser::SpecialiseNameRef);
      set(ir::InstKind::kNameRef, &RegionSpecialiser::SpecialiseNameRef);
      set(ir::InstKind::kMember, &RegionSpecialiser::SpecialiseMemberOf);
      set(ir::InstKind::kIndex, &RegionSpecialiser::SpecialiseIndex);
      set(ir::InstKind::kNameCall, &RegionSpecialiser::SpecialiseCall);
      set(ir::InstKind::kNameConstruct, &RegionSpecialiser::SpecialiseConstruct);
      set(ir::InstKind::kNameUnary, &RegionSpecialiser::SpecialiseUnary);
      set(ir::InstKind::kNameBinary, &RegionSpecialiser::SpecialiseBinary);
      set(ir::InstKind::kLogical, &RegionSpecialiser::SpecialiseLogical);
      set(ir::InstKind::kNameSelect, &RegionSpecialiser::SpecialiseSelect);
      set(ir::InstKind::kAssign, &RegionSpecialiser::SpecialiseAssign);
      set(ir::InstKind::kAssignOp, &RegionSpecialiser::SpecialiseAssignOp);
      set(ir::InstKind::kNameBuiltin, &RegionSpecialiser::SpecialiseBuiltin);
      return closers;
    }();

RegionSpecialiser::Flow RegionSpecialiser::SpecialiseStatement(uint32_t inst) {
  const ir::InstKind kind = Open(inst).kind;
  if (const ExpressionCloser close = kExpressionClosers[static_cast<size_t>(kind)];
      close != nullptr) {
    KeepOperand(inst, (this->*close)(inst));
    return Flow::kGoesOn;
  }
  switch (kind) {
    case ir::InstKind::kVariable:
      SpecialiseVariable(inst);
      return Flow::kGoesOn;
    case ir::InstKind::kAlias:
      SpecialiseAlias(inst);
      return Flow::kGoesOn;
    case ir::InstKind::kStatement:
      return SpecialiseExpressionStatement(inst);
    case ir::InstKind::kWhen:
    case ir::InstKind::kWhenSegment:
      return SpecialiseConditionalScope(inst);
    case ir::InstKind::kScope:
      return SpecialiseInsts(module_.InstsOf(Open(inst).As<ir::ScopeInst>().block));
    case ir::InstKind::kIf:
      return SpecialiseIf(inst);
    case ir::InstKind::kLoop:
      return SpecialiseLoop(inst);
    case ir::InstKind::kBreak:
    case ir::InstKind::kContinue:
      return SpecialiseJump(inst);
    case ir::InstKind::kReturn:
      return SpecialiseReturn(inst);
    case ir::InstKind::kDiscard:
      Emit(ir::DiscardInst{}.To());
      out_.discards = true;
      return Flow::kEnds;
    case ir::InstKind::kYield:
      return Flow::kGoesOn;  // read by the owner of the value block
    case ir::InstKind::kConst:
    case ir::InstKind::kFlag:
    case ir::InstKind::kText:
    case ir::InstKind::kNameRef:
    case ir::InstKind::kMember:
    case ir::InstKind::kIndex:
    case ir::InstKind::kNameCall:
    case ir::InstKind::kNameConstruct:
    case ir::InstKind::kNameUnary:
    case ir::InstKind::kNameBinary:
    case ir::InstKind::kLogical:
    case ir::InstKind::kNameSelect:
    case ir::InstKind::kAssign:
    case ir::InstKind::kAssignOp:
    case ir::InstKind::kNameBuiltin:
    case ir::InstKind::kGlobalRef:
    case ir::InstKind::kStageRef:
    case ir::InstKind::kLocalRef:
    case ir::InstKind::kTemp:
    case ir::InstKind::kAccess:
    case ir::InstKind::kConstPlace:
    case ir::InstKind::kSpecConst:
    case ir::InstKind::kParam:
    case ir::InstKind::kLoad:
    case ir::InstKind::kUnary:
    case ir::InstKind::kBinary:
    case ir::InstKind::kConstruct:
    case ir::InstKind::kSplat:
    case ir::InstKind::kConvert:
    case ir::InstKind::kExtract:
    case ir::InstKind::kSwizzle:
    case ir::InstKind::kBuiltinCall:
    case ir::InstKind::kCall:
    case ir::InstKind::kSelect:
    case ir::InstKind::kSelectBlocks:
    case ir::InstKind::kStore:
    case ir::InstKind::kHole:
      break;  // the former are in the table, the latter in no open module (VerifyIds)
  }
  KILN_UNREACHABLE();
}

void RegionSpecialiser::KeepOperand(uint32_t inst, Operand operand) {
  Slot& slot = SlotOf(inst);
  failed_ = failed_ || operand.kind == OperandKind::kFailed;
  if (SurveyOf(inst).read_early != 0 && operand.kind == OperandKind::kPlace && operand.readable) {
    const ir::TypeKind kind = pool_[operand.type].kind;
    if (kind == ir::TypeKind::kVector || kind == ir::TypeKind::kMatrix ||
        kind == ir::TypeKind::kStruct) {
      operand.early = LoadFrom(operand);
    }
  }
  slot.operand = static_cast<uint32_t>(operands_.size());
  Push(operands_, operand);
}

RegionSpecialiser::Flow RegionSpecialiser::SpecialiseConditionalScope(uint32_t id) {
  if (Open(id).kind == ir::InstKind::kWhenSegment) {
    // The condition belongs to the walk: neither side knows the other's options.
    const ir::RegionId nested{bases_.segment + Open(id).As<ir::WhenSegmentInst>().segment.value};
    out_.holes.push_back(nested);
    Emit(ir::HoleInst{.type = pool_.void_type(), .segment = nested}.To());
    return Flow::kGoesOn;
  }
  const auto when = Open(id).As<ir::WhenInst>();
  const std::optional<bool> holds =
      answers_.CheckCondition(Global(when.condition), AuxOf(id), {}, diagnostics_);
  failed_ = failed_ || !holds.has_value();
  return holds.value_or(false) ? SpecialiseInsts(module_.InstsOf(when.block)) : Flow::kGoesOn;
}

RegionSpecialiser::Flow RegionSpecialiser::SpecialiseIf(uint32_t id) {
  const auto branch = Open(id).As<ir::IfInst>();
  const Role role{.form = Role::Form::kCondition, .text = "if"};
  const ir::InstId condition = Read(branch.condition.value, role);
  if (condition.valid() && TypeOf(condition) != pool_.bool_type()) {
    Report(Make(Code::kRpl6045, MainOf(branch.condition.value))
               .With("keyword", "if")
               .With("type", TypeName(TypeOf(condition))));
    NoteComparison(branch.condition);
  }
  std::array<uint32_t, 2> blocks{};
  std::array<Flow, 2> flows{Flow::kGoesOn, Flow::kGoesOn};
  const std::span<const uint32_t> open = module_.List(branch.blocks);
  for (size_t i = 0; i < open.size() && i < 2; ++i) {
    blocks[i] = SpecialiseNested(ir::BlockId{open[i]}, &flows[i]).value;
  }
  if (condition.valid()) {
    current_ = id;
    Emit(ir::IfInst{.type = pool_.void_type(),
                    .condition = condition,
                    .blocks = EmitList(std::span(blocks).first(open.size()))}
             .To());
  }
  return flows[0] == Flow::kEnds && flows[1] == Flow::kEnds ? Flow::kEnds : Flow::kGoesOn;
}

void RegionSpecialiser::NoteComparison(ir::InstId condition) {
  if (Open(condition.value).kind == ir::InstKind::kAssign) {
    std::move(diagnostics_.back())
        .Replace(AuxOf(condition.value), "==", Confidence::kGuess)
        .Note(NoteKind::kAdvice, {{"advice", "'=' assigns, '==' compares"}});
  }
}

RegionSpecialiser::Flow RegionSpecialiser::SpecialiseLoop(uint32_t id) {
  const auto loop = Open(id).As<ir::LoopInst>();
  const ir::LocalId exit = Global(loop.exit);
  out_.locals.push_back(
      {.local = exit, .kind = ir::LocalKind::kLoopExit, .type = pool_.void_type()});
  const std::span<const uint32_t> open = module_.List(loop.blocks);
  KILN_CHECK(open.size() == 3, "loop with {} blocks", open.size());
  std::array<ir::BlockId, 3> closed;
  const Role role{.form = Role::Form::kCondition, .text = "loop"};
  const ir::InstId condition = SpecialiseYield(ir::BlockId{open[0]}, role, closed.data());
  if (condition.valid() && TypeOf(condition) != pool_.bool_type()) {
    const std::span<const uint32_t> insts = module_.InstsOf(ir::BlockId{open[0]});
    const bool is_for = !module_.InstsOf(ir::BlockId{open[2]}).empty();
    Report(Make(Code::kRpl6045, MainOf(insts.back()))
               .With("keyword", is_for ? "for" : "while")
               .With("type", TypeName(TypeOf(condition))));
    NoteComparison(Open(insts.back()).As<ir::YieldInst>().value);
  }
  Flow ignored = Flow::kGoesOn;  // a loop never ends a scope
  closed[1] = SpecialiseNested(ir::BlockId{open[1]}, &ignored);
  closed[2] = SpecialiseNested(ir::BlockId{open[2]}, &ignored);
  current_ = id;
  const std::array<uint32_t, 3> blocks{closed[0].value, closed[1].value, closed[2].value};
  Emit(ir::LoopInst{.type = pool_.void_type(), .exit = exit, .blocks = EmitList(blocks)}.To());
  return Flow::kGoesOn;
}

RegionSpecialiser::Flow RegionSpecialiser::SpecialiseJump(uint32_t id) {
  const ir::Inst& inst = Open(id);
  const ir::LocalId exit = inst.As<ir::BreakInst>().exit;
  if (!exit.valid()) {
    Report(Make(Code::kRpl6042, MainOf(id)).With("keyword", ir::FactsOf(inst.kind).mnemonic));
    return Flow::kGoesOn;  // what follows is right without it
  }
  ir::Inst jump = ir::BreakInst{.type = pool_.void_type(), .exit = Global(exit)}.To();
  jump.kind = inst.kind;
  Emit(jump);
  return Flow::kEnds;
}

RegionSpecialiser::Flow RegionSpecialiser::SpecialiseReturn(uint32_t id) {
  const ir::InstId written = Open(id).As<ir::ReturnInst>().value;
  const std::string_view name = module_.Text(function_.name);
  const bool is_void = pool_[signature_->type].kind == ir::TypeKind::kVoid;
  ir::InstId value;
  const size_t before = diagnostics_.size();
  if (written.valid() && is_void) {
    Report(Make(Code::kRpl6046, MainOf(id)).With("name", name));
  } else if (written.valid()) {
    const Role role{.form = Role::Form::kPlain, .text = "value of 'return'"};
    value = Read(written.value, role);
    if (value.valid() && TypeOf(value) != signature_->type) {
      Report(Make(Code::kRpl6047, MainOf(written.value))
                 .With("found", TypeName(TypeOf(value)))
                 .With("name", name)
                 .With("expected", TypeName(signature_->type)));
      NoteConversion(TypeOf(value), signature_->type);
    }
  } else if (!is_void) {
    Report(Make(Code::kRpl6048, MainOf(id))
               .With("name", name)
               .With("expected", TypeName(signature_->type)));
  }
  if (diagnostics_.size() > before && diagnostics_.back().Find("name") != nullptr) {
    std::move(diagnostics_.back())
        .Label(LabelKind::kDeclaredHere, program_.NameLocation(out_.function), {{"name", name}});
  }
  current_ = id;
  Emit(ir::ReturnInst{.type = pool_.void_type(), .value = value}.To());
  return Flow::kEnds;
}

RegionSpecialiser::Flow RegionSpecialiser::SpecialiseExpressionStatement(uint32_t id) {
  const ir::InstId expression = Open(id).As<ir::StatementInst>().expression;
  const ir::Inst& root = Open(expression.value);
  if (root.kind == ir::InstKind::kNameBuiltin) {
    const ir::Builtin builtin = root.As<ir::NameBuiltinInst>().builtin;
    if (builtin == ir::Builtin::kStageDiscard) {
      return OperandOf(expression).kind == OperandKind::kFailed ? Flow::kGoesOn : Flow::kEnds;
    }
    if (ir::FactsOf(builtin).result == 'V') {
      return Flow::kGoesOn;
    }
  }
  // The rows of the expression directly precede the statement.
  const bool has_effect = SurveyOf(id).effects_before != SurveyOf(statement_begin_).effects_before;
  if (has_effect || OperandOf(expression).kind == OperandKind::kFailed ||
      RefuseContainer(expression)) {
    return Flow::kGoesOn;
  }
  Report(Make(Code::kRpl6044, MainOf(expression.value)).With("text", TextOf(expression.value)));
  return Flow::kGoesOn;
}

// A container stands only before '.' (spec/rpl 5.4).
bool RegionSpecialiser::RefuseContainer(ir::InstId expression) {
  const Operand& operand = OperandOf(expression);
  if (operand.kind != OperandKind::kContainer) {
    return false;
  }
  Report(Make(Code::kRpl6004, MainOf(expression.value))
             .With("kind", DeclKindText(program_.Get(operand.decl)))
             .With("name", TextOf(expression.value)));
  return true;
}

void RegionSpecialiser::SpecialiseVariable(uint32_t id) {
  const auto variable = Open(id).As<ir::VariableInst>();
  const ir::Local& local = module_.locals[variable.local.value];
  const std::string_view name = module_.Text(local.name);
  const ir::LocalSpans* spans =
      module_.local_spans.empty() ? nullptr : &module_.local_spans[variable.local.value];
  CheckNewName(variable.local);
  const ir::TypeId type = SpecialiseType({.module = module_ordinal_,
                                          .type = local.type,
                                          .spans = spans != nullptr ? spans->type : ir::SpanId{},
                                          .owner = name,
                                          .use = TypeUse::kLocal},
                                         answers_, diagnostics_);
  bool known = false;
  LocalTypeOf(Global(variable.local), known) = type;
  if (!type.valid()) {
    failed_ = true;
    return;
  }
  out_.locals.push_back({.local = Global(variable.local),
                         .kind = ir::LocalKind::kVariable,
                         .name = answers_.PoolText(program_.Name(module_ordinal_, local.name)),
                         .type = type,
                         .relaxed = local.relaxed != 0});
  if (local.relaxed != 0 && !IsFloatType(pool_, type)) {
    Report(Make(Code::kRpl8112, At(spans != nullptr ? spans->type : ir::SpanId{}))
               .With("name", name)
               .With("type", TypeName(type)));
  }
  if (!variable.initialiser.valid()) {
    bare_.push_back({.before = static_cast<uint32_t>(out_.insts.size()),
                     .depth = static_cast<uint32_t>(scratch_.open_blocks.size()),
                     .local = Global(variable.local)});
    return;
  }
  const Role role{.form = Role::Form::kPlain, .text = "initialiser"};
  // Version 2 has array constructors and constants; a runtime array stays no value.
  const ir::InstId value =
      Read(variable.initialiser.value, role, IsVersion2() ? Arrays::kAllowed : Arrays::kRefused);
  if (!value.valid()) {
    return;
  }
  if (TypeOf(value) != type) {
    Report(Make(Code::kRpl6026, MainOf(variable.initialiser.value))
               .With("left", TypeName(type))
               .With("right", TypeName(TypeOf(value))));
    NoteConversion(TypeOf(value), type);
    return;
  }
  current_ = id;
  Operand place = SpecialiseLocalMention(Global(variable.local), id);
  StoreTo(place, value);
}

void RegionSpecialiser::SpecialiseAlias(uint32_t id) {
  const auto alias = Open(id).As<ir::AliasInst>();
  const ir::Local& local = module_.locals[alias.local.value];
  const ir::LocalSpans* spans =
      module_.local_spans.empty() ? nullptr : &module_.local_spans[alias.local.value];
  const Location run = At(spans != nullptr ? spans->condition : ir::SpanId{});
  const std::optional<bool> holds =
      answers_.CheckCondition(Global(local.condition), run, {}, diagnostics_);
  failed_ = failed_ || !holds.has_value();
  if (!holds.value_or(false)) {
    return;
  }
  CheckNewName(alias.local);
  for (const uint32_t inst : module_.InstsOf(alias.block)) {
    const ir::Inst& row = Open(inst);
    const bool special = row.kind == ir::InstKind::kNameBuiltin &&
                         ir::FactsOf(row.As<ir::NameBuiltinInst>().builtin).result == 'V';
    if (SurveyOf(inst).has_effect != 0 || special) {
      Report(Make(Code::kRpl6006, MainOf(inst))
                 .With("name", module_.Text(local.name))
                 .With("text", TextOf(inst)));
      poisoned_.push_back(Global(alias.local));
      return;
    }
  }
  // Resolving an alias checks it and counts as access, but runs nothing: its rows are dropped.
  const size_t insts = out_.insts.size();
  const size_t extra = out_.extra.size();
  const size_t blocks = out_.blocks.size();
  const size_t block_insts = out_.block_insts.size();
  BeginBlock();
  const std::span<const uint32_t> rows = module_.InstsOf(alias.block);
  SpecialiseInsts(rows);
  DropBlock();
  const ir::InstId value = Open(rows.back()).As<ir::YieldInst>().value;
  if (RefuseContainer(value) || OperandOf(value).kind == OperandKind::kFailed) {
    poisoned_.push_back(Global(alias.local));
  }
  out_.insts.resize(insts);
  out_.spans.resize(insts);
  out_.extra.resize(extra);
  out_.blocks.resize(blocks);
  out_.block_insts.resize(block_insts);
  while (!out_.relaxed.empty() && out_.relaxed.back() >= insts) {
    out_.relaxed.pop_back();
  }
}

void RegionSpecialiser::CheckNewName(ir::LocalId id) {
  const ir::Local& local = module_.locals[id.value];
  const std::string_view name = module_.Text(local.name);
  const ir::SpanId span =
      module_.local_spans.empty() ? ir::SpanId{} : module_.local_spans[id.value].name;
  const auto report = [&](std::string_view other_kind, const Location& other) {
    Report(Make(Code::kRpl6040, At(span))
               .With("kind", LocalKindText(local.kind))
               .With("name", name)
               .With("other_kind", other_kind));
    if (other.known()) {
      diagnostics_.back().labels.push_back({.kind = LabelKind::kDeclaredHere,
                                            .where = other,
                                            .arguments = {Argument("name", name)}});
    }
  };
  for (const uint32_t shadowed : module_.List(local.shadowed)) {
    const ir::Local& other = module_.locals[shadowed];
    if (answers_.Holds(Global(other.condition))) {
      report(LocalKindText(other.kind),
             At(module_.local_spans.empty() ? ir::SpanId{} : module_.local_spans[shadowed].name));
      return;
    }
  }
  const NameId global = program_.Name(module_ordinal_, local.name);
  if (!program_.Functions(global).empty() || !program_.Structs(global).empty()) {
    out_.ambiguous.push_back(Global(id));  // the walk knows what the variant resolves
  }
  if (!program_.Option(global).valid() && program_.Constants(global).empty() &&
      program_.Globals(global).empty()) {
    return;  // nobody ever declares it: no question
  }
  const NameResolution answer = answers_.Global(global);
  if (answer.kind == NameResolution::Kind::kOption) {
    report("option", program_.NameLocation(answer.option()));
  } else if (answer.kind == NameResolution::Kind::kConstant) {
    report("constant", program_.NameLocation(answer.decl()));
  } else if (answer.kind == NameResolution::Kind::kDecl) {
    report(DeclKindText(program_.Get(answer.decl())), program_.NameLocation(answer.decl()));
  }
}

}  // namespace kiln::resolve
