// SPDX-License-Identifier: MIT
#include "server/rpc/calls/request_cache.h"

#include <utility>

#include "cache/explain/explain_codec.h"

namespace kiln::rpc {

uint64_t CachedRequest::bytes() const {
  constexpr uint64_t kOverhead = 1024;     // of what is not text
  constexpr uint64_t kTimesAsEncoded = 4;  // texts of their own, and a sum for each
  return kOverhead + reply.bytes() + recalled.values.bits.size() * sizeof(uint32_t) +
         (explained == nullptr ? 0 : kTimesAsEncoded * cache::EncodeExplain(*explained).size());
}

std::shared_ptr<const CachedRequest> RequestCache::Find(std::string_view request,
                                                        const cache::Call& call) {
  return requests_.Find(request, call.may_write ? Requests::Use::kNoted : Requests::Use::kUnseen)
      .value_or(nullptr);
}

void RequestCache::Keep(std::string_view request, std::shared_ptr<const CachedRequest> known) {
  if (request.size() > kMaxRequestBytes) {
    return;
  }
  const uint64_t bytes = request.size() + known->bytes();
  requests_.Put(std::string(request), std::move(known), bytes);
}

}  // namespace kiln::rpc
