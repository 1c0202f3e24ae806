// SPDX-License-Identifier: MIT
#include "compiler/resolve/names/decl_resolver.h"

#include <algorithm>
#include <string>

#include "compiler/base/check.h"
#include "compiler/resolve/names/kind_text.h"
#include "compiler/resolve/values/variant_evaluator.h"

namespace kiln::resolve {

DeclResolver::DeclResolver(VariantEvaluator& evaluator, QueryRecorder& recorder, UnitSource* units)
    : program_(evaluator.program()), evaluator_(evaluator), recorder_(recorder), units_(units) {
  recorder.Size(decls_, program_.decl_count());
}

const ir::SpecialisedDecl* DeclResolver::Decl(ir::DeclId decl) {
  DeclRow& row = decls_.rows[decl.value];
  // Known is also what is in progress; the two are told apart by the mark in the row.
  if (!recorder_.Known(decls_, decl.value)) {
    // Marked before anything is asked, so that a declaration which leads back to itself finds its
    // own mark.
    row = {.in_progress = true};
    recorder_.MarkInProgress(decls_, decl.value);
    recorder_.Enter();
    // The stack is the path from the first declaration to this one, which a cycle is told with.
    open_decls_.push_back(decl);
    row.specialised = SpecialiseOnce(decl);
    open_decls_.pop_back();
    row.in_progress = false;
    recorder_.Leave(decls_.reads[decl.value]);
    recorder_.Keep(decls_, decl.value);
  } else if (row.in_progress) {
    // Met while it is being specialised: the declaration needs itself. The answer is not fixed, as
    // it depends on where the cycle was entered.
    ReportCycle(decl);
    recorder_.NoteEffect();
    recorder_.Record({.kind = VariantQueryKind::kDecl, .a = decl.value}, {},
                     QueryRecorder::kNotFixed);
    return nullptr;
  }
  // Whoever asks reads what the declaration has read, also if it was known already.
  recorder_.AddReads(decls_.reads[decl.value]);
  recorder_.Record({.kind = VariantQueryKind::kDecl, .a = decl.value}, Pack(row.specialised),
                   decls_.reads[decl.value]);
  return row.specialised;
}

const ir::SpecialisedDecl* DeclResolver::SpecialiseOnce(ir::DeclId decl) {
  const ir::DeclKind kind = program_.Get(decl).kind;
  // A name that more than one declaration may have is checked when the variant is complete, because
  // who else is live is known only then.
  if ((kind == ir::DeclKind::kStruct || kind == ir::DeclKind::kFunction) &&
      program_.IsAmbiguous(program_.NameOf(decl)) &&
      program_.module(program_.ModuleOf(decl)).header.Has(ir::ModuleRule::kNamesHideNothing)) {
    ambiguous_.push_back(decl);
    recorder_.NoteEffect();
  }
  // Structs nest by recursion, so the limit of the language is checked on the way down.
  if (open_decls_.size() > program_.limits().nesting) {
    recorder_.found().push_back(Make(Code::kRpl1009, program_.NameLocation(decl))
                                    .With("text", program_.Text(program_.NameOf(decl)))
                                    .With("limit", program_.limits().nesting));
    return nullptr;
  }
  KILN_CHECK(units_ != nullptr, "declarations are asked of answers without units");
  // The unit may come from a cache; its diagnostics are told each time, as if it had been
  // specialised here.
  const Diagnosed<ir::SpecialisedDecl>& unit = units_->Decl(decl, evaluator_);
  std::vector<Diagnostic>& found = recorder_.found();
  found.insert(found.end(), unit.diagnostics.begin(), unit.diagnostics.end());
  return unit.value ? &*unit.value : nullptr;
}

// Said once, at the first struct of the cycle in program order, wherever it was entered.
void DeclResolver::ReportCycle(ir::DeclId decl) {
  // From where the declaration was entered to the end of the stack: what came before is no part of
  // the cycle.
  std::vector<ir::DeclId> cycle(std::ranges::find(open_decls_, decl), open_decls_.end());
  std::rotate(cycle.begin(), std::ranges::min_element(cycle, {}, &ir::DeclId::value), cycle.end());
  const auto text = [&](ir::DeclId id) {
    return "'" + std::string(program_.Text(program_.NameOf(id))) + "'";
  };
  recorder_.found().push_back(Make(Code::kRpl4023, program_.NameLocation(cycle.front()))
                                  .With("name", program_.Text(program_.NameOf(cycle.front())))
                                  .With("chain", ChainText(cycle, text)));
}

}  // namespace kiln::resolve
