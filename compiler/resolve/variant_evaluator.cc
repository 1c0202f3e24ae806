// SPDX-License-Identifier: MIT
// The questions about names, members and declarations, and the book-keeping that all questions
// share: memo rows, read sets, trails. Expressions are in evaluate_values.cc.
#include "compiler/resolve/variant_evaluator.h"

#include <algorithm>
#include <string>
#include <utility>

#include "compiler/base/check.h"
#include "compiler/base/checksum.h"
#include "compiler/base/stop.h"
#include "compiler/resolve/kind_text.h"
#include "compiler/resolve/specialise_type.h"

namespace kiln::resolve {
namespace {

constexpr DependencySet kHasEffect = 1;  // a read set that is not empty

QueryResult Pack(const Value& value) {
  return {.first = uint64_t{static_cast<uint16_t>(value.kind)} << 40 |
                   uint64_t{value.instance ? 1u : 0u} << 32 | value.bits};
}
QueryResult Pack(const NameResolution& answer) {
  return {.first = uint64_t{static_cast<uint8_t>(answer.kind)} << 32 | answer.id};
}
QueryResult Pack(const MemberResolution& answer) {
  return {.first = uint64_t{static_cast<uint8_t>(answer.kind)} << 32 | answer.position,
          .second = uint64_t{answer.member.value} << 32 | answer.type.value};
}
QueryResult Pack(std::span<const NameId> path) {
  if (path.empty()) {
    return {};
  }
  const Hash128 hash = ProcessHash(std::as_bytes(path));
  return {.first = ReadLittle<uint64_t>(std::as_bytes(std::span(hash.bytes))),
          .second = ReadLittle<uint64_t>(std::as_bytes(std::span(hash.bytes)), 8)};
}
QueryResult Pack(ir::ConstId value) { return {.first = value.value}; }
QueryResult Pack(const ir::SpecialisedDecl* closed) {
  return {.first = reinterpret_cast<uintptr_t>(closed)};
}

}  // namespace

VariantEvaluator::VariantEvaluator(const Program& program, const OptionValues& values,
                                   ir::Pool& pool, UnitSource* units)
    : program_(program),
      values_(&values),
      pool_(pool),
      units_(units),
      sets_(size_t{program.option_count()} + 1) {
  on_ = program.FindName("on");
  off_ = program.FindName("off");
  Size(expressions_, program.cexpr_count());
  Size(constants_, program.decl_count());
  Size(constant_names_, program.name_count());
  Size(composites_, program.decl_count());
  Size(functions_, program.name_count());
  Size(structs_, program.name_count());
  Size(globals_, program.name_count());
  Size(members_, program.member_count());
  Size(decls_, program.decl_count());
  Size(aliases_, program.member_count());
  pool_texts_.resize(program.name_count());
  looked_at_.resize(program.option_count());
}

VariantEvaluator::~VariantEvaluator() = default;

void VariantEvaluator::Reset(const OptionValues& values) {
  KILN_CHECK(frames_.empty() && trails_.empty() && work_.empty(), "answers are in use");
  values_ = &values;
  ++epoch_;
  KILN_CHECK(epoch_ != kFixed);
  contested_.clear();
  found_.clear();
}

template <class Row>
void VariantEvaluator::Size(Memo<Row>& memo, size_t count) {
  const uint64_t bytes = count * (sizeof(Row) + sizeof(uint32_t) + sizeof(DependencySet));
  ChargeMemory(bytes);
  table_bytes_ += bytes;
  memo.rows.resize(count);
  memo.epochs.resize(count);
  memo.reads.resize(count);
}

// --- read sets and trails ------------------------------------------------------------------------

void VariantEvaluator::BeginReads() { frames_.push_back(kReadNothing); }

Bitset VariantEvaluator::EndReads() {
  Bitset result(program_.option_count());
  EndReads(result);
  return result;
}

void VariantEvaluator::EndReads(Bitset& result) {
  KILN_CHECK(!frames_.empty());
  const DependencySet reads = frames_.back();
  frames_.pop_back();
  AddReads(reads);
  sets_.AddTo(result, reads);
}

void VariantEvaluator::Enter() {
  CheckStop();
  BeginReads();
  trails_.push_back(nullptr);
  found_before_.push_back(found_.size());
}

void VariantEvaluator::Leave(DependencySet& reads) {
  if (found_.size() != found_before_.back()) {
    NoteEffect();
  }
  reads = frames_.back();
  frames_.pop_back();
  trails_.pop_back();
  found_before_.pop_back();
}

void VariantEvaluator::BeginTrail(QueryTrace* trail) { trails_.push_back(trail); }
void VariantEvaluator::EndTrail() { trails_.pop_back(); }

void VariantEvaluator::Record(const VariantQuery& question, const QueryResult& answer,
                              DependencySet reads) {
  if (!trails_.empty() && trails_.back() != nullptr) {
    trails_.back()->Add(question, answer, reads == kReadNothing);
  }
}

QueryResult VariantEvaluator::Ask(const VariantQuery& question) {
  const NameId name{question.a};
  switch (question.kind) {
    case VariantQueryKind::kValue:
      return Pack(ValueOf(ir::CexprId{question.a}));
    case VariantQueryKind::kFunction:
      return Pack(Function(name));
    case VariantQueryKind::kStruct:
      return Pack(Struct(name));
    case VariantQueryKind::kGlobal:
      return Pack(Global(name));
    case VariantQueryKind::kOption:
      return Pack(Option(ir::OptionId{question.a}));
    case VariantQueryKind::kConstant:
      return program_.IsComposite(ir::DeclId{question.a}) ? Pack(Composite(ir::DeclId{question.a}))
                                                          : Pack(Constant(ir::DeclId{question.a}));
    case VariantQueryKind::kMember:
      return Pack(Member(ir::DeclId{question.a}, NameId{question.b}));
    case VariantQueryKind::kAliasPath:
      return Pack(AliasPath(ir::MemberId{question.a}));
    case VariantQueryKind::kDecl:
      return Pack(Decl(ir::DeclId{question.a}));
    case VariantQueryKind::kStage:
      return {.first = static_cast<uint64_t>(stage())};
  }
  KILN_UNREACHABLE();
}

std::vector<Diagnostic> VariantEvaluator::TakeDiagnostics() { return std::exchange(found_, {}); }

// --- names ---------------------------------------------------------------------------------------

NameResolution VariantEvaluator::Function(NameId name) {
  if (!Known(functions_, name.value)) {
    Enter();
    functions_.rows[name.value] = FindLive(program_.Functions(name), Conditions::kReported).answer;
    Leave(functions_.reads[name.value]);
    Keep(functions_, name.value);
  }
  AddReads(functions_.reads[name.value]);
  const NameResolution& answer = functions_.rows[name.value];
  Record({.kind = VariantQueryKind::kFunction, .a = name.value}, Pack(answer),
         functions_.reads[name.value]);
  return answer;
}

NameResolution VariantEvaluator::Struct(NameId name) {
  if (!Known(structs_, name.value)) {
    Enter();
    Live live = FindLive(program_.Structs(name), Conditions::kReported);
    if (live.answer.kind == NameResolution::Kind::kConflict) {
      found_.push_back(
          Make(Code::kRpl4022, program_.NameLocation(live.second))
              .With("name", program_.Text(name))
              .Label(LabelKind::kFirstHere, program_.NameLocation(live.answer.decl())));
      live.answer = {.kind = NameResolution::Kind::kFailed};
    }
    structs_.rows[name.value] = live.answer;
    Leave(structs_.reads[name.value]);
    Keep(structs_, name.value);
  }
  AddReads(structs_.reads[name.value]);
  const NameResolution& answer = structs_.rows[name.value];
  Record({.kind = VariantQueryKind::kStruct, .a = name.value}, Pack(answer),
         structs_.reads[name.value]);
  return answer;
}

NameResolution VariantEvaluator::Global(NameId name) {
  if (const ir::OptionId option = program_.Option(name); option.valid()) {
    return {.kind = NameResolution::Kind::kOption, .id = option.value};  // a fact of the program
  }
  if (!Known(globals_, name.value)) {
    Enter();
    NameResolution answer;
    if (!program_.Constants(name).empty()) {
      Demand({NodeKind::kConstantName, name.value});
      AddReads(constant_names_.reads[name.value]);
      answer = constant_names_.rows[name.value].answer;
    }
    if (answer.kind == NameResolution::Kind::kNone) {
      answer = FindLive(program_.Globals(name), Conditions::kAsked).answer;
    }
    globals_.rows[name.value] = answer;
    Leave(globals_.reads[name.value]);
    Keep(globals_, name.value);
  }
  AddReads(globals_.reads[name.value]);
  const NameResolution& answer = globals_.rows[name.value];
  Record({.kind = VariantQueryKind::kGlobal, .a = name.value}, Pack(answer),
         globals_.reads[name.value]);
  return answer;
}

// Conditions of functions and structs are reported by the first who asks for the name, because no
// walk visits all of them; the walk does visit those of the interface.
VariantEvaluator::Live VariantEvaluator::FindLive(std::span<const ir::DeclId> candidates,
                                                  Conditions conditions) {
  Live live;
  bool failed = false;
  for (const ir::DeclId id : candidates) {
    const uint32_t m = program_.ModuleOf(id);
    const ir::Decl& decl = program_.Get(id);
    std::optional<bool> holds = true;
    if (decl.condition != ir::kTrue) {
      const ir::CexprId condition = program_.Wide(m, decl.condition);
      if (conditions == Conditions::kReported) {
        const Position position = {.global_only = decl.kind == ir::DeclKind::kStruct,
                                   .what = "the conditional of struct",
                                   .name = program_.Text(program_.NameOf(id))};
        holds = CheckCondition(condition, program_.At(m, program_.SpansOf(id).condition), position,
                               found_);
      } else if (const Value value = ValueOf(condition); value.kind == ir::ValueKind::kFlag) {
        holds = value.bits != 0;
      } else {
        holds.reset();
      }
    }
    failed = failed || !holds.has_value();
    if (!holds.value_or(false)) {
      continue;
    }
    if (live.answer.kind == NameResolution::Kind::kDecl) {
      live.answer.kind = NameResolution::Kind::kConflict;
      live.second = id;
      continue;
    }
    if (live.answer.kind == NameResolution::Kind::kNone) {
      live.answer = {.kind = NameResolution::Kind::kDecl, .id = id.value};
    }
  }
  if (failed && live.answer.kind == NameResolution::Kind::kNone) {
    live.answer.kind = NameResolution::Kind::kFailed;
  }
  return live;
}

void VariantEvaluator::LabelFunctions(NameId name, Diagnostic& found) {
  const Live live = FindLive(program_.Functions(name), Conditions::kAsked);
  if (live.answer.kind == NameResolution::Kind::kConflict) {
    std::move(found)
        .Label(LabelKind::kFirstHere, program_.NameLocation(live.answer.decl()))
        .Label(LabelKind::kOtherHere, program_.NameLocation(live.second));
  }
}

// --- members -------------------------------------------------------------------------------------

MemberResolution VariantEvaluator::Member(ir::DeclId owner, NameId name) {
  const ir::MemberId first = program_.FindMember(owner, name);
  if (!first.valid()) {
    return {};  // a fact of the program
  }
  if (!Known(members_, first.value)) {
    Enter();
    members_.rows[first.value] = FindMember(owner, name, first);
    Leave(members_.reads[first.value]);
    Keep(members_, first.value);
  }
  AddReads(members_.reads[first.value]);
  const MemberResolution& answer = members_.rows[first.value];
  Record({.kind = VariantQueryKind::kMember, .a = owner.value, .b = name.value}, Pack(answer),
         members_.reads[first.value]);
  return answer;
}

// Asks for the conditions of the members before it only as far as its position needs them.
MemberResolution VariantEvaluator::FindMember(ir::DeclId owner, NameId name, ir::MemberId first) {
  const uint32_t m = program_.ModuleOf(owner);
  const ir::ModuleView& view = program_.module(m);
  const ir::Decl& decl = program_.Get(owner);
  const std::span<const ir::Member> members = view.MembersOf(decl);
  const uint32_t base = program_.bases(m).member + decl.first_member;
  MemberResolution answer;
  bool failed = false;
  const auto is_live = [&](const Value& value) {
    return value.kind == ir::ValueKind::kFlag && value.bits != 0;
  };
  const MembersBefore before = program_.Before(owner, name);
  answer.position = before.plain;
  for (const uint32_t i : before.conditional) {
    answer.position += is_live(ValueOf(program_.Wide(m, members[i].condition))) ? 1 : 0;
  }
  for (uint32_t i = before.counted; i < members.size(); ++i) {
    const ir::Member& member = members[i];
    const bool matches = base + i >= first.value && program_.Name(m, member.name) == name;
    const bool counts = member.kind == ir::MemberKind::kField;
    if (!matches && !counts) {
      continue;
    }
    bool live = true;
    if (member.condition != ir::kTrue) {
      const Value value = ValueOf(program_.Wide(m, member.condition));
      live = is_live(value);
      failed = failed || (matches && value.kind != ir::ValueKind::kFlag);
    }
    if (live && matches) {
      answer.member = ir::MemberId{base + i};
      if (!counts) {
        answer.kind = MemberResolution::Kind::kAlias;
        return answer;
      }
      std::vector<Diagnostic> ignored;  // reported by the owner
      answer.type = SpecialiseType({.module = m, .type = member.type, .use = TypeUse::kField},
                                   *this, ignored);
      answer.kind =
          answer.type.valid() ? MemberResolution::Kind::kField : MemberResolution::Kind::kFailed;
      return answer;
    }
    answer.position += live ? 1 : 0;
  }
  return {.kind = failed ? MemberResolution::Kind::kFailed : MemberResolution::Kind::kNone};
}

std::span<const NameId> VariantEvaluator::AliasPath(ir::MemberId alias) {
  if (!Known(aliases_, alias.value)) {
    ExpandAlias(alias);
  }
  AddReads(aliases_.reads[alias.value]);
  const std::span<const NameId> path = aliases_.rows[alias.value];
  if (!trails_.empty() && trails_.back() != nullptr) {
    Record({.kind = VariantQueryKind::kAliasPath, .a = alias.value}, Pack(path),
           aliases_.reads[alias.value]);
  }
  return path;
}

// Chains of aliases are as long as the author likes: no recursion.
void VariantEvaluator::ExpandAlias(ir::MemberId first) {
  const auto enter = [&](ir::MemberId alias) {
    Enter();
    open_aliases_.push_back(alias);
    is_open_alias_[alias] = true;
  };
  enter(first);
  while (!open_aliases_.empty()) {
    const ir::MemberId alias = open_aliases_.back();
    const uint32_t m = program_.ModuleOf(alias);
    const std::span<const uint32_t> items =
        program_.module(m).List(ir::ListId{program_.Get(alias).value});
    std::vector<NameId> path;
    if (!items.empty()) {  // else RPL4030, which is the owner's
      const NameId name = program_.Name(m, ir::StringId{items[0]});
      const MemberResolution start = Member(program_.OwnerOf(alias), name);
      if (start.kind == MemberResolution::Kind::kField) {
        path.push_back(name);
      } else if (start.kind == MemberResolution::Kind::kAlias) {
        if (const bool* open = is_open_alias_.Find(start.member); open != nullptr && *open) {
          ReportAliasCycle(start.member);
        } else if (!Known(aliases_, start.member.value)) {
          enter(start.member);
          continue;
        } else {
          AddReads(aliases_.reads[start.member.value]);
          path = aliases_.rows[start.member.value];
        }
      }
    }
    if (!path.empty()) {
      for (const uint32_t item : items.subspan(1)) {
        path.push_back(program_.Name(m, ir::StringId{item}));
      }
    }
    aliases_.rows[alias.value] = std::move(path);
    Leave(aliases_.reads[alias.value]);
    Keep(aliases_, alias.value);
    open_aliases_.pop_back();
    is_open_alias_[alias] = false;
  }
}

// Said once, at the first alias of the cycle in program order, wherever it was entered.
void VariantEvaluator::ReportAliasCycle(ir::MemberId alias) {
  std::vector<ir::MemberId> cycle(std::ranges::find(open_aliases_, alias), open_aliases_.end());
  std::rotate(cycle.begin(), std::ranges::min_element(cycle, {}, &ir::MemberId::value),
              cycle.end());
  const auto text = [&](ir::MemberId id) {
    return "'" +
           std::string(program_.Text(program_.Name(program_.ModuleOf(id), program_.Get(id).name))) +
           "'";
  };
  const ir::MemberId first = cycle.front();
  found_.push_back(Make(Code::kRpl4032, program_.NameLocation(first))
                       .With("name", program_.Text(program_.Name(program_.ModuleOf(first),
                                                                 program_.Get(first).name)))
                       .With("chain", ChainText(cycle, text)));
}

// --- closed declarations -------------------------------------------------------------------------

const ir::SpecialisedDecl* VariantEvaluator::Decl(ir::DeclId decl) {
  DeclRow& row = decls_.rows[decl.value];
  if (!Known(decls_, decl.value)) {
    row = {.in_progress = true};
    decls_.epochs[decl.value] = epoch_;
    Enter();
    open_decls_.push_back(decl);
    row.closed = SpecialiseOnce(decl);
    open_decls_.pop_back();
    row.in_progress = false;
    Leave(decls_.reads[decl.value]);
    Keep(decls_, decl.value);
  } else if (row.in_progress) {
    ReportCycle(decl);
    NoteEffect();
    Record({.kind = VariantQueryKind::kDecl, .a = decl.value}, {}, kHasEffect);
    return nullptr;
  }
  AddReads(decls_.reads[decl.value]);
  Record({.kind = VariantQueryKind::kDecl, .a = decl.value}, Pack(row.closed),
         decls_.reads[decl.value]);
  return row.closed;
}

const ir::SpecialisedDecl* VariantEvaluator::SpecialiseOnce(ir::DeclId decl) {
  const ir::DeclKind kind = program_.Get(decl).kind;
  if ((kind == ir::DeclKind::kStruct || kind == ir::DeclKind::kFunction) &&
      program_.Contested(program_.NameOf(decl))) {
    contested_.push_back(decl);
    NoteEffect();
  }
  if (open_decls_.size() > program_.limits().nesting) {
    found_.push_back(Make(Code::kRpl1009, program_.NameLocation(decl))
                         .With("text", program_.Text(program_.NameOf(decl)))
                         .With("limit", program_.limits().nesting));
    return nullptr;
  }
  KILN_CHECK(units_ != nullptr, "declarations are asked of answers without units");
  const Diagnosed<ir::SpecialisedDecl>& unit = units_->Decl(decl, *this);
  found_.insert(found_.end(), unit.diagnostics.begin(), unit.diagnostics.end());
  return unit.value ? &*unit.value : nullptr;
}

// Said once, at the first struct of the cycle in program order, wherever it was entered.
void VariantEvaluator::ReportCycle(ir::DeclId decl) {
  std::vector<ir::DeclId> cycle(std::ranges::find(open_decls_, decl), open_decls_.end());
  std::rotate(cycle.begin(), std::ranges::min_element(cycle, {}, &ir::DeclId::value), cycle.end());
  const auto text = [&](ir::DeclId id) {
    return "'" + std::string(program_.Text(program_.NameOf(id))) + "'";
  };
  found_.push_back(Make(Code::kRpl4023, program_.NameLocation(cycle.front()))
                       .With("name", program_.Text(program_.NameOf(cycle.front())))
                       .With("chain", ChainText(cycle, text)));
}

ir::Stage VariantEvaluator::stage() {
  Record({.kind = VariantQueryKind::kStage}, {.first = static_cast<uint64_t>(stage_)}, kHasEffect);
  return stage_;
}

// --- values, as questions ------------------------------------------------------------------------

Value VariantEvaluator::ValueOf(ir::CexprId cexpr) {
  Demand({NodeKind::kExpression, cexpr.value});
  AddReads(expressions_.reads[cexpr.value]);
  const Value& value = expressions_.rows[cexpr.value];
  if (program_.Row(cexpr).op != ir::CexprOp::kLiteral) {
    Record({.kind = VariantQueryKind::kValue, .a = cexpr.value}, Pack(value),
           expressions_.reads[cexpr.value]);
  }
  return value;
}

bool VariantEvaluator::Holds(ir::CexprId condition) {
  const Value value = ValueOf(condition);
  return value.kind == ir::ValueKind::kFlag && value.bits != 0;
}

Value VariantEvaluator::Option(ir::OptionId option) {
  const Value value = OptionValue(option);
  AddReads(sets_.Only(option.value));
  Record({.kind = VariantQueryKind::kOption, .a = option.value}, Pack(value), kHasEffect);
  return value;
}

Value VariantEvaluator::Constant(ir::DeclId constant) {
  const NameId name = program_.NameOf(constant);
  Demand({NodeKind::kConstantName, name.value});
  AddReads(constant_names_.reads[name.value]);
  const ConstantName& row = constant_names_.rows[name.value];
  const bool is_live =
      row.answer.kind == NameResolution::Kind::kConstant && row.answer.decl() == constant;
  const Value value = is_live ? row.meaning.value : Value{};
  Record({.kind = VariantQueryKind::kConstant, .a = constant.value}, Pack(value),
         constant_names_.reads[name.value]);
  return value;
}

ir::ConstId VariantEvaluator::Composite(ir::DeclId constant) {
  if (!Known(composites_, constant.value)) {
    Demand({NodeKind::kConstant, constant.value});
    Enter();
    AddReads(constants_.reads[constant.value]);
    composites_.rows[constant.value] = ReadComposite(constant, nullptr);
    Leave(composites_.reads[constant.value]);
    Keep(composites_, constant.value);
  }
  AddReads(composites_.reads[constant.value]);
  const ir::ConstId value = composites_.rows[constant.value];
  Record({.kind = VariantQueryKind::kConstant, .a = constant.value}, Pack(value),
         composites_.reads[constant.value]);
  return value;
}

}  // namespace kiln::resolve
