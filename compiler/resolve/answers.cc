// SPDX-License-Identifier: MIT
// The questions about names, members and declarations, and the book-keeping that all questions
// share: memo rows, read sets, trails. Expressions are in answers_values.cc.
#include "compiler/resolve/answers.h"

#include <algorithm>
#include <string>
#include <utility>

#include "compiler/base/check.h"
#include "compiler/base/checksum.h"
#include "compiler/base/stop.h"
#include "compiler/resolve/close_type.h"
#include "compiler/resolve/kind_text.h"

namespace kiln::resolve {
namespace {

constexpr ReadSet kHasEffect = 1;  // a read set that is not empty

Answer Pack(const Value& value) {
  return {.first = uint64_t{static_cast<uint16_t>(value.kind)} << 40 |
                   uint64_t{value.instance ? 1u : 0u} << 32 | value.bits};
}
Answer Pack(const NameAnswer& answer) {
  return {.first = uint64_t{static_cast<uint8_t>(answer.kind)} << 32 | answer.id};
}
Answer Pack(const MemberAnswer& answer) {
  return {.first = uint64_t{static_cast<uint8_t>(answer.kind)} << 32 | answer.position,
          .second = uint64_t{answer.member.value} << 32 | answer.type.value};
}
Answer Pack(std::span<const NameId> path) {
  if (path.empty()) {
    return {};
  }
  const Hash128 hash = ProcessHash(std::as_bytes(path));
  return {.first = ReadLittle<uint64_t>(std::as_bytes(std::span(hash.bytes))),
          .second = ReadLittle<uint64_t>(std::as_bytes(std::span(hash.bytes)), 8)};
}
Answer Pack(ir::ConstId value) { return {.first = value.value}; }
Answer Pack(const ir::ClosedDecl* closed) { return {.first = reinterpret_cast<uintptr_t>(closed)}; }

}  // namespace

Answers::Answers(const Program& program, const OptionValues& values, ir::Pool& pool, Units* units)
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

Answers::~Answers() = default;

void Answers::Reset(const OptionValues& values) {
  KILN_CHECK(frames_.empty() && trails_.empty() && work_.empty(), "answers are in use");
  values_ = &values;
  ++epoch_;
  KILN_CHECK(epoch_ != kFixed);
  contested_.clear();
  found_.clear();
}

template <class Row>
void Answers::Size(Memo<Row>& memo, size_t count) {
  const uint64_t bytes = count * (sizeof(Row) + sizeof(uint32_t) + sizeof(ReadSet));
  ChargeMemory(bytes);
  table_bytes_ += bytes;
  memo.rows.resize(count);
  memo.epochs.resize(count);
  memo.reads.resize(count);
}

// --- read sets and trails ------------------------------------------------------------------------

void Answers::BeginReads() { frames_.push_back(kReadNothing); }

Bitset Answers::EndReads() {
  Bitset result(program_.option_count());
  EndReads(result);
  return result;
}

void Answers::EndReads(Bitset& result) {
  KILN_CHECK(!frames_.empty());
  const ReadSet reads = frames_.back();
  frames_.pop_back();
  AddReads(reads);
  sets_.AddTo(result, reads);
}

void Answers::Enter() {
  CheckStop();
  BeginReads();
  trails_.push_back(nullptr);
  found_before_.push_back(found_.size());
}

void Answers::Leave(ReadSet& reads) {
  if (found_.size() != found_before_.back()) {
    NoteEffect();
  }
  reads = frames_.back();
  frames_.pop_back();
  trails_.pop_back();
  found_before_.pop_back();
}

void Answers::BeginTrail(Trail* trail) { trails_.push_back(trail); }
void Answers::EndTrail() { trails_.pop_back(); }

void Answers::Record(const Question& question, const Answer& answer, ReadSet reads) {
  if (!trails_.empty() && trails_.back() != nullptr) {
    trails_.back()->Add(question, answer, reads == kReadNothing);
  }
}

Answer Answers::Ask(const Question& question) {
  const NameId name{question.a};
  switch (question.kind) {
    case QuestionKind::kValue:
      return Pack(ValueOf(ir::CexprId{question.a}));
    case QuestionKind::kFunction:
      return Pack(Function(name));
    case QuestionKind::kStruct:
      return Pack(Struct(name));
    case QuestionKind::kGlobal:
      return Pack(Global(name));
    case QuestionKind::kOption:
      return Pack(Option(ir::OptionId{question.a}));
    case QuestionKind::kConstant:
      return program_.IsComposite(ir::DeclId{question.a}) ? Pack(Composite(ir::DeclId{question.a}))
                                                          : Pack(Constant(ir::DeclId{question.a}));
    case QuestionKind::kMember:
      return Pack(Member(ir::DeclId{question.a}, NameId{question.b}));
    case QuestionKind::kAliasPath:
      return Pack(AliasPath(ir::MemberId{question.a}));
    case QuestionKind::kDecl:
      return Pack(Decl(ir::DeclId{question.a}));
    case QuestionKind::kStage:
      return {.first = static_cast<uint64_t>(stage())};
  }
  KILN_UNREACHABLE();
}

std::vector<Diagnostic> Answers::TakeDiagnostics() { return std::exchange(found_, {}); }

// --- names ---------------------------------------------------------------------------------------

NameAnswer Answers::Function(NameId name) {
  if (!Known(functions_, name.value)) {
    Enter();
    functions_.rows[name.value] = FindLive(program_.Functions(name), Conditions::kReported).answer;
    Leave(functions_.reads[name.value]);
    Keep(functions_, name.value);
  }
  AddReads(functions_.reads[name.value]);
  const NameAnswer& answer = functions_.rows[name.value];
  Record({.kind = QuestionKind::kFunction, .a = name.value}, Pack(answer),
         functions_.reads[name.value]);
  return answer;
}

NameAnswer Answers::Struct(NameId name) {
  if (!Known(structs_, name.value)) {
    Enter();
    Live live = FindLive(program_.Structs(name), Conditions::kReported);
    if (live.answer.kind == NameAnswer::Kind::kConflict) {
      found_.push_back(
          Make(Code::kRpl4022, program_.NameLocation(live.second))
              .With("name", program_.Text(name))
              .Label(LabelKind::kFirstHere, program_.NameLocation(live.answer.decl())));
      live.answer = {.kind = NameAnswer::Kind::kFailed};
    }
    structs_.rows[name.value] = live.answer;
    Leave(structs_.reads[name.value]);
    Keep(structs_, name.value);
  }
  AddReads(structs_.reads[name.value]);
  const NameAnswer& answer = structs_.rows[name.value];
  Record({.kind = QuestionKind::kStruct, .a = name.value}, Pack(answer),
         structs_.reads[name.value]);
  return answer;
}

NameAnswer Answers::Global(NameId name) {
  if (const ir::OptionId option = program_.Option(name); option.valid()) {
    return {.kind = NameAnswer::Kind::kOption, .id = option.value};  // a fact of the program
  }
  if (!Known(globals_, name.value)) {
    Enter();
    NameAnswer answer;
    if (!program_.Constants(name).empty()) {
      Demand({NodeKind::kConstantName, name.value});
      AddReads(constant_names_.reads[name.value]);
      answer = constant_names_.rows[name.value].answer;
    }
    if (answer.kind == NameAnswer::Kind::kNone) {
      answer = FindLive(program_.Globals(name), Conditions::kAsked).answer;
    }
    globals_.rows[name.value] = answer;
    Leave(globals_.reads[name.value]);
    Keep(globals_, name.value);
  }
  AddReads(globals_.reads[name.value]);
  const NameAnswer& answer = globals_.rows[name.value];
  Record({.kind = QuestionKind::kGlobal, .a = name.value}, Pack(answer),
         globals_.reads[name.value]);
  return answer;
}

// Conditions of functions and structs are reported by the first who asks for the name, because no
// walk visits all of them; the walk does visit those of the interface.
Answers::Live Answers::FindLive(std::span<const ir::DeclId> candidates, Conditions conditions) {
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
    if (live.answer.kind == NameAnswer::Kind::kDecl) {
      live.answer.kind = NameAnswer::Kind::kConflict;
      live.second = id;
      continue;
    }
    if (live.answer.kind == NameAnswer::Kind::kNone) {
      live.answer = {.kind = NameAnswer::Kind::kDecl, .id = id.value};
    }
  }
  if (failed && live.answer.kind == NameAnswer::Kind::kNone) {
    live.answer.kind = NameAnswer::Kind::kFailed;
  }
  return live;
}

