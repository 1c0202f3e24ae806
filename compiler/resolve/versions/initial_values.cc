// SPDX-License-Identifier: MIT
// What is used is a static fact: every variable that the function or one that it may call mentions,
// under whatever condition, and whatever computes those in turn. What a function calls, and what
// computes a variable, is declared before it, so one pass from the function back to the first
// declaration finds everything. A variable too many costs a store; a missing one would be wrong.
#include "compiler/resolve/versions/initial_values.h"

#include <vector>

#include "compiler/base/threads/stop.h"

namespace kiln::resolve {
namespace {

// Variables with computed values that are used, in the order of their declarations.
std::vector<ir::DeclId> UsedVariables(const RegionBuilder& region) {
  const ir::ModuleView& module = region.module();
  std::vector<bool> used(module.decls.size());
  // Begins with the function itself, whose own mentions count.
  used[region.generic().function.value] = true;
  std::vector<ir::DeclId> variables;
  for (size_t row = module.decls.size(); row > 0; --row) {
    const ir::DeclId id{static_cast<uint32_t>(row - 1)};
    const ir::Decl& decl = module.decls[id.value];
    if (!used[id.value]) {
      continue;
    }
    if (decl.kind == ir::DeclKind::kPrivate && decl.aux != ir::kNoRow) {
      variables.push_back(id);
      used[decl.aux] = true;
    } else if (decl.kind == ir::DeclKind::kFunction) {
      const InstRange range = region.program().InstsOf(ir::DeclId{region.bases().decl + id.value});
      for (uint32_t i = range.begin; i < range.end; ++i) {
        CheckStop();
        const ir::Inst& inst = module.insts[i];
        // Rows of a module are numbered within it, and calls do not leave the module.
        if (inst.kind == ir::InstKind::kCall) {
          used[inst.As<ir::CallInst>().function.value] = true;
        } else if (inst.kind == ir::InstKind::kGlobalRef) {
          used[inst.As<ir::GlobalRefInst>().decl.value] = true;
        }
      }
    }
  }
  // Found from the last to the first, and computed in the order of declarations, since one may read
  // those before it.
  return {variables.rbegin(), variables.rend()};
}

}  // namespace

void ComputeInitialValues(RegionBuilder& region) {
  for (const ir::DeclId row : UsedVariables(region)) {
    const ir::DeclId variable{region.bases().decl + row.value};
    // The initialiser is a function of its own in the module, without parameters.
    const ir::DeclId function{region.bases().decl + region.module().decls[row.value].aux};
    const ir::SpecialisedDecl* decl = region.answers().Decl(variable);
    if (decl == nullptr) {
      region.FailIf(true);  // said with the declaration
      return;
    }
    const ir::InstId value = region.Emit(
        ir::CallInst{.type = decl->type, .function = function, .arguments = region.EmitList({})}
            .To());
    const ir::InstId place =
        region.Emit(ir::GlobalRefInst{.type = decl->type, .decl = variable}.To());
    region.Emit(
        ir::StoreInst{.type = region.pool().void_type(), .place = place, .value = value}.To());
  }
}

}  // namespace kiln::resolve
