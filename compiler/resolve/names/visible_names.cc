// SPDX-License-Identifier: MIT
#include "compiler/resolve/names/visible_names.h"

#include "compiler/base/threads/stop.h"
#include "compiler/ir/operands.h"

namespace kiln::resolve {
namespace {

// Walks the blocks of a function in source order, up to an instruction and then to the end.
class NameWalk {
 public:
  NameWalk(const ir::ModuleView& view, uint32_t inst) : view_(view), inst_(inst) {}

  VisibleNames Run(const ir::Decl& function) {
    // Parameters are declared before the first instruction and are seen in the whole body.
    for (const ir::Member& parameter : view_.MembersOf(function)) {
      open_.emplace_back(parameter.value);
    }
    WalkBlock(view_.regions[function.body].block);
    return std::move(names_);
  }

 private:
  // Blocks nest as deep as scopes and expressions do (LanguageLimits::nesting).
  void WalkBlock(ir::BlockId block) {
    const size_t outer = open_.size();
    for (const uint32_t row : view_.InstsOf(block)) {
      CheckStop();
      const ir::Inst& inst = view_.insts[row];
      // The names that are open when the instruction is met are what it can see.
      if (row == inst_) {
        names_.visible = open_;
        found_ = true;
      }
      // Blocks come before the name that their instruction declares, since an initialiser does not
      // see its own variable.
      ir::ForEachOwnedBlock(
          inst, [&](ir::ListId list) { return view_.List(list); },
          [&](uint32_t owned) { WalkBlock(ir::BlockId{owned}); });
      if (inst.kind == ir::InstKind::kWhenRegion) {
        WalkBlock(view_.regions[inst.As<ir::WhenRegionInst>().region.value].block);
      } else if (inst.kind == ir::InstKind::kVariable) {
        Declare(inst.As<ir::VariableInst>().local);
      } else if (inst.kind == ir::InstKind::kAlias) {
        Declare(inst.As<ir::AliasInst>().local);
      }
    }
    // After the place everything goes to `others` as soon as it is declared, see Declare.
    if (!found_) {  // what ends before the place is not visible there
      names_.others.insert(names_.others.end(), open_.begin() + static_cast<ptrdiff_t>(outer),
                           open_.end());
    }
    open_.resize(outer);
  }

  void Declare(ir::LocalId local) { (found_ ? names_.others : open_).push_back(local); }

  const ir::ModuleView& view_;
  const uint32_t inst_;
  std::vector<ir::LocalId> open_;
  VisibleNames names_;
  bool found_ = false;
};

}  // namespace

// Linear over the instructions of a module: this is asked for a message, not in a build.
uint32_t FindInst(const Program& program, uint32_t module, uint32_t span_number,
                  ir::InstKind kind) {
  if (module >= program.modules().size()) {
    return ir::kNoRow;  // a message without a place
  }
  const ir::ModuleView& view = program.module(module);
  for (uint32_t row = 0; row < view.inst_spans.size(); ++row) {
    const ir::InstSpans& spans = view.inst_spans[row];
    // A message may point to either of the two places of an instruction.
    if ((spans.main.value == span_number || spans.aux.value == span_number) &&
        view.insts[row].kind == kind) {
      return row;
    }
  }
  return ir::kNoRow;
}

// The function is found by its range of instructions; ranges do not overlap.
VisibleNames NamesAt(const Program& program, uint32_t module, uint32_t inst) {
  const ir::ModuleView& view = program.module(module);
  // Only functions have instructions with names; the rest is passed over.
  for (uint32_t row = 0; row < view.decls.size(); ++row) {
    CheckStop();
    const ir::Decl& decl = view.decls[row];
    const InstRange range = program.InstsOf(ir::DeclId{program.bases(module).decl + row});
    if (decl.kind == ir::DeclKind::kFunction && inst >= range.begin && inst < range.end) {
      return NameWalk(view, inst).Run(decl);
    }
  }
  return {};
}

}  // namespace kiln::resolve
