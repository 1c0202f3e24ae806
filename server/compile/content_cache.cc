// SPDX-License-Identifier: MIT
// Content that was in the store a moment ago, so that a build need not ask again for each of
// thousands of equal modules.
#include "server/compile/content_cache.h"

namespace kiln::compile {
namespace {

constexpr uint64_t kRowBytes = 64;  // of a key, its time and its links; about

}  // namespace

// Trusted for a time and not for ever: the store may evict content at any moment, and nobody tells
// this object of each.
void ContentCache::Add(const Hash128& id) {
  until_.Put(id, clock_.Monotonic() + kTrusted, kRowBytes);
}

bool ContentCache::Has(const Hash128& id) {
  const std::optional<Duration> until =
      until_.Find(id, Known::Use::kUnseen);  // the order is that of expiring
  return until.has_value() && clock_.Monotonic() < *until;
}

}  // namespace kiln::compile
