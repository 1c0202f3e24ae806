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
#include "compiler/resolve/values/options.h"
#include "server/compile/build_trace.h"
#include "server/compile/programs/prepared_program.h"

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

struct BuildOptions {
  cache::Durability durability = cache::Durability::kRelaxed;
  bool retry_failed = false;  // ignore stored failures once
  bool may_compile = true;    // false: an unknown variant is kNotFound
  bool anew = false;          // builds whatever is known: what it named is gone
  bool all_code = true;       // false: code that the store has is not among the fresh blobs
  // If set, only content is put at once, and this gets the rows that name it, for a caller that
  // puts those of many builds together and durably: a record is acknowledged only if all content it
  // names is there (spec/cache 4.4).
  std::vector<cache::Item>* rows = nullptr;
  bool once = false;  // no other variant is asked for: what is learned of the program is not kept
  bool background = false;  // nobody waits: recipes make way for those that somebody waits for
  // Gets what happened, whatever the outcome; also if an unknown variant may not be compiled.
  BuildTrace* trace = nullptr;
};

// A result that was made now, for checks behind the answer. Valid during the call.
struct FreshResult {
  const PreparedProgram& program;
  const resolve::OptionValues& values;
  const Hash128& signature;
  const std::shared_ptr<const cache::Record>& record;
};

}  // namespace kiln::compile
