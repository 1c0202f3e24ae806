// SPDX-License-Identifier: MIT
// What the programs of a batch have to do with each other, found when all of them are listed.
#pragma once

#include "server/compile/batch/batch_run.h"

namespace kiln::compile {

// Points to build, of all targets; what is explored counts as much as there may be.
uint64_t ResultsUpper(const BatchRun::Program& program);

// Gives every program the groups of its entries: programs of one group may have equal results.
void FindGroups(BatchRun& run) KILN_REQUIRES(run.mutex);

// Gives every program of a family the rule of all of them.
void FindFamilies(BatchRun& run) KILN_REQUIRES(run.mutex);

}  // namespace kiln::compile
