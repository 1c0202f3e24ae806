// SPDX-License-Identifier: MIT
// Three tables lead to a result: values of options in memory, masks of entries, and records in the
// store. Results in memory never change and are shared by pointer; a pointer that is still in the
// table means that nothing about the result has changed.
#include "server/compile/result_lookup.h"

#include <memory>
#include <utility>

#include "cache/call_bounds.h"
#include "cache/decorators/memory_store.h"
#include "cache/key.h"
#include "cache/record.h"
#include "server/compile/looking.h"
#include "server/compile/product_list.h"
#include "server/compile/programs/build_keys.h"

namespace kiln::compile {
namespace {

// About; names of live options are shared by all results that have the same.
uint64_t ResultBytes(const CachedResult& found) {
  constexpr uint64_t kRow = 128;  // of the table, with links, slot and control blocks
  uint64_t bytes = kRow + sizeof(CachedResult) + sizeof(cache::Record);
  for (const cache::Product& product : found.record->products) {
    bytes += sizeof(product) + product.name.size();
  }
  return bytes;
}

// What the trace says of a hit.
void NoteHit(const CachedResult& found, const char* level, BuildTrace& trace) {
  trace.level = level;
  trace.result = found.origin == Origin::kLocal      ? cache::ExplainResult::kHitLocal
                 : found.origin == Origin::kUpstream ? cache::ExplainResult::kHitUpstream
                                                     : cache::ExplainResult::kHitMemory;
}

// Results are immutable and shared between threads, so one with another origin is a copy.
CachedResultPtr WithOrigin(const CachedResult& found, Origin origin) {
  auto copy = std::make_shared<CachedResult>(found);
  copy->origin = origin;
  return copy;
}

}  // namespace

// A hit of another variant is remembered for this one, too, so that the next look is one probe of a
// table.
void ResultLookup::Remember(const PreparedProgram& program, const resolve::OptionValues& values,
                            const CachedResultPtr& found, const cache::Call& call) {
  if (!call.may_write) {
    return;
  }
  recent_.Put(found->signature, found, ResultBytes(*found));
  variants_.Add(program.entry, program.program(), values, found->record->live_options,
                found->signature);
}

void ResultLookup::Forget() {
  recent_.Clear();
  variants_.Clear();
  masks_.Clear();
}

CachedResultPtr ResultLookup::RecentOf(const Hash128& entry, const resolve::OptionValues& values,
                                       const cache::Call& call) {
  const auto known = variants_.Find(
      entry, values, call.may_write ? VariantCache::Use::kNoted : VariantCache::Use::kUnseen);
  return known.has_value() && known->is_same ? Recent(known->signature, call) : nullptr;
}

// What is known of the variant is its signature, whose record may have made room for others: then
// it is read again.
CachedResultPtr ResultLookup::InMemory(const PreparedProgram& program,
                                       const resolve::OptionValues& values, BuildTrace& trace,
                                       const cache::Call& call) {
  const bool at_once = call.deadline == cache::kAtOnce;
  const auto known =
      variants_.Find(program.entry, values,
                     call.may_write ? VariantCache::Use::kNoted : VariantCache::Use::kUnseen);
  if (!known.has_value() || (at_once && !known->is_same)) {
    return nullptr;
  }
  CachedResultPtr found = Recent(known->signature, call);
  if (found == nullptr && !at_once) {
    found = RecordOfSignature(program, known->signature, call);
    if (found != nullptr && found->record->kind == cache::RecordKind::kPoison) {
      return nullptr;  // found by its own key, with the time that it stands
    }
    if (found != nullptr && SignatureKeyOf(program.entry, program.program(), values,
                                           found->record->live_options) != known->signature) {
      ReportUnfit(*found);  // it was replaced by a row that nobody built
      return nullptr;
    }
    if (found != nullptr) {
      Remember(program, values, WithOrigin(*found, Origin::kMemory), call);
    }
  } else if (found != nullptr && !known->is_same) {
    Remember(program, values, found, call);
    found = WithOrigin(*found, Origin::kShared);
  }
  if (found != nullptr) {
    NoteHit(*found, known->is_same ? "variant" : "live", trace);
    if (!known->is_same) {
      trace.mask = found->record->live_options;
    }
  }
  return found;
}

// What a mask names is what some result read, so the values of these options say under which
// signature the result of a variant lies that reads the same. Two results: nothing known, or a
// record of the store that passes for one of this program. A record whose live options are not the
// mask was not put by a build with this signature.
CachedResultPtr ResultLookup::ByMask(const PreparedProgram& program,
                                     const resolve::OptionValues& values,
                                     const MaskList::Names& mask, const cache::Call& call) {
  const std::optional<Hash128> signature =
      SignatureKeyOf(program.entry, program.program(), values, mask);
  if (!signature.has_value()) {
    return nullptr;  // a row of another program
  }
  if (CachedResultPtr recent = RecentFor(program, *signature, call); recent != nullptr) {
    return recent;
  }
  CachedResultPtr found = RecordOfSignature(program, *signature, call);
  if (found == nullptr || found->record->kind == cache::RecordKind::kPoison) {
    return found;  // the store knows how long poison stands
  }
  if (found->record->live_options != mask) {
    ReportUnfit(*found);
    return nullptr;
  }
  return found;
}

// A mask that was widened is no signature: an alias leads there.
CachedResultPtr ResultLookup::ByWideMask(const PreparedProgram& program,
                                         const resolve::OptionValues& values,
                                         const MaskList::Names& mask, const cache::Call& call) {
  // Only where 64 masks do not suffice (spec/cache 3.5).
  const std::optional<Hash128> live = LiveKeyOf(program.entry, program.program(), values, mask);
  if (!live.has_value()) {
    return nullptr;
  }
  const Result<cache::Blob> row =
      store_.Get({.level = cache::Level::kAlias, .space = kResultSpace, .id = *live}, call);
  if (!row.ok()) {
    return nullptr;
  }
  const Result<Hash128> signature = cache::DecodeAlias(row->bytes);
  if (!signature.ok()) {
    return nullptr;
  }
  const CachedResultPtr recent = RecentFor(program, *signature, call);
  return recent != nullptr ? recent : RecordOfSignature(program, *signature, call);
}

// An alias of a peer may lead to a result of any program that was seen lately, and a result that
// was found by such an alias may lie under the signature of another program.
CachedResultPtr ResultLookup::RecentFor(const PreparedProgram& program, const Hash128& signature,
                                        const cache::Call& call) {
  CachedResultPtr recent = Recent(signature, call);
  return recent != nullptr && IsResultOf(program, *recent->record) ? recent : nullptr;
}

// Nobody can check a record but by making it again, but names that its program does not have show
// at once (spec/cache 6.7).
CachedResultPtr ResultLookup::RecordOfSignature(const PreparedProgram& program,
                                                const Hash128& signature, const cache::Call& call) {
  CachedResultPtr found = AnyRecordOf(signature, call);
  if (found != nullptr && !IsResultOf(program, *found->record)) {
    ReportUnfit(*found);
    return nullptr;
  }
  return found;
}

// A row that is not what its key stands for does not stay: the result is built again.
void ResultLookup::ReportUnfit(const CachedResult& found) {
  if (sink_ != nullptr) {
    sink_->Report({.kind = cache::DamageKind::kUnfit,
                   .key = ResultKey(found.signature),
                   .reason = "it is no result of the program that its key stands for",
                   .found = {.sum = found.sum}});
  }
}

// The record alone, for callers without a program.
CachedResultPtr ResultLookup::AnyRecordOf(const Hash128& signature, const cache::Call& call) {
  const Result<cache::Blob> value = store_.Get(ResultKey(signature), call);
  if (!value.ok()) {
    return nullptr;
  }
  Result<cache::Record> record = cache::DecodeRecord(value->bytes);
  if (!record.ok()) {
    return nullptr;
  }
  auto found = std::make_shared<CachedResult>();
  found->signature = signature;
  found->sum = value->sum;
  found->record = std::make_shared<const cache::Record>(std::move(record).value());
  // Memory above the store may have what that refused.
  const cache::Key key = ResultKey(signature);
  const Result<std::vector<cache::Key>> missing =
      store_.FindMissing(std::span(&key, 1), Looking(call));
  found->stored = missing.ok() && missing->empty();
  found->origin = value->from_upstream ? Origin::kUpstream : Origin::kLocal;
  return found;
}

// In the order of what it costs: memory, then one signature a mask, each of which is one read of
// the store. An entry of which the store had no masks has its results in memory, all of them unless
// some made room for others, so the store is not asked.
CachedResultPtr ResultLookup::LookUp(const PreparedProgram& program,
                                     const resolve::OptionValues& values, BuildTrace& trace,
                                     const cache::Call& call) {
  if (CachedResultPtr found = InMemory(program, values, trace, call); found != nullptr) {
    return found;
  }
  if (call.deadline == cache::kAtOnce) {
    return nullptr;
  }
  const StoredMasks::MasksPtr masks = masks_.Of(program.entry, call);
  return masks->stored || variants_.HasLost(program.entry)
             ? ByMasks(program, values, masks->list, trace, call)
             : nullptr;
}

// What a mask finds in memory was made for another variant, or counted for it; what it finds in the
// store may have been made for this one, and nobody can tell.
CachedResultPtr ResultLookup::ByMasks(const PreparedProgram& program,
                                      const resolve::OptionValues& values, const MaskList& masks,
                                      BuildTrace& trace, const cache::Call& call) {
  for (const MaskList::Names& mask : masks.all()) {
    CachedResultPtr found = ByMask(program, values, mask, call);
    // Only a full list has masks that were widened, so only then a second key is tried.
    if (found == nullptr && masks.is_full()) {
      found = ByWideMask(program, values, mask, call);
    }
    if (found == nullptr) {
      continue;
    }
    // A mask with all options is a key of the variant itself (spec/cache 3.5).
    NoteHit(*found, mask.size() == program.program().option_count() ? "variant" : "live", trace);
    trace.mask = mask;
    if (found->record->kind == cache::RecordKind::kPoison) {
      return found;
    }
    const bool is_recent = found->origin == Origin::kMemory;
    Remember(program, values, is_recent ? found : WithOrigin(*found, Origin::kMemory), call);
    return is_recent ? WithOrigin(*found, Origin::kShared) : found;
  }
  return nullptr;
}

// After the walk, which tells what this variant reads; the signature follows from it. Not where the
// result is to be built anew whatever is known.
CachedResultPtr ResultLookup::KnownSignature(const ResultRequest& wanted, const Hash128& signature,
                                             Reads reads, const cache::Call& call) {
  if (wanted.how.known == KnownResult::kBuiltAgain) {
    return nullptr;
  }
  const CachedResultPtr recent = RecentFor(wanted.program, signature, call);
  const CachedResultPtr known =
      recent != nullptr ? recent : RecordOfSignature(wanted.program, signature, call);
  if (known == nullptr || (wanted.how.failed == KnownFailure::kTriedAgain &&
                           known->record->kind != cache::RecordKind::kOk)) {
    return nullptr;
  }
  // The signature is a hash of what was read. A record under it that names other options was put
  // there by somebody who did not build it.
  if (reads.has_value() && !HasRead(*known->record, *reads)) {
    ReportUnfit(*known);
    return nullptr;
  }
  auto found = std::make_shared<CachedResult>(*known);
  found->origin = Origin::kShared;
  found->walked = true;
  found->was_kept = recent == nullptr;
  return found;
}

// For batches: an entry without masks has no results, so a look-up of its variants is of no use.
bool ResultLookup::HasResults(const PreparedProgram& program, const cache::Call& call) {
  const StoredMasks::MasksPtr masks = masks_.Of(program.entry, call);
  return masks->stored || !masks->list.all().empty();
}

}  // namespace kiln::compile
