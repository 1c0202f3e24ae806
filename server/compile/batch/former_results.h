// SPDX-License-Identifier: MIT
// What programs of an earlier batch came to, for a batch with equal ones: after an edit most
// programs of a project are what they were, and nothing of them is prepared, listed or looked up.
// Plain values; what is shared never changes. See spec/daemon 7.1
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "server/compile/batch/batch_request.h"
#include "server/compile/rows/result_table.h"

namespace kiln::compile {

// A program of which every point was built or found, was right, and is stored.
struct ProgramResults {
  ResultTablePtr table;          // distinct ones, none of which another program has as well
  std::vector<Hash128> entries;  // by target
  uint64_t cpu_us = 0;           // of all results
  uint64_t variants = 0;         // allowed ones
  uint64_t variants_served = 0;
  uint64_t results_upper = 0;  // points, of all targets
};
using ProgramResultsPtr = std::shared_ptr<const ProgramResults>;

// By program of the batch that is to begin; empty: nothing is known.
struct FormerResults {
  std::vector<ProgramResultsPtr> programs = {};  // null: it is to be built
  uint64_t losses = 0;                           // of the store, when the earlier batch began

  // Null: nothing.
  ProgramResultsPtr Of(size_t program) const {
    return program < programs.size() ? programs[program] : nullptr;
  }
};

// Whether an earlier batch may stand for programs of this one: neither asks for more than that
// results are there, and both have the same limits.
bool MayStandFor(const BatchRequest& earlier, const BatchRequest& request);

// What stands for each program of `request`: the results of the program of that name, if everything
// that is asked for is equal. Programs of a family stand together or not at all, because their
// layouts are compared. `results`: by program of `earlier`, null if something of it was wrong.
// Costs comparing the requests; sources are compared by their digests.
std::vector<ProgramResultsPtr> ResultsOfEqual(const BatchRequest& earlier,
                                              std::span<const ProgramResultsPtr> results,
                                              const BatchRequest& request);

}  // namespace kiln::compile
