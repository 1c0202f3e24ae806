// SPDX-License-Identifier: MIT
// Rolls the dice of the plan, and does what they say.
#include "cache/decorators/fault_store.h"

#include <utility>

namespace kiln::cache {

// Seeded by the plan: a test that failed fails again.
uint32_t FaultStore::Random(uint32_t bound) {
  const MutexLock lock(mutex_);
  return static_cast<uint32_t>(random_() % bound);
}

Result<void> FaultStore::MaybeFail() {
  if (Happens(plan_.delay)) {
    plan_.on_delay();
  }
  if (Happens(plan_.fail)) {
    return Error{.code = ErrorCode::kUnavailable, .context = "planned fault"};
  }
  return {};
}

// The sum stays that of the good bytes, so whoever verifies must notice.
Result<Blob> FaultStore::Get(const Key& key, const Call& call) {
  KILN_TRY_VOID(MaybeFail());
  KILN_TRY(Blob blob, below_.Get(key, call));
  const auto size = static_cast<uint32_t>(blob.bytes.size());
  if (size == 0) {
    return blob;
  }
  if (Happens(plan_.tear)) {
    blob.bytes = blob.bytes.first(Random(size));
  } else if (Happens(plan_.flip)) {
    auto bytes = std::make_shared<Bytes>(blob.bytes.begin(), blob.bytes.end());
    (*bytes)[Random(size)] ^= static_cast<std::byte>(1u << Random(8));
    blob.bytes = *bytes;
    blob.owner = std::move(bytes);
  }
  return blob;
}

Result<PutResult> FaultStore::Put(std::span<const Item> items, Durability durability,
                                  const Call& call) {
  KILN_TRY_VOID(MaybeFail());
  // As a disk that acknowledges and forgets.
  if (Happens(plan_.lose)) {
    return PutResult{.added = items.size()};
  }
  return below_.Put(items, durability, call);
}

Result<std::vector<Key>> FaultStore::FindMissing(std::span<const Key> keys, const Call& call) {
  KILN_TRY_VOID(MaybeFail());
  return below_.FindMissing(keys, call);
}

}  // namespace kiln::cache