void Answers::LabelFunctions(NameId name, Diagnostic& found) {
  const Live live = FindLive(program_.Functions(name), Conditions::kAsked);
  if (live.answer.kind == NameAnswer::Kind::kConflict) {
    std::move(found)
        .Label(LabelKind::kFirstHere, program_.NameLocation(live.answer.decl()))
        .Label(LabelKind::kOtherHere, program_.NameLocation(live.second));
  }
}

// --- members -------------------------------------------------------------------------------------

MemberAnswer Answers::Member(ir::DeclId owner, NameId name) {
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
  const MemberAnswer& answer = members_.rows[first.value];
  Record({.kind = QuestionKind::kMember, .a = owner.value, .b = name.value}, Pack(answer),
         members_.reads[first.value]);
  return answer;
}

// Asks for the conditions of the members before it only as far as its position needs them.
MemberAnswer Answers::FindMember(ir::DeclId owner, NameId name, ir::MemberId first) {
  const uint32_t m = program_.ModuleOf(owner);
  const ir::ModuleView& view = program_.module(m);
  const ir::Decl& decl = program_.Get(owner);
  const std::span<const ir::Member> members = view.MembersOf(decl);
  const uint32_t base = program_.bases(m).member + decl.first_member;
  MemberAnswer answer;
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
        answer.kind = MemberAnswer::Kind::kAlias;
        return answer;
      }
      std::vector<Diagnostic> ignored;  // reported by the owner
      answer.type =
          CloseType({.module = m, .type = member.type, .use = TypeUse::kField}, *this, ignored);
      answer.kind = answer.type.valid() ? MemberAnswer::Kind::kField : MemberAnswer::Kind::kFailed;
      return answer;
    }
    answer.position += live ? 1 : 0;
  }
  return {.kind = failed ? MemberAnswer::Kind::kFailed : MemberAnswer::Kind::kNone};
}

