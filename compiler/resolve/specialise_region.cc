// SPDX-License-Identifier: MIT
#include "compiler/resolve/specialise_region.h"

#include <algorithm>
#include <utility>

#include "compiler/base/check.h"
#include "compiler/base/stop.h"
#include "compiler/resolve/open_text.h"
#include "compiler/resolve/region_specialiser.h"
#include "compiler/resolve/specialise_type.h"

namespace kiln::resolve {
namespace {

constexpr size_t kExpectedInsts = 64;  // of a closed segment; more is a matter of growing
constexpr size_t kFewMentions = 12;    // that are looked through rather than looked up

// Keeps the memory.
void Clear(ir::SpecialisedRegion& segment) {
  segment.insts.clear();
  segment.blocks.clear();
  segment.block_insts.clear();
  segment.extra.clear();
  segment.locals.clear();
  segment.mentions.clear();
  segment.holes.clear();
  segment.stage_variables.clear();
  segment.flow.clear();
  segment.ambiguous.clear();
  segment.relaxed.clear();
  segment.spans.clear();
  segment.discards = false;
  segment.bound = false;
  segment.uses_implicit_lod = false;
}

// Can running this instruction change what a later read of a place sees?
bool WritesPlaces(const ir::Inst& inst) {
  if (inst.kind == ir::InstKind::kNameBuiltin) {
    const ir::Builtin builtin = inst.As<ir::NameBuiltinInst>().builtin;
    return ir::IsAtomic(builtin) || ir::IsBarrier(builtin);
  }
  return inst.kind == ir::InstKind::kNameCall || inst.kind == ir::InstKind::kAssign ||
         inst.kind == ir::InstKind::kAssignOp;
}

// Of a closed instruction with its operands, and of what it is lowered to.
constexpr uint64_t kInstBytes = 64;

}  // namespace

Diagnosed<ir::SpecialisedRegion> SpecialiseRegion(const Program& program, ir::RegionId segment,
                                                   VariantEvaluator& answers) {
  Diagnosed<ir::SpecialisedRegion> result;
  SpecialiseRegion(program, segment, answers, result);
  return result;
}

void SpecialiseRegion(const Program& program, ir::RegionId segment, VariantEvaluator& answers,
                       Diagnosed<ir::SpecialisedRegion>& result) {
  result.diagnostics.clear();
  if (result.value.has_value()) {
    Clear(*result.value);
  } else {
    result.value.emplace();
  }
  if (!RegionSpecialiser(program, segment, answers, *result.value, result.diagnostics).Run()) {
    result.value.reset();
    return;
  }
  // Aliases make much of little.
  ChargeMemory(result.value->insts.size() * kInstBytes);
}

RegionSpecialiser::RegionSpecialiser(const Program& program, ir::RegionId segment,
                                     VariantEvaluator& answers, ir::SpecialisedRegion& out,
                                     std::vector<Diagnostic>& diagnostics)
    : program_(program),
      answers_(answers),
      pool_(answers.pool()),
      segment_id_(segment),
      module_ordinal_(program.ModuleOf(segment)),
      module_(program.module(module_ordinal_)),
      bases_(program.bases(module_ordinal_)),
      segment_(program.Get(segment)),
      function_(module_.decls[segment_.function.value]),
      scratch_(answers.scratch()),
      first_inst_(program.InstsOf(ir::DeclId{bases_.decl + segment_.function.value}).begin),
      slots_(scratch_.slots),
      operands_(scratch_.operands),
      steps_(scratch_.steps),
      out_(out),
      diagnostics_(diagnostics) {
  const size_t size = program.InstsOf(ir::DeclId{bases_.decl + segment_.function.value}).size();
  KILN_CHECK(!std::exchange(scratch_.in_use, true), "one segment is closed at a time");
  if (slots_.size() < size) {
    slots_.resize(size);
  }
  epoch_ = ++scratch_.epoch;
  if (epoch_ == 0) {
    slots_.assign(slots_.size(), {});
    scratch_.local_types.clear();
    epoch_ = scratch_.epoch = 1;
  }
  scratch_.surveyed.resize(program.segment_count());
  scratch_.surveys.resize(program.modules().size());
  std::vector<Survey>& survey = scratch_.surveys[module_ordinal_];
  survey.resize(module_.insts.size());
  survey_ = survey;
}

RegionSpecialiser::~RegionSpecialiser() {
  operands_.clear();
  steps_.clear();
  scratch_.pending.clear();
  scratch_.open_blocks.clear();
  if (!scratch_.mentioned.empty()) {
    scratch_.mentioned.Clear();
  }
  scratch_.in_use = false;
}

bool RegionSpecialiser::Run() {
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
    return false;  // diagnosed with the declaration
  }
  const bool is_body = !segment_.parent.valid();
  if (is_body) {
    DeclareParameters();
  }
  if (!scratch_.surveyed[segment_id_.value]) {
    SurveyBlock(segment_.block);
    scratch_.surveyed[segment_id_.value] = true;
  }
  Flow flow = Flow::kGoesOn;
  out_.body = SpecialiseNested(segment_.block, &flow);
  if (is_body && flow == Flow::kGoesOn && pool_[signature_->type].kind != ir::TypeKind::kVoid) {
    const ir::DeclSpans* spans =
        module_.decl_spans.empty() ? nullptr : &module_.decl_spans[segment_.function.value];
    Report(Make(Code::kRpl5021, At(spans != nullptr ? spans->name : ir::SpanId{}))
               .With("name", module_.Text(function_.name)));
  }
  if (failed_ || HasErrors(diagnostics_)) {
    return false;
  }
  out_.flow = FlowOf(program_, out_, bare_);
  return true;
}

