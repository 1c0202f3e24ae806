// SPDX-License-Identifier: MIT
#include "server/rpc/known_requests.h"

#include <utility>

namespace kiln::rpc {

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
  const MutexLock lock(mutex_);
  if (const auto found = index_.find(request); found != index_.end()) {
    found->second->known = std::move(known);
    return;
  }
  order_.push_front({.request = std::string(request), .known = std::move(known)});
  index_.emplace(order_.front().request, order_.begin());
  if (order_.size() > kMaxRequests) {
    index_.erase(order_.back().request);
    order_.pop_back();
  }
}

}  // namespace kiln::rpc
