// SPDX-License-Identifier: MIT
#include "server/rpc/known_requests.h"

#include <iterator>
#include <utility>

namespace kiln::rpc {

uint64_t KnownRequest::bytes() const {
  constexpr uint64_t kOverhead = 1024;     // of what is not text
  constexpr uint64_t kTimesAsEncoded = 4;  // texts of their own, and a sum for each
  return kOverhead + reply.bytes() +
         (explained == nullptr ? 0 : kTimesAsEncoded * cache::EncodeExplain(*explained).size());
}

std::shared_ptr<const KnownRequest> KnownRequests::Find(std::string_view request) {
  const MutexLock lock(mutex_);
  const auto found = index_.find(request);
  if (found == index_.end()) {
    return nullptr;
  }
  order_.splice(order_.begin(), order_, found->second);
  return found->second->known;
}

void KnownRequests::Keep(std::string_view request, std::shared_ptr<const KnownRequest> known) {
  if (request.size() > kMaxRequestBytes) {
    return;
  }
  const uint64_t bytes = request.size() + known->bytes();
  const MutexLock lock(mutex_);
  if (const auto found = index_.find(request); found != index_.end()) {
    Drop(found->second);
  }
  order_.push_front({.request = std::string(request), .known = std::move(known), .bytes = bytes});
  index_.emplace(order_.front().request, order_.begin());
  bytes_ += bytes;
  while (bytes_ > kMaxBytes) {
    Drop(std::prev(order_.end()));
  }
}

void KnownRequests::Drop(Order::iterator entry) {
  bytes_ -= entry->bytes;
  index_.erase(entry->request);
  order_.erase(entry);
}

}  // namespace kiln::rpc
