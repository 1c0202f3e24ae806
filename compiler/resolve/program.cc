// SPDX-License-Identifier: MIT
// Linking: program-wide numbers and names, candidates per name, and what can be known about a
// program without an option value.
#include "compiler/resolve/program.h"

#include <algorithm>
#include <cstring>
#include <string>

#include "compiler/base/check.h"
#include "compiler/base/threads/stop.h"
#include "compiler/ir/builtins.h"
#include "compiler/ir/operands.h"
#include "compiler/resolve/checks/function_count.h"
#include "compiler/resolve/interface_groups.h"
#include "compiler/resolve/spec_ids.h"
#include "compiler/resolve/values/evaluate.h"
#include "compiler/resolve/values/option_counts.h"

namespace kiln::resolve {
namespace {

// Longer lists of members are looked up by hash.
constexpr uint32_t kLongList = 16;

uint64_t MemberKey(ir::DeclId owner, NameId name) {
  return uint64_t{owner.value} << 32 | name.value;
}

// Names of options are few and short: their ends and length tell them apart.
uint64_t OptionHash(std::string_view name) {
  uint64_t first = 0;
  uint64_t last = 0;
  const size_t count = std::min(name.size(), sizeof(first));
  if (count == sizeof(first)) {
    std::memcpy(&first, name.data(), sizeof(first));
    std::memcpy(&last, name.data() + name.size() - sizeof(last), sizeof(last));
  } else {
    std::memcpy(&first, name.data(), count);
  }
  return Mix64(first ^ last * 0x9e3779b97f4a7c15u ^ name.size());
}

// The module whose range holds `number`; bases ascend.
// Most programs have one module, so this case comes without a search.
uint32_t FindModule(std::span<const Bases> bases, uint32_t Bases::*field, uint32_t number) {
  if (bases.size() == 1) {
    return 0;
  }
  const auto after = std::ranges::upper_bound(bases, number, {}, field);
  return static_cast<uint32_t>(after - bases.begin()) - 1;
}

}  // namespace

// Makes a program of modules, in passes over their tables: each pass needs only what those
// before it have made.
class Linker {
 public:
  Linker(std::span<const ir::ModuleView> modules, std::span<const std::string> names)
      : names_(names) {
    program_.modules_.assign(modules.begin(), modules.end());
  }

  // Counts are checked first: they bound everything that follows.
  Diagnosed<Program> Run(ir::PipelineType pipeline, const LanguageLimits& limits) {
    program_.pipeline_ = pipeline;
    program_.limits_ = limits;
    diagnostics_ = CheckOptionCounts(program_.modules_, limits);
    if (std::optional<Diagnostic> found = CheckFunctionCount(program_.modules_, limits)) {
      diagnostics_.push_back(std::move(*found));
    }
    if (!diagnostics_.empty()) {
      // Limits are told alone, because everything behind them would take memory in proportion.
      return {.value = {}, .diagnostics = std::move(diagnostics_)};
    }
    NumberRows();
    for (uint32_t m = 0; m < program_.modules_.size(); ++m) {
      CheckStop();
      AddOptions(m);
      AddDecls(m);
    }
    program_.spec_ids_ = AssignSpecIds(program_, diagnostics_);
    SortOptions();
    FindAmbiguous();
    // Expressions come behind all declarations of all modules, because a name in them may be
    // declared in another module.
    for (uint32_t m = 0; m < program_.modules_.size(); ++m) {
      AddCexprs(m);
    }
    for (uint32_t m = 0; m < program_.modules_.size(); ++m) {
      CollectCalls(m);
    }
    SpreadSensitivity();
    Diagnosed<Program> result;
    if (!HasErrors(diagnostics_)) {
      result.value = std::move(program_);
    }
    result.diagnostics = std::move(diagnostics_);
    return result;
  }

 private:
  // What the tables of one module take, roughly.
  static uint64_t BytesOf(const ir::ModuleView& view) {
    constexpr uint64_t kOfName = 128;  // text, candidates, callers
    constexpr uint64_t kOfRow = 32;
    return view.string_ends.size() * kOfName +
           (view.decls.size() + view.members.size() + view.locals.size() + view.options.size() +
            view.cexprs.size()) *
               kOfRow;
  }

