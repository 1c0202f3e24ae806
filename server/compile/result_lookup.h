// SPDX-License-Identifier: MIT
// Finds results that are known: in memory by the values of options, in the store by masks and live
// keys, and by signature. Nothing is computed here. Rows come from clients and upstreams, so what
// lies under a key is held against the program before it counts (IsResultOf). See
// spec/cache 3.4, 3.5
//
// Threads: all functions may run concurrently. The object itself guards nothing: results, variants
// and masks have a mutex each (BoundedCache, VariantCache, StoredMasks), and no store is asked
// under any.
#pragma once

#include <optional>
#include <span>

#include "cache/store.h"
#include "compiler/base/bounded_cache.h"
#include "compiler/driver/request.h"
#include "compiler/driver/variant_assembler.h"
#include "server/compile/batch/masks.h"
#include "server/compile/build_trace.h"
#include "server/compile/cached_result.h"
#include "server/compile/variant_cache.h"

namespace kiln::compile {

class ResultLookup {
 public:
  // Both must outlive the object.
  ResultLookup(cache::BlobStore& store, StoredMasks& masks) : store_(store), masks_(masks) {}

  // Told of rows that are not what their keys stand for; outlives the object. Set before the first
  // look-up.
  void ReportTo(cache::DamageSink& sink) { sink_ = &sink; }

  // The result of a variant, by what this process has seen or by a mask; null: unknown. A call
  // that is cache::kAtOnce is answered from memory. `trace` hears of a hit.
  CachedResultPtr LookUp(const PreparedProgram& program, const resolve::OptionValues& values,
                         BuildTrace& trace, const cache::Call& call);

  // A result of this signature was built once. It is not built again for another variant, in
  // another process, or because a mask was lost (spec/cache 3.2, 3.5). Null: it is to be built.
  // `reads`: what the variant read, if it is known; a record that says otherwise is not its own.
  using Reads = std::optional<std::span<const driver::OptionRead>>;
  CachedResultPtr KnownSignature(const ResultRequest& wanted, const Hash128& signature, Reads reads,
                                 const cache::Call& call);

  // What the store has under a signature, of whatever program. Null: nothing that can be read.
  CachedResultPtr AnyRecordOf(const Hash128& signature, const cache::Call& call);

  // Whether the store may have any result of the program: every result has a mask.
  bool HasResults(const PreparedProgram& program, const cache::Call& call);

  // What this process has seen under a signature, and of this very variant.
  CachedResultPtr Recent(const Hash128& signature, const cache::Call& call) {
    return recent_.Find(signature, call.may_write ? Results::Use::kNoted : Results::Use::kUnseen)
        .value_or(nullptr);
  }
  CachedResultPtr RecentOf(const Hash128& entry, const resolve::OptionValues& values,
                           const cache::Call& call);
  // That the variant has this result. Nothing for a call that may not write.
  void Remember(const PreparedProgram& program, const resolve::OptionValues& values,
                const CachedResultPtr& found, const cache::Call& call);
  // Forgets what was seen and the masks; the store is asked again.
  void Forget();
  CountedCache& results() { return recent_; }
  CountedCache& variants() { return variants_; }

 private:
  using Results = BoundedCache<Hash128, CachedResultPtr, Hash128Hash>;
  static constexpr uint64_t kMaxBytes = uint64_t{12} << 20;
  static constexpr uint64_t kMaxVariantBytes = uint64_t{8} << 20;

  CachedResultPtr InMemory(const PreparedProgram& program, const resolve::OptionValues& values,
                           BuildTrace& trace, const cache::Call& call);
  // These find nothing if what the store has is no result of the program.
  CachedResultPtr ByMasks(const PreparedProgram& program, const resolve::OptionValues& values,
                          const MaskList& masks, BuildTrace& trace, const cache::Call& call);
  CachedResultPtr ByMask(const PreparedProgram& program, const resolve::OptionValues& values,
                         const MaskList::Names& mask, const cache::Call& call);
  CachedResultPtr ByWideMask(const PreparedProgram& program, const resolve::OptionValues& values,
                             const MaskList::Names& mask, const cache::Call& call);
  CachedResultPtr RecentFor(const PreparedProgram& program, const Hash128& signature,
                            const cache::Call& call);
  CachedResultPtr RecordOfSignature(const PreparedProgram& program, const Hash128& signature,
                                    const cache::Call& call);
  void ReportUnfit(const CachedResult& found);

  cache::BlobStore& store_;
  StoredMasks& masks_;
  cache::DamageSink* sink_ = nullptr;
  Results recent_{"results", {.bytes = kMaxBytes}};  // by signature
  VariantCache variants_{kMaxVariantBytes};
};

}  // namespace kiln::compile
