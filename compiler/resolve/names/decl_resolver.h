// SPDX-License-Identifier: MIT
// Specialised declarations of one variant, asked of the units: each once, with its cycles found and
// what is wrong with it kept for the walk.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "compiler/ir/specialised.h"
#include "compiler/resolve/names/name_resolution.h"
#include "compiler/resolve/queries/query_recorder.h"
#include "compiler/resolve/units.h"

namespace kiln::resolve {

class VariantEvaluator;

class DeclResolver {
 public:
  // `evaluator` owns the recorder and is what units ask; `units` may be null if nobody asks here.
  DeclResolver(VariantEvaluator& evaluator, QueryRecorder& recorder, UnitSource* units);
  DeclResolver(const DeclResolver&) = delete;
  DeclResolver& operator=(const DeclResolver&) = delete;

  void Reset() { ambiguous_.clear(); }

  // The query. Null if it failed, or if it is asked for while it is computed: a cycle.
  const ir::SpecialisedDecl* Decl(ir::DeclId decl);

  // Structs and functions that were asked for and whose name somebody else has too, in order of
  // asking.
  std::span<const ir::DeclId> ambiguous() const { return ambiguous_; }

 private:
  struct DeclRow {
    bool in_progress = false;
    const ir::SpecialisedDecl* specialised = nullptr;
  };
  const ir::SpecialisedDecl* SpecialiseOnce(ir::DeclId decl);
  void ReportCycle(ir::DeclId decl);

  const Program& program_;
  VariantEvaluator& evaluator_;
  QueryRecorder& recorder_;
  UnitSource* units_;
  ResultTable<DeclRow> decls_;  // by DeclId
  std::vector<ir::DeclId> open_decls_;
  std::vector<ir::DeclId> ambiguous_;
};

}  // namespace kiln::resolve