  // Rows get numbers over all modules, in the order of the modules, so that tables of a program are
  // plain arrays.
  void NumberRows() {
    Bases next;
    for (const ir::ModuleView& view : program_.modules_) {
      CheckStop();
      ChargeMemory(BytesOf(view));
      program_.bytes_used_ += BytesOf(view);
      program_.bases_.push_back(next);
      next.decl += static_cast<uint32_t>(view.decls.size());
      next.member += static_cast<uint32_t>(view.members.size());
      next.local += static_cast<uint32_t>(view.locals.size());
      next.region += static_cast<uint32_t>(view.regions.size());
      next.option += static_cast<uint32_t>(view.options.size());
      next.cexpr += static_cast<uint32_t>(view.cexprs.size());
      std::vector<NameId>& names = program_.names_of_.emplace_back();
      names.reserve(view.string_ends.size());
      for (uint32_t i = 0; i < view.string_ends.size(); ++i) {
        CheckStop();
        names.push_back(program_.names_.Intern(view.Text(ir::StringId{i})));
      }
    }
    program_.option_count_ = next.option;
    program_.decl_count_ = next.decl;
    program_.region_count_ = next.region;
    program_.candidates_.resize(program_.names_.size());
    program_.stage_sensitive_.assign(next.decl, false);
    program_.inst_ranges_.resize(next.decl);
    program_.bare_locals_.assign(next.local, false);
    program_.has_bare_locals_.assign(next.decl, false);
    program_.owners_.resize(next.member);
    program_.decl_names_.reserve(next.decl);
    program_.cexprs_.reserve(next.cexpr);
    callers_.resize(program_.names_.size());
  }

  std::string ModuleName(uint32_t module) const {
    return module < names_.size() ? names_[module] : std::to_string(module + 1);
  }

  void AddOptions(uint32_t m) {
    const ir::ModuleView& view = program_.modules_[m];
    for (uint32_t i = 0; i < view.options.size(); ++i) {
      const NameId name = program_.Name(m, view.options[i].name);
      const ir::OptionId id{program_.bases_[m].option + i};
      program_.option_names_.push_back(name);
      program_.option_defaults_.push_back(view.options[i].default_value);
      ir::OptionId& known = program_.candidates_[name.value].option;
      if (known.valid()) {
        diagnostics_.push_back(Make(Code::kRpl2002, program_.NameLocation(id))
                                   .With("name", program_.Text(name))
                                   .With("module", ModuleName(m))
                                   .With("other", ModuleName(program_.ModuleOf(known)))
                                   .Label(LabelKind::kFirstHere, program_.NameLocation(known)));
        continue;
      }
      known = id;
      program_.options_by_name_.push_back(id);
      program_.option_index_.FindOrAdd(
          OptionHash(program_.Text(name)), [](uint32_t) { return false; },
          [&] { return id.value; });
    }
  }

  void SortOptions() {
    std::ranges::sort(program_.options_by_name_, {}, [&](ir::OptionId id) {
      return program_.modules_[program_.ModuleOf(id)].Text(program_.Get(id).name);
    });
  }

  // For each member: how many unconditional fields come before it, and which conditional ones. Its
  // position in a variant then costs a look at the conditional ones only.
  void AddLongList(uint32_t m, ir::DeclId id, const ir::Decl& decl) {
    const auto begin = static_cast<uint32_t>(program_.conditional_fields_.size());
    uint32_t plain = 0;
    for (uint32_t k = 0; k < decl.member_count; ++k) {
      CheckStop();
      const ir::Member& row = program_.modules_[m].members[decl.first_member + k];
      const ir::MemberId member{program_.bases_[m].member + decl.first_member + k};
      // The conditional fields before the member are those that the list holds by now.
      const auto end = static_cast<uint32_t>(program_.conditional_fields_.size());
      program_.long_lists_.Insert(MemberKey(id, program_.Name(m, row.name)),
                                  {.member = member, .plain = plain, .begin = begin, .end = end});
      if (row.kind != ir::MemberKind::kField) {
        continue;
      }
      if (row.condition == ir::kTrue) {
        ++plain;
      } else {
        program_.conditional_fields_.push_back(k);
      }
    }
  }

