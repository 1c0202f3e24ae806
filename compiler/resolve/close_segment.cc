// SPDX-License-Identifier: MIT
#include "compiler/resolve/close_segment.h"

#include <algorithm>
#include <utility>

#include "compiler/base/check.h"
#include "compiler/resolve/close_type.h"
#include "compiler/resolve/open_text.h"
#include "compiler/resolve/segment_closer.h"

namespace kiln::resolve {
namespace {

constexpr size_t kExpectedInsts = 64;  // of a closed segment; more is a matter of growing

// Can running this instruction change what a later read of a place sees?
bool WritesPlaces(const ir::Inst& inst) {
  if (inst.kind == ir::InstKind::kNameBuiltin) {
    const ir::Builtin builtin = inst.As<ir::NameBuiltinInst>().builtin;
    return ir::IsAtomic(builtin) || ir::IsBarrier(builtin);
  }
  return inst.kind == ir::InstKind::kNameCall || inst.kind == ir::InstKind::kAssign ||
         inst.kind == ir::InstKind::kAssignOp;
}

}  // namespace

Diagnosed<ir::ClosedSegment> CloseSegment(const Program& program, ir::SegmentId segment,
                                          Answers& answers) {
  return SegmentCloser(program, segment, answers).Run();
}

SegmentCloser::SegmentCloser(const Program& program, ir::SegmentId segment, Answers& answers)
    : program_(program),
      answers_(answers),
      pool_(answers.pool()),
      segment_id_(segment),
      module_ordinal_(program.ModuleOf(segment)),
      module_(program.module(module_ordinal_)),
      bases_(program.bases(module_ordinal_)),
      segment_(program.Get(segment)),
      function_(module_.decls[segment_.function.value]),
      first_inst_(program.InstsOf(ir::DeclId{bases_.decl + segment_.function.value}).begin),
      slots_(answers.scratch().slots) {
  const size_t size = program.InstsOf(ir::DeclId{bases_.decl + segment_.function.value}).size();
  KILN_CHECK(!std::exchange(answers.scratch().in_use, true), "one segment is closed at a time");
  if (slots_.size() < size) {
    slots_.resize(size);
  }
  epoch_ = ++answers.scratch().epoch;
  if (epoch_ == 0) {
    slots_.assign(slots_.size(), {});
    epoch_ = answers.scratch().epoch = 1;
  }
}

SegmentCloser::~SegmentCloser() { answers_.scratch().in_use = false; }

Diagnosed<ir::ClosedSegment> SegmentCloser::Run() {
  out_.segment = segment_id_;
  out_.function = ir::DeclId{bases_.decl + segment_.function.value};
  out_.module = module_ordinal_;
  const size_t expected = std::min(module_.InstsOf(segment_.block).size() * 4, kExpectedInsts);
  out_.insts.reserve(expected);
  out_.spans.reserve(expected);
  out_.block_insts.reserve(expected);
  operands_.reserve(expected);
  operands_.emplace_back();  // row 0: failed, what an unevaluated instruction is
  signature_ = answers_.Decl(out_.function);
  if (signature_ == nullptr) {
    return {};  // diagnosed with the declaration
  }
  const bool is_body = !segment_.parent.valid();
  if (is_body) {
    DeclareParameters();
  }
  SurveyBlock(segment_.block);
  Flow flow = Flow::kGoesOn;
  out_.body = CloseNested(segment_.block, &flow);
  if (is_body && flow == Flow::kGoesOn && pool_[signature_->type].kind != ir::TypeKind::kVoid) {
    const ir::DeclSpans* spans =
        module_.decl_spans.empty() ? nullptr : &module_.decl_spans[segment_.function.value];
    Report(Make(Code::kRpl5021, At(spans != nullptr ? spans->name : ir::SpanId{}))
               .With("name", module_.Text(function_.name)));
  }
  Diagnosed<ir::ClosedSegment> result;
  if (!HasErrors(diagnostics_)) {
    out_.flow = FlowOf(program_, out_, bare_);
    result.value = std::move(out_);
  }
  result.diagnostics = std::move(diagnostics_);
  return result;
}

void SegmentCloser::DeclareParameters() {
  for (const ir::ClosedMember& parameter : signature_->members) {
    out_.locals.push_back({.local = parameter.local,
                           .kind = ir::LocalKind::kParameter,
                           .access = parameter.access,
                           .name = parameter.name,
                           .type = parameter.type,
                           .relaxed = parameter.relaxed});
    const ir::LocalId local{parameter.local.value - bases_.local};
    CheckNewName(local);
  }
}

// --- survey
// ---------------------------------------------------------------------------------------

bool SegmentCloser::SurveyBlock(ir::BlockId block) {
  bool any = false;
  uint32_t effects = 0;
  for (const uint32_t inst : module_.InstsOf(block)) {
    Slot& slot = SlotOf(inst);
    slot.effects_before = effects;
    slot.has_effect = SurveyInst(inst) ? 1u : 0u;
    effects += slot.has_effect;
    any = any || slot.has_effect != 0;
  }
  PlanEarlyReads(module_.InstsOf(block));
  return any;
}

bool SegmentCloser::SurveyInst(uint32_t id) {
  const ir::Inst& inst = Open(id);
  bool effect = WritesPlaces(inst);
  const auto survey_all = [&](ir::ListId blocks) {
    for (const uint32_t block : module_.List(blocks)) {
      effect = SurveyBlock(ir::BlockId{block}) || effect;
    }
  };
  if (inst.kind == ir::InstKind::kLogical) {
    effect = SurveyBlock(inst.As<ir::LogicalInst>().right);
  } else if (inst.kind == ir::InstKind::kNameSelect) {
    survey_all(inst.As<ir::NameSelectInst>().blocks);
  } else if (inst.kind == ir::InstKind::kAlias) {
    SurveyBlock(inst.As<ir::AliasInst>().block);  // runs where it is mentioned
  } else if (inst.kind == ir::InstKind::kWhen) {
    effect = SurveyBlock(inst.As<ir::WhenInst>().block);
  } else if (inst.kind == ir::InstKind::kScope) {
    effect = SurveyBlock(inst.As<ir::ScopeInst>().block);
  } else if (inst.kind == ir::InstKind::kIf) {
    survey_all(inst.As<ir::IfInst>().blocks);
  } else if (inst.kind == ir::InstKind::kLoop) {
    survey_all(inst.As<ir::LoopInst>().blocks);
  }
  return effect;
}

// Operands are evaluated from left to right (rpl.md 5.5): a place that is consumed behind an effect
// must have been read before it.
void SegmentCloser::PlanEarlyReads(std::span<const uint32_t> insts) {
  for (const uint32_t id : insts) {
    const ir::Inst& inst = Open(id);
    const uint32_t effects = SlotOf(id).effects_before;
    const auto mark_all = [&](ir::ListId list) {
      for (const uint32_t operand : module_.List(list)) {
        MarkEarly(ir::InstId{operand}, effects);
      }
    };
    if (inst.kind == ir::InstKind::kNameBinary) {
      MarkEarly(inst.As<ir::NameBinaryInst>().left, effects);
    } else if (inst.kind == ir::InstKind::kAssignOp) {
      MarkEarly(inst.As<ir::AssignOpInst>().target, effects);
    } else if (inst.kind == ir::InstKind::kNameConstruct) {
      mark_all(inst.As<ir::NameConstructInst>().arguments);
    } else if (inst.kind == ir::InstKind::kNameBuiltin) {
      mark_all(inst.As<ir::NameBuiltinInst>().arguments);
    } else if (inst.kind == ir::InstKind::kNameCall) {
      mark_all(inst.As<ir::NameCallInst>().arguments);
    } else if (inst.kind == ir::InstKind::kLogical) {
      MarkEarly(inst.As<ir::LogicalInst>().left, effects);
    }
  }
}

void SegmentCloser::MarkEarly(ir::InstId operand, uint32_t effects_at_user) {
  Slot& slot = SlotOf(operand.value);
  const uint32_t effects = slot.effects_before + slot.has_effect;
  if (effects != effects_at_user) {
    slot.read_early = 1;
  }
}

// --- small things
// ---------------------------------------------------------------------------------

ir::InstId SegmentCloser::Emit(const ir::Inst& inst) {
  const ir::InstId id{static_cast<uint32_t>(out_.insts.size())};
  out_.insts.push_back(inst);
  out_.spans.push_back(module_.inst_spans.empty() ? ir::SpanId{}
                                                  : module_.inst_spans[current_].main);
  pending_.back().push_back(id.value);
  return id;
}

ir::ListId SegmentCloser::EmitList(std::span<const uint32_t> items) {
  const ir::ListId list{static_cast<uint32_t>(out_.extra.size())};
  out_.extra.push_back(static_cast<uint32_t>(items.size()));
  out_.extra.insert(out_.extra.end(), items.begin(), items.end());
  return list;
}

ir::InstId SegmentCloser::EmitConst(ir::ConstId value) {
  return Emit(ir::ConstInst{.type = pool_[value].type, .value = value}.To());
}

ir::InstId SegmentCloser::EmitUint(uint32_t value) {
  return EmitConst(pool_.InternScalar(pool_.Vector(ir::Scalar::kU32, 1), value));
}

Operand SegmentCloser::ValueOf(ir::InstId inst) const {
  Operand operand;
  operand.kind = OperandKind::kValue;
  operand.inst = inst;
  operand.type = TypeOf(inst);
  return operand;
}

Operand SegmentCloser::ResultOf(ir::InstId inst) const {
  Operand operand = ValueOf(inst);
  if (operand.type == pool_.void_type()) {
    operand.kind = OperandKind::kVoid;
  }
  return operand;
}

std::string SegmentCloser::TypeName(ir::TypeId type) const {
  if (type == pool_.bool_type()) {
    return module_.header.version >= 2 ? "b1" : "boolean";  // version 1 has no name for it
  }
  return type.valid() ? ir::TypeText(pool_, type) : std::string("void");
}

ir::BlockId SegmentCloser::EndBlock() {
  const ir::BlockId id{static_cast<uint32_t>(out_.blocks.size())};
  const std::vector<uint32_t>& insts = pending_.back();
  out_.blocks.push_back({.first = static_cast<uint32_t>(out_.block_insts.size()),
                         .count = static_cast<uint32_t>(insts.size())});
  out_.block_insts.insert(out_.block_insts.end(), insts.begin(), insts.end());
  pending_.pop_back();
  return id;
}

void SegmentCloser::Touched(const Operand& place, ir::Touch touch) {
  if (place.decl.valid()) {
    Mentioned(place.decl, place.member, place.direction, static_cast<uint8_t>(touch));
  }
}

void SegmentCloser::Mentioned(ir::DeclId decl, ir::MemberId member, ir::Direction direction,
                              uint8_t touches) {
  const auto row = static_cast<uint32_t>(out_.mentions.size());
  const auto [known, is_new] = mentioned_.Insert(uint64_t{decl.value} << 32 | member.value, row);
  if (!is_new) {
    out_.mentions[*known].touches |= touches;
    return;
  }
  out_.mentions.push_back({.decl = decl,
                           .member = member,
                           .touches = touches,
                           .direction = direction,
                           .span = MainOf(current_).span_number == Location::kNone
                                       ? ir::SpanId{}
                                       : ir::SpanId{MainOf(current_).span_number}});
}

std::string SegmentCloser::TextOf(uint32_t inst) const {
  return OpenText(module_, ir::InstId{inst});
}

Location SegmentCloser::At(ir::SpanId span) const {
  return {.module = module_ordinal_, .span_number = span.value, .bytes = module_.SpanOf(span)};
}

Location SegmentCloser::MainOf(uint32_t inst) const {
  return At(module_.inst_spans.empty() ? ir::SpanId{} : module_.inst_spans[inst].main);
}

Location SegmentCloser::AuxOf(uint32_t inst) const {
  if (module_.inst_spans.empty() || !module_.inst_spans[inst].aux.valid()) {
    return MainOf(inst);
  }
  return At(module_.inst_spans[inst].aux);
}

std::string RoleText(const Role& role) {
  switch (role.form) {
    case Role::Form::kLeft:
      return "left operand of '" + std::string(role.text) + "'";
    case Role::Form::kRight:
      return "right operand of '" + std::string(role.text) + "'";
    case Role::Form::kOperand:
      return "operand of '" + std::string(role.text) + "'";
    case Role::Form::kArgument:
      return "argument " + std::to_string(role.index) + " of '" + std::string(role.text) + "'";
    case Role::Form::kConstructor:
      return "argument " + std::to_string(role.index) + " of constructor '" +
             std::string(role.text) + "'";
    case Role::Form::kCondition:
      return "condition of '" + std::string(role.text) + "'";
    case Role::Form::kPlain:
      return std::string(role.text);
  }
  KILN_UNREACHABLE();
}

}  // namespace kiln::resolve
