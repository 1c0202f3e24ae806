// SPDX-License-Identifier: MIT
#include "compiler/resolve/name_space.h"

#include <tuple>
#include <utility>

#include "compiler/resolve/kind_text.h"

namespace kiln::resolve {

NameSpace::NameSpace(const Program& program, std::vector<Diagnostic>& diagnostics)
    : program_(program), diagnostics_(diagnostics), owners_(program.name_count()) {
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
  if (owner.decl == decl) {
    return;
  }
  const Owner added{.option = {}, .decl = decl};
  const Location here = LocationOf(added);
  const Location there = LocationOf(owner);
  if (std::tie(here.module, here.bytes.begin) < std::tie(there.module, there.bytes.begin)) {
    Report(name, added, owner);
    owner = added;
    return;
  }
  Report(name, owner, added);
}

void NameSpace::Report(NameId name, const Owner& earlier, const Owner& later) {
  const ir::DeclKind later_kind =
      later.decl.valid() ? program_.Get(later.decl).kind : ir::DeclKind::kSetting;
  const bool same_kind = earlier.decl.valid() && program_.Get(earlier.decl).kind == later_kind;
  if (same_kind && (later_kind == ir::DeclKind::kFunction || later_kind == ir::DeclKind::kStruct)) {
    return;
  }
  const bool constants = same_kind && later_kind == ir::DeclKind::kConstant;
  Diagnostic found = Make(constants ? Code::kRpl3024 : Code::kRpl4020, LocationOf(later))
                         .With("name", program_.Text(name));
  if (!constants) {
    found.arguments.emplace_back("kind", KindOf(earlier));
  }
  diagnostics_.push_back(std::move(found).Label(LabelKind::kFirstHere, LocationOf(earlier)));
}

}  // namespace kiln::resolve