  static bool IsShared(ir::DeclKind kind) {
    return kind == ir::DeclKind::kBuffer || kind == ir::DeclKind::kPushConstant ||
           kind == ir::DeclKind::kSampler || kind == ir::DeclKind::kImage;
  }

  // Whether an earlier typed module declares a resource of that name.
  bool IsRepeated(uint32_t m, NameId name, ir::DeclId id) {
    const ir::DeclId first = *shared_.Insert(name.value, id).first;
    if (program_.ModuleOf(first) == m) {
      return false;
    }
    program_.first_of_.Insert(id.value, first);
    program_.repeated_.push_back(id);
    return true;
  }

  // Candidates, owners and the interface of one module. Typed modules that declare one resource
  // share it.
  void AddDecls(uint32_t m) {
    const ir::ModuleView& view = program_.modules_[m];
    program_.initialises_.push_back(false);
    std::vector<std::pair<int, ir::DeclId>> groups;
    for (uint32_t i = 0; i < view.decls.size(); ++i) {
      CheckStop();
      const ir::Decl& decl = view.decls[i];
      const ir::DeclId id{program_.bases_[m].decl + i};
      const NameId name = program_.Name(m, decl.name);
      program_.decl_names_.push_back(name);
      for (uint32_t k = 0; k < decl.member_count; ++k) {
        program_.owners_[program_.bases_[m].member + decl.first_member + k] = id;
      }
      if (decl.member_count > kLongList) {
        AddLongList(m, id, decl);
      }
      AddCandidate(decl.kind, name, id);
      if (decl.kind == ir::DeclKind::kPrivate && decl.aux != ir::kNoRow) {
        program_.initialises_[m] = true;
      }
      // The first declaration stands for all of them in the interface.
      if (view.header.typed != 0 && IsShared(decl.kind) && IsRepeated(m, name, id)) {
        continue;
      }
      if (const int group = GroupOf(view, decl); group >= 0) {
        groups.emplace_back(group, id);
      }
    }
    if (view.header.Has(ir::ModuleRule::kGroupsOrderTheInterface)) {
      std::ranges::stable_sort(groups, {}, &std::pair<int, ir::DeclId>::first);
    }
    for (const auto& [group, id] : groups) {
      program_.interface_.push_back(id);
    }
  }

  void AddCandidate(ir::DeclKind kind, NameId name, ir::DeclId id) {
    Program::Candidates& candidates = program_.candidates_[name.value];
    switch (kind) {
      case ir::DeclKind::kConstant:
        candidates.constants.push_back(id);
        program_.constants_.push_back(id);
        return;
      case ir::DeclKind::kSetting:
        program_.settings_.push_back(id);
        return;
      case ir::DeclKind::kStruct:
        candidates.structs.push_back(id);
        return;
      case ir::DeclKind::kFunction:
        candidates.functions.push_back(id);
        return;
      case ir::DeclKind::kContainer:
      case ir::DeclKind::kBuffer:
      case ir::DeclKind::kPushConstant:
      case ir::DeclKind::kSampler:
      case ir::DeclKind::kImage:
      case ir::DeclKind::kWorkgroup:
        candidates.globals.push_back(id);
        return;
      case ir::DeclKind::kPrivate:
      case ir::DeclKind::kEntry:
        return;
    }
    KILN_UNREACHABLE();
  }

  // A name is ambiguous if more than one thing may have it. Names of locals always are, because a
  // local may hide any of them.
  // Contested names are the only ones for which clashes have to be looked for in a variant.
  void FindAmbiguous() {
    program_.ambiguous_.assign(program_.names_.size(), false);
    for (size_t i = 0; i < program_.candidates_.size(); ++i) {
      const Program::Candidates& all = program_.candidates_[i];
      const size_t owners = all.functions.size() + all.structs.size() + all.constants.size() +
                            all.globals.size() + (all.option.valid() ? 1 : 0);
      program_.ambiguous_[i] = owners > 1;
    }
    for (uint32_t m = 0; m < program_.modules_.size(); ++m) {
      for (const ir::Local& local : program_.modules_[m].locals) {
        if (local.name.valid()) {
          program_.ambiguous_[program_.Name(m, local.name).value] = true;
        }
      }
    }
  }

