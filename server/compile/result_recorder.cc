// SPDX-License-Identifier: MIT
#include "server/compile/result_recorder.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cache/key.h"
#include "cache/record.h"
#include "compiler/driver/fingerprint.h"
#include "server/compile/product_list.h"
#include "server/compile/programs/build_keys.h"

namespace kiln::compile {
namespace {

// The build id as the initial metadata of every call has it.
const std::string& BuildId() {
  static const std::string id = driver::BackFingerprint().hex().substr(0, 12);
  return id;
}

// A caller that gathers rows writes them together with others; otherwise they are written with what
// is here.
std::vector<cache::Item>& RowsOf(const ResultRequest& wanted, std::vector<cache::Item>& here) {
  return wanted.how.rows == ResultRows::kKeptBack ? wanted.rows : here;
}

}  // namespace

bool ResultRecorder::IsKept(const driver::Products& products, const cache::Call& call) {
  std::vector<cache::Key> asked;
  for (const driver::StageCode& stage : products.code) {
    // The assembler left out words that it has written before. Whether the store still has them is
    // asked once in five minutes, and not for each result.
    if (stage.empty() && !kept_.Has(stage.content.id)) {
      asked.push_back(cache::ContentKey(stage.content));
    }
  }
  if (asked.empty()) {
    return true;
  }
  const Result<std::vector<cache::Key>> missing = store_.FindMissing(asked, call);
  if (!missing.ok() || !missing->empty()) {
    return false;
  }
  for (const cache::Key& key : asked) {
    kept_.Add(key.id);
  }
  return true;
}

// The rows by which this result is found without a walk: its mask, from which the signature follows
// (ResultLookup::ByMask). Only where there was no place for the mask itself a live key is written.
// Returns the live options of the record, shared with the mask if that names the same.
cache::NameList ResultRecorder::AddKeys(const ResultRequest& wanted, const Hash128& signature,
                                        const cache::Record& record, std::vector<cache::Item>& rows,
                                        const cache::Call& call) {
  const PreparedProgram& program = wanted.program;
  if (record.kind == cache::RecordKind::kPoison) {
    return record.live_options;  // nobody knows what it would have read
  }
  std::vector<cache::Item> masks;
  const MaskList::Names mask = masks_.Add(program.entry, record.live_options, masks, call);
  const bool is_own = mask == record.live_options;
  if (!is_own) {
    const std::optional<Hash128> live =
        LiveKeyOf(program.entry, program.program(), wanted.values, mask);
    if (!live.has_value()) {
      return record.live_options;  // widened from a stored mask that is not of this program
    }
    rows.push_back(cache::AliasItem(kResultSpace, *live, signature));
  }
  rows.insert(rows.end(), masks.begin(), masks.end());
  return is_own ? mask : record.live_options;
}

void ResultRecorder::WriteKeys(const ResultRequest& wanted, const CachedResultPtr& found,
                               const cache::Call& call) {
  // A failure is not told: a key that is not written costs a later request more work, no more.
  std::vector<cache::Item> items;
  std::vector<cache::Item>& rows = RowsOf(wanted, items);
  AddKeys(wanted, found->signature, *found->record, rows, call);
  if (!items.empty()) {
    (void)store_.Put(items, cache::Durability::kRelaxed, call);
  }
  if (found->record->kind == cache::RecordKind::kPoison) {
    return;  // not remembered: the store knows how long it stands
  }
  auto remembered = std::make_shared<CachedResult>(*found);
  remembered->origin = Origin::kMemory;
  remembered->walked = false;
  lookup_.Remember(wanted.program, wanted.values, remembered, call);
}

// Content goes to the store now, whatever becomes of the rows that name it: it is found by its
// digest when they come. If the store refuses it, nothing that it was believed to hold is taken for
// granted. What is remembered has no blobs: the store, or the caller, has them.
CachedResultPtr ResultRecorder::Keep(const ResultRequest& wanted, driver::BuildResult built,
                                     const Hash128& signature, uint64_t cpu_us,
                                     const cache::Call& call) {
  const bool is_ok = built.ok();
  if (is_ok && !wanted.program.target.metadata_only) {
    counters_.code_shared += static_cast<uint64_t>(std::ranges::count_if(
        built.products->code, [](const driver::StageCode& stage) { return stage.empty(); }));
  }
  auto [record, items, fresh] = ProductsOf(std::move(built), wanted.program.target.metadata_only);
  record.cpu_us = cpu_us;
  record.build_id = BuildId();
  std::vector<cache::Item>& rows = RowsOf(wanted, items);
  rows.push_back(cache::RecordItem(cache::Level::kSignature, kResultSpace, signature, record));
  record.live_options = AddKeys(wanted, signature, record, rows, call);
  const Result<cache::PutResult> stored = store_.Put(items, wanted.how.durability, call);
  // After a failed write nobody knows what the store has, so nothing counts as kept and all is put
  // again.
  if (!stored.ok()) {
    kept_.Clear();
  }
  for (const FreshBlob& blob : fresh) {
    if (stored.ok()) {
      kept_.Add(blob.digest.id);
    }
  }
  ++counters_.compiled;
  counters_.failed += is_ok ? 0 : 1;
  counters_.cpu_us += record.cpu_us;
  auto found = std::make_shared<CachedResult>();
  found->signature = signature;
  // A relaxed put is in memory and on its way to the disk; only a durable one is there.
  found->stored = stored.ok() && wanted.how.durability != cache::Durability::kRelaxed;
  found->fresh = std::move(fresh);
  found->origin = Origin::kCompiled;
  found->record = std::make_shared<const cache::Record>(std::move(record));
  // Only for what is right: the audit builds successes again.
  if (on_built_ != nullptr && is_ok) {
    on_built_({.program = wanted.program,
               .values = wanted.values,
               .signature = signature,
               .record = found->record});
  }
  auto remembered = std::make_shared<CachedResult>(*found);
  remembered->fresh.clear();
  remembered->origin = Origin::kMemory;
  lookup_.Remember(wanted.program, wanted.values, remembered, call);
  return found;
}

}  // namespace kiln::compile
