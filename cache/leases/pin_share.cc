// SPDX-License-Identifier: MIT
// What pins hold, in bytes of rows and of the content that rows name. Content is counted once for
// each pin, so several pins of the same results count it several times: the sum is what removing
// all but one of them may not free, and errs towards refusing.
#include "cache/leases/pin_share.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "cache/record.h"
#include "compiler/base/threads/stop.h"

namespace kiln::cache {
namespace {

// A fifth of the cache always stays for what nobody pinned, or a full set of pins would end all
// caching.
constexpr uint64_t kPinPercent = 80;

// Adds rows to what is held.
class Holding {
 public:
  Result<void> Add(const Key& key, ByteView value) {
    CheckStop();  // a pin may hold a million
    // An alias holds its record, and takes no room to speak of.
    if (key.level == Level::kAlias || !held_.records.insert(key).second) {
      return {};
    }
    held_.bytes += value.size();
    KILN_TRY(const RowSummary summary, SummarizeRow(key.level, value));
    for (const Product& product : summary.products) {
      // Shared content counts once.
      held_.bytes += content_.insert(product.digest.id).second ? product.digest.size : 0;
    }
    return {};
  }

  PinUsage Take() { return std::move(held_); }

 private:
  PinUsage held_;
  std::set<Hash128> content_;
};

}  // namespace

Result<PinUsage> HeldByPin(Maintenance& maintenance, const std::string& pin) {
  Holding holding;
  KILN_TRY_VOID(maintenance.EachRow(
      {.pin = pin, .since_s = {}},
      [&](const Key& key, ByteView value) -> Result<void> { return holding.Add(key, value); }));
  return holding.Take();
}

// Rows that are not there hold nothing.
Result<PinUsage> HeldByKeys(BlobStore& store, std::span<const Key> keys, const Call& call) {
  Holding holding;
  for (Key key : keys) {
    CheckStop();  // most may be of rows that are not there
    Result<Blob> row = store.Get(key, call);
    if (row.ok() && key.level == Level::kAlias) {
      KILN_TRY(key.id, DecodeAlias(row->bytes));
      key.level = Level::kSignature;
      row = store.Get(key, call);
    }
    if (row.ok()) {
      KILN_TRY_VOID(holding.Add(key, row->bytes));
    }
  }
  return holding.Take();
}

// A pin of a million records takes a second or two to look up, and whoever pins next waits for it.
Result<std::vector<PinSize>> PinSizes::Of(const std::vector<Pin>& all) {
  std::map<std::string, KnownSize> known;
  std::vector<PinSize> sizes;
  for (const Pin& pin : all) {
    const auto found = known_.find(pin.name);
    KnownSize row{.made_s = pin.made_s, .records = pin.records};
    if (found != known_.end() && found->second.made_s == pin.made_s &&
        found->second.records == pin.records) {
      row = found->second;
    } else {
      const Result<PinUsage> held = HeldByPin(maintenance_, pin.name);
      if (!held.ok() && held.error().code == ErrorCode::kNotFound) {
        continue;  // removed since
      }
      if (!held.ok()) {
        return held.error();
      }
      row.bytes = held->bytes;
      known_[pin.name] = row;  // also if a later one ends this
    }
    known[pin.name] = row;
    sizes.push_back({.bytes = row.bytes, .name = pin.name, .owner = pin.owner});
  }
  known_ = std::move(known);
  return sizes;
}

// `bytes` is what the pin will hold; all others have theirs.
Result<PinShare> ShareWith(PinSizes& sizes, Pins& pins, std::string_view name, uint64_t bytes,
                           uint64_t max_bytes) {
  PinShare share{.total = bytes, .allowed = max_bytes / 100 * kPinPercent, .others = {}};
  KILN_TRY(const std::vector<Pin> all, pins.List());
  KILN_TRY(std::vector<PinSize> held, sizes.Of(all));
  for (PinSize& pin : held) {
    // The pin itself is replaced, so what it held before does not count.
    if (pin.name != name) {
      share.total += pin.bytes;
      share.others.push_back(std::move(pin));
    }
  }
  std::ranges::sort(share.others, [](const PinSize& a, const PinSize& b) {
    return std::tie(b.bytes, a.name) < std::tie(a.bytes, b.name);
  });
  return share;
}

}  // namespace kiln::cache