  // Operands precede users, so one pass in row order sees every operand before its user.
  void AddCexprs(uint32_t m) {
    const ir::ModuleView& view = program_.modules_[m];
    const uint32_t base = program_.bases_[m].cexpr;
    for (const ir::Cexpr& row : view.cexprs) {
      CheckStop();
      uint32_t size = 1;
      uint32_t last = 0;
      bool may_remark = false;
      ForOperands(view, row, [&](ir::CexprId operand) {
        size += program_.tree_sizes_[base + operand.value];
        last = std::max(last, program_.last_constant_[base + operand.value]);
        may_remark = may_remark || program_.may_remark_[base + operand.value];
      });
      ir::Cexpr wide = row;
      uint32_t operand_count = 0;
      if (HoldsText(row)) {
        wide.a = program_.Name(m, ir::StringId{row.a}).value;
      } else if (row.op != ir::CexprOp::kComposite) {
        ForOperands(view, row, [&](ir::CexprId operand) {
          (operand_count == 0   ? wide.a
           : operand_count == 1 ? wide.b
                                : wide.zero) = base + operand.value;
          ++operand_count;
        });
      }
      KILN_CHECK(operand_count == OperandCount(row.op) || row.op == ir::CexprOp::kComposite,
                 "{} operands", operand_count);
      if (row.op == ir::CexprOp::kName) {
        const Program::Candidates& named = program_.candidates_[wide.a];
        const std::string_view text = program_.names_[NameId{wide.a}];
        // The two are spellings of old sources, which are told where a name is looked up.
        may_remark = !named.option.valid() && (text == "on" || text == "off");
        if (!named.option.valid() && !named.constants.empty()) {
          last = named.constants.back().value + 1;
        }
      } else if (row.op == ir::CexprOp::kEqual || row.op == ir::CexprOp::kNotEqual) {
        may_remark = may_remark || NamesImpossibleValue(wide.a, wide.b) ||
                     NamesImpossibleValue(wide.b, wide.a);
      }
      program_.cexprs_.push_back(wide);
      program_.tree_sizes_.push_back(size);
      program_.last_constant_.push_back(last);
      program_.may_remark_.push_back(may_remark);
    }
  }

  // Whether row `name` is an enum option that never has the value of the string row `text`.
  bool NamesImpossibleValue(uint32_t name, uint32_t text) const {
    const ir::Cexpr& option = program_.cexprs_[name];
    const ir::Cexpr& value = program_.cexprs_[text];
    return option.op == ir::CexprOp::kName && value.op == ir::CexprOp::kLiteral &&
           HoldsText(value) &&
           !program_.MayHaveValue(program_.candidates_[option.a].option, NameId{value.a});
  }

  // Who calls which name, who samples, who leaves variables without a value. Every condition counts
  // as possible.
  void CollectCalls(uint32_t m) {
    const ir::ModuleView& view = program_.modules_[m];
    // Blocks are visited once each with a list of work, as they nest deeper than a stack should.
    std::vector<bool> seen(view.blocks.size(), false);
    std::vector<ir::BlockId> work;
    for (const ir::Region& region : view.regions) {
      CheckStop();
      const ir::DeclId caller{program_.bases_[m].decl + region.function.value};
      work.push_back(region.block);
      while (!work.empty()) {
        const ir::BlockId block = work.back();
        work.pop_back();
        if (!block.valid() || seen[block.value]) {
          continue;
        }
        seen[block.value] = true;
        for (const uint32_t inst : view.InstsOf(block)) {
          CheckStop();
          InstRange& range = program_.inst_ranges_[caller.value];
          range = {.begin = std::min(range.begin, inst), .end = std::max(range.end, inst + 1)};
          CollectInst(m, caller, view.insts[inst], work);
        }
      }
    }
  }

