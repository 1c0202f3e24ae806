// SPDX-License-Identifier: MIT
// Where closed units come from: computed anew (DirectUnits, driver/stages) or remembered
// (MemoUnits, driver/variant_assembler). Memoisation is a decorator; everything behind this
// interface is one code for both. Spec: architecture.md 10.2.
#pragma once

#include "compiler/diag/diagnostic.h"
#include "compiler/ir/closed.h"

namespace kiln::resolve {

class Answers;

class Units {
 public:
  virtual ~Units() = default;
  // References stay valid as long as the Units.
  virtual const Diagnosed<ir::ClosedDecl>& Decl(ir::DeclId decl, Answers& answers) = 0;
  virtual const Diagnosed<ir::ClosedSegment>& Segment(ir::SegmentId segment, Answers& answers) = 0;
};

}  // namespace kiln::resolve
