// SPDX-License-Identifier: MIT
// How a variant is to be looked up and built, and what is counted while that happens.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "cache/record.h"
#include "cache/store.h"
#include "compiler/base/digest.h"
#include "compiler/base/result.h"
#include "compiler/driver/variant_assembler.h"
#include "compiler/resolve/values/options.h"
#include "server/compile/build_trace.h"
#include "server/compile/programs/prepared_program.h"
#include "server/compile/request.h"

namespace kiln::compile {

struct BuildCounters {
  std::atomic<uint64_t> hits{0};
  std::atomic<uint64_t> shared{0};
  std::atomic<uint64_t> compiled{0};
  std::atomic<uint64_t> walked{0};  // asked what they read before anything was built
  std::atomic<uint64_t> failed{0};
  std::atomic<uint64_t> cpu_us{0};
  std::atomic<uint64_t> regions_lowered{0};
  std::atomic<uint64_t> modules_written{0};  // as words
  std::atomic<uint64_t> code_shared{0};      // modules of results that were there already
  std::atomic<uint64_t> saved_us{0};         // what made the hits
};

// What is known of a variant: used, or built again whatever is known, as what it named is gone.
enum class KnownResult : uint8_t { kUsed, kBuiltAgain };
// Of a variant that is known to be wrong: the failure is the answer, or is tried again once.
enum class KnownFailure : uint8_t { kStands, kTriedAgain };
// Of a variant that nobody knows: compiled, or kNotFound.
enum class UnknownVariant : uint8_t { kCompiled, kRefused };
// The rows that name a result. Kept back, only its content is put at once, and the report has the
// rows, for a caller that puts those of many builds together and durably: a record is acknowledged
// only if all content it names is there (spec/cache 4.4).
enum class ResultRows : uint8_t { kPut, kKeptBack };
// Of one variant, what is learned of the program is not kept: no other is asked for.
enum class ProgramUse : uint8_t { kManyVariants, kOneVariant };
// If nobody waits, recipes make way for those that somebody waits for.
enum class Urgency : uint8_t { kWaitedFor, kBackground };
// What costs time to be noted: nothing of it, all but the option values of hits, all.
enum class TraceDetail : uint8_t { kNone, kMisses, kAll };

struct BuildOptions {
  cache::Durability durability = cache::Durability::kRelaxed;
  KnownResult known = KnownResult::kUsed;
  KnownFailure failed = KnownFailure::kStands;
  UnknownVariant unknown = UnknownVariant::kCompiled;
  // Of modules that the store has, kNew leaves the words out of the fresh blobs.
  driver::ModuleSelection code = driver::ModuleSelection::kAll;
  ResultRows rows = ResultRows::kPut;
  ProgramUse use = ProgramUse::kManyVariants;
  Urgency urgency = Urgency::kWaitedFor;
  TraceDetail trace = TraceDetail::kNone;
};

// What a build leaves, whatever its outcome.
struct BuildReport {
  Result<Outcome> outcome;
  BuildTrace trace;
  std::vector<cache::Item> rows;  // if they were kept back
};

// A result that was made now, for checks behind the answer. Valid during the call.
struct FreshResult {
  const PreparedProgram& program;
  const resolve::OptionValues& values;
  const Hash128& signature;
  const std::shared_ptr<const cache::Record>& record;
};

}  // namespace kiln::compile