  void CollectInst(uint32_t m, ir::DeclId caller, const ir::Inst& inst,
                   std::vector<ir::BlockId>& work) {
    const ir::ModuleView& view = program_.modules_[m];
    if (inst.kind == ir::InstKind::kNameCall) {
      const NameId name = program_.Name(m, inst.As<ir::NameCallInst>().name);
      callers_[name.value].push_back(caller);
    } else if (inst.kind == ir::InstKind::kVariable) {
      const auto variable = inst.As<ir::VariableInst>();
      if (!variable.initialiser.valid() && view.header.Has(ir::ModuleRule::kReadsAreAssigned)) {
        program_.bare_locals_[program_.bases_[m].local + variable.local.value] = true;
        program_.has_bare_locals_[caller.value] = true;
      }
    } else if (inst.kind == ir::InstKind::kNameBuiltin) {
      const ir::Builtin builtin = inst.As<ir::NameBuiltinInst>().builtin;
      if (builtin == ir::Builtin::kSample || builtin == ir::Builtin::kSampleDref) {
        MarkSensitive(caller);
      }
    }
    ir::ForEachOwnedBlock(
        inst, [&](ir::ListId list) { return view.List(list); },
        [&](uint32_t block) { work.emplace_back(block); });
  }

  void MarkSensitive(ir::DeclId function) {
    if (!program_.stage_sensitive_[function.value]) {
      program_.stage_sensitive_[function.value] = true;
      marked_.push_back(function);
    }
  }

  // A function that calls a sensitive one is sensitive as well. Names and not declarations are
  // followed, so a caller of any function of the name counts.
  void SpreadSensitivity() {
    while (!marked_.empty()) {
      const NameId name = program_.decl_names_[marked_.back().value];
      marked_.pop_back();
      for (const ir::DeclId caller : callers_[name.value]) {
        MarkSensitive(caller);
      }
    }
  }

