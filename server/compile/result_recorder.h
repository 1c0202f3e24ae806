// SPDX-License-Identifier: MIT
// Writes down what was built: content, the record that names it, and the keys that lead to it
// without another walk. Content first: a record is worth nothing without what it names, so the rows
// of many builds may be put together later (ResultRows). See spec/cache 3.3, 4.1, 4.4
//
// Threads: all functions may run concurrently. The object itself guards nothing: what the store is
// known to hold and the masks have a mutex each (ContentCache, StoredMasks).
#pragma once

#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "cache/store.h"
#include "compiler/driver/request.h"
#include "compiler/driver/variant_assembler.h"
#include "server/compile/batch/masks.h"
#include "server/compile/cached_result.h"
#include "server/compile/content_cache.h"
#include "server/compile/result_lookup.h"

namespace kiln::compile {

class ResultRecorder {
 public:
  // All must outlive the object.
  ResultRecorder(cache::BlobStore& store, StoredMasks& masks, ResultLookup& lookup, Clock& clock,
                 BuildCounters& counters)
      : store_(store), masks_(masks), lookup_(lookup), counters_(counters), kept_(clock) {}

  // Told of every result that is made, by the thread that made it. Set before the first build.
  void OnBuilt(std::function<void(const FreshResult&)> on_built) {
    on_built_ = std::move(on_built);
  }

  // Puts the new products and the keys that lead to them.
  CachedResultPtr Keep(const ResultRequest& wanted, driver::BuildResult built,
                       const Hash128& signature, uint64_t cpu_us, const cache::Call& call);
  // Writes at once the keys that lead to a result which was found only by its signature.
  void WriteKeys(const ResultRequest& wanted, const CachedResultPtr& found,
                 const cache::Call& call);

  // Whether the store has the products of a result that were not written now.
  bool IsKept(const driver::Products& products, const cache::Call& call);
  // Something that was put is not there: nothing is taken for granted any more.
  void Distrust() { kept_.Clear(); }
  CountedCache& cache() { return kept_.cache(); }

 private:
  cache::NameList AddKeys(const ResultRequest& wanted, const Hash128& signature,
                          const cache::Record& record, std::vector<cache::Item>& rows,
                          const cache::Call& call);

  cache::BlobStore& store_;
  StoredMasks& masks_;
  ResultLookup& lookup_;
  BuildCounters& counters_;
  ContentCache kept_;
  std::function<void(const FreshResult&)> on_built_;
};

}  // namespace kiln::compile
