// SPDX-License-Identifier: MIT
// What is known of the result of a variant, and what is on its way to one: the words that the parts
// of CachedBuild have in common. Plain values; a result never changes once it is shared.
#pragma once

#include <memory>
#include <vector>

#include "cache/key.h"
#include "cache/record.h"
#include "compiler/base/digest.h"
#include "compiler/resolve/values/options.h"
#include "server/compile/build_options.h"
#include "server/compile/programs/prepared_program.h"
#include "server/compile/request.h"

namespace kiln::compile {

struct CachedResult {
  Hash128 signature;
  Hash128 sum;  // of the row, if the store had it
  std::shared_ptr<const cache::Record> record;
  std::vector<FreshBlob> fresh;  // products, if they were built now
  Origin origin = Origin::kLocal;
  bool stored = false;   // durable
  bool walked = false;   // found by its signature
  bool was_kept = true;  // in the store, not in memory
};
using CachedResultPtr = std::shared_ptr<const CachedResult>;

// A variant with options that are right, and what this process found for it lately.
struct RecentResult {
  Hash128 entry;
  resolve::OptionValues values;
  CachedResultPtr found;  // null: it is to be asked for with CachedBuild::Build
};

// A variant on its way to a result. Refers to what its caller holds.
struct ResultRequest {
  const PreparedProgram& program;
  const resolve::OptionValues& values;
  const Hash128& variant;  // key
  const BuildOptions& how;
  BuildTrace& trace;
  std::vector<cache::Item>& rows;  // gets those that are kept back
};

// The space (cache/key.h) in which rows of results lie.
inline constexpr uint32_t kResultSpace = 0;

// Where a record lies: under its signature, or under the variant key if it has no signature because
// finding out what the variant reads ended processes.
inline cache::Key ResultKey(const Hash128& id) {
  return {.level = cache::Level::kSignature, .space = kResultSpace, .id = id};
}

}  // namespace kiln::compile
