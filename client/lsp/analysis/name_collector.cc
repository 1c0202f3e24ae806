// SPDX-License-Identifier: MIT
#include "client/lsp/analysis/name_collector.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include <fmt/format.h>

#include "compiler/base/threads/stop.h"
#include "compiler/resolve/values/evaluate.h"

namespace kiln::lsp {
namespace {

constexpr uint64_t kKeyBytes = 128;  // of a key and where it is found, but for its texts

}  // namespace

NameCollector::NameCollector(Names& names)
    : names_(names), sources_(*names.program_), program_(names.program_->program()) {}

void NameCollector::Run() {
  for (uint32_t m = 0; m < program_.modules().size(); ++m) {
    ReadModule(m);
  }
  // One place may be met more than once, for example as the use of a member of two owners. The
  // first in this order stays, a declaration before a use, so the table has one row for each place
  // and does not depend on the order of the walk.
  std::ranges::sort(names_.occurrences_, [](const Occurrence& a, const Occurrence& b) {
    return std::tuple(a.module, a.bytes.begin, a.bytes.end, a.role, a.key) <
           std::tuple(b.module, b.bytes.begin, b.bytes.end, b.role, b.key);
  });
  const auto same =
      std::ranges::unique(names_.occurrences_, [](const Occurrence& a, const Occurrence& b) {
        return a.module == b.module && a.bytes == b.bytes;
      });
  names_.occurrences_.erase(same.begin(), same.end());
}

uint32_t NameCollector::KeyOf(std::string key) {
  const auto [known, is_new] =
      numbers_.emplace(std::move(key), static_cast<uint32_t>(names_.keys_.size()));
  if (is_new) {
    ChargeMemory(kKeyBytes + 2 * known->first.size());
    names_.keys_.push_back(known->first);
  }
  return known->second;
}

uint32_t NameCollector::GlobalKey(resolve::NameId name) {
  return KeyOf(fmt::format("g:{}", program_.Text(name)));
}

// The owner is named by its text and not by its id, so declarations of one struct under different
// conditions share their members' keys.
uint32_t NameCollector::MemberKey(ir::DeclId owner, resolve::NameId name) {
  return KeyOf(fmt::format("m:{}.{}", program_.Text(program_.NameOf(owner)), program_.Text(name)));
}

uint32_t NameCollector::LocalKey(ir::LocalId row) {
  // The place of the declaration tells locals of one name apart. It is that of the first
  // declaration of a joined group, which every candidate agrees on.
  const ir::LocalId root{RootOf(row.value)};
  const Span where = view_->SpanOf(view_->local_spans[root.value].name);
  return KeyOf(fmt::format("l:{}:{}", sources_.source(module_).file().path, where.begin));
}

void NameCollector::Add(ir::SpanId span, uint32_t key, NameRole role, const Occurrence& what) {
  CheckStop();
  // Rows that the front end made itself have no place in the text. They are nobody's name.
  const Span bytes = view_->SpanOf(span);
  if (!span.valid() || bytes.empty()) {
    return;
  }
  ChargeMemory(sizeof(Occurrence));
  Occurrence occurrence = what;
  occurrence.module = module_;
  occurrence.bytes = bytes;
  occurrence.key = key;
  occurrence.role = role;
  names_.occurrences_.push_back(occurrence);
}

void NameCollector::ReadModule(uint32_t module) {
  module_ = module;
  // Locals are joined before anything is added, since keys of locals are made of their roots.
  view_ = &program_.module(module);
  JoinLocals();
  const resolve::Bases& bases = program_.bases(module);
  for (uint32_t row = 0; row < view_->options.size(); ++row) {
    const ir::Option& option = view_->options[row];
    Add(option.span, GlobalKey(program_.Name(module, option.name)), NameRole::kDeclaration);
  }
  for (uint32_t row = 0; row < view_->decls.size(); ++row) {
    ReadDecl(ir::DeclId{bases.decl + row});
  }
  for (uint32_t row = 0; row < view_->locals.size(); ++row) {
    ReadLocal(ir::LocalId{row});
  }
  for (uint32_t row = 0; row < view_->insts.size(); ++row) {
    ReadInst(row);
  }
  // The conditions of `conditional` blocks in code stand at the regions that they cut out.
  for (uint32_t row = 0; row < view_->regions.size(); ++row) {
    ReadCexpr(view_->regions[row].condition, view_->region_spans[row].condition);
  }
}

// Local names that one mention may mean are one name: parameters of two conditions, say.
void NameCollector::JoinLocals() {
  // A union-find over the rows of locals: the smaller row is always the root, so the root is the
  // first declaration, whatever the order of the mentions. The cost is nearly linear in the
  // mentions.
  roots_.resize(view_->locals.size());
  std::iota(roots_.begin(), roots_.end(), 0u);
  for (const ir::Inst& inst : view_->insts) {
    if (inst.kind != ir::InstKind::kNameRef) {
      continue;
    }
    const std::span<const uint32_t> candidates = view_->List(inst.As<ir::NameRefInst>().candidates);
    for (size_t i = 1; i < candidates.size(); ++i) {
      const uint32_t a = RootOf(candidates[0]);
      const uint32_t b = RootOf(candidates[i]);
      roots_[std::max(a, b)] = std::min(a, b);
    }
  }
}

// The path is halved on the way, so chains of candidates stay short.
uint32_t NameCollector::RootOf(uint32_t local) {
  while (roots_[local] != local) {
    roots_[local] = roots_[roots_[local]];
    local = roots_[local];
  }
  return local;
}

void NameCollector::ReadDecl(ir::DeclId id) {
  const ir::Decl& decl = program_.Get(id);
  const ir::DeclSpans spans = program_.SpansOf(id);
  const resolve::NameId name = program_.NameOf(id);
  // A setting is declared by the language and only used in a module. So it has no declaration to
  // jump to and cannot be renamed.
  if (decl.kind == ir::DeclKind::kSetting) {
    Add(spans.name, KeyOf(fmt::format("s:{}", program_.Text(name))), NameRole::kUse, {.decl = id});
  } else {
    Add(spans.name, GlobalKey(name), NameRole::kDeclaration, {.decl = id});
  }
  ReadCexpr(decl.condition, spans.condition);
  if (decl.type.valid() && spans.type.valid()) {
    ReadType(decl.type, spans.type);
  }
  if (decl.kind == ir::DeclKind::kConstant || decl.kind == ir::DeclKind::kSetting) {
    ReadCexpr(ir::CexprId{decl.body}, spans.value);
  } else if (decl.kind != ir::DeclKind::kFunction) {
    ReadMembers(id);
  }
}

void NameCollector::ReadMembers(ir::DeclId owner) {
  const ir::Decl& decl = program_.Get(owner);
  for (uint32_t i = 0; i < decl.member_count; ++i) {
    const ir::MemberId id{program_.FirstMember(owner).value + i};
    const ir::Member& member = program_.Get(id);
    const ir::MemberSpans spans = program_.SpansOf(id);
    Add(spans.name, MemberKey(owner, program_.Name(module_, member.name)), NameRole::kDeclaration,
        {.decl = owner, .member = id});
    ReadCexpr(member.condition, spans.condition);
    if (member.kind == ir::MemberKind::kAlias) {
      ReadAlias(owner, member, spans.value);
    } else if (member.type.valid()) {
      ReadType(member.type, spans.type);
    }
  }
}

// The path of a field alias: each step is a member of what the steps before it are.
void NameCollector::ReadAlias(ir::DeclId owner, const ir::Member& member, ir::SpanId run) {
  // Begins at the owner itself. A step that no owner has leaves an empty shape, and the rest of the
  // path stays without occurrences.
  ValueShape shape{.owners = {owner}, .module = 0, .type = {}};
  const std::span<const uint32_t> path = view_->List(ir::ListId{member.value});
  for (uint32_t i = 0; i < path.size() && run.valid(); ++i) {
    const resolve::NameId name = program_.Name(module_, ir::StringId{path[i]});
    for (const ir::MemberId found : names_.owners_.Members(shape, name)) {
      Add(ir::SpanId{run.value + i}, MemberKey(program_.OwnerOf(found), name), NameRole::kUse,
          {.decl = program_.OwnerOf(found), .member = found});
    }
    shape = names_.owners_.Member(shape, name);
  }
}

void NameCollector::ReadLocal(ir::LocalId row) {
  const ir::Local& local = view_->locals[row.value];
  if (!local.name.valid()) {
    return;  // the exit of a loop
  }
  const ir::LocalSpans& spans = view_->local_spans[row.value];
  Add(spans.name, LocalKey(row), NameRole::kDeclaration, {.local = row});
  ReadCexpr(local.condition, spans.condition);
  if (local.type.valid() && spans.type.valid()) {
    ReadType(local.type, spans.type);
  }
}

void NameCollector::ReadInst(uint32_t row) {
  using enum ir::InstKind;
  const ir::Inst& inst = view_->insts[row];
  const ir::InstSpans& spans = view_->inst_spans[row];
  if (inst.kind == kNameRef) {
    const auto ref = inst.As<ir::NameRefInst>();
    // Without a local candidate the name is one of a module. With several candidates all of them
    // have one root, so the first one tells the key.
    const std::span<const uint32_t> candidates = view_->List(ref.candidates);
    if (candidates.empty()) {
      AddGlobalUse(spans.main, ref.name);
    } else {
      const ir::LocalId local{candidates[0]};
      Add(spans.main, LocalKey(local), NameRole::kUse, {.local = local});
    }
  } else if (inst.kind == kMember) {
    ReadMemberInst(inst, spans.aux);
  } else if (inst.kind == kNameCall) {
    AddGlobalUse(spans.aux, inst.As<ir::NameCallInst>().name);
  } else if (inst.kind == kNameBuiltin) {
    const Span bytes = view_->SpanOf(spans.aux);
    Add(spans.aux,
        KeyOf(fmt::format("b:{}", TextOf(sources_.source(module_).mended_text(), bytes))),
        NameRole::kUse);
  } else if (inst.kind == kNameConstruct) {
    ReadType(inst.type, spans.aux);
  } else if (inst.kind == kWhen) {
    ReadCexpr(inst.As<ir::WhenInst>().condition, spans.aux);
  }
}

// What stands before the '.' may have several shapes, one for each alternative under a condition.
// The member is then a use in each of them, and a rename reaches all.
void NameCollector::ReadMemberInst(const ir::Inst& inst, ir::SpanId at) {
  const auto member = inst.As<ir::MemberInst>();
  const resolve::NameId name = program_.Name(module_, member.name);
  const ValueShape& shape = names_.owners_.Of(module_, member.source);
  for (const ir::MemberId found : names_.owners_.Members(shape, name)) {
    Add(at, MemberKey(program_.OwnerOf(found), name), NameRole::kUse,
        {.decl = program_.OwnerOf(found), .member = found});
  }
}

void NameCollector::ReadType(ir::TypeId type, ir::SpanId span) {
  // Spans of a written type stand in one run: the name, then the pre-order runs of its array sizes
  // from the outermost array inward. A size is skipped by the number of its nodes.
  const ir::Type* row = &view_->types[type.value];
  uint32_t next = span.value + 1;
  while (row->kind == ir::TypeKind::kArray || row->kind == ir::TypeKind::kRuntimeArray) {
    if (row->kind == ir::TypeKind::kArray) {
      const ir::CexprId size{row->extent};
      ReadCexpr(size, ir::SpanId{next});
      next += TreeSize(size);
    }
    row = &view_->types[row->element];
  }
  if (row->kind == ir::TypeKind::kNamed) {
    AddGlobalUse(span, ir::StringId{row->element});
  }
}

uint32_t NameCollector::TreeSize(ir::CexprId root) {
  return program_.TreeSize(program_.Wide(module_, root));
}

// Spans of an expression are one run, a span for each node in pre-order.
void NameCollector::ReadCexpr(ir::CexprId root, ir::SpanId run) {
  if (root == ir::kTrue || !run.valid()) {
    return;
  }
  // A stack of its own instead of recursion, because the depth of an expression is the author's
  // choice. Operands are pushed in reverse, so nodes come in the pre-order that spans are numbered
  // in.
  uint32_t at = run.value;
  pending_.push_back(root);
  std::vector<ir::CexprId> operands;
  while (!pending_.empty()) {
    const ir::Cexpr& row = view_->cexprs[pending_.back().value];
    pending_.pop_back();
    if (row.op == ir::CexprOp::kName) {
      AddGlobalUse(ir::SpanId{at}, ir::StringId{row.a});
    }
    ++at;
    operands.clear();
    resolve::ForOperands(*view_, row, [&](ir::CexprId operand) { operands.push_back(operand); });
    pending_.insert(pending_.end(), operands.rbegin(), operands.rend());
  }
}

void NameCollector::AddGlobalUse(ir::SpanId span, ir::StringId name) {
  Add(span, GlobalKey(program_.Name(module_, name)), NameRole::kUse);
}

}  // namespace kiln::lsp
