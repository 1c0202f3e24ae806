// SPDX-License-Identifier: MIT
#include "compiler/emit/spirv/code_object_table.h"

#include "compiler/base/check.h"

namespace kiln::spirv {

// Drops the code objects of regions, so that another variant can be lowered in the same memory.
// What is worth keeping are globals and the declarations. The first call that sees a new number of
// them sets the mark behind everything that is there, regions of that variant included; from then
// on the arenas are cut back to that mark. So memory settles after two variants with the same
// interface.
void CodeObjectTable::Forget(std::span<const ir::SpecialisedDecl* const> replaced) {
  const size_t regions = regions_.size();
  regions_.Clear();
  regions_.Reserve(regions);
  prepared_.clear();
  const size_t count = store_.global_count() + decls_.size();
  if (count == kept_.count) {
    store_.GoBack(kept_.store);
    variables_.resize(kept_.variables);
    parameters_.resize(kept_.parameters);
  } else {
    kept_ = {.count = count,
             .store = store_.End(),
             .variables = variables_.size(),
             .parameters = parameters_.size()};
  }
  // A declaration that was replaced is lowered again when it is met.
  for (const ir::SpecialisedDecl* decl : replaced) {
    if (DeclVersion* known = decls_.Find(decl)) {
      known->lowered = false;
    }
  }
}

void CodeObjectTable::Bind(const ir::SpecialisedDecl& decl,
                           std::span<const VariableVersion> variables) {
  DeclVersion version;
  version.variables = {static_cast<uint32_t>(variables_.size()),
                       static_cast<uint32_t>(variables.size())};
  variables_.insert(variables_.end(), variables.begin(), variables.end());
  decls_[&decl] = version;
}

void CodeObjectTable::Bind(const ir::SpecialisedDecl& decl, CodeObjectId head, SymbolId function,
                           std::span<const SymbolId> parameters) {
  DeclVersion version{
      .variables = {}, .head = head, .function = function, .parameters = {}, .lowered = true};
  version.parameters = {static_cast<uint32_t>(parameters_.size()),
                        static_cast<uint32_t>(parameters.size())};
  parameters_.insert(parameters_.end(), parameters.begin(), parameters.end());
  decls_[&decl] = version;
}

// Pointers to specialised declarations and regions are keys of these tables. After an edit they are
// those of another program, so all bindings go and only the store stays; the driver binds anew what
// it recognises.
void CodeObjectTable::Relink(const Renumber& local, const Renumber& region) {
  regions_.Clear();
  decls_.Clear();
  prepared_.clear();
  variables_.clear();
  parameters_.clear();
  store_.Relink(local, region);
}

void CodeObjectTable::Classify(ir::DeclId decl, const DeclClass& decl_class) {
  if (decl.value >= classes_.size()) {
    classes_.resize(decl.value + size_t{1});
  }
  classes_[decl.value] = decl_class;
}

// Asked for the declaration of a place, which is never a struct: that kind stands for "not
// classified yet".
const CodeObjectTable::DeclClass& CodeObjectTable::ClassOf(ir::DeclId decl) const {
  KILN_CHECK(decl.value < classes_.size() && classes_[decl.value].kind != ir::DeclKind::kStruct,
             "declaration {} was not lowered", decl);
  return classes_[decl.value];
}

}  // namespace kiln::spirv