std::span<const NameId> Answers::AliasPath(ir::MemberId alias) {
  if (!Known(aliases_, alias.value)) {
    ExpandAlias(alias);
  }
  AddReads(aliases_.reads[alias.value]);
  const std::span<const NameId> path = aliases_.rows[alias.value];
  if (!trails_.empty() && trails_.back() != nullptr) {
    Record({.kind = QuestionKind::kAliasPath, .a = alias.value}, Pack(path),
           aliases_.reads[alias.value]);
  }
  return path;
}

// Chains of aliases are as long as the author likes: no recursion.
void Answers::ExpandAlias(ir::MemberId first) {
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
      const MemberAnswer start = Member(program_.OwnerOf(alias), name);
      if (start.kind == MemberAnswer::Kind::kField) {
        path.push_back(name);
      } else if (start.kind == MemberAnswer::Kind::kAlias) {
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
void Answers::ReportAliasCycle(ir::MemberId alias) {
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

const ir::ClosedDecl* Answers::Decl(ir::DeclId decl) {
  DeclRow& row = decls_.rows[decl.value];
  if (!Known(decls_, decl.value)) {
    row = {.in_progress = true};
    decls_.epochs[decl.value] = epoch_;
    Enter();
    open_decls_.push_back(decl);
    row.closed = CloseOnce(decl);
    open_decls_.pop_back();
    row.in_progress = false;
    Leave(decls_.reads[decl.value]);
    Keep(decls_, decl.value);
  } else if (row.in_progress) {
    ReportCycle(decl);
    NoteEffect();
    Record({.kind = QuestionKind::kDecl, .a = decl.value}, {}, kHasEffect);
    return nullptr;
  }
  AddReads(decls_.reads[decl.value]);
  Record({.kind = QuestionKind::kDecl, .a = decl.value}, Pack(row.closed),
         decls_.reads[decl.value]);
  return row.closed;
}

const ir::ClosedDecl* Answers::CloseOnce(ir::DeclId decl) {
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
  const Diagnosed<ir::ClosedDecl>& unit = units_->Decl(decl, *this);
  found_.insert(found_.end(), unit.diagnostics.begin(), unit.diagnostics.end());
  return unit.value ? &*unit.value : nullptr;
}

// Said once, at the first struct of the cycle in program order, wherever it was entered.
void Answers::ReportCycle(ir::DeclId decl) {
  std::vector<ir::DeclId> cycle(std::ranges::find(open_decls_, decl), open_decls_.end());
  std::rotate(cycle.begin(), std::ranges::min_element(cycle, {}, &ir::DeclId::value), cycle.end());
  const auto text = [&](ir::DeclId id) {
    return "'" + std::string(program_.Text(program_.NameOf(id))) + "'";
  };
  found_.push_back(Make(Code::kRpl4023, program_.NameLocation(cycle.front()))
                       .With("name", program_.Text(program_.NameOf(cycle.front())))
                       .With("chain", ChainText(cycle, text)));
}

ir::Stage Answers::stage() {
  Record({.kind = QuestionKind::kStage}, {.first = static_cast<uint64_t>(stage_)}, kHasEffect);
  return stage_;
}

// --- values, as questions ------------------------------------------------------------------------

Value Answers::ValueOf(ir::CexprId cexpr) {
  Demand({NodeKind::kExpression, cexpr.value});
  AddReads(expressions_.reads[cexpr.value]);
  const Value& value = expressions_.rows[cexpr.value];
  if (program_.Row(cexpr).op != ir::CexprOp::kLiteral) {
    Record({.kind = QuestionKind::kValue, .a = cexpr.value}, Pack(value),
           expressions_.reads[cexpr.value]);
  }
  return value;
}

bool Answers::Holds(ir::CexprId condition) {
  const Value value = ValueOf(condition);
  return value.kind == ir::ValueKind::kFlag && value.bits != 0;
}

Value Answers::Option(ir::OptionId option) {
  const Value value = OptionValue(option);
  AddReads(sets_.Only(option.value));
  Record({.kind = QuestionKind::kOption, .a = option.value}, Pack(value), kHasEffect);
  return value;
}

Value Answers::Constant(ir::DeclId constant) {
  const NameId name = program_.NameOf(constant);
  Demand({NodeKind::kConstantName, name.value});
  AddReads(constant_names_.reads[name.value]);
  const ConstantName& row = constant_names_.rows[name.value];
  const bool is_live =
      row.answer.kind == NameAnswer::Kind::kConstant && row.answer.decl() == constant;
  const Value value = is_live ? row.meaning.value : Value{};
  Record({.kind = QuestionKind::kConstant, .a = constant.value}, Pack(value),
         constant_names_.reads[name.value]);
  return value;
}

ir::ConstId Answers::Composite(ir::DeclId constant) {
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
  Record({.kind = QuestionKind::kConstant, .a = constant.value}, Pack(value),
         composites_.reads[constant.value]);
  return value;
}

}  // namespace kiln::resolve