void RegionSpecialiser::DeclareParameters() {
  for (const ir::SpecialisedMember& parameter : signature_->members) {
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

bool RegionSpecialiser::SurveyBlock(ir::BlockId block) {
  bool any = false;
  uint32_t effects = 0;
  for (const uint32_t inst : module_.InstsOf(block)) {
    CheckStop();
    SurveyOf(inst).effects_before = effects;
    SurveyOf(inst).has_effect = SurveyInst(inst) ? 1u : 0u;
    effects += SurveyOf(inst).has_effect;
    any = any || SurveyOf(inst).has_effect != 0;
  }
  PlanEarlyReads(module_.InstsOf(block));
  return any;
}

bool RegionSpecialiser::SurveyInst(uint32_t id) {
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

// Operands are evaluated from left to right (spec/rpl 5.5): a place that is consumed behind an
// effect must have been read before it.
void RegionSpecialiser::PlanEarlyReads(std::span<const uint32_t> insts) {
  for (const uint32_t id : insts) {
    const ir::Inst& inst = Open(id);
    const uint32_t effects = SurveyOf(id).effects_before;
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

void RegionSpecialiser::MarkEarly(ir::InstId operand, uint32_t effects_at_user) {
  Survey& survey = SurveyOf(operand.value);
  const uint32_t effects = survey.effects_before + survey.has_effect;
  if (effects != effects_at_user) {
    survey.read_early = 1;
  }
}

// --- small things

ir::InstId RegionSpecialiser::Emit(const ir::Inst& inst) {
  const ir::InstId id{static_cast<uint32_t>(out_.insts.size())};
  Push(out_.insts, inst);
  Push(out_.spans, module_.inst_spans.empty() ? ir::SpanId{} : module_.inst_spans[current_].main);
  Push(scratch_.pending, id.value);
  return id;
}

ir::ListId RegionSpecialiser::EmitList(std::span<const uint32_t> items) {
  const ir::ListId list{static_cast<uint32_t>(out_.extra.size())};
  out_.extra.push_back(static_cast<uint32_t>(items.size()));
  out_.extra.insert(out_.extra.end(), items.begin(), items.end());
  return list;
}

ir::InstId RegionSpecialiser::EmitConst(ir::ConstId value) {
  return Emit(ir::ConstInst{.type = pool_[value].type, .value = value}.To());
}

ir::InstId RegionSpecialiser::EmitUint(uint32_t value) {
  return EmitConst(pool_.InternScalar(pool_.Vector(ir::Scalar::kU32, 1), value));
}

Operand RegionSpecialiser::ValueOf(ir::InstId inst) const {
  Operand operand;
  operand.kind = OperandKind::kValue;
  operand.inst = inst;
  operand.type = TypeOf(inst);
  return operand;
}

Operand RegionSpecialiser::ResultOf(ir::InstId inst) const {
  Operand operand = ValueOf(inst);
  if (operand.type == pool_.void_type()) {
    operand.kind = OperandKind::kVoid;
  }
  return operand;
}

std::string RegionSpecialiser::TypeName(ir::TypeId type) const {
  if (type == pool_.bool_type()) {
    return module_.header.version >= 2 ? "b1" : "boolean";  // version 1 has no name for it
  }
  return type.valid() ? ir::TypeText(pool_, type) : std::string("void");
}

ir::BlockId RegionSpecialiser::EndBlock() {
  const ir::BlockId id{static_cast<uint32_t>(out_.blocks.size())};
  const std::span<const uint32_t> insts =
      std::span(scratch_.pending).subspan(scratch_.open_blocks.back());
  out_.blocks.push_back({.first = static_cast<uint32_t>(out_.block_insts.size()),
                         .count = static_cast<uint32_t>(insts.size())});
  out_.block_insts.insert(out_.block_insts.end(), insts.begin(), insts.end());
  DropBlock();
  return id;
}

void RegionSpecialiser::DropBlock() {
  scratch_.pending.resize(scratch_.open_blocks.back());
  scratch_.open_blocks.pop_back();
}

void RegionSpecialiser::Touched(const Operand& place, ir::MemberUse touch) {
  if (place.decl.valid()) {
    Mentioned(place.decl, place.member, place.direction, static_cast<uint8_t>(touch));
  }
}

void RegionSpecialiser::Mentioned(ir::DeclId decl, ir::MemberId member, ir::Direction direction,
                                  uint8_t touches) {
  const auto key_of = [](ir::DeclId d, ir::MemberId m) {
    return uint64_t{d.value} << 32 | m.value;
  };
  const auto count = static_cast<uint32_t>(out_.mentions.size());
  if (count < kFewMentions) {
    for (ir::Mention& known : out_.mentions) {
      if (known.decl == decl && known.member == member) {
        known.touches |= touches;
        return;
      }
    }
  } else {
    FlatMap<uint64_t, uint32_t>& rows = scratch_.mentioned;
    for (auto row = static_cast<uint32_t>(rows.size()); row < count; ++row) {  // the first few
      rows.Insert(key_of(out_.mentions[row].decl, out_.mentions[row].member), row);
    }
    const auto [known, is_new] = rows.Insert(key_of(decl, member), count);
    if (!is_new) {
      out_.mentions[*known].touches |= touches;
      return;
    }
  }
  out_.mentions.push_back({.decl = decl,
                           .member = member,
                           .touches = touches,
                           .direction = direction,
                           .span = MainOf(current_).span_number == Location::kNone
                                       ? ir::SpanId{}
                                       : ir::SpanId{MainOf(current_).span_number}});
}

template <class Make>
std::string_view RegionSpecialiser::KnownText(uint64_t key, Make make) {
  const auto number = static_cast<uint32_t>(scratch_.texts.size());
  const auto [row, is_new] = scratch_.text_of.Insert(key, number);
  return is_new ? scratch_.texts.emplace_back(make()) : scratch_.texts[*row];
}

std::string_view RegionSpecialiser::FamilyText(ir::Builtin builtin, ir::TypeId type) {
  const uint64_t version = IsVersion2() ? 1 : 0;
  return KnownText(version << 62 | uint64_t{static_cast<uint32_t>(builtin)} << 32 | type.value,
                   [&] { return BuiltinText(builtin, TypeName(type)); });
}

std::string_view RegionSpecialiser::WrittenText(ir::TypeId open) {
  return KnownText(uint64_t{1} << 63 | uint64_t{module_ordinal_} << 32 | open.value,
                   [&] { return OpenTypeText(module_, open); });
}

// The type of a local variable; not `known`: this segment did not need it so far.
ir::TypeId& RegionSpecialiser::LocalTypeOf(ir::LocalId local, bool& known) {
  std::vector<SpecialiserScratch::LocalType>& types = scratch_.local_types;
  if (local.value >= types.size()) {
    types.resize(local.value + size_t{1});
  }
  SpecialiserScratch::LocalType& row = types[local.value];
  known = row.epoch == epoch_;
  row.epoch = epoch_;
  return row.type;
}

std::string RegionSpecialiser::TextOf(uint32_t inst) const {
  return OpenText(module_, ir::InstId{inst});
}

Location RegionSpecialiser::At(ir::SpanId span) const {
  return {.module = module_ordinal_, .span_number = span.value, .bytes = module_.SpanOf(span)};
}

Location RegionSpecialiser::MainOf(uint32_t inst) const {
  return At(module_.inst_spans.empty() ? ir::SpanId{} : module_.inst_spans[inst].main);
}

Location RegionSpecialiser::AuxOf(uint32_t inst) const {
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
