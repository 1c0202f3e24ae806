// SPDX-License-Identifier: MIT
#include "compiler/resolve/names/name_space.h"

#include <tuple>
#include <utility>

#include "compiler/resolve/names/kind_text.h"

namespace kiln::resolve {

// Options own their names from the start: they are there in every variant.
NameSpace::NameSpace(const Program& program, std::vector<Diagnostic>& diagnostics)
    : program_(program), diagnostics_(diagnostics), owners_(program.name_count()) {
  // Constants and the interface come later, by Add, as far as the variant has them.
  for (const ir::OptionId option : program.options_by_name()) {
    owners_[program.NameOf(option).value].option = option;
  }
}

Location NameSpace::LocationOf(const Owner& owner) const {
  return owner.option.valid() ? program_.NameLocation(owner.option)
                              : program_.NameLocation(owner.decl);
}

std::string_view NameSpace::KindOf(const Owner& owner) const {
  return owner.option.valid() ? "option" : DeclKindText(program_.Get(owner.decl));
}

void NameSpace::Add(ir::DeclId decl) {
  const NameId name = program_.NameOf(decl);
  Owner& owner = owners_[name.value];
  if (owner.empty()) {
    owner.decl = decl;
    return;
  }
  // The same declaration may be added twice, by two ways that reach it.
  if (owner.decl == decl) {
    return;
  }
  const Owner added{.option = {}, .decl = decl};
  const Location here = LocationOf(added);
  const Location there = LocationOf(owner);
  // The later one in the source is reported and the earlier one is named, in whichever order they
  // are added.
  if (std::tie(here.module, here.bytes.begin) < std::tie(there.module, there.bytes.begin)) {
    Report(name, added, owner);
    owner = added;
    return;
  }
  Report(name, owner, added);
}

// A local that hides a function or struct is told once here; one that hides a value is told where
// it is specialised.
void NameSpace::CheckLocal(ir::LocalId id) {
  const uint32_t m = program_.ModuleOf(id);
  const ir::ModuleView& view = program_.module(m);
  const ir::Local& local = program_.Get(id);
  const Owner& owner = owners_[program_.Name(m, local.name).value];
  if (!owner.decl.valid()) {
    return;
  }
  const ir::DeclKind kind = program_.Get(owner.decl).kind;
  if (kind != ir::DeclKind::kFunction && kind != ir::DeclKind::kStruct) {
    return;  // told where the local is specialised
  }
  // A module that was read without places has no spans; the message then has no place either.
  const uint32_t row = id.value - program_.bases(m).local;
  const ir::SpanId span = view.local_spans.empty() ? ir::SpanId{} : view.local_spans[row].name;
  const std::string_view name = view.Text(local.name);
  diagnostics_.push_back(Make(Code::kRpl6040, program_.At(m, span))
                             .With("kind", LocalKindText(local.kind))
                             .With("name", name)
                             .With("other_kind", KindOf(owner))
                             .Label(LabelKind::kDeclaredHere, LocationOf(owner), {{"name", name}}));
}

void NameSpace::Report(NameId name, const Owner& earlier, const Owner& later) {
  const ir::DeclKind later_kind =
      later.decl.valid() ? program_.Get(later.decl).kind : ir::DeclKind::kSetting;
  const bool same_kind = earlier.decl.valid() && program_.Get(earlier.decl).kind == later_kind;
  // Functions and structs of one name have messages of their own, which come when somebody asks for
  // the name.
  if (same_kind && (later_kind == ir::DeclKind::kFunction || later_kind == ir::DeclKind::kStruct)) {
    return;
  }
  // Constants have a code of their own, since a constant may be declared twice under conditions
  // that exclude each other.
  const bool constants = same_kind && later_kind == ir::DeclKind::kConstant;
  Diagnostic found = Make(constants ? Code::kRpl3024 : Code::kRpl4020, LocationOf(later))
                         .With("name", program_.Text(name));
  if (!constants) {
    found.arguments.emplace_back("kind", KindOf(earlier));
  }
  diagnostics_.push_back(std::move(found).Label(LabelKind::kFirstHere, LocationOf(earlier)));
}

}  // namespace kiln::resolve