  Program program_;
  std::span<const std::string> names_;
  std::vector<Diagnostic> diagnostics_;
  FlatMap<uint32_t, ir::DeclId> shared_;          // resources of typed modules, by name
  std::vector<std::vector<ir::DeclId>> callers_;  // by the NameId of what is called
  std::vector<ir::DeclId> marked_;
};

Diagnosed<Program> Link(std::span<const ir::ModuleView> modules, ir::PipelineType pipeline,
                        std::span<const std::string> names, const LanguageLimits& limits) {
  return Linker(modules, names).Run(pipeline, limits);
}

ir::OptionId Program::FindOption(std::string_view name) const {
  return ir::OptionId{option_index_.Find(
      OptionHash(name), [&](uint32_t i) { return Text(option_names_[i]) == name; })};
}

uint32_t Program::ModuleOf(ir::DeclId id) const {
  return FindModule(bases_, &Bases::decl, id.value);
}
uint32_t Program::ModuleOf(ir::MemberId id) const {
  return FindModule(bases_, &Bases::member, id.value);
}
uint32_t Program::ModuleOf(ir::LocalId id) const {
  return FindModule(bases_, &Bases::local, id.value);
}
uint32_t Program::ModuleOf(ir::RegionId id) const {
  return FindModule(bases_, &Bases::region, id.value);
}
uint32_t Program::ModuleOf(ir::OptionId id) const {
  return FindModule(bases_, &Bases::option, id.value);
}
uint32_t Program::ModuleOf(ir::CexprId id) const {
  return FindModule(bases_, &Bases::cexpr, id.value);
}

const ir::Decl& Program::Get(ir::DeclId id) const {
  const uint32_t m = ModuleOf(id);
  return modules_[m].decls[id.value - bases_[m].decl];
}
const ir::Member& Program::Get(ir::MemberId id) const {
  const uint32_t m = ModuleOf(id);
  return modules_[m].members[id.value - bases_[m].member];
}
const ir::Local& Program::Get(ir::LocalId id) const {
  const uint32_t m = ModuleOf(id);
  return modules_[m].locals[id.value - bases_[m].local];
}
const ir::Region& Program::Get(ir::RegionId id) const {
  const uint32_t m = ModuleOf(id);
  return modules_[m].regions[id.value - bases_[m].region];
}
const ir::Option& Program::Get(ir::OptionId id) const {
  const uint32_t m = ModuleOf(id);
  return modules_[m].options[id.value - bases_[m].option];
}

std::span<const ir::DeclId> Program::Functions(NameId name) const {
  return candidates_[name.value].functions;
}
std::span<const ir::DeclId> Program::Structs(NameId name) const {
  return candidates_[name.value].structs;
}
std::span<const ir::DeclId> Program::Constants(NameId name) const {
  return candidates_[name.value].constants;
}
std::span<const ir::DeclId> Program::Globals(NameId name) const {
  return candidates_[name.value].globals;
}
ir::OptionId Program::Option(NameId name) const { return candidates_[name.value].option; }

// For conditions: a text that an option never has makes a comparison always false.
bool Program::MayHaveValue(ir::OptionId id, NameId text) const {
  if (!id.valid()) {
    return true;
  }
  const uint32_t m = ModuleOf(id);
  const ir::Option& option = modules_[m].options[id.value - bases_[m].option];
  return option.kind != ir::OptionKind::kEnum ||
         std::ranges::any_of(modules_[m].List(option.values),
                             [&](uint32_t value) { return Name(m, ir::StringId{value}) == text; });
}

bool Program::StageSensitive(ir::DeclId function) const { return stage_sensitive_[function.value]; }

bool Program::IsComposite(ir::DeclId constant) const {
  const uint32_t m = ModuleOf(constant);
  const ir::Decl& decl = Get(constant);
  return decl.kind == ir::DeclKind::kConstant &&
         cexprs_[Wide(m, ir::CexprId{decl.body}).value].op == ir::CexprOp::kComposite;
}

uint32_t Program::SpecIdOf(ir::OptionId option) const { return spec_ids_[option.value]; }

bool Program::Ordered(ir::DeclId constant) const {
  const uint32_t m = ModuleOf(constant);
  const ir::Decl& decl = modules_[m].decls[constant.value - bases_[m].decl];
  const auto before = [&](ir::CexprId row) {
    return last_constant_[Wide(m, row).value] <= constant.value;
  };
  return before(decl.condition) && before(ir::CexprId{decl.body});
}

// Short lists are searched, long ones have an index (AddLongList).
ir::MemberId Program::FindMember(ir::DeclId owner, NameId name) const {
  const uint32_t m = ModuleOf(owner);
  const ir::Decl& decl = modules_[m].decls[owner.value - bases_[m].decl];
  if (decl.member_count > kLongList) {
    const LongRow* found = long_lists_.Find(MemberKey(owner, name));
    return found != nullptr ? found->member : ir::MemberId{};
  }
  const std::span<const ir::Member> members = modules_[m].MembersOf(decl);
  for (uint32_t i = 0; i < members.size(); ++i) {
    if (Name(m, members[i].name) == name) {
      return ir::MemberId{bases_[m].member + decl.first_member + i};
    }
  }
  return {};
}

MembersBefore Program::Before(ir::DeclId owner, NameId name) const {
  const LongRow* found = long_lists_.Find(MemberKey(owner, name));
  if (found == nullptr) {
    return {};
  }
  return {.counted = found->member.value - FirstMember(owner).value,
          .plain = found->plain,
          .conditional =
              std::span(conditional_fields_).subspan(found->begin, found->end - found->begin)};
}

ir::MemberId Program::FirstMember(ir::DeclId id) const {
  const uint32_t m = ModuleOf(id);
  return ir::MemberId{bases_[m].member + modules_[m].decls[id.value - bases_[m].decl].first_member};
}

ir::DeclSpans Program::SpansOf(ir::DeclId id) const {
  const uint32_t m = ModuleOf(id);
  const auto rows = modules_[m].decl_spans;
  return rows.empty() ? ir::DeclSpans{} : rows[id.value - bases_[m].decl];
}
ir::MemberSpans Program::SpansOf(ir::MemberId id) const {
  const uint32_t m = ModuleOf(id);
  const auto rows = modules_[m].member_spans;
  return rows.empty() ? ir::MemberSpans{} : rows[id.value - bases_[m].member];
}

Location Program::NameLocation(ir::DeclId id) const { return At(ModuleOf(id), SpansOf(id).name); }
Location Program::NameLocation(ir::MemberId id) const { return At(ModuleOf(id), SpansOf(id).name); }
Location Program::NameLocation(ir::OptionId id) const { return At(ModuleOf(id), Get(id).span); }

}  // namespace kiln::resolve
