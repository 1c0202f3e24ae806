// SPDX-License-Identifier: MIT
#include "server/rpc/request_cache.h"

#include <utility>

namespace kiln::rpc {

uint64_t CachedRequest::bytes() const {
  constexpr uint64_t kOverhead = 1024;     // of what is not text
  constexpr uint64_t kTimesAsEncoded = 4;  // texts of their own, and a sum for each
  return kOverhead + reply.bytes() +
         (explained == nullptr ? 0 : kTimesAsEncoded * cache::EncodeExplain(*explained).size());
}

std::shared_ptr<const CachedRequest> RequestCache::Find(std::string_view request) {
  const MutexLock lock(mutex_);
  const std::shared_ptr<const CachedRequest>* const found = requests_.Find(request);
  return found == nullptr ? nullptr : *found;
}

void RequestCache::Keep(std::string_view request, std::shared_ptr<const CachedRequest> known) {
  if (request.size() > kMaxRequestBytes) {
    return;
  }
  const uint64_t bytes = request.size() + known->bytes();
  const MutexLock lock(mutex_);
  requests_.Erase(request);
  requests_.Add(std::string(request), std::move(known), bytes);
  while (requests_.cost() > kMaxBytes) {
    requests_.DropOldest();
  }
}

}  // namespace kiln::rpc
