// SPDX-License-Identifier: MIT
// A program with everything that its variants share, ready to be asked for variants. Made by
// ProgramPreparer; never changes afterwards, so any number of threads may share one.
#pragma once

#include <memory>
#include <vector>

#include "cache/explain/explain.h"
#include "compiler/base/digest.h"
#include "compiler/base/language_limits.h"
#include "compiler/diag/place.h"
#include "compiler/driver/request.h"
#include "server/compile/programs/program_pool.h"
#include "server/compile/request.h"

namespace kiln::compile {

struct PreparedProgram {
  uint64_t number = 0;     // no other of its preparer has it
  ProgramRequest request;  // entry points in stage order
  NamedTarget target;
  LanguageLimits limits;
  std::vector<std::shared_ptr<const ParsedSource>> parsed;
  std::shared_ptr<const Diagnosed<driver::LinkedProgram>> linked;  // null if a source is wrong
  Hash128 entry;                                                   // id
  Hash128 family;                                                  // FamilyOf
  bool parsed_now = false;                    // a front end read one of the sources
  bool poison = false;                        // reading one of them ended processes
  std::vector<PlacedDiagnostic> diagnostics;  // of parsing and linking
  cache::ExplainInputs inputs;                // without options

  // False: every variant fails with `diagnostics`.
  bool ok() const { return linked != nullptr && linked->ok(); }
  const resolve::Program& program() const { return linked->value->program; }
};

}  // namespace kiln::compile
