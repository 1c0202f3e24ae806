// SPDX-License-Identifier: MIT
#include "compiler/resolve/names/member_resolver.h"

#include <algorithm>
#include <string>
#include <utility>

#include "compiler/resolve/names/kind_text.h"
#include "compiler/resolve/specialise/specialise_type.h"

namespace kiln::resolve {

MemberResolver::MemberResolver(VariantEvaluator& evaluator, ValueEvaluator& values,
                               QueryRecorder& recorder)
    : program_(values.program()), evaluator_(evaluator), values_(values), recorder_(recorder) {
  recorder.Size(members_, program_.member_count());
  recorder.Size(aliases_, program_.member_count());
}

// By the first member of that name: all members with one name share one row.
MemberResolution MemberResolver::Member(ir::DeclId owner, NameId name) {
  const ir::MemberId first = program_.FindMember(owner, name);
  if (!first.valid()) {
    return {};  // a fact of the program
  }
  if (!recorder_.Known(members_, first.value)) {
    recorder_.Enter();
    members_.rows[first.value] = FindMember(owner, name, first);
    recorder_.Leave(members_.reads[first.value]);
    recorder_.Keep(members_, first.value);
  }
  recorder_.AddReads(members_.reads[first.value]);
  const MemberResolution& answer = members_.rows[first.value];
  recorder_.Record({.kind = VariantQueryKind::kMember, .a = owner.value, .b = name.value},
                   Pack(answer), members_.reads[first.value]);
  return answer;
}

// Asks for the conditions of the members before it only as far as its position needs them. Program
// knows per name how many fields stand before its first member without a condition (`plain`), and
// which have one; from there on (`counted`) members are looked at one by one.
MemberResolution MemberResolver::FindMember(ir::DeclId owner, NameId name, ir::MemberId first) {
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
  // Fields before it that have a condition: each one that holds moves the position by one.
  for (const uint32_t i : before.conditional) {
    answer.position += is_live(values_.ValueOf(program_.Wide(m, members[i].condition))) ? 1 : 0;
  }
  for (uint32_t i = before.counted; i < members.size(); ++i) {
    const ir::Member& member = members[i];
    // Rows before the first of the name cannot have it, and comparing numbers is cheaper than
    // names.
    const bool matches = base + i >= first.value && program_.Name(m, member.name) == name;
    const bool counts = member.kind == ir::MemberKind::kField;
    if (!matches && !counts) {
      continue;
    }
    bool live = true;
    if (member.condition != ir::kTrue) {
      const Value value = values_.ValueOf(program_.Wide(m, member.condition));
      live = is_live(value);
      // A condition that has no value hides the member; the name then fails and is not reported as
      // unknown.
      failed = failed || (matches && value.kind != ir::ValueKind::kFlag);
    }
    // The first live member of the name is the one. Its type is specialised here and its faults are
    // left to whoever specialises the owner.
    if (live && matches) {
      answer.member = ir::MemberId{base + i};
      if (!counts) {
        answer.kind = MemberResolution::Kind::kAlias;
        return answer;
      }
      std::vector<Diagnostic> ignored;  // reported by the owner
      answer.type = SpecialiseType({.module = m, .type = member.type, .use = TypeUse::kField},
                                   evaluator_, ignored);
      answer.kind =
          answer.type.valid() ? MemberResolution::Kind::kField : MemberResolution::Kind::kFailed;
      return answer;
    }
    // Only fields of other names count. An alias has no position of its own.
    answer.position += live ? 1 : 0;
  }
  return {.kind = failed ? MemberResolution::Kind::kFailed : MemberResolution::Kind::kNone};
}

std::span<const NameId> MemberResolver::AliasPath(ir::MemberId alias) {
  if (!recorder_.Known(aliases_, alias.value)) {
    ExpandAlias(alias);
  }
  recorder_.AddReads(aliases_.reads[alias.value]);
  const std::span<const NameId> path = aliases_.rows[alias.value];
  if (recorder_.traces()) {
    recorder_.Record({.kind = VariantQueryKind::kAliasPath, .a = alias.value}, Pack(path),
                     aliases_.reads[alias.value]);
  }
  return path;
}

// Chains of aliases are as long as the author likes: no recursion. An alias is open from the moment
// it is entered until its path is known; one that begins with another alias waits for that one, so
// the open ones are a chain, and who comes back to one of them has found a cycle.
void MemberResolver::ExpandAlias(ir::MemberId first) {
  // Each alias that is entered has its own frame of reads, which Leave closes in reverse order.
  const auto enter = [&](ir::MemberId alias) {
    recorder_.Enter();
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
      // The first item of a path is a member of the same owner; the rest are members of its type.
      const NameId name = program_.Name(m, ir::StringId{items[0]});
      const MemberResolution start = Member(program_.OwnerOf(alias), name);
      if (start.kind == MemberResolution::Kind::kField) {
        path.push_back(name);
      } else if (start.kind == MemberResolution::Kind::kAlias) {
        if (const bool* open = is_open_alias_.Find(start.member); open != nullptr && *open) {
          // The path stays empty, so the cycle ends here instead of being walked again.
          ReportAliasCycle(start.member);
        } else if (!recorder_.Known(aliases_, start.member.value)) {
          // The other alias is entered and this one tried again when the other is known.
          enter(start.member);
          continue;
        } else {
          recorder_.AddReads(aliases_.reads[start.member.value]);
          path = aliases_.rows[start.member.value];
        }
      }
    }
    if (!path.empty()) {
      for (const uint32_t item : items.subspan(1)) {
        path.push_back(program_.Name(m, ir::StringId{item}));
      }
    }
    // An empty path is kept as well: the alias is wrong, and its mentions need not be told again.
    aliases_.rows[alias.value] = std::move(path);
    recorder_.Leave(aliases_.reads[alias.value]);
    recorder_.Keep(aliases_, alias.value);
    open_aliases_.pop_back();
    is_open_alias_[alias] = false;
  }
}

// Said once, at the first alias of the cycle in program order, wherever it was entered.
void MemberResolver::ReportAliasCycle(ir::MemberId alias) {
  std::vector<ir::MemberId> cycle(std::ranges::find(open_aliases_, alias), open_aliases_.end());
  std::rotate(cycle.begin(), std::ranges::min_element(cycle, {}, &ir::MemberId::value),
              cycle.end());
  const auto text = [&](ir::MemberId id) {
    return "'" +
           std::string(program_.Text(program_.Name(program_.ModuleOf(id), program_.Get(id).name))) +
           "'";
  };
  const ir::MemberId first = cycle.front();
  recorder_.found().push_back(
      Make(Code::kRpl4032, program_.NameLocation(first))
          .With("name",
                program_.Text(program_.Name(program_.ModuleOf(first), program_.Get(first).name)))
          .With("chain", ChainText(cycle, text)));
}

}  // namespace kiln::resolve
