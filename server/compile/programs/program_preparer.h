// SPDX-License-Identifier: MIT
// Requests -> prepared programs: everything that the variants of a program share, parsed, linked,
// with ids and placed diagnostics. What was prepared a moment ago is not prepared again.
//
// Threads: all functions may run concurrently; the cache of programs has its own mutex.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "cache/store.h"
#include "compiler/base/clock.h"
#include "compiler/base/result.h"
#include "server/compile/programs/chosen_program_cache.h"
#include "server/compile/programs/prepared_program.h"
#include "server/compile/programs/prepared_program_cache.h"
#include "server/compile/programs/program_pool.h"
#include "server/compile/request.h"

namespace kiln::compile {

// Lines and columns of a program's diagnostics, sorted for reading. Errors: as ProgramPool::Text,
// which is asked only if there is something to say.
Result<std::vector<PlacedDiagnostic>> PlaceAll(ProgramPool& pool, const PreparedProgram& program,
                                               std::span<const Diagnostic> diagnostics,
                                               const cache::Call& call);

class ProgramPreparer {
 public:
  // Both must outlive the object.
  ProgramPreparer(ProgramPool& pool, Clock& clock)
      : pool_(pool), clock_(clock), prepared_(kPreparedBytes), chosen_(kChosenBytes) {}

  // Parses and links. Errors: as ProgramPool::Parse; kCancelled, kDeadlineExceeded;
  // kResourceExhausted if it takes more memory than a call may. Wrong sources are in the result.
  Result<std::shared_ptr<const PreparedProgram>> Prepare(const ProgramRequest& request,
                                                         const NamedTarget& target,
                                                         const cache::Call& call,
                                                         PoisonPolicy poison);

  // The same program with the list of defines that these values choose (macro_choices.h); null if
  // it has no macros, or is that one itself. What was chosen a moment ago is not prepared again.
  // Errors: as Prepare.
  Result<std::shared_ptr<const PreparedProgram>> Choose(
      const PreparedProgram& program, std::span<const resolve::OptionSetting> options,
      const cache::Call& call);

  // All that a program needs of the store, as far as it is known: its sources, the list of files to
  // include, and those files that a source was made of or, if one could not be read, those of them
  // that it lacks. Errors: as Prepare.
  Result<std::vector<Source>> NeedsOf(const ProgramRequest& request, const cache::Call& call);

  // Forgets what was prepared.
  void Clear() {
    prepared_.Clear();
    chosen_.Clear();
  }
  CountedCache& cache() { return prepared_; }
  CountedCache& chosen() { return chosen_; }

 private:
  Result<void> AddMacros(ProgramRequest& request, const cache::Call& call);

  static constexpr uint64_t kPreparedBytes = uint64_t{64} << 20;
  static constexpr uint64_t kChosenBytes = uint64_t{64} << 20;

  Result<std::shared_ptr<const PreparedProgram>> PrepareNow(const ProgramRequest& request,
                                                            const NamedTarget& target,
                                                            const cache::Call& call,
                                                            PoisonPolicy poison);

  ProgramPool& pool_;
  Clock& clock_;
  PreparedProgramCache prepared_;
  ChosenProgramCache chosen_;
  std::atomic<uint64_t> last_number_{0};
};

}  // namespace kiln::compile
